// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/hung_tasks.h"
#include "tests/lib/test.h"

#define SEC 1000000000ull

struct rig {
	struct hung_tasks table;
	struct sink out;
	struct arena *arena;
	struct wire_body b;
	uint64_t now;
};

static struct rig rig_new(void)
{
	return (struct rig){ .arena = arena_new(1 << 20), .now = 1000 * SEC };
}

static void rig_free(struct rig *r)
{
	arena_free(r->arena);
	buf_free(&r->out.event);
}

static struct hung_task_record stuck(uint32_t tid, uint64_t first_ns)
{
	struct hung_task_record k = { .tid = tid,
				      .tgid = tid,
				      .call = 74,
				      .flags = STUCK_FILE,
				      .start_ns = 5,
				      .first_ns = first_ns,
				      .comm = "dd",
				      .fs = "ext4",
				      .disk = "loop0",
				      .dev = 7 << 20,
				      .path = { .len = 8, .whole = 1, .b = "file\0mnt" } };

	return k;
}

static struct hung_task_pass pass_of(const struct rig *r)
{
	return (struct hung_task_pass){ .now_ns = r->now,
					.period_ns = SEC,
					.wall_minus_mono_ns = 1790000000ll * (int64_t)SEC };
}

/* Runs a pass one second later that sees n tasks from tid 10 on; returns the number of events. */
static uint32_t pass(struct rig *r, uint32_t n, uint64_t first_ns)
{
	struct hung_task_pass p;

	r->now += SEC;
	p = pass_of(r);
	buf_reset(&r->out.event);
	for (uint32_t i = 0; i < n; i++) {
		struct hung_task_record k = stuck(10 + i, first_ns);

		k.now_ns = r->now;
		hung_tasks_see(&r->table, &k, &p);
	}
	hung_tasks_end(&r->table, &p, &r->out);
	CHECK_EQ(wire_body_decode(r->arena, r->out.event.data, r->out.event.len, &r->b), 0);
	return r->b.nevents;
}

static const struct param *param(const struct event_item *e, const char *key)
{
	for (uint32_t i = 0; i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return &e->params[i];
	return NULL;
}

TEST(a_hung_task_is_reported_at_once_with_call_and_file)
{
	struct rig r = rig_new();
	const struct event_item *e;

	CHECK_EQ(pass(&r, 1, 991 * SEC), 1);
	e = r.b.events;
	CHECK_STR(e->kind, "task.stuck");
	CHECK(e->going_on && e->update == 1 && e->id);
	CHECK_EQ(e->start_ns, 1790000991 * SEC);
	CHECK_EQ(e->us, 10000000);
	CHECK_EQ(e->error_us, 1000000);
	CHECK_EQ(e->severity, EVENT_WARNING);
	CHECK_STR(param(e, "file")->text, "/mnt/file");
	CHECK_STR(param(e, "dev")->text, "loop0");
	CHECK_STR(param(e, "hung_task")->text, "no");
	CHECK_STR(e->evidence[0].comm, "dd");
	CHECK_EQ(e->nevidence, 1);
	rig_free(&r);
}

TEST(updates_are_rare_and_the_end_is_reported)
{
	struct rig r = rig_new();
	uint32_t updates = 0;
	uint64_t id;

	pass(&r, 1, 991 * SEC);
	id = r.b.events[0].id;
	for (int s = 0; s < 120; s++)
		updates += pass(&r, 1, 991 * SEC);
	CHECK_EQ(updates, 2);
	CHECK_EQ(pass(&r, 0, 0), 1);
	CHECK(!r.b.events[0].going_on);
	CHECK_EQ(r.b.events[0].id, id);
	CHECK_EQ(r.b.events[0].update, 4);
	CHECK_EQ(r.b.events[0].us, 130500000);
	CHECK_EQ(r.b.events[0].severity, EVENT_CRITICAL);
	CHECK_EQ(pass(&r, 0, 0), 0);
	CHECK_EQ(hung_tasks_count(&r.table), 0);
	rig_free(&r);
}

TEST(a_task_that_moved_and_hangs_once_more_is_a_new_event)
{
	struct rig r = rig_new();
	uint64_t id;

	pass(&r, 1, 991 * SEC);
	id = r.b.events[0].id;
	CHECK_EQ(pass(&r, 1, 992 * SEC), 2); /* the end of one, and the start of the other */
	CHECK(r.b.events[0].id == id && !r.b.events[0].going_on);
	CHECK(r.b.events[1].id != id && r.b.events[1].going_on);
	rig_free(&r);
}

TEST(a_task_the_log_calls_hung_is_reported_at_once)
{
	struct rig r = rig_new();

	pass(&r, 1, 991 * SEC);
	hung_tasks_confirm(&r.table, 10);
	hung_tasks_confirm(&r.table, 4711); /* an unknown task */
	CHECK_EQ(pass(&r, 1, 991 * SEC), 1);
	CHECK_STR(param(&r.b.events[0], "hung_task")->text, "yes");
	CHECK_EQ(r.b.events[0].severity, EVENT_CRITICAL);
	hung_tasks_confirm(&r.table, 10);
	CHECK_EQ(pass(&r, 1, 991 * SEC), 0);
	rig_free(&r);
}

TEST(of_many_hung_tasks_some_are_events_that_count_the_others)
{
	struct rig r = rig_new();

	CHECK_EQ(pass(&r, 100, 991 * SEC), HUNG_TASKS_MAX);
	CHECK(param(&r.b.events[0], "others")->number == 100 - HUNG_TASKS_MAX);
	CHECK_EQ(pass(&r, 100, 991 * SEC), 0);
	CHECK_EQ(r.table.withheld, 100 - HUNG_TASKS_MAX); /* each counted once */
	CHECK_EQ(pass(&r, 0, 0), HUNG_TASKS_MAX);
	rig_free(&r);
}

TEST(a_kernel_thread_has_no_call_and_no_file)
{
	struct rig r = rig_new();
	struct hung_task_record k = stuck(10, 991 * SEC);
	struct hung_task_pass p = pass_of(&r);

	k.flags = STUCK_KTHREAD | STUCK_IOWAIT;
	k.call = -1;
	k.now_ns = r.now;
	CHECK(hung_tasks_see(&r.table, &k, &p) != NULL);
	CHECK(!hung_tasks_see(&r.table, &k, &p));
	hung_tasks_end(&r.table, &p, &r.out);
	CHECK_EQ(wire_body_decode(r.arena, r.out.event.data, r.out.event.len, &r.b), 0);
	CHECK_STR(param(r.b.events, "call")->text, "kernel");
	CHECK_STR(param(r.b.events, "file")->text, "?");
	CHECK_EQ(r.b.events[0].evidence[0].part, PART_IO);
	rig_free(&r);
}
