// SPDX-License-Identifier: Apache-2.0
/*
 * Names and texts that others choose, as the kernel shows them: paths of cgroups, texts of /proc,
 * translations of addresses (as a message of netlink or a line), slow file operations, tasks that
 * hang. The first byte chooses.
 */
#include <stdlib.h>

#include "lib/base/cgroup_name.h"
#include "lib/wire/wire.h"
#include "probe/cgroup/cgroup_path.h"
#include "probe/procfs/proc_text.h"
#include "probe/source/address/conntrack.h"
#include "probe/source/files/files_event.h"
#include "probe/source/kernel_log/hung_tasks.h"
#include "tests/fuzz/check.h"

enum { TASKS = 4, WAYS = 6 };

static void takes_events(const void *data, size_t len, uint32_t n)
{
	static struct arena *arena;
	struct wire_body body;

	if (!arena)
		arena = arena_new(1 << 20);
	must(wire_body_decode(arena, data, len, &body) == 0 && body.nevents >= n);
	for (uint32_t i = 0; i < body.nevents; i++)
		for (uint32_t k = 0; k < body.events[i].nparams; k++) {
			const char *text = body.events[i].params[k].text;

			must(!text || is_text(text, strlen(text)));
		}
	arena_reset(arena);
}

static void cgroup(const char *path)
{
	char entity[ITEM_MAX_TEXT];
	struct cgroup_name name;

	cgroup_name_read(path, &name);
	for (int i = 0; i < LABEL_END; i++)
		must(memchr(name.value[i], 0, CGROUP_VALUE));
	cgroup_entity(path, entity);
	must(memchr(entity, 0, sizeof(entity)));
}

static void proc(const char *text, size_t len)
{
	static const struct proc_key keys[] = { { "a", 0 }, { "total", 1 }, { "some", 2 } };
	struct words file = { text, text + len }, line, word;
	double raw[4] = { 0 };

	proc_keyed(file, keys, ARRAY_SIZE(keys), 1, raw);
	proc_pressure(file, 0, 1, raw);
	while (proc_line(&file, &line)) {
		struct words numbers = line;

		must(line.p >= text && line.end <= text + len);
		while (proc_word(&line, &word)) {
			must(word.end > word.p && word.p >= text && word.end <= text + len);
			(void)proc_find(keys, ARRAY_SIZE(keys), &word);
		}
		(void)proc_number(&numbers);
	}
}

static void nat(const char *data, size_t len, bool message)
{
	struct nat *n = calloc(1, sizeof(*n));
	struct sink out = { 0 };

	must(n != NULL);
	nat_begin(n, 7);
	if (message)
		(void)conntrack_message(n, data, len);
	while (!message && len) {
		const char *end = memchr(data, '\n', len);
		size_t line = end ? (size_t)(end - data) : len;

		conntrack_line(n, data, line, 7);
		line += end != NULL;
		data += line;
		len -= line;
	}
	nat_end(n, 7);
	must(n->n <= ITEM_MAX_WAYS);
	nat_send(n, &out);
	buf_free(&out.event);
	buf_free(&out.metric);
	free(n);
}

static void operation(const void *data, size_t len)
{
	struct files_op op = { 0 };
	struct event_item e = { 0 };
	struct files_text text;
	struct buf b = { 0 };

	memcpy(&op, data, len < sizeof(op) ? len : sizeof(op));
	op.block.n %= ARRAY_SIZE(op.block.frame) + 1;
	op.running.n %= ARRAY_SIZE(op.running.frame) + 1;
	files_event(&op, 0, &text, &e);
	for (uint32_t i = 0; i < e.nevidence; i++)
		(void)files_event_stack(&op, &e, i);
	wire_put_event(&b, &e);
	takes_events(b.data, b.len, 1);
	buf_free(&b);
}

static void tasks(const uint8_t *data, size_t len)
{
	struct hung_task_pass pass = { .now_ns = 1000000000000, .period_ns = 1000000000 };
	struct hung_tasks *t = calloc(1, sizeof(*t));
	struct hung_task_record r;
	struct sink out = { 0 };

	must(t != NULL);
	for (int i = 0; i < TASKS && len; i++) {
		size_t n = len < sizeof(r) ? len : sizeof(r);

		memset(&r, 0, sizeof(r));
		memcpy(&r, data, n);
		data += n;
		len -= n;
		(void)hung_tasks_see(t, &r, &pass);
		hung_tasks_confirm(t, r.tid);
		pass.now_ns += 60000000000;
		hung_tasks_end(t, &pass, &out);
	}
	must(hung_tasks_count(t) <= HUNG_TASKS_MAX + TASKS);
	if (out.event.len)
		takes_events(out.event.data, out.event.len, 1);
	buf_free(&out.event);
	buf_free(&out.metric);
	free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text;

	if (!len)
		return 0;
	text = malloc(len); /* of just this size, for the sanitizer; ends with 0 */
	must(text != NULL);
	memcpy(text, data + 1, len - 1);
	text[len - 1] = 0;
	switch (*data % WAYS) {
	case 0:
		cgroup(text);
		break;
	case 1:
		proc(text, len - 1);
		break;
	case 2:
	case 3:
		nat(text, len - 1, *data % WAYS == 3);
		break;
	case 4:
		operation(text, len - 1);
		break;
	default:
		tasks((const uint8_t *)text, len - 1);
	}
	free(text);
	return 0;
}
