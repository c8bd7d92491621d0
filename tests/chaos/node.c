// SPDX-License-Identifier: Apache-2.0
/*
 * node.c - the part of a probe that delivers, with batches of its own making: for `make chaos`.
 *
 * node URLS NAME SPOOL PER_S LOG KEYS COLLECTOR_PUB TOKEN: one event batch of one request a time,
 * whose path is /EPOCH/SEQ, until SIGTERM; then it goes when all are stored. With METRICS=N in its
 * environment each is followed by N metric batches, whose paths are /EPOCH/m/SEQ; DISK and MEMORY
 * are caps in kB. LOG has a line "EPOCH SEQ" of the last batch of each epoch that is acked or
 * dropped, and "EPOCH FROM TO" of what is dropped, as its caps cannot hold it; it is appended to,
 * never read.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/daemon/service_manager.h"
#include "lib/spool/spool_queue.h"
#include "lib/uplink/uplink.h"
#include "tests/tools/fake_items.h"

enum { MEMORY = 1 << 20, DISK = 64 << 20, MADE_MS = 10 };

struct node {
	struct loop *loop;
	struct spool *spool;
	struct endpoints at;
	struct keyring keys;
	struct uplink *uplink;
	uint64_t epoch, per_s, made, began_ns;
	uint64_t metrics, made_metrics;
	uint64_t told_epoch, told_seq;
	int log, signals;
	bool leaving;
	struct buf body;
};

static void on_fresh(void *arg UNUSED)
{
}

static void log_line(struct node *n, const char *line)
{
	const size_t len = strlen(line);

	if (write(n->log, line, len) != (ssize_t)len)
		die("the log cannot be written");
}

static void print_counts(struct node *n)
{
	uint64_t epoch = spool_epoch(n->spool), seq = spool_base(n->spool, STREAM_EVENT) - 1;
	char line[64];

	if (epoch == n->told_epoch && seq == n->told_seq)
		return;
	n->told_epoch = epoch;
	n->told_seq = seq;
	snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 "\n", epoch, seq);
	log_line(n, line);
}

static void tell_dropped(struct node *n, uint64_t epoch, uint64_t from, uint64_t to)
{
	char line[96];

	if (from > to)
		return;
	snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", epoch, from, to);
	log_line(n, line);
}

/* What memory cannot hold: the youngest run's oldest that no file has, one after the other. */
static void append(struct node *n, const char *path, uint64_t now)
{
	const uint64_t lost = spool_lost(n->spool, STREAM_EVENT).batches;
	const struct spool_queue *q = &n->spool->back->queue[STREAM_EVENT];
	uint64_t end;

	buf_reset(&n->body);
	put_request(&n->body, "chaos", path, now);
	if (spool_append(n->spool, STREAM_EVENT, now, 1, n->body.data, n->body.len) != n->made)
		die("a batch has another number than its path");
	end = q->unwritten ? q->unwritten->record.seq : q->next_seq;
	tell_dropped(n, n->spool->back->id.epoch,
		     end - (spool_lost(n->spool, STREAM_EVENT).batches - lost), end - 1);
}

/* What the files may not hold: the oldest run's oldest. */
static void keep(struct node *n)
{
	const uint64_t base = spool_base(n->spool, STREAM_EVENT);

	spool_keep(n->spool, clock_mono_ns());
	tell_dropped(n, spool_epoch(n->spool), base, spool_base(n->spool, STREAM_EVENT) - 1);
}

static void make_metrics(struct node *n)
{
	for (uint64_t i = 0; i < n->metrics; i++) {
		uint64_t now = clock_wall_ns();
		char path[48];

		snprintf(path, sizeof(path), "/%" PRIu64 "/m/%" PRIu64, n->epoch,
			 ++n->made_metrics);
		buf_reset(&n->body);
		put_request(&n->body, "chaos", path, now);
		if (spool_append(n->spool, STREAM_METRIC, now, 1, n->body.data, n->body.len) !=
		    n->made_metrics)
			die("a metric batch has another number than its path");
	}
}

static void make_one(struct node *n)
{
	char path[48];

	snprintf(path, sizeof(path), "/%" PRIu64 "/%" PRIu64, n->epoch, ++n->made);
	append(n, path, clock_wall_ns());
	make_metrics(n);
}

static int on_make(void *arg)
{
	struct node *n = arg;
	uint64_t due = (clock_mono_ns() - n->began_ns) / 1000 * n->per_s / 1000000;

	while (!n->leaving && n->made < due)
		make_one(n);
	uplink_send(n->uplink);
	return 0;
}

static int on_tick(void *arg)
{
	struct node *n = arg;

	keep(n);
	print_counts(n);
	if (n->leaving && spool_batches(n->spool) == 0)
		loop_stop(n->loop);
	return uplink_tick(n->uplink);
}

static int on_alive(void *arg UNUSED)
{
	service_manager_alive();
	return 0;
}

static int on_signal(void *arg)
{
	struct node *n = arg;

	n->leaving = true;
	return 0;
}

static void watch_signals(struct node *n)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	n->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	loop_add_fd(n->loop, n->signals, on_signal, n);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 10) : otherwise;
}

int main(int argc, char *argv[])
{
	const size_t disk = setting("DISK", DISK >> 10) << 10;
	struct node n = { .loop = loop_new(),
			  .spool = spool_new(setting("MEMORY", MEMORY >> 10) << 10),
			  .metrics = setting("METRICS", 0) };
	char err[256] = "not tcp://host:port";
	uint32_t left;
	int damaged;

	log_init("node", LOG_INFO);
	service_manager_open();
	if (argc != 9)
		die("usage: node URLS NAME SPOOL PER_S LOG KEYS COLLECTOR_PUB TOKEN");
	if (endpoints_parse(argv[1], &n.at) < 0 ||
	    keyring_open(&n.keys, &(struct keyring_config){ argv[6], argv[7], argv[8] }, err,
			 sizeof(err)) < 0)
		die("%s: %s", argv[1], err);
	n.epoch = spool_epoch(n.spool); /* before what an earlier process left comes first */
	n.per_s = strtoull(argv[4], NULL, 10);
	n.log = open(argv[5], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (n.log < 0 || spool_open_disk(n.spool, argv[3], disk, &left, &damaged) < 0)
		die("%s or %s cannot be used: %s", argv[3], argv[5], strerror(errno));
	spool_keep(n.spool, clock_mono_ns());
	watch_signals(&n);
	if (uplink_open(&n.uplink, &(struct uplink_config){ .node = argv[2],
							    .machine = "chaos",
							    .version = "chaos",
							    .collectors = &n.at,
							    .keys = &n.keys,
							    .spool_where = "on disk",
							    .spool_mb = DISK >> 20,
							    .spool = n.spool,
							    .loop = n.loop,
							    .on_fresh = on_fresh }) < 0)
		die("%s cannot be connected to", argv[1]);
	n.began_ns = clock_mono_ns();
	if (service_manager_alive_ms())
		loop_add_timer(n.loop, service_manager_alive_ms(), on_alive, &n);
	loop_add_timer(n.loop, MADE_MS, on_make, &n);
	loop_add_timer(n.loop, UPLINK_TICK_MS, on_tick, &n);
	loop_run(n.loop);
	print_counts(&n);
	uplink_close(n.uplink);
	spool_free(n.spool);
	loop_free(n.loop);
	buf_free(&n.body);
	return 0;
}
