// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/explain.h"
#include "probe/request/judge/item_time.h"

#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/symbol/kernel/kernel_names.h"
#include "probe/request/explain/accept_overflow.h"
#include "probe/request/explain/profile.h"
#include "probe/symbol/kernel/stacks.h"
#include "probe/symbol/user/ustacks.h"
#include "probe/request/explain/verdict.h"

enum { WHO = REQ_COMM + 16 };

struct wait_text { /* of one piece of evidence */
	char comm[REQ_COMM + 1], call[NAME_CALL], file[NAME_FILE], dev[NAME_DEV], who[WHO],
		cgroup[NAME_CGROUP], what[ITEM_MAX_TEXT];
};

struct explain {
	struct evidence *evidence;
	struct profile *profile;
	struct kernel_names *names;
	struct stacks *stacks;
	struct ustacks *ustacks;
	struct accept_overflow *overflow;
	bool hidden_reported;
	char comm[PROFILE_FOUND][REQ_COMM + 1];
	struct wait_text text[ITEM_MAX_EVIDENCE], culprit[PART_END];
	struct verdict_text verdict;
};

struct explain *explain_new(const char *procfs, const char *sysfs)
{
	struct explain *x = calloc(1, sizeof(*x));

	if (!x)
		die("out of memory");
	x->evidence = evidence_new();
	x->profile = profile_new();
	x->names = kernel_names_new(procfs, sysfs);
	x->stacks = stacks_new(procfs);
	x->ustacks = ustacks_new(procfs);
	x->overflow = accept_overflow_new(procfs);
	return x;
}

void explain_free(struct explain *x)
{
	if (!x)
		return;
	evidence_free(x->evidence);
	profile_free(x->profile);
	kernel_names_free(x->names);
	stacks_free(x->stacks);
	ustacks_free(x->ustacks);
	accept_overflow_free(x->overflow);
	free(x);
}

void explain_block(struct explain *x, const struct req_block *b)
{
	evidence_push(x->evidence, b);
}

void explain_stack(struct explain *x, const struct req_stack *s)
{
	profile_push(x->profile, s);
	ustacks_notice(x->ustacks, s);
}

uint64_t explain_pushed_out(const struct explain *x)
{
	return evidence_pushed_out(x->evidence);
}

static void who_text(const struct req_block *b, char text[static WHO])
{
	if (b->flags & BLOCK_BY_TIMER)
		snprintf(text, WHO, "a timeout");
	else if (b->flags & BLOCK_HAS_WHO)
		snprintf(text, WHO, "%.*s[%u]", REQ_COMM, b->who, b->who_tgid);
	else
		text[0] = 0;
}

/* The object it waited for. */
static void what_text(const struct req_block *b, const struct wait_text *t,
		      char text[static ITEM_MAX_TEXT])
{
	bool is_futex = b->wait == WAIT_LOCK && strncmp(t->call, "futex", 5) == 0;

	if (t->file[0])
		snprintf(text, ITEM_MAX_TEXT, "%s", t->file);
	else if (b->flags & BLOCK_SYNC)
		snprintf(text, ITEM_MAX_TEXT, "a whole file system");
	else if (is_futex)
		snprintf(text, ITEM_MAX_TEXT, "futex 0x%llx", (unsigned long long)b->arg[0]);
	else
		snprintf(text, ITEM_MAX_TEXT, "%s", t->cgroup);
}

static void wait_text(struct explain *x, const struct req_block *b, struct wait_text *t)
{
	size_t len = b->file_len < BLOCK_FILE ? b->file_len : BLOCK_FILE;

	t->file[0] = t->dev[0] = t->cgroup[0] = 0;
	snprintf(t->comm, sizeof(t->comm), "%.*s", REQ_COMM, b->comm);
	kernel_names_call(b->nr, t->call);
	who_text(b, t->who);
	if (b->flags & BLOCK_HAS_FILE) {
		kernel_names_dev(x->names, b->dev, t->dev);
		kernel_names_file(x->names, b->dev, b->file, len, t->file);
	}
	if (b->cgroup)
		kernel_names_cgroup(x->names, b->cgroup,
				    b->wait == WAIT_RECLAIM ? NAMES_MEMORY : NAMES_CPU, t->cgroup);
	what_text(b, t, t->what);
}

static void put_evidence(struct explain *x, const struct evidence_found *found, int64_t wall,
			 struct request_item *r)
{
	uint64_t now = clock_mono_ns();

	r->nevidence = found->n;
	for (uint32_t i = 0; i < found->n; i++) {
		const struct evidence_wait *w = &found->wait[i];
		const struct req_block *b = w->block;
		struct wait_text *t = &x->text[i];

		wait_text(x, b, t);
		r->evidence[i] = (struct evidence_item){
			.start_ns = w->start_ns + (uint64_t)wall,
			.us = w->off_ns / 1000,
			.part = (uint8_t)breakdown_part(b->wait),
			.pid = b->tgid,
			.tid = b->tid,
			.comm = t->comm,
			.call = t->call,
			.what = t->what,
			.who = t->who,
			.stack = stacks_id(x->stacks, b->frame, b->nframes,
					   b->nframes >= BLOCK_FRAMES ? STACKS_CUT : 0, now),
		};
	}
}

