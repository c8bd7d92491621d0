// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/baseline.h"
#include "probe/request/explain/verdict_rules.h"

/* What stands in a sentence where the evidence does not say it. */
#define NO_CALL "an unknown call"
#define NO_FILE "an unknown file"
#define NO_DEV "an unknown device"
#define NO_WHO "an unknown process"
#define NO_CGROUP "unknown"

struct excess_time verdict_excess(const struct request_item *r)
{
	uint64_t us = item_judged_us(r);

	if (!r->normal_us || us < r->normal_us + BASELINE_EFFECT_US)
		return (struct excess_time){ .us = us, .whole = true };
	return (struct excess_time){ .us = us - r->normal_us };
}

uint64_t verdict_over(const struct verdict_facts *f, struct excess_time e, enum part p, bool noise)
{
	uint64_t us = f->split.us[p], usual = f->usual[p].p50_us;

	if (e.whole)
		return us;
	if (p == PART_UPSTREAM && !usual)
		usual = f->up_normal_us;
	if (noise)
		usual += f->usual[p].iqr_us;
	return us > usual ? us - usual : 0;
}

static void put_known(struct request_item *r, const char *key, const char *s, const char *unknown)
{
	verdict_put(r, key, s && *s ? s : unknown);
}

static void put_app(struct request_item *r, const struct verdict_facts *f, enum part p)
{
	verdict_put(r, "app", r->app);
	verdict_times(r, f->split.us[p]);
}

/* It had arrived, and nobody read it: queue.accept if the listener's queue overflowed just then. */
static enum reason_id queue(struct request_item *r, const struct verdict_facts *f,
			    struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_QUEUE);
	return f->accept_full ? R_QUEUE_ACCEPT : R_QUEUE_APP;
}

/* One thread had read it, and until another one took it up nobody worked on it. */
static enum reason_id pool(struct request_item *r, const struct verdict_facts *f,
			   struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_POOL);
	return R_QUEUE_POOL;
}

/* Its threads were on a CPU. */
static enum reason_id cpu_own(struct request_item *r, const struct verdict_facts *f,
			      struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_CPU);
	return R_CPU_OWN;
}

/* Its thread could have run, and another one had the CPU: who, when it had waited the longest. */
static enum reason_id cpu_wait(struct request_item *r, const struct verdict_facts *f,
			       struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_RUNQ);
	put_known(r, "who", f->culprit[PART_RUNQ].who, NO_WHO);
	return R_CPU_WAIT;
}

/* Its thread could have run, but its cgroup had used up its CPU quota. */
static enum reason_id cpu_throttled(struct request_item *r, const struct verdict_facts *f,
				    struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_THROTTLED);
	put_known(r, "cgroup", f->culprit[PART_THROTTLED].cgroup, NO_CGROUP);
	return R_CPU_THROTTLED;
}

/* Its thread waited for a block device; call, file and device are those of the longest wait. */
static enum reason_id io_block(struct request_item *r, const struct verdict_facts *f,
			       struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	const struct culprit *c = &f->culprit[PART_IO];

	put_known(r, "call", c->call, NO_CALL);
	put_known(r, "file", c->file, NO_FILE);
	put_known(r, "dev", c->dev, NO_DEV);
	verdict_times(r, f->split.us[PART_IO]);
	return R_IO_BLOCK;
}

/* The kernel slowed down its writing, because too much is not written back yet. */
static enum reason_id io_dirty(struct request_item *r, const struct verdict_facts *f,
			       struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_known(r, "file", f->culprit[PART_DIRTY].file, NO_FILE);
	put_known(r, "dev", f->culprit[PART_DIRTY].dev, NO_DEV);
	verdict_times(r, f->split.us[PART_DIRTY]);
	return R_IO_DIRTY;
}

/* It touched memory whose content had to be read from a device. */
static enum reason_id mem_fault(struct request_item *r, const struct verdict_facts *f,
				struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_known(r, "dev", f->culprit[PART_FAULT].dev, NO_DEV);
	verdict_times(r, f->split.us[PART_FAULT]);
	return R_MEM_FAULT;
}

/* It asked for memory and had to free some first. */
static enum reason_id mem_reclaim(struct request_item *r, const struct verdict_facts *f,
				  struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_RECLAIM);
	put_known(r, "cgroup", f->culprit[PART_RECLAIM].cgroup, NO_CGROUP);
	return R_MEM_RECLAIM;
}

/* Its thread waited on a futex; who woke it from the longest such wait is told. */
static enum reason_id lock(struct request_item *r, const struct verdict_facts *f,
			   struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_LOCK);
	put_known(r, "who", f->culprit[PART_LOCK].who, NO_WHO);
	return R_LOCK;
}

/* Its thread had told a timer to wake it. */
static enum reason_id sleeping(struct request_item *r, const struct verdict_facts *f,
			       struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_SLEEP);
	return R_SLEEP;
}

/* Its thread was stopped by SIGSTOP, a debugger or a freezer. */
static enum reason_id stopped(struct request_item *r, const struct verdict_facts *f,
			      struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_STOPPED);
	return R_STOPPED;
}

/* It waited for bytes that are neither its client's nor those of an HTTP call: a database, say. */
static enum reason_id net_wait(struct request_item *r, const struct verdict_facts *f,
			       struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_NET);
	return R_NET_WAIT;
}

/* An upstream's answer lay there, and the loop worked on other requests. */
static enum reason_id loop_busy(struct request_item *r, const struct verdict_facts *f,
				struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_LOOP);
	return R_LOOP_BUSY;
}

/* What is not attributed has no rule: it is no cause. */
static verdict_rule *const rules[PART_END] = {
	[PART_QUEUE] = queue,
	[PART_POOL] = pool,
	[PART_CPU] = cpu_own,
	[PART_RUNQ] = cpu_wait,
	[PART_THROTTLED] = cpu_throttled,
	[PART_IO] = io_block,
	[PART_DIRTY] = io_dirty,
	[PART_FAULT] = mem_fault,
	[PART_RECLAIM] = mem_reclaim,
	[PART_LOCK] = lock,
	[PART_SLEEP] = sleeping,
	[PART_STOPPED] = stopped,
	[PART_NET] = net_wait,
	[PART_UPSTREAM] = verdict_upstream,
	[PART_LOOP] = loop_busy,
	[PART_CLIENT] = verdict_client,
};

/* The furthest over; where noise hides them all, the one that is over by the most. */
static enum part furthest(const struct verdict_facts *f, struct excess_time e)
{
	enum part best = PART_OTHER;
	uint64_t best_us = 0;

	for (int noise = 1; noise >= 0 && !best_us; noise--) {
		for (uint8_t p = PART_QUEUE; p < PART_END; p++) {
			uint64_t us = rules[p] ? verdict_over(f, e, p, noise) : 0;

			if (us > best_us) {
				best = p;
				best_us = us;
			}
		}
	}
	return best;
}

enum reason_id verdict_slow(struct request_item *r, const struct verdict_facts *f, struct excess_time e,
			    struct verdict_text *t)
{
	enum part p = furthest(f, e);

	if (!rules[p] || !verdict_is_half(verdict_over(f, e, p, false), e.us))
		return R_UNKNOWN;
	return rules[p](r, f, e, t);
}
