// SPDX-License-Identifier: Apache-2.0
#include "probe/source/proc/src_proc.h"

/* "  eth0: 1 2 ...": the name is before the colon; the two header lines have none. */
static bool split_line(const struct words *line, struct words *name, struct words *numbers)
{
	const char *colon = memchr(line->p, ':', (size_t)(line->end - line->p));

	if (!colon)
		return false;
	*name = (struct words){ line->p, colon };
	while (name->p < name->end && *name->p == ' ')
		name->p++;
	*numbers = (struct words){ colon + 1, line->end };
	return true;
}

/* Host ends of container interfaces come and go by the hundred, and their traffic is counted
 * elsewhere. */
static bool is_inner(const struct words *name)
{
	return proc_is(name, "lo") || (name->end - name->p > 4 && memcmp(name->p, "veth", 4) == 0);
}

static bool has_outer(struct words file)
{
	struct words line, name, numbers;

	while (proc_line(&file, &line))
		if (split_line(&line, &name, &numbers) && !is_inner(&name))
			return true;
	return false;
}

/* Inner interfaces are reported only if there are no others: inside a network namespace. */
void proc_net_read(struct proc *p, struct sink *out)
{
	struct words file = { 0 }, line, name, numbers;
	double raw[NET_END];
	bool outer;

	devices_begin(&p->nets);
	if (proc_read(&p->text, p->procfs, "net/dev", &file) < 0)
		file = (struct words){ 0 };
	outer = has_outer(file);
	while (proc_line(&file, &line)) {
		if (!split_line(&line, &name, &numbers) || (outer && is_inner(&name)))
			continue;
		for (int i = 0; i < NET_END; i++) /* the columns are in the layout's order */
			raw[i] = proc_number(&numbers);
		devices_sample(&p->nets, &name, &layout_net, raw, out);
	}
	devices_end(&p->nets);
}
