// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/reason.h"
#include "probe/request/explain/verdict.h"
#include "tests/lib/test.h"

static struct verdict_text text;
static struct part_baseline_part usual[PART_END];
static struct verdict_facts f;
static struct request_item r;

/* A request of ms milliseconds, all on a CPU, on a route that normally takes 10. */
static void begin(uint64_t ms)
{
	const uint8_t ip[4] = { 10, 0, 0, 9 };

	memset(usual, 0, sizeof(usual));
	usual[PART_CPU].p50_us = 10000;
	f = (struct verdict_facts){ .usual = usual, .split = { .measured = true } };
	r = (struct request_item){ .app = "shop",
				   .status = 200,
				   .request_us = ms * 1000,
				   .normal_us = 10000,
				   .limit_us = 30000,
				   .bytes_in = 100,
				   .bytes_out = 500,
				   .remote = addr_make(ip, 4, 999),
				   .local = addr_make(ip, 4, 80) };
}

static void part(enum part p, uint64_t ms)
{
	f.split.us[p] = ms * 1000;
}

static const char *reason(void)
{
	verdict_find(&r, &f, &text);
	verdict_check(&r, &f);
	return reason_find(r.reason)->code;
}

static const struct param *param_of(const char *key)
{
	static const struct param none = { .text = "(no such parameter)", .number = -1 };

	for (uint32_t i = 0; i < r.nparams; i++)
		if (strcmp(r.params[i].key, key) == 0)
			return &r.params[i];
	return &none;
}

static bool says_all(void)
{
	const char *s = reason_find(r.reason)->en;

	while ((s = strchr(s, '{'))) {
		char key[32] = "";

		sscanf(s++, "{%31[a-z_]}", key);
		if (param_of(key)->number == -1)
			return false;
	}
	return true;
}

static void call(uint64_t start_ms, uint64_t ms)
{
	const uint8_t ip[4] = { 10, 0, 0, 7 };

	r.ups[r.nups++] = (struct up_item){ .addr = addr_make(ip, 4, 80),
					    .status = 200,
					    .start_us = start_ms * 1000,
					    .response_us = ms * 1000 };
}

/* NULL: not listed; "": ruled out. */
static const char *check_of(const char *code)
{
	for (uint32_t i = 0; i < r.nchecks; i++)
		if (strcmp(reason_find(r.checks[i].reason)->code, code) == 0)
			return r.checks[i].why ? r.checks[i].why : "";
	return NULL;
}

