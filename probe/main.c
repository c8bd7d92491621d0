// SPDX-License-Identifier: Apache-2.0
/* main.c - seismo-probe: opens the sources, reads each on its own period, sends the results. */
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/config/config_doc.h"
#include "lib/base/log.h"
#include "lib/daemon/service_manager.h"
#include "lib/daemon/signals.h"
#include "lib/daemon/state_file.h"
#include "probe/doctor/doctor.h"
#include "probe/overhead/memory_trim.h"
#include "probe/core/layout.h"
#include "probe/foreign/foreign.h"
#include "probe/procfs/machine_id.h"
#include "probe/sandbox/privilege.h"
#include "probe/core/source_scheduler.h"
#include "probe/sandbox/seccomp.h"
#include "probe/source/sources.h"
#include "lib/uplink/uplink.h"

#define MS 1000000ull

enum {
	METRIC_TICK_MS = 2000,
	CALM_TICK_MS = 500,
	COST_TICK_MS = 10000,
	FAREWELL_MS = 500,
	SHRINK_COSTS = 6, /* cost reports between two memory trims: a minute */
};

struct probe {
	struct probe_config config;
	char machine[MACHINE_ID];
	struct loop *loop;
	struct sources *sources;
	struct source_scheduler *scheduler;
	struct sink sink;
	struct spool *spool;
	struct endpoints collectors;
	struct keyring keys;
	struct uplink *uplink;
	const struct wire_dict *layouts[UPLINK_LAYOUTS];
	size_t nlayouts;
	uint64_t reported_lost[DELIVERY_END]; /* losses already reported to the collector */
	uint64_t reported_refused[FOREIGN_KINDS]; /* files of others */
	struct state_file refused; /* their programs, for the doctor */
	uint64_t leave_ns; /* not 0: shutting down, at the latest at this time */
	int uplink_timer;
	uint32_t cost_reports; /* number of cost reports */
	bool calm; /* connected, and nothing to send */
	bool met; /* the collector has been connected once */
	uint32_t spool_removals; /* of its directory, as logged last */
	int disk_error; /* of the spool, as logged last */
};

static void on_seal(void *arg, enum wire_stream stream)
{
	struct probe *p = arg;
	struct buf *body = stream == STREAM_EVENT ? &p->sink.event : &p->sink.metric;
	uint64_t *rows = stream == STREAM_EVENT ? &p->sink.requests : &p->sink.samples;

	if (body->len == 0)
		return;
	spool_append(p->spool, stream, clock_wall_ns(), (uint32_t)*rows, body->data, body->len);
	buf_reset(body);
	*rows = 0;
	uplink_send(p->uplink);
}

static enum source_pace on_read(void *arg, size_t source)
{
	struct probe *p = arg;
	enum source_pace pace;

	if (p->leave_ns)
		return SOURCE_RESTS;
	pace = sources_read(p->sources, source, &p->sink);
	on_seal(p, STREAM_EVENT);
	return pace;
}

/* Only while connected: the spool could drop the report itself while the collector is away. */
static void report_lost(struct probe *p)
{
	const struct spool_lost event = spool_lost(p->spool, STREAM_EVENT);
	const struct spool_lost metric = spool_lost(p->spool, STREAM_METRIC);
	const uint64_t lost[DELIVERY_END] = {
		[DELIVERY_BATCHES_LOST] = event.batches + metric.batches,
		[DELIVERY_REQUESTS_LOST] = event.rows,
		[DELIVERY_SAMPLES_LOST] = metric.rows,
	};
	double v[DELIVERY_END];

	if (!uplink_up(p->uplink))
		return;
	for (int i = 0; i < DELIVERY_END; i++) {
		v[i] = (double)(lost[i] - p->reported_lost[i]);
		p->reported_lost[i] = lost[i];
	}
	sink_sample(&p->sink, &(struct sample_item){ layout_delivery.layout, "", DELIVERY_END, v });
}

static int on_metric_tick(void *arg)
{
	struct probe *p = arg;

	report_lost(p);
	on_seal(p, STREAM_METRIC);
	return 0;
}

