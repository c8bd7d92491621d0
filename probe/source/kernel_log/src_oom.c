// SPDX-License-Identifier: Apache-2.0
/*
 * src_oom.c - OOM kills, from bpf/memory/oom.bpf.c: exact, even where the log is unreadable or
 * silent. The log's report of the same kill is added.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/symbol/kernel/kernel_names.h"
#include "bpf/memory/oom.skel.h"
#include "probe/source/kernel_log/oom_event.h"
#include "probe/core/source.h"
#include "probe/symbol/kernel/stacks.h"
#include "probe/source/kernel_log/kernel_events.h"

enum { PENDING = 8, PER_MINUTE = 20 };

#define SEC 1000000000ull
#define REPORT_NS (2 * SEC) /* how long a kill and the report in the log wait for each other */

struct oom_source {
	struct oom_bpf *bpf;
	struct ring_buffer *ring;
	struct kernel_names *names;
	struct stacks *stacks;
	struct kernel_events *kernel_events;
	uint64_t now_ns, wall_minus_mono_ns, page_bytes;
	uint64_t kills, withheld, reported_withheld, minute;
	uint32_t in_minute, npending;
	struct oom_victim pending[PENDING];
	struct sink *out; /* during a read */
};

static void report_kill(struct oom_source *s, const struct oom_victim *v,
			const struct oom_report *r, uint64_t at_ns)
{
	char cgroup[NAME_CGROUP] = "";
	struct oom_seen seen = { .victim = v,
				 .report = r,
				 .wall_ns = at_ns + s->wall_minus_mono_ns,
				 .page_bytes = s->page_bytes,
				 .cgroup = cgroup };

	if (s->now_ns / (60 * SEC) != s->minute) {
		s->minute = s->now_ns / (60 * SEC);
		s->in_minute = 0;
	}
	if (s->in_minute++ >= PER_MINUTE) {
		s->withheld++;
		return;
	}
	if (v && v->cgroup)
		kernel_names_cgroup(s->names, v->cgroup, NAMES_MEMORY, cgroup);
	if (v)
		seen.stack = stacks_id(s->stacks, v->frame, v->n,
				       v->n == OOM_FRAMES ? STACKS_CUT : 0, s->now_ns);
	oom_event_send(&seen, s->out);
}

static int on_victim(void *arg, void *data, size_t len)
{
	struct oom_source *s = arg;

	if (len < sizeof(struct oom_victim))
		return 0;
	s->kills++;
	if (s->npending == PENDING) { /* report the oldest without a log report */
		report_kill(s, &s->pending[0], NULL, s->pending[0].at_ns);
		memmove(s->pending, s->pending + 1, --s->npending * sizeof(s->pending[0]));
	}
	memcpy(&s->pending[s->npending++], data, sizeof(struct oom_victim));
	return 0;
}

static void drop_report(struct kernel_events *t, uint32_t i)
{
	memmove(&t->report[i], &t->report[i + 1], (--t->nreports - i) * sizeof(t->report[0]));
}

/* True: sent, with the log's report or because that did not come in time. */
static bool report_pending(struct oom_source *s, const struct oom_victim *v)
{
	struct kernel_events *t = s->kernel_events;

	for (uint32_t i = 0; t && i < t->nreports; i++) {
		if (t->report[i].of.pid != v->pid)
			continue;
		report_kill(s, v, &t->report[i].of, v->at_ns);
		drop_report(t, i);
		return true;
	}
	if (t && t->log_watched && s->now_ns - v->at_ns < REPORT_NS)
		return false;
	report_kill(s, v, NULL, v->at_ns);
	return true;
}

static void report_due(struct oom_source *s)
{
	struct kernel_events *t = s->kernel_events;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->npending; i++)
		if (!report_pending(s, &s->pending[i]))
			s->pending[kept++] = s->pending[i];
	s->npending = kept;
	while (t && t->nreports && s->now_ns - t->report[0].at_ns >= REPORT_NS) {
		report_kill(s, NULL, &t->report[0].of, t->report[0].at_ns);
		drop_report(t, 0);
	}
}

static void oom_close(void *self)
{
	struct oom_source *s = self;

	if (s->kernel_events)
		s->kernel_events->oom_watched = false;
	ring_buffer__free(s->ring);
	oom_bpf__destroy(s->bpf);
	kernel_names_free(s->names);
	stacks_free(s->stacks);
}

static int attach_hook(struct oom_source *s, char *why)
{
	int args = kernel_tracepoint_args("mark_victim", why), r;

	if (args < 0)
		return args;
	s->bpf = oom_bpf__open();
	if (!s->bpf)
		return -errno;
	s->bpf->rodata->victim_args = (uint32_t)args;
	r = oom_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, why);
	s->bpf->links.on_victim = bpf_program__attach(s->bpf->progs.on_victim);
	return s->bpf->links.on_victim ? 0 : -errno;
}

static int oom_open(void *self, const struct probe_env *env)
{
	struct oom_source *s = self;
	int r = kernel_can_load(env->why);

	if (r == 0)
		r = attach_hook(s, env->why);
	if (r < 0)
		return r;
	s->ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.ring), on_victim, s, NULL);
	if (!s->ring)
		return -errno;
	s->names = kernel_names_new(env->procfs, env->sysfs);
	s->stacks = stacks_new(env->procfs);
	s->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	s->kernel_events = env->kernel_events;
	if (s->kernel_events)
		s->kernel_events->oom_watched = true;
	return 0;
}

static void send_counts(struct oom_source *s)
{
	uint64_t withheld = s->withheld + s->bpf->bss->lost;
	double kills = (double)s->kills, loss = (double)(withheld - s->reported_withheld);

	if (!s->kills && withheld == s->reported_withheld)
		return;
	s->kills = 0;
	s->reported_withheld = withheld;
	sink_sample(s->out, &(struct sample_item){ layout_oom.layout, "", OOM_END, &kills });
	sink_sample(s->out, &(struct sample_item){ layout_oomloss.layout, "", OOMLOSS_END, &loss });
}

static int oom_read(void *self, struct sink *out)
{
	struct oom_source *s = self;
	int r;

	s->out = out;
	s->now_ns = clock_mono_ns();
	s->wall_minus_mono_ns = clock_wall_ns() - s->now_ns;
	r = ring_buffer__consume(s->ring);
	report_due(s);
	stacks_step(s->stacks, out, s->now_ns);
	send_counts(s);
	s->out = NULL;
	if (r < 0)
		return r;
	return s->npending || (s->kernel_events && s->kernel_events->nreports) ||
			       stacks_wait(s->stacks)
		       ? 0
		       : SOURCE_RESTS;
}

static int oom_wakes(void *self)
{
	const struct oom_source *s = self;

	return bpf_map__fd(s->bpf->maps.ring);
}

static const struct wire_dict *const layouts[] = { &layout_oom, &layout_oomloss };

const struct source source_oom = {
	.name = "oom",
	.help = "processes killed by the OOM killer",
	.period_ms = 500,
	.rest_ms = 2000,
	.size = sizeof(struct oom_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = oom_open,
	.read = oom_read,
	.wakes = oom_wakes,
	.close = oom_close,
};
