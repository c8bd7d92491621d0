// SPDX-License-Identifier: Apache-2.0
/* Stalls on a host made of files, in virtual time: what waits, for which resource, because of whom.
 */
#include <sched.h>

#include "lib/wire/reason.h"
#include "probe/source/stall/culprits.h"
#include "tests/fake/clock.h"
#include "tests/fake/stall_host.h"
#include "tests/lib/test.h"

#define MINUTE 60
#define MB 1e6

static const struct param *param(const struct event_item *e, const char *key)
{
	static const struct param none = { .text = "(none)" };

	for (uint32_t i = 0; e && i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return &e->params[i];
	return &none;
}

static void quiet(struct stall_host *h, double seconds)
{
	CHECK(stall_until(h, seconds) == NULL);
}

/* Every name in the event's sentence is a parameter. */
static void check_sentence(const struct event_item *e)
{
	const struct reason *r = reason_find(e->reason);

	for (const char *s = strchr(r->en, '{'); s; s = strchr(s + 1, '{')) {
		AUTO_FREE char *key = strndup(s + 1, strcspn(s + 1, "}"));

		CHECK_STR(param(e, key)->key, key);
	}
}

TEST(the_process_that_takes_the_cpus_is_named_until_the_stall_ends)
{
	struct stall_host h;
	struct stall_proc *hog, *app;
	const struct event_item *e;
	uint64_t id, start_ns;

	stall_host_open(&h);
	app = stall_host_start(&h, 70, "app");
	quiet(&h, 10);
	hog = stall_host_start(&h, 90, "hog (of 1)");
	hog->cgroup = "/box";
	hog->cpu = 1.8;
	app->cpu = 0.2;
	app->wait = 1.5;
	h.share[STALL_CPU] = 0.9;
	start_ns = h.now_ns;
	e = stall_until(&h, 3);
	CHECK(e != NULL);
	if (!e)
		return;
	CHECK_STR(e->kind, "cpu.stall");
	CHECK_EQ(e->reason, R_CPU_STALL);
	CHECK(e->going_on);
	CHECK_EQ(e->update, 1);
	CHECK_EQ(e->start_ns, start_ns);
	CHECK_EQ(e->pid, 90);
	CHECK_STR(e->comm, "hog (of 1)");
	CHECK_STR(param(e, "who")->text, "hog (of 1)[90]");
	CHECK_STR(param(e, "waiter")->text, "app[70]");
	CHECK_STR(param(e, "cgroup")->text, "/box");
	CHECK(param(e, "cpus")->number > 1.7 && param(e, "cpus")->number < 1.9);
	CHECK(param(e, "pct")->number > 70); /* 1.5 on 2 CPUs */
	check_sentence(e);
	id = e->id;
	e = stall_until(&h, 31); /* an update: it goes on */
	CHECK(e && e->going_on && e->id == id && e->update == 2 && e->start_ns == start_ns);
	stall_host_end(&h, hog);
	app->wait = 0;
	h.share[STALL_CPU] = 0;
	e = stall_until(&h, 10);
	CHECK(e && !e->going_on && e->id == id && e->update == 3 && e->start_ns == start_ns);
	CHECK_STR(e->comm, "hog (of 1)"); /* it has ended by now */
	CHECK(e->us > 30000000 && e->us < 34000000);
	quiet(&h, MINUTE);
	stall_host_close(&h);
}

/* Returns the name of the victim. */
static struct stall_proc *open_with_hog(struct stall_host *h)
{
	struct stall_proc *hog, *app;

	stall_host_open(h);
	hog = stall_host_start(h, 90, "hog");
	app = stall_host_start(h, 70, "app");
	hog->cpu = 1.8;
	app->cpu = 0.2;
	app->wait = 1.5;
	return app;
}

static void check_hog_is_named(struct stall_host *h)
{
	const struct event_item *e;

	h->share[STALL_CPU] = 0.9;
	e = stall_until(h, 3);
	CHECK(e != NULL);
	CHECK_STR(param(e, "who")->text, "hog[90]");
}

TEST(a_probe_that_waits_for_a_cpu_itself_scans_as_soon_as_it_can)
{
	struct stall_host h;
	struct stall_proc *app;

	app = open_with_hog(&h);
	clock_delay_ns(40 * 1000000);
	app->wait = 0; /* the first scans find no victim */
	h.share[STALL_CPU] = 0.35;
	quiet(&h, 2);
	app->wait = 1.5;
	check_hog_is_named(&h);
	clock_delay_ns(0);
	stall_host_close(&h);
}

/* A scan takes 40 ms of a CPU; the second one finds the culprit, and later ones are rare. */
TEST(a_scan_of_many_processes_is_made_in_steps)
{
	struct stall_host h;
	struct culprits *o;
	int steps = 1;

	stall_host_open(&h);
	for (uint32_t pid = 1; pid <= STALL_PROCS; pid++)
		stall_host_start(&h, pid, "one of many");
	stall_tick(&h);
	o = culprits_new(h.dir, STALL_CPU, "");
	clock_cost_ns(11 * 1000000);
	while (culprits_scan(o, h.now_ns) == 1 && steps < 100) {
		CHECK(culprits_due(o, h.now_ns));
		steps++;
	}
	CHECK_EQ(steps, 2);
	CHECK(!culprits_due(o, h.now_ns));
	CHECK_EQ(culprits_scan(o, h.now_ns), 1);
	culprits_forget(o);
	clock_cost_ns(0);
	CHECK_EQ(culprits_scan(o, h.now_ns), 0);
	CHECK(!culprits_due(o, h.now_ns));
	culprits_scan(o, h.now_ns); /* freed while one goes on */
	culprits_free(o);
	stall_host_close(&h);
}

TEST(many_processes_make_scans_neither_late_nor_costly)
{
	struct stall_host h;
	uint64_t before;

	open_with_hog(&h);
	clock_cost_ns(40 * 1000000);
	before = clock_cpu_ns();
	for (int i = 0; i < 2 * 2 * MINUTE; i++) { /* it flickers, and never lasts long enough */
		h.share[STALL_CPU] = i % 4 < 2 ? 0.35 : 0;
		stall_tick(&h);
		CHECK_EQ(h.sent.nevents, 0);
	}
	/* 1 % and two scans in advance; each process is read twice here. */
	CHECK((double)(clock_cpu_ns() - before) / 2e9 < 0.01 * 2 * MINUTE + 2 * 0.04);
	h.share[STALL_CPU] = 0;
	quiet(&h, 10);
	check_hog_is_named(&h);
	clock_cost_ns(0);
	stall_host_close(&h);
}

/* PSI says that tasks waited all the time, but only low-priority tasks did. */
static void build(int nice, int policy)
{
	struct stall_host h;

	stall_host_open(&h);
	for (uint32_t i = 0; i < 4; i++) {
		struct stall_proc *cc = stall_host_start(&h, 100 + 10 * i, "cc1");

		cc->cpu = 0.48;
		cc->wait = 0.5;
		cc->nice = nice;
		cc->policy = policy;
	}
	stall_host_start(&h, 70, "app")->wait = 0.05;
	h.share[STALL_CPU] = 0.97;
	quiet(&h, 2 * MINUTE);
	stall_host_close(&h);
}

TEST(a_build_at_idle_priority_stalls_nobody)
{
	build(0, SCHED_IDLE);
	build(19, SCHED_OTHER);
	build(10, SCHED_OTHER);
}

TEST(a_victim_beside_such_a_build_is_seen_and_the_build_is_not_the_cause)
{
	struct stall_host h;
	struct stall_proc *cc, *app, *hog;
	const struct event_item *e;

	stall_host_open(&h);
	cc = stall_host_start(&h, 100, "cc1");
	cc->policy = SCHED_IDLE;
	cc->cpu = 1.9;
	cc->wait = 2;
	app = stall_host_start(&h, 70, "app");
	h.share[STALL_CPU] = 0.97;
	quiet(&h, 2 * MINUTE);
	hog = stall_host_start(&h, 110, "hog");
	hog->cpu = 1.1;
	cc->cpu = 0.7;
	app->cpu = 0.1;
	app->wait = 1.8;
	e = stall_until(&h, 3); /* the builds did not change the baseline */
	CHECK(e != NULL);
	CHECK_STR(param(e, "who")->text, "hog[110]");
	CHECK_STR(param(e, "waiter")->text, "app[70]");
	stall_host_close(&h);
}

TEST(a_build_at_ordinary_priority_is_one_event_even_if_it_flickers)
{
	struct stall_host h;
	struct stall_proc *cc;
	uint64_t id = 0;

	stall_host_open(&h);
	cc = stall_host_start(&h, 100, "cc1");
	cc->threads = 3;
	for (double s = 0; s < 6 * MINUTE; s += 0.5) {
		bool busy = (int)s % 40 < 25; /* it links for the rest of the time */

		cc->cpu = busy ? 2 : 0.1;
		cc->wait = busy ? 2 : 0;
		h.share[STALL_CPU] = busy ? 0.95 : 0.02;
		stall_tick(&h);
		for (uint32_t i = 0; i < h.sent.nevents; i++) {
			CHECK(!id || h.sent.events[i].id == id);
			id = h.sent.events[i].id;
		}
	}
	CHECK(id != 0);
	CHECK(h.events <= 20);
	stall_host_close(&h);
}

TEST(a_busy_disk_is_named_with_its_user)
{
	struct stall_host h;
	struct stall_proc *dd;
	const struct event_item *e;

	stall_host_open(&h);
	dd = stall_host_start(&h, 100, "dd");
	stall_host_start(&h, 70, "app")->read = 0.1 * MB;
	quiet(&h, 10);
	dd->written = 50 * MB;
	dd->cgroup = "/box";
	h.share[STALL_IO] = 0.8;
	h.util = 0.9;
	h.queue = 12;
	e = stall_until(&h, 3);
	CHECK(e != NULL);
	if (!e)
		return;
	CHECK_STR(e->kind, "io.stall");
	CHECK_STR(param(e, "who")->text, "dd[100]");
	CHECK(param(e, "mb_s")->number > 45 && param(e, "mb_s")->number < 55);
	CHECK_STR(param(e, "dev")->text, "sda");
	CHECK_EQ(param(e, "util")->number, 90);
	CHECK(param(e, "await_ms")->number > 100);
	check_sentence(e);
	h.share[STALL_IO] = 0;
	h.util = h.queue = 0;
	e = stall_until(&h, 10);
	CHECK(e && !e->going_on);
	quiet(&h, MINUTE);
	stall_host_close(&h);
}

TEST(the_process_that_fills_memory_is_named_with_its_cgroup_and_limit)
{
	struct stall_host h;
	struct stall_proc *leak, *cache;
	const struct event_item *e;

	stall_host_open(&h);
	leak = stall_host_start(&h, 100, "leak");
	leak->cgroup = "/box";
	cache = stall_host_start(&h, 70, "cache");
	cache->rss = 900 * MB; /* large, but idle */
	quiet(&h, 10);
	leak->grows = 30 * MB;
	h.share[STALL_MEMORY] = 0.3;
	e = stall_until(&h, 3);
	CHECK(e != NULL);
	if (!e)
		return;
	CHECK_STR(e->kind, "mem.stall");
	CHECK_STR(param(e, "who")->text, "leak[100]");
	CHECK_STR(param(e, "cgroup")->text, "/box");
	CHECK_EQ(param(e, "used_mb")->number, 99);
	CHECK_EQ(param(e, "limit_mb")->number, 100);
	check_sentence(e);
	stall_host_close(&h);
}

TEST(a_process_that_started_and_ended_in_between_is_named_too)
{
	struct stall_host h;
	struct stall_proc *dd;
	const struct event_item *e;

	stall_host_open(&h);
	h.share[STALL_IO] = 0.8;
	stall_tick(&h);
	dd = stall_host_start(&h, 100, "dd");
	dd->written = 50 * MB;
	e = stall_until(&h, 3);
	CHECK_STR(param(e, "who")->text, "dd[100]");
	for (int i = 0; i < 10; i++)
		stall_tick(&h);
	stall_host_end(&h, dd);
	for (int i = 0; i < 10; i++)
		stall_tick(&h);
	h.share[STALL_IO] = 0;
	e = stall_until(&h, 10);
	CHECK_STR(param(e, "who")->text, "dd");
	stall_host_close(&h);
}

TEST(a_host_without_pressure_information_says_how_to_boot_it)
{
	char why[WHY_LEN] = "", dir[] = "/tmp/seismo-nopsi.XXXXXX";
	const struct probe_config config = { .io_stall_pct = 30 };
	const struct probe_env env = {
		.procfs = dir, .sysfs = "/sys", .config = &config, .why = why
	};
	void *self = calloc(1, source_stalls.size);

	CHECK(mkdtemp(dir) != NULL);
	CHECK(source_stalls.open(self, &env) < 0);
	CHECK(strstr(why, "psi=1") != NULL);
	source_stalls.close(self);
	rmdir(dir);
	free(self);
}

TEST(a_disabled_stall_kind_is_not_read)
{
	char why[WHY_LEN] = "";
	const struct probe_config config = { .io_stall_pct = 0 };
	const struct probe_env env = {
		.procfs = "/nonexistent", .sysfs = "/sys", .config = &config, .why = why
	};
	void *self = calloc(1, source_stalls.size);

	CHECK(source_stalls.open(self, &env) < 0);
	CHECK(strstr(why, "turned off") != NULL);
	source_stalls.close(self);
	free(self);
}