/* The doctor, which is another process, shows the programs. */
static void write_refused(struct probe *p)
{
	struct buf text = { 0 };

	if (p->refused.dir < 0)
		return;
	foreign_list_refused(&text);
	(void)!state_file_write(&p->refused, &text, false);
	buf_free(&text);
}

static void report_refused(struct probe *p)
{
	static const enum foreign_kind kinds[FOREIGN_END] = {
		[FOREIGN_ELF] = FOREIGN_CODE,
		[FOREIGN_PERF_MAPS] = FOREIGN_PERF_MAP,
		[FOREIGN_MAPPINGS] = FOREIGN_MAPS,
		[FOREIGN_DESCRIPTORS] = FOREIGN_FILES,
	};
	double files[FOREIGN_END] = { 0 };

	for (int i = FOREIGN_REFUSED + 1; i < FOREIGN_END; i++) {
		uint64_t *reported = &p->reported_refused[kinds[i]];

		files[i] = (double)(foreign_refused_of(kinds[i]) - *reported);
		files[FOREIGN_REFUSED] += files[i];
		*reported = foreign_refused_of(kinds[i]);
	}
	sink_sample(&p->sink,
		    &(struct sample_item){ layout_foreign.layout, "", FOREIGN_END, files });
	if (files[FOREIGN_REFUSED] > 0)
		write_refused(p);
}

static void report_loop(struct probe *p)
{
	struct loop_turn longest = loop_take_longest(p->loop);
	const double turn[LOOP_END] = { [LOOP_LONGEST] = (double)longest.ns / 1e9,
					[LOOP_LONGEST_CPU] = (double)longest.cpu_ns / 1e9 };

	sink_sample(&p->sink, &(struct sample_item){ layout_loop.layout, "", LOOP_END, turn });
}

static int on_alive_tick(void *arg UNUSED)
{
	service_manager_alive();
	return 0;
}

static int on_cost_tick(void *arg)
{
	struct probe *p = arg;

	report_loop(p);
	report_refused(p);
	sources_send_cost(p->sources, &p->sink);
	if (++p->cost_reports % SHRINK_COSTS == 1)
		memory_trim_shrink();
	return 0;
}

static int on_watch(void *arg)
{
	struct probe *p = arg;

	sources_watch(p->sources, &p->sink);
	on_seal(p, STREAM_EVENT);
	return 0;
}

/* The collector has lost its state, so it needs the states of the sources again. */
static void on_fresh(void *arg)
{
	struct probe *p = arg;

	sources_send_states(p->sources, &p->sink);
	on_seal(p, STREAM_EVENT);
}

static void on_clock(void *arg, const struct clock_item *c)
{
	struct probe *p = arg;

	sink_clock(&p->sink, c);
	on_seal(p, STREAM_EVENT);
}

static void maintain_spool(struct probe *p)
{
	int r;

	spool_keep(p->spool, clock_mono_ns());
	if (spool_disk_removals(p->spool) != p->spool_removals)
		log_warn(0,
			 "the spool directory %s was removed: it was made again, and batches that "
			 "were only there are lost",
			 p->config.spool);
	p->spool_removals = spool_disk_removals(p->spool);
	r = spool_disk_error(p->spool);
	if (r == p->disk_error)
		return;
	p->disk_error = r;
	if (r)
		log_warn(r,
			 "cannot write to the spool in %s: keeping up to %lld MB in memory; "
			 "retrying "
			 "each minute",
			 p->config.spool, (long long)p->config.spool_mb);
	else
		log_info("the spool in %s is writable again", p->config.spool);
}

/* Ticks less often while there is nothing to send: new batches and answers wake the loop anyway. */
static void set_uplink_pace(struct probe *p)
{
	bool calm = !p->leave_ns && uplink_up(p->uplink) && !spool_batches(p->spool);

	if (calm != p->calm)
		loop_set_timer(p->loop, p->uplink_timer, calm ? CALM_TICK_MS : UPLINK_TICK_MS);
	p->calm = calm;
}

static int on_uplink_tick(void *arg)
{
	struct probe *p = arg;

	maintain_spool(p);
	if (!p->met && uplink_up(p->uplink)) {
		p->met = true;
		log_info("node %s sends to the collector at %s", p->config.node,
			 uplink_where(p->uplink));
	}
	if (p->leave_ns && (spool_batches(p->spool) == 0 || clock_mono_ns() >= p->leave_ns))
		loop_stop(p->loop);
	set_uplink_pace(p);
	return uplink_tick(p->uplink);
}

