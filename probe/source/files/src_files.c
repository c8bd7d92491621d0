// SPDX-License-Identifier: Apache-2.0
/* src_files.c - slow operations on files, of any process: an event for each. */
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/event/token_bucket.h"
#include "probe/source/files/files_kernel.h"
#include "probe/source/files/files_pending.h"
#include "probe/core/layout.h"
#include "probe/core/source.h"
#include "probe/symbol/kernel/stacks.h"

#define TICK_NS (2 * 1000000000ull)
#define BUSY_NS 1000000000ull /* no rest within this time after a record */

enum {
	STACK_STEPS = 8,
	LONG = 10, /* operations over LONG times the limit have a separate rate limit */
};

struct files_source {
	struct files_kernel *kernel;
	struct files_pending *pending;
	struct stacks *stacks;
	const struct probe_config *config;
	uint64_t loss[FILELOSS_END], sent_loss[FILELOSS_END];
	uint64_t slow, reported, sent_slow, sent_reported;
	uint64_t now_ns, busy_ns, next_tick_ns, second_ns;
	int64_t left; /* events left in this second */
	struct token_bucket some, long_ones;
	int64_t wall_minus_mono_ns;
	struct sink *out; /* during a read */
};

static uint64_t stack_of(struct files_source *s, const struct file_stack *k)
{
	bool irq = k->head.flags & FILE_ON_CPU;
	bool cut = k->n == (irq ? ARRAY_SIZE(k->frame) : FILE_FRAMES);

	return stacks_id(s->stacks, k->frame, k->n,
			 (cut ? STACKS_CUT : 0) | (irq ? STACKS_IN_IRQ : 0), s->now_ns);
}

static bool may_report(struct files_source *s, const struct file_end *end)
{
	const double least_ns = LONG * s->config->slow_file_ms * 1e6;
	bool is_long = (double)(end->last_ns - end->first_ns) >= least_ns;

	return s->left > 0 && token_bucket_take(is_long ? &s->long_ones : &s->some,
						(double)s->config->slow_files_per_min, s->now_ns);
}

static void report_operation(struct files_source *s, const struct files_op *op)
{
	struct files_text text;
	struct event_item e;

	if (!may_report(s, &op->end)) {
		s->loss[FILELOSS_WITHHELD]++;
		return;
	}
	s->left--;
	s->reported++;
	s->loss[FILELOSS_NAMELESS] += op->name.head.record == 0;
	files_event(op, s->wall_minus_mono_ns, &text, &e);
	for (uint32_t i = 0; i < e.nevidence; i++) {
		const struct file_stack *k = files_event_stack(op, &e, i);

		if (k)
			e.evidence[i].stack = stack_of(s, k);
	}
	sink_event(s->out, &e);
}

static int on_record(void *arg, void *data, size_t len)
{
	struct files_source *s = arg;
	const struct file_head *h = data;
	struct files_op op;

	if (len >= sizeof(struct file_name) && h->record == FILE_IS_NAME) {
		files_pending_name(s->pending, data);
	} else if (len >= sizeof(struct file_stack) && h->record == FILE_IS_STACK) {
		files_pending_stack(s->pending, data);
	} else if (len >= sizeof(struct file_end) && h->record == FILE_IS_END) {
		files_pending_end(s->pending, data, &op);
		if (!(h->flags & FILE_WAS_FAST))
			report_operation(s, &op);
	}
	return 0;
}

static void files_close(void *self)
{
	struct files_source *s = self;

	files_kernel_close(s->kernel);
	files_pending_free(s->pending);
	stacks_free(s->stacks);
}

static int files_open(void *self, const struct probe_env *env)
{
	struct files_source *s = self;
	struct files_how how = { .slow_ns = (uint64_t)(env->config->slow_file_ms * 1e6),
				 .chain = env->chain };
	int r = scope_find(env->config->scope, env->procfs, &how.scope, env->why);

	if (r == 0)
		r = files_clock_choose(env->config->slow_file_clock, files_clock_tick_ns(),
				       env->sysfs, &how.clock, env->why);
	if (r < 0)
		return r;
	if (env->config->slow_file_ms <= 0) {
		snprintf(env->why, WHY_LEN, "turned off by slow_file_ms = 0");
		return -ECANCELED;
	}
	s->config = env->config;
	s->pending = files_pending_new();
	s->stacks = stacks_new(env->procfs);
	return files_kernel_open(&s->kernel, &how, on_record, s, env->why);
}

static void kernel_counts(struct files_source *s)
{
	uint64_t k[FILE_STAT_END];

	files_kernel_stats(s->kernel, k);
	s->slow = k[FILE_STAT_SLOW];
	s->loss[FILELOSS_RING_FULL] = k[FILE_STAT_RING];
	s->loss[FILELOSS_OPS_FULL] = k[FILE_STAT_OPS];
	s->loss[FILELOSS_DETAIL_FULL] = k[FILE_STAT_DETAIL] + files_pending_full(s->pending);
	s->loss[FILELOSS_COMPAT] = k[FILE_STAT_COMPAT];
	s->loss[FILELOSS_GAPS] = k[FILE_STAT_GAPS];
}

static void send_counts(struct files_source *s)
{
	double v[FILELOSS_END], n[FILES_END];

	kernel_counts(s);
	for (int i = 0; i < FILELOSS_END; i++) {
		v[i] = (double)(s->loss[i] - s->sent_loss[i]);
		s->sent_loss[i] = s->loss[i];
	}
	n[FILES_SLOW] = (double)(s->slow - s->sent_slow);
	n[FILES_REPORTED] = (double)(s->reported - s->sent_reported);
	s->sent_slow = s->slow;
	s->sent_reported = s->reported;
	sink_sample(s->out, &(struct sample_item){ layout_fileloss.layout, "", FILELOSS_END, v });
	sink_sample(s->out, &(struct sample_item){ layout_files.layout, "", FILES_END, n });
}

static int files_read(void *self, struct sink *out)
{
	struct files_source *s = self;
	uint64_t now = clock_mono_ns();
	int r;

	s->out = out;
	s->now_ns = now;
	s->wall_minus_mono_ns = (int64_t)(clock_wall_ns() - now);
	if (now - s->second_ns >= 1000000000ull) {
		s->second_ns = now;
		s->left = s->config->slow_files_per_s;
	}
	r = files_kernel_read(s->kernel);
	if (r > 0)
		s->busy_ns = now;
	for (int i = 0; i < STACK_STEPS; i++) /* a whole pass in half a second */
		stacks_step(s->stacks, out, now);
	if (now >= s->next_tick_ns) {
		s->next_tick_ns = clock_next(now, TICK_NS);
		send_counts(s);
	}
	s->out = NULL;
	if (r < 0)
		return r;
	return now - s->busy_ns >= BUSY_NS && !stacks_wait(s->stacks) ? SOURCE_RESTS : 0;
}

static int files_wakes(void *self)
{
	const struct files_source *s = self;

	return files_kernel_ring(s->kernel);
}

static const struct wire_dict *const layouts[] = { &layout_files, &layout_fileloss };

const struct source source_files = {
	.name = "files",
	.help = "slow reads, writes and syncs of files, of any process",
	.period_ms = 100,
	.rest_ms = 2000,
	.size = sizeof(struct files_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = files_open,
	.read = files_read,
	.wakes = files_wakes,
	.close = files_close,
};
