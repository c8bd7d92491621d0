// SPDX-License-Identifier: Apache-2.0
#include "probe/procfs/proc_delta.h"

#include <math.h>

void proc_clear(double *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = NAN;
}

/* A fraction as a float32 takes 5 bytes on the wire instead of 9 and is exact to 1 in 16 million.
 */
static double shorten(double v)
{
	return v == trunc(v) ? v : (double)(float)v;
}

static double since(double raw, double last)
{
	return raw >= last ? shorten(raw - last) : NAN; /* false as well when one is NaN */
}

void proc_delta(const struct wire_dict *layout, const double *raw, double *last, double *out)
{
	for (uint32_t i = 0; i < layout->n; i++) {
		if (layout->metrics[i].kind == METRIC_COUNTER) {
			out[i] = since(raw[i], last[i]);
			last[i] = raw[i];
		} else {
			out[i] = shorten(raw[i]);
		}
	}
}
