// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/baseline.h"
#include "probe/request/explain/verdict_rules.h"

/* Texts for facts that the evidence does not have. */
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

/* Given when it lay unread after its arrival: queue.accept if the accept queue overflowed then. */
static enum reason_id rule_queue(struct request_item *r, const struct verdict_facts *f,
				 struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_QUEUE);
	return f->accept_full ? R_QUEUE_ACCEPT : R_QUEUE_APP;
}

/* Given when it waited between the thread that read it and the thread that worked on it. */
static enum reason_id rule_pool(struct request_item *r, const struct verdict_facts *f,
				struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_POOL);
	return R_QUEUE_POOL;
}

/* Given when its threads ran on a CPU. */
static enum reason_id rule_cpu_own(struct request_item *r, const struct verdict_facts *f,
				   struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_CPU);
	return R_CPU_OWN;
}

/* Given when its thread was runnable but another had the CPU: names the one that held it longest.
 */
static enum reason_id rule_cpu_wait(struct request_item *r, const struct verdict_facts *f,
				    struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_RUNQ);
	put_known(r, "who", f->culprit[PART_RUNQ].who, NO_WHO);
	return R_CPU_WAIT;
}

/* Given when its thread was runnable but its cgroup had used up its CPU quota. */
static enum reason_id rule_cpu_throttled(struct request_item *r, const struct verdict_facts *f,
					 struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_THROTTLED);
	put_known(r, "cgroup", f->culprit[PART_THROTTLED].cgroup, NO_CGROUP);
	return R_CPU_THROTTLED;
}

/* Given when its thread waited for a block device: call, file and device of the longest wait. */
static enum reason_id rule_io_block(struct request_item *r, const struct verdict_facts *f,
				    struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	const struct culprit_names *c = &f->culprit[PART_IO];

	put_known(r, "call", c->call, NO_CALL);
	put_known(r, "file", c->file, NO_FILE);
	put_known(r, "dev", c->dev, NO_DEV);
	verdict_times(r, f->split.us[PART_IO]);
	return R_IO_BLOCK;
}

/* Given when the kernel throttled its writes because of too many dirty pages. */
static enum reason_id rule_io_dirty(struct request_item *r, const struct verdict_facts *f,
				    struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_known(r, "file", f->culprit[PART_DIRTY].file, NO_FILE);
	put_known(r, "dev", f->culprit[PART_DIRTY].dev, NO_DEV);
	verdict_times(r, f->split.us[PART_DIRTY]);
	return R_IO_DIRTY;
}

/* Given when it touched memory whose content had to be read from a device. */
static enum reason_id rule_mem_fault(struct request_item *r, const struct verdict_facts *f,
				     struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_known(r, "dev", f->culprit[PART_FAULT].dev, NO_DEV);
	verdict_times(r, f->split.us[PART_FAULT]);
	return R_MEM_FAULT;
}

/* Given when it allocated memory and had to reclaim some first. */
static enum reason_id rule_mem_reclaim(struct request_item *r, const struct verdict_facts *f,
				       struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_RECLAIM);
	put_known(r, "cgroup", f->culprit[PART_RECLAIM].cgroup, NO_CGROUP);
	return R_MEM_RECLAIM;
}

/* Given when its thread waited on a futex: names the thread that ended the longest such wait. */
static enum reason_id rule_lock(struct request_item *r, const struct verdict_facts *f,
				struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_LOCK);
	put_known(r, "who", f->culprit[PART_LOCK].who, NO_WHO);
	return R_LOCK;
}

/* Given when its thread slept on a timer. */
static enum reason_id rule_sleeping(struct request_item *r, const struct verdict_facts *f,
				    struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_SLEEP);
	return R_SLEEP;
}

/* Given when its thread was stopped by SIGSTOP, a debugger or a freezer. */
static enum reason_id rule_stopped(struct request_item *r, const struct verdict_facts *f,
				   struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_STOPPED);
	return R_STOPPED;
}

/*
 * Given when it waited for data from neither its client nor an HTTP call, e.g. from a database.
 * net.peer: at least half of that time for one peer.
 */
static enum reason_id rule_net_wait(struct request_item *r, const struct verdict_facts *f,
				    struct excess_time e UNUSED, struct verdict_text *t)
{
	if (f->peer && verdict_is_half(f->peer->response_us, f->split.us[PART_NET])) {
		verdict_put(r, "app", r->app);
		verdict_times(r, f->peer->response_us);
		verdict_peer(r, f, t);
		return R_NET_PEER;
	}
	put_app(r, f, PART_NET);
	return R_NET_WAIT;
}

/* Given when an upstream's answer was ready while the event loop worked on other requests. */
static enum reason_id rule_loop_busy(struct request_item *r, const struct verdict_facts *f,
				     struct excess_time e UNUSED, struct verdict_text *t UNUSED)
{
	put_app(r, f, PART_LOOP);
	return R_LOOP_BUSY;
}

/* Unattributed time has no rule: it is no cause. */
static verdict_rule *const rules[PART_END] = {
	[PART_QUEUE] = rule_queue,
	[PART_POOL] = rule_pool,
	[PART_CPU] = rule_cpu_own,
	[PART_RUNQ] = rule_cpu_wait,
	[PART_THROTTLED] = rule_cpu_throttled,
	[PART_IO] = rule_io_block,
	[PART_DIRTY] = rule_io_dirty,
	[PART_FAULT] = rule_mem_fault,
	[PART_RECLAIM] = rule_mem_reclaim,
	[PART_LOCK] = rule_lock,
	[PART_SLEEP] = rule_sleeping,
	[PART_STOPPED] = rule_stopped,
	[PART_NET] = rule_net_wait,
	[PART_UPSTREAM] = verdict_upstream,
	[PART_LOOP] = rule_loop_busy,
	[PART_CLIENT] = verdict_client,
};

/* The part with the largest excess over its noise; if noise hides all, the largest excess. */
static enum part largest_excess(const struct verdict_facts *f, struct excess_time e)
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

enum reason_id verdict_slow(struct request_item *r, const struct verdict_facts *f,
			    struct excess_time e, struct verdict_text *t)
{
	enum part p = largest_excess(f, e);

	if (!rules[p] || !verdict_is_half(verdict_over(f, e, p, false), e.us))
		return R_UNKNOWN;
	return rules[p](r, f, e, t);
}
