// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/oom_event.h"
#include "probe/source/kernel_log/oom_report.h"
#include "tests/lib/test.h"
#include "tests/unit/probe/source/kernel_log/oom_reports.h"

enum { PAGE = 4096 };

/* Feeds the lines one by one; returns the number of kills. */
static int hear(struct oom_report *r, const char *text)
{
	int kills = 0;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		AUTO_FREE char *line = strndup(text, (size_t)(end - text));

		kills += oom_report_line(r, line, PAGE) == 1;
	}
	return kills;
}

TEST(a_kill_in_a_cgroup_is_reported_with_its_limit_and_the_largest_tasks)
{
	struct oom_report r = { 0 };

	CHECK_EQ(hear(&r, of_cgroup), 1);
	CHECK_STR(r.by, "python3");
	CHECK_STR(r.cgroup, "/seismo-test");
	CHECK_STR(r.of, "/seismo-test");
	CHECK_EQ(r.limit_bytes, 20480 << 10);
	CHECK_EQ(r.pid, 4242);
	CHECK_STR(r.comm, "python3");
	CHECK_EQ(r.rss_bytes, (20224 + 6596) << 10);
	CHECK_EQ(r.ntop, 1);
	CHECK_STR(r.top[0].comm, "python3");
	CHECK_EQ(r.top[0].pid, 4242);
	CHECK(r.top[0].rss_bytes > 20 << 20);
}

TEST(a_kill_of_the_whole_node_is_reported_with_the_five_largest_tasks_in_order)
{
	static const uint32_t top[] = { 1034, 1035, 251, 1036, 229 };
	struct oom_report r = { 0 };

	CHECK_EQ(hear(&r, of_node), 1);
	CHECK_STR(r.by, "stress");
	CHECK_STR(r.cgroup, "/");
	CHECK_STR(r.of, "/user.slice/user-1000.slice/session-1.scope");
	CHECK_EQ(r.limit_bytes, 0);
	CHECK_STR(r.comm, "my stress (2)");
	CHECK_EQ(r.rss_bytes, 1864804ull << 10);
	CHECK_EQ(r.ntop, OOM_TOP);
	for (uint32_t i = 0; i < OOM_TOP; i++)
		CHECK_EQ(r.top[i].pid, top[i]);
	CHECK_STR(r.top[0].comm, "my stress (2)");
	CHECK_EQ(r.top[0].rss_bytes, 466201ull * PAGE);
}

TEST(a_kill_without_a_kernel_report_is_reported_too)
{
	struct oom_report r = { 0 };

	CHECK_EQ(oom_report_line(&r,
				 "Out of memory: Killed process 7 (a) total-vm:8kB, anon-rss:4kB",
				 PAGE),
		 1);
	CHECK_EQ(r.pid, 7);
	CHECK_EQ(r.rss_bytes, 4096);
	CHECK_STR(r.by, "");
	CHECK_STR(r.cgroup, "");
}

TEST(unrelated_lines_belong_to_no_report)
{
	static const char *const other[] = {
		"",
		"Killed process ",
		"Killed process [12]: segfault at 0 ip 0 sp 0 error 4",
		"traps: Killed process [12] trap int3",
		"[   1234]     0  1234     7000     5000 90112 0 0 0 0 0 name", /* outside a table
										 */
		"systemd[1]: app.service: killed by the OOM killer.",
	};
	struct oom_report r = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		CHECK_EQ(oom_report_line(&r, other[i], PAGE), -ENOMSG);
	CHECK_EQ(r.ntop, 0);
}

static const struct event_item *oom_event_of(struct arena *a, const struct oom_seen *o,
					     struct wire_body *b)
{
	struct sink out = { 0 };

	oom_event_send(o, &out);
	CHECK_EQ(wire_body_decode(a, out.event.data, out.event.len, b), 0);
	CHECK_EQ(b->nevents, 1);
	buf_free(&out.event);
	return b->events;
}

static const struct param *param(const struct event_item *e, const char *key)
{
	for (uint32_t i = 0; i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return &e->params[i];
	return NULL;
}

TEST(the_event_has_what_the_hook_saw_and_what_the_log_said)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const struct oom_victim v = {
		.pid = 4242, .by_pid = 99, .rss_pages = 1, .comm = "python3"
	};
	struct oom_report r = { 0 };
	struct wire_body b = { 0 };
	const struct event_item *e;

	hear(&r, of_cgroup);
	e = oom_event_of(a, &(struct oom_seen){ &v, &r, 1000, PAGE, 5, "" }, &b);
	CHECK_STR(e->kind, "mem.oom");
	CHECK_EQ(e->severity, EVENT_CRITICAL);
	CHECK_EQ(e->pid, 4242);
	CHECK_STR(e->comm, "python3");
	CHECK_STR(param(e, "cgroup")->text, "/seismo-test");
	CHECK(param(e, "limit_bytes")->number == 20480 << 10);
	CHECK(strncmp(param(e, "top")->text, "python3[4242] 2", 15) == 0);
	CHECK_EQ(e->nevidence, 1);
	CHECK_EQ(e->evidence[0].pid, 99);
	CHECK_EQ(e->evidence[0].stack, 5);
	CHECK_EQ(e->id, 0);
}

TEST(a_kill_seen_only_by_the_hook_is_reported_with_the_known_facts)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const struct oom_victim v = { .pid = 7, .rss_pages = 100, .comm = "0123456789abcdef" };
	struct wire_body b = { 0 };
	const struct event_item *e =
		oom_event_of(a, &(struct oom_seen){ &v, NULL, 1, PAGE, 0, "/x" }, &b);

	CHECK_STR(e->comm, "0123456789abcdef");
	CHECK_STR(param(e, "cgroup")->text, "/x");
	CHECK(param(e, "rss_bytes")->number == 100 * PAGE);
	CHECK_STR(param(e, "limit_bytes")->text, "?");
	CHECK_STR(param(e, "top")->text, "?");
}