static void read_all(struct probe *p)
{
	for (size_t i = 0; i < sources_count(); i++)
		sources_read(p->sources, i, &p->sink);
	on_seal(p, STREAM_EVENT);
}

/* A last read, then FAREWELL_MS for the collector to store it, unless the collector is away. */
static int on_signal(void *arg)
{
	struct probe *p = arg;

	if (p->leave_ns)
		return 0;
	read_all(p);
	on_metric_tick(p);
	p->leave_ns = clock_mono_ns() + FAREWELL_MS * MS;
	set_uplink_pace(p);
	if (!uplink_up(p->uplink))
		loop_stop(p->loop);
	return 0;
}

/* Without a usable directory the spool is kept in memory, and the probe continues. */
static void open_spool(struct probe *p, struct uplink_config *up)
{
	const char *dir = p->config.spool;
	uint32_t left = 0;
	int damaged = 0, r;

	p->spool = spool_new((size_t)p->config.spool_mb << 20);
	up->spool = p->spool;
	up->nlayouts = p->nlayouts;
	up->spool_mb = (size_t)p->config.spool_mb;
	up->spool_where = "in memory";
	if (!*dir)
		return;
	r = spool_open_disk(p->spool, dir, (size_t)p->config.spool_disk_mb << 20, &left, &damaged);
	if (r < 0) {
		log_warn(r, "%s cannot be the spool%s: unsent batches are kept in memory only", dir,
			 r == -EBUSY ? ", as another probe uses it" : "");
		return;
	}
	up->spool_mb = (size_t)p->config.spool_disk_mb;
	up->spool_where = "on disk";
	spool_use_dicts(p->spool, p->layouts, p->nlayouts);
	spool_keep(p->spool, clock_mono_ns());
	if (damaged)
		log_warn(0, "%d files in %s had a damaged end, which is lost", damaged, dir);
	if (left)
		log_info("%u batches of the last run are sent first, from %s", left, dir);
}

static int open_keys(struct probe *p)
{
	const struct keyring_config cfg = { .dir = p->config.keys,
					    .collector_key = p->config.collector_key,
					    .token = p->config.token };
	char err[512] = "option collector names no collector";
	int r = endpoints_parse(p->config.collector, &p->collectors);

	if (r == 0)
		r = keyring_open(&p->keys, &cfg, err, sizeof(err));
	return r < 0 ? log_err(0, "%s", err), r : 0;
}

static void open_refused(struct probe *p)
{
	char path[sizeof(p->config.state) + sizeof(FOREIGN_REFUSED_FILE)];

	p->refused.dir = -1;
	if (!p->config.state[0])
		return;
	snprintf(path, sizeof(path), "%s" FOREIGN_REFUSED_FILE, p->config.state);
	if (state_file_open(&p->refused, path) < 0)
		p->refused.dir = -1;
	write_refused(p); /* in place of that of the last run */
}

static int drop_privileges(void)
{
	int r = privilege_drop();

	if (r < 0)
		return log_err(r, "cannot drop privileges");
	r = seccomp_enter();
	if (r < 0)
		log_warn(r, "cannot install the system call filter: the probe runs without it; "
			    "\"seismo-probe doctor\" shows whether this kernel supports filters");
	return 0;
}

/* In this order: opening sources needs privileges, and the threads of ZeroMQ must have none. */
static int open_probe(struct probe *p)
{
	const struct wire_dict *const own[] = { &layout_delivery, &layout_process, &layout_cost,
						&layout_loop, &layout_foreign };
	char why[WHY_LEN];
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = "/sys", .config = &p->config, .why = why
	};
	struct uplink_config up = { .node = p->config.node,
				    .machine = p->machine,
				    .version = PROBE_VERSION,
				    .collectors = &p->collectors,
				    .keys = &p->keys,
				    .layouts = p->layouts,
				    .loop = p->loop,
				    .on_fresh = on_fresh,
				    .on_clock = on_clock,
				    .arg = p };
	int r = open_keys(p);

	if (r < 0)
		return r;
	machine_id_read(p->machine);
	sources_use(p->config.programs);
	open_refused(p);
	p->sources = sources_open(&env);
	r = drop_privileges();
	if (r < 0)
		return r;
	p->nlayouts = sources_layouts(p->layouts, UPLINK_LAYOUTS - ARRAY_SIZE(own));
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		p->layouts[p->nlayouts++] = own[i];
	open_spool(p, &up);
	r = uplink_open(&p->uplink, &up);
	if (r < 0)
		return log_err(r, "cannot connect to collector %s", p->config.collector);
	return 0;
}

