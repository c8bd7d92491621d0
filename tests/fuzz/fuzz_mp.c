// SPDX-License-Identifier: Apache-2.0
/* Value after value, lib/mp and msgpack-c say the same; and no getter, in any order, reads past. */
#include "tests/fuzz/mp_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { VALUES = 64 }; /* compared in one input: a thousand single bytes add nothing */

static void differential(const uint8_t *data, size_t len)
{
	struct oracle_tally tally = { 0 };
	size_t used;
	int n = 0;

	do {
		const char *why = oracle_agrees(data, len, &used, &tally);

		if (why) {
			fprintf(stderr, "%s\n", why);
			__builtin_trap();
		}
		data += used;
		len -= used;
	} while (used && ++n < VALUES);
}

/* A getter that takes a value takes just what mp_skip takes. */
static void get(struct mp *m, uint8_t how)
{
	struct mp skipped = *m;
	uint32_t n = 0;

	mp_skip(&skipped);
	if (how == 0)
		mp_uint(m);
	else if (how == 1)
		mp_double(m);
	else if (how == 2)
		mp_str(m, &n);
	else if (how == 3)
		mp_bin(m, &n);
	else
		mp_skip(m);
	if (mp_bad(m) && (n || m->p != m->end))
		__builtin_trap();
	if (!mp_bad(m) && (mp_bad(&skipped) || m->p != skipped.p))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mp m = mp_over(data, len);

	differential(data, len);
	while (!mp_bad(&m) && m.p < m.end) {
		uint8_t how = *m.p++ % 6;

		if (how == 5)
			mp_array(&m);
		else
			get(&m, how);
	}
	return 0;
}