/* A sample stands for the time to the next; together they stay within the time on a CPU. */
static uint64_t sampled_us(const struct profile_found *f, uint64_t cpu_us)
{
	uint64_t us = f->samples * 1000000ull / REQ_PROFILE_HZ;
	uint64_t all_us = f->all * 1000000ull / REQ_PROFILE_HZ;

	return cpu_us && all_us > cpu_us ? cpu_us * f->samples / f->all : us;
}

/* The CPU profile beside the waits: at least one stack, replacing the shortest wait if necessary.
 */
static void put_profile(struct explain *x, const struct req_head *h, const struct breakdown *split,
			int64_t wall, struct request_item *r)
{
	struct profile_found found[PROFILE_FOUND];
	uint32_t n = profile_find(x->profile, h->id, h->read_ns, h->last_ns, found);
	uint32_t room = ITEM_MAX_EVIDENCE - r->nevidence;

	if (n > room)
		n = room ? room : 1;
	if (n > room)
		r->nevidence--;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_found *f = &found[i];

		snprintf(x->comm[i], sizeof(x->comm[i]), "%.*s", REQ_COMM, f->stack->comm);
		r->evidence[r->nevidence++] = (struct evidence_item){
			.start_ns = f->first_ns + (uint64_t)wall,
			.us = sampled_us(f, split->us[PART_CPU]),
			.part = PART_CPU,
			.pid = f->stack->tgid,
			.tid = f->tid,
			.comm = x->comm[i],
			.call = "",
			.what = "",
			.who = "",
			.stack = ustacks_id(x->ustacks, f->stack, clock_mono_ns()),
		};
	}
}

static void put_culprits(struct explain *x, const struct evidence_found *found,
			 struct verdict_facts *f)
{
	for (uint8_t p = PART_QUEUE; p < PART_END; p++) {
		struct wait_text *t = &x->culprit[p];

		if (!found->longest[p])
			continue;
		wait_text(x, found->longest[p], t);
		f->culprit[p] =
			(struct culprit_names){ t->call, t->file, t->dev, t->who, t->cgroup };
	}
}

static void put_shares(const struct breakdown *s, const struct judged *j, struct request_item *r)
{
	r->nshares = 0;
	for (uint8_t p = PART_QUEUE; p < PART_END; p++)
		if (s->us[p])
			r->shares[r->nshares++] = (struct share_item){
				.part = p, .us = s->us[p], .normal_us = j->usual[p].p50_us
			};
}

static void put_losses(const struct req_net *n, uint8_t side, struct request_item *r)
{
	for (uint8_t kind = REQ_LOSS_SYN; kind <= REQ_LOSS_TLP; kind++)
		if (n->lost[kind])
			r->losses[r->nlosses++] = (struct loss_item){ side, kind, n->lost[kind] };
}

void explain_seen(struct explain *x, const struct req_head *h)
{
	accept_overflow_seen(x->overflow, h->netns, h->tgid);
}

void explain_request(struct explain *x, const struct req_head *h, const struct breakdown *split,
		     const struct judged *j, const struct explain_context *c,
		     struct request_item *r)
{
	struct evidence_found found;
	struct verdict_facts f = { .split = j->split,
				   .usual = j->usual,
				   .up_normal_us = j->up_normal_us,
				   .net = h->net,
				   .up_net = h->up_net,
				   .unwatched = c->unwatched,
				   .no_clock = c->no_clock,
				   .lossy = c->lossy,
				   .alone = c->alone,
				   .unseen = c->unseen,
				   .dropped = h->flags & REQ_DROPPED,
				   .peer = c->peer,
				   .peer_did = c->peer_did };

	evidence_find(x->evidence, h, h->read_ns - r->queue_us * 1000, &found);
	put_evidence(x, &found, c->wall_minus_mono_ns, r);
	put_profile(x, h, split, c->wall_minus_mono_ns, r);
	put_culprits(x, &found, &f);
	put_shares(split, j, r);
	r->nlosses = 0;
	put_losses(&h->net, 0, r);
	put_losses(&h->up_net, 1, r);
	f.accept_known =
		j->split.us[PART_QUEUE] < item_judged_us(r) / 10 ||
		accept_overflow_known(x->overflow, h->netns, r->pid,
				      h->read_ns - r->queue_us * 1000, h->read_ns, &f.accept_full);
	verdict_find(r, &f, &x->verdict);
	verdict_check(r, &f);
}

void explain_step(struct explain *x, struct sink *out)
{
	uint64_t now = clock_mono_ns();

	stacks_step(x->stacks, out, now);
	ustacks_step(x->ustacks, out, now);
	accept_overflow_tick(x->overflow, now);
	if (stacks_hidden(x->stacks) && !x->hidden_reported)
		log_warn(0, "the kernel hides its addresses (kernel.kptr_restrict): stacks are "
			    "reported "
			    "without names");
	x->hidden_reported = stacks_hidden(x->stacks);
}

bool explain_waits(const struct explain *x)
{
	return stacks_wait(x->stacks) || ustacks_wait(x->ustacks);
}