TEST(each_part_that_is_most_of_the_excess_is_a_reason_with_all_its_parameters)
{
	static const struct {
		enum part p;
		const char *code;
	} all[] = {
		{ PART_QUEUE, "queue.app" },
		{ PART_POOL, "queue.pool" },
		{ PART_CPU, "cpu.own" },
		{ PART_RUNQ, "cpu.wait" },
		{ PART_THROTTLED, "cpu.throttled" },
		{ PART_IO, "io.block" },
		{ PART_DIRTY, "io.dirty" },
		{ PART_FAULT, "mem.fault" },
		{ PART_RECLAIM, "mem.reclaim" },
		{ PART_LOCK, "lock" },
		{ PART_SLEEP, "sleep" },
		{ PART_STOPPED, "stopped" },
		{ PART_NET, "net.wait" },
		{ PART_UPSTREAM, "up.slow" },
		{ PART_LOOP, "loop.busy" },
		{ PART_CLIENT, "client.slow" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		begin(200);
		part(PART_CPU, 10);
		part(PART_OTHER, 80);
		part(all[i].p, 110);
		if (all[i].p == PART_UPSTREAM)
			call(0, 110);
		CHECK_STR(reason(), all[i].code);
		CHECK(param_of("ms")->number == 110);
		CHECK(param_of("total_ms")->number == 200);
		CHECK(says_all());
	}
}

TEST(a_part_below_half_of_the_excess_is_no_reason)
{
	begin(210);
	part(PART_CPU, 10);
	part(PART_IO, 99);
	part(PART_OTHER, 101);
	CHECK_STR(reason(), "unknown");
	part(PART_IO, 100);
	part(PART_OTHER, 100);
	CHECK_STR(reason(), "io.block");
}

TEST(unattributed_time_is_no_reason)
{
	begin(200);
	part(PART_CPU, 10);
	part(PART_OTHER, 190);
	CHECK_STR(reason(), "unknown");
}

TEST(the_largest_share_is_not_the_reason_where_it_is_usual)
{
	begin(300);
	r.normal_us = 200000;
	usual[PART_CPU].p50_us = 190000;
	part(PART_CPU, 195);
	part(PART_LOCK, 90);
	part(PART_OTHER, 15);
	CHECK_STR(reason(), "lock");
}

TEST(a_part_that_varies_by_itself_gives_way_to_one_that_does_not)
{
	begin(220);
	r.normal_us = 100000;
	usual[PART_UPSTREAM] = (struct part_baseline_part){ .p50_us = 50000, .iqr_us = 60000 };
	usual[PART_CPU] = (struct part_baseline_part){ .p50_us = 10000 };
	call(0, 110);
	part(PART_UPSTREAM, 115);
	part(PART_CPU, 75);
	CHECK_STR(reason(), "cpu.own");
}

TEST(on_an_unknown_route_all_of_the_time_counts)
{
	begin(400);
	r.normal_us = 0;
	part(PART_SLEEP, 300);
	part(PART_CPU, 100);
	CHECK_STR(reason(), "sleep");
}

TEST(culprits_are_named_and_unknown_facts_say_so)
{
	begin(200);
	part(PART_IO, 190);
	f.culprit[PART_IO] =
		(struct culprit_names){ .call = "fsync", .file = "/a/wal", .dev = "vda" };
	CHECK_STR(reason(), "io.block");
	CHECK_STR(param_of("call")->text, "fsync");
	CHECK_STR(param_of("file")->text, "/a/wal");
	CHECK_STR(param_of("dev")->text, "vda");
	begin(200);
	part(PART_RUNQ, 190);
	CHECK_STR(reason(), "cpu.wait");
	CHECK_STR(param_of("who")->text, "an unknown process");
	f.culprit[PART_RUNQ].who = "stress[7]";
	CHECK_STR(reason(), "cpu.wait");
	CHECK_STR(param_of("who")->text, "stress[7]");
	begin(200);
	part(PART_THROTTLED, 190);
	f.culprit[PART_THROTTLED].cgroup = "/a.slice";
	CHECK_STR(reason(), "cpu.throttled");
	CHECK_STR(param_of("cgroup")->text, "/a.slice");
}

TEST(a_queue_is_the_accept_queues_only_when_that_was_full)
{
	begin(10);
	r.queue_us = 190000;
	part(PART_QUEUE, 190);
	part(PART_CPU, 10);
	CHECK_STR(reason(), "queue.app");
	CHECK(strstr(check_of("queue.accept"), "not watched") != NULL);
	f.accept_known = true;
	CHECK_STR(reason(), "queue.app");
	CHECK_STR(check_of("queue.accept"), "");
	f.accept_full = true;
	CHECK_STR(reason(), "queue.accept");
	CHECK(says_all());
}

TEST(loss_towards_the_client_is_the_reason_if_it_can_have_cost_that_much)
{
	begin(250);
	part(PART_CLIENT, 230);
	f.net.lost[REQ_LOSS_RTO] = 1;
	CHECK_STR(reason(), "net.loss");
	CHECK_STR(param_of("kind")->text, "rto");
	CHECK_STR(param_of("peer")->text, "10.0.0.9:999");
	CHECK(param_of("count")->number == 1);
	CHECK(says_all());
	f.net.lost[REQ_LOSS_RTO] = 0;
	f.net.lost[REQ_LOSS_FAST] = 1; /* costs a few ms, not 200 */
	CHECK_STR(reason(), "client.slow");
	CHECK(!check_of("net.loss")); /* not ruled out either */
}

TEST(loss_towards_an_upstream_is_not_the_upstreams_slowness)
{
	begin(250);
	call(0, 230);
	part(PART_UPSTREAM, 230);
	CHECK_STR(reason(), "up.slow");
	CHECK_STR(param_of("addr")->text, "10.0.0.7:80");
	CHECK_STR(check_of("net.loss"), "");
	f.up_net.lost[REQ_LOSS_RTO] = 1;
	f.up_net.lost[REQ_LOSS_TLP] = 1;
	CHECK_STR(reason(), "net.loss");
	CHECK_STR(param_of("kind")->text, "rto, tlp");
	CHECK_STR(param_of("peer")->text, "10.0.0.7:80");
}

TEST(a_lost_syn_is_recognised_by_the_second_it_costs)
{
	begin(1050);
	call(0, 1040);
	part(PART_UPSTREAM, 1040);
	f.up_net.lost[REQ_LOSS_SYN] = 1;
	r.ups[0].connect_us = 1003000;
	CHECK_STR(reason(), "net.loss");
	CHECK_STR(param_of("kind")->text, "syn");
	begin(3050);
	call(0, 3040);
	part(PART_UPSTREAM, 3040);
	f.up_net.lost[REQ_LOSS_SYN] = 1;
	r.ups[0].connect_us = 1003000; /* and two more seconds for the answer */
	CHECK_STR(reason(), "up.slow");
}

TEST(a_closed_window_is_the_peers_and_a_full_send_buffer_is_ours)
{
	begin(250);
	part(PART_CLIENT, 230);
	CHECK_STR(reason(), "client.slow");
	CHECK_STR(check_of("net.peer_window"), "");
	f.net.rwnd_us = 200000;
	CHECK_STR(reason(), "net.peer_window");
	CHECK(param_of("ms")->number == 200);
	CHECK(says_all());
	f.net.rwnd_us = 0;
	f.net.sndbuf_us = 200000;
	CHECK_STR(reason(), "net.sndbuf");
	CHECK(says_all());
}

TEST(round_trips_are_the_reason_when_the_bytes_need_that_many)
{
	begin(250);
	r.srtt_us = 100000;
	r.bytes_out = 100000; /* three rounds of slow start; the last is not waited for */
	part(PART_CLIENT, 230);
	CHECK_STR(reason(), "net.rtt");
	CHECK(says_all());
	r.bytes_out = 10000;
	CHECK_STR(reason(), "client.slow");
	begin(450);
	call(0, 430);
	part(PART_UPSTREAM, 430);
	r.ups[0].srtt_us = 200000; /* one round trip to connect, one for the request */
	CHECK_STR(reason(), "net.rtt");
	r.ups[0].flags = UP_REUSED;
	CHECK_STR(reason(), "up.slow");
}

TEST(every_cause_is_ruled_out_or_unchecked_or_has_its_share)
{
	begin(200);
	part(PART_CPU, 12);
	part(PART_SLEEP, 150);
	part(PART_RUNQ, 28); /* more than a tenth, not enough for a reason */
	part(PART_OTHER, 10);
	CHECK_STR(reason(), "sleep");
	CHECK_STR(check_of("io.block"), "");
	CHECK_STR(check_of("cpu.own"), ""); /* as usual */
	CHECK_STR(check_of("net.loss"), "");
	CHECK(!check_of("sleep"));
	CHECK(!check_of("cpu.wait"));
	CHECK_EQ(r.nchecks, 19);
}

TEST(unmeasured_causes_are_not_ruled_out)
{
	begin(400);
	f.split.measured = false;
	part(PART_OTHER, 400);
	CHECK_STR(reason(), "unknown");
	CHECK(strstr(check_of("lock"), "were not measured") != NULL);
	CHECK(strstr(check_of("cpu.wait"), "were not measured") != NULL);
	f.unwatched = true;
	CHECK_STR(reason(), "unknown");
	CHECK(strstr(check_of("lock"), "scheduler") != NULL);
	CHECK_STR(check_of("queue.app"), "");
	r.flags = REQUEST_UPSTREAM_UNKNOWN;
	CHECK_STR(reason(), "unknown");
	CHECK(strstr(check_of("up.slow"), "upstream calls") != NULL);
	CHECK(strstr(check_of("net.loss"), "upstream calls") != NULL);
	f.no_clock = true;
	CHECK_STR(reason(), "unknown");
	CHECK(strstr(check_of("queue.app"), "clock") != NULL);
}

TEST(a_unix_socket_has_no_network_to_rule_out)
{
	begin(400);
	r.remote = r.local = (struct addr){ 0 };
	part(PART_SLEEP, 390);
	CHECK_STR(reason(), "sleep");
	CHECK(strstr(check_of("net.loss"), "Unix") != NULL);
	CHECK(strstr(check_of("net.peer_window"), "Unix") != NULL);
	CHECK(strstr(check_of("queue.app"), "Unix") != NULL);
}

TEST(no_loss_is_claimed_where_the_kernel_lost_records_or_any_counter_moved)
{
	begin(400);
	part(PART_SLEEP, 390);
	CHECK_STR(reason(), "sleep");
	CHECK_STR(check_of("net.loss"), "");
	f.lossy = true;
	CHECK_STR(reason(), "sleep");
	CHECK(strstr(check_of("net.loss"), "lost") != NULL);
	f.lossy = false;
	r.rcv_ooo = 1;
	CHECK_STR(reason(), "sleep");
	CHECK(!check_of("net.loss"));
}

TEST(a_fast_failure_has_no_slow_part_to_check)
{
	begin(5);
	r.status = 500;
	part(PART_CPU, 5);
	CHECK_STR(reason(), "app.error");
	CHECK_EQ(r.nchecks, 1);
	CHECK_STR(check_of("net.loss"), "");
}
