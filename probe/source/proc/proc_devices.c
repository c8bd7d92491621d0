// SPDX-License-Identifier: Apache-2.0
#include "probe/source/proc/proc_devices.h"

#include <assert.h>

#include "probe/procfs/proc_delta.h"

void devices_begin(struct devices *d)
{
	d->cut = 0;
	for (uint32_t i = 0; i < d->n; i++)
		d->device[i].seen = false;
}

static struct proc_device *find_device(struct devices *d, const char *name)
{
	struct proc_device *v;

	for (uint32_t i = 0; i < d->n; i++)
		if (strcmp(d->device[i].name, name) == 0)
			return &d->device[i];
	if (d->n == MAX_DEVICES)
		return NULL;
	v = &d->device[d->n++];
	memcpy(v->name, name, DEVICE_NAME);
	v->seen = false;
	proc_clear(v->last, DEVICE_VALUES);
	return v;
}

/* An interface name may contain anything but '/' and blanks; a label is plain text. */
static bool take_name(const struct words *w, char name[static DEVICE_NAME])
{
	size_t len = (size_t)(w->end - w->p);

	if (len == 0 || len >= DEVICE_NAME)
		return false;
	memset(name, 0, DEVICE_NAME);
	for (size_t i = 0; i < len; i++)
		name[i] = '!' <= w->p[i] && w->p[i] <= '~' ? w->p[i] : '?';
	return true;
}

void devices_sample(struct devices *d, const struct words *name, const struct wire_dict *layout,
		    const double *raw, struct sink *out)
{
	double v[DEVICE_VALUES];
	char text[DEVICE_NAME];
	struct proc_device *device = take_name(name, text) ? find_device(d, text) : NULL;

	assert(layout->n <= DEVICE_VALUES);
	if (!device || device->seen) {
		d->cut++;
		return;
	}
	device->seen = true;
	proc_delta(layout, raw, device->last, v);
	sink_sample(out, &(struct sample_item){ layout->layout, device->name, layout->n, v });
}

void devices_end(struct devices *d)
{
	for (uint32_t i = 0; i < d->n;) {
		if (d->device[i].seen)
			i++;
		else
			d->device[i] = d->device[--d->n];
	}
}