static void add_timers(struct probe *p)
{
	p->scheduler = source_scheduler_begin(p->loop, on_read, p);
	for (size_t i = 0; i < sources_count(); i++)
		if (sources_on(p->sources, i))
			source_scheduler_add(p->scheduler, i, sources_at(i),
					     sources_wakes(p->sources, i));
	loop_add_timer(p->loop, METRIC_TICK_MS, on_metric_tick, p);
	loop_add_timer(p->loop, COST_TICK_MS, on_cost_tick, p);
	loop_add_timer(p->loop, sources_watch_ms(p->sources), on_watch, p);
	if (service_manager_alive_ms())
		loop_add_timer(p->loop, service_manager_alive_ms(), on_alive_tick, p);
	p->uplink_timer = loop_add_timer(p->loop, UPLINK_TICK_MS, on_uplink_tick, p);
}

static void close_probe(struct probe *p)
{
	uplink_close(p->uplink);
	sources_close(p->sources);
	spool_free(p->spool);
	sources_forget(); /* after the spool, which uses their layouts */
	buf_free(&p->sink.event);
	buf_free(&p->sink.metric);
	state_file_close(&p->refused);
	loop_free(p->loop);
	source_scheduler_free(p->scheduler);
}

static int run(struct probe *p)
{
	int r = open_probe(p);

	if (r < 0)
		return r;
	p->sink.on_full = on_seal;
	p->sink.arg = p;
	sources_send_states(p->sources, &p->sink);
	read_all(p); /* the base of the counters' deltas */
	add_timers(p);
	memory_trim_shrink();
	service_manager_ready();
	r = loop_run(p->loop);
	if (!spool_batches(p->spool))
		return r;
	if (spool_keep_all(p->spool) == 0)
		log_info("%u batches were not delivered to %s: the next start sends them, from %s",
			 spool_batches(p->spool), p->config.collector, p->config.spool);
	else
		log_warn(0, "%u batches were not delivered to %s and are lost",
			 spool_batches(p->spool), p->config.collector);
	return r;
}

static int print_help(const char *format)
{
	if (config_doc_print(&probe_program, NULL, 0, format, stdout) == 0)
		return EXIT_SUCCESS;
	log_err(0, "--help=%s: " CONFIG_DOC_FORMATS " is allowed", format);
	return EXIT_FAILURE;
}

/* Every task but PROBE_RUN: returns the exit status. */
static int do_task(enum probe_task task, const struct probe_config *c)
{
	switch (task) {
	case PROBE_RUN:
		break;
	case PROBE_DOCTOR:
		return doctor_run(c);
	case PROBE_CHECK:
		printf("seismo-probe: the configuration is good: node %s, collector %s\n", c->node,
		       c->collector);
		break;
	case PROBE_HELP:
		return print_help(c->help);
	case PROBE_PRINT_VERSION:
		printf("seismo-probe %s\n", PROBE_VERSION);
		break;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	struct probe p = { 0 };
	AUTO_CLOSE int sigfd = -1;
	enum probe_task task;
	char err[512];
	int r;

	log_init("seismo-probe", LOG_INFO);
	if (probe_config_read(argc, argv, &p.config, &task, err, sizeof(err)) < 0) {
		log_err(0, "%s", err);
		return EXIT_FAILURE;
	}
	if (task != PROBE_RUN)
		return do_task(task, &p.config);
	service_manager_open();
	sigfd = signals_open();
	p.loop = loop_new();
	loop_add_fd(p.loop, sigfd, on_signal, &p);
	r = run(&p);
	close_probe(&p);
	service_manager_close();
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
