// SPDX-License-Identifier: Apache-2.0
/*
 * src_kmsg.c - the kernel log: lines by level, and an event for lines in schema/def/kmsg.def.
 *
 * Opened before the probe drops its privileges, and read from its end on. Records overwritten
 * before they were read show as a gap in the sequence numbers.
 */
#include <fcntl.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/wire/reason.h"
#include "probe/source/kernel_log/kmsg_fold.h"
#include "probe/core/layout.h"
#include "probe/source/kernel_log/oom_event.h"
#include "probe/core/source.h"
#include "probe/source/kernel_log/kernel_events.h"

enum { AT_A_TIME = 1000 }; /* lines in one read: about 5 ms; the rest waits in the kernel */

#define KERNEL_LOG "/dev/kmsg"
#define TICK_NS (2 * 1000000000ull)
#define BUSY_NS 5000000000ull /* no rest within this time after a line */

struct kmsg_source {
	int fd;
	struct kmsg_fold *fold;
	struct kernel_events *kernel_events;
	struct oom_report oom;
	uint64_t page_bytes;
	uint64_t next_seq; /* 0: not known yet */
	uint64_t read_ns, busy_ns, next_tick_ns;
	uint64_t lines[KLOG_END], lost, withheld; /* since the last tick; withheld: total */
};

static void kmsg_close(void *self)
{
	struct kmsg_source *s = self;

	if (s->kernel_events)
		s->kernel_events->log_watched = false;
	if (s->fold)
		close(s->fd);
	kmsg_fold_free(s->fold);
}

static int kmsg_open(void *self, const struct probe_env *env)
{
	struct kmsg_source *s = self;
	int fd = open(KERNEL_LOG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		snprintf(env->why, WHY_LEN,
			 KERNEL_LOG ": %s; it needs root with CAP_SYSLOG, and in a container the "
				    "host's device",
			 strerror(errno));
		return -errno;
	}
	lseek(fd, 0, SEEK_END);
	s->fd = fd;
	s->read_ns = clock_mono_ns();
	s->fold = kmsg_fold_new();
	s->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	s->kernel_events = env->kernel_events;
	if (s->kernel_events)
		s->kernel_events->log_watched = true;
	return 0;
}

/* The log clock drifts: a line cannot be older than the previous read. */
static uint64_t wall_of(const struct kmsg_source *s, const struct kmsg_line *l, uint64_t now_ns,
			uint64_t wall_ns)
{
	uint64_t at_ns = l->us * 1000, age = now_ns > at_ns ? now_ns - at_ns : 0;

	return age <= now_ns - s->read_ns ? wall_ns - age : wall_ns;
}

/* Hands a hung task over to the source stuck, which adds what it knows of it; true: done. */
static bool pass_hung_task(struct kmsg_source *s, const struct kmsg_found *f)
{
	struct kernel_events *t = s->kernel_events;
	unsigned long tid = strtoul(kmsg_found_word(f, "pid"), NULL, 10);

	if (f->pattern->reason != R_TASK_STUCK || !t || !t->hung_tasks_watched ||
	    t->nhung == KERNEL_EVENTS_HUNG)
		return false;
	t->hung[t->nhung++] = (uint32_t)tid;
	return true;
}

/* Hands a report over to the source oom, which joins it with its record; sends it if oom is off. */
static void pass_oom_report(struct kmsg_source *s, uint64_t now_ns, uint64_t wall_ns,
			    struct sink *out)
{
	struct kernel_events *t = s->kernel_events;

	if (t && t->oom_watched && t->nreports < KERNEL_EVENTS_REPORTS) {
		t->report[t->nreports].at_ns = now_ns;
		t->report[t->nreports++].of = s->oom;
	} else {
		oom_event_send(&(struct oom_seen){ .report = &s->oom,
						   .wall_ns = wall_ns,
						   .page_bytes = s->page_bytes,
						   .cgroup = "" },
			       out);
	}
	s->oom = (struct oom_report){ 0 };
}

static void take_record(struct kmsg_source *s, const char *record, size_t len, uint64_t now_ns,
			uint64_t wall_ns, struct sink *out)
{
	struct kmsg_found found;
	struct kmsg_line l;

	if (kmsg_line_parse(record, len, &l) < 0) {
		s->lost++;
		return;
	}
	if (s->next_seq && l.seq > s->next_seq)
		s->lost += l.seq - s->next_seq;
	s->next_seq = l.seq + 1;
	s->busy_ns = now_ns;
	s->lines[l.facility ? KLOG_USER : (int)l.level]++;
	if (l.facility == 0 && oom_report_line(&s->oom, l.text, s->page_bytes) == 1)
		pass_oom_report(s, now_ns, wall_of(s, &l, now_ns, wall_ns), out);
	else if (kmsg_line_match(&l, &found) && !pass_hung_task(s, &found))
		kmsg_fold_line(s->fold, &l, &found, now_ns, wall_of(s, &l, now_ns, wall_ns));
}

static void send_counts(struct kmsg_source *s, struct sink *out)
{
	uint64_t withheld = kmsg_fold_withheld(s->fold);
	double v[KLOG_END], loss[KLOGLOSS_END];

	for (int i = 0; i < KLOG_END; i++)
		v[i] = (double)s->lines[i];
	loss[KLOGLOSS_LOST] = (double)s->lost;
	loss[KLOGLOSS_WITHHELD] = (double)(withheld - s->withheld);
	s->withheld = withheld;
	s->lost = 0;
	memset(s->lines, 0, sizeof(s->lines));
	sink_sample(out, &(struct sample_item){ layout_klog.layout, "", KLOG_END, v });
	sink_sample(out, &(struct sample_item){ layout_klogloss.layout, "", KLOGLOSS_END, loss });
}

static int kmsg_read(void *self, struct sink *out)
{
	struct kmsg_source *s = self;
	uint64_t now = clock_mono_ns(), wall = clock_wall_ns();
	char record[KMSG_RECORD];
	int r = 0;

	for (int i = 0; i < AT_A_TIME; i++) {
		ssize_t n = read(s->fd, record, sizeof(record));

		if (n > 0)
			take_record(s, record, (size_t)n, now, wall, out);
		else if (n == 0 || errno != EPIPE) { /* EPIPE: records were overwritten */
			r = n == 0 || errno == EAGAIN ? 0 : -errno;
			break;
		}
	}
	kmsg_fold_send_due(s->fold, now, out);
	s->read_ns = now;
	if (now >= s->next_tick_ns) {
		s->next_tick_ns = clock_next(now, TICK_NS);
		send_counts(s, out);
	}
	if (r < 0)
		return r;
	return now - s->busy_ns >= BUSY_NS ? SOURCE_RESTS : 0;
}

static int kmsg_wakes(void *self)
{
	const struct kmsg_source *s = self;

	return s->fd;
}

static const struct wire_dict *const layouts[] = { &layout_klog, &layout_klogloss };

const struct source source_kmsg = {
	.name = "kmsg",
	.help = "the kernel log: errors of disks, file systems, memory, network, hardware",
	.period_ms = 500,
	.rest_ms = 2000,
	.size = sizeof(struct kmsg_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = kmsg_open,
	.read = kmsg_read,
	.wakes = kmsg_wakes,
	.close = kmsg_close,
};
