// SPDX-License-Identifier: Apache-2.0
#include "probe/source/proc/src_proc.h"

/* "  eth0: 1 2 ...": what is before the colon is the name, and the two header lines have none. */
static bool split(const struct words *line, struct words *name, struct words *numbers)
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

/* The near ends of containers come and go by the hundred, and the far ends are what counts. */
static bool is_inner(const struct words *name)
{
	return proc_is(name, "lo") || (name->end - name->p > 4 && memcmp(name->p, "veth", 4) == 0);
}

static bool has_outer(struct words file)
{
	struct words line, name, numbers;

	while (proc_line(&file, &line))
		if (split(&line, &name, &numbers) && !is_inner(&name))
			return true;
	return false;
}

/* Inner interfaces are reported where there is nothing else: inside a network namespace. */
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
		if (!split(&line, &name, &numbers) || (outer && is_inner(&name)))
			continue;
		for (int i = 0; i < NET_END; i++) /* the columns are in the layout's order */
			raw[i] = proc_number(&numbers);
		devices_sample(&p->nets, &name, &layout_net, raw, out);
	}
	devices_end(&p->nets);
}
