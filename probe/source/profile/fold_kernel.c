// SPDX-License-Identifier: Apache-2.0
#include "probe/source/profile/fold_kernel.h"

#include "lib/base/hash.h"
#include "probe/symbol/kernel/ksym.h"
#include "probe/source/profile/profile_window.h"
#include "probe/procfs/sparse_array.h"

enum {
	STEP_BYTES = 1 << 20, /* of kallsyms in one step: about 10 ms */
	CROWDED = FOLD_KERNEL / 2,
	CUT = 1, /* flag of a STACK */
	SPACE = 0,
};

#define SEC 1000000000ull
#define GATHER_NS (1 * SEC)
#define REPEAT_NS (60 * SEC) /* between passes */
#define CROWDED_NS (30 * SEC)

struct unnamed_stack {
	uint64_t id; /* the pending id */
	uint32_t n;
	__u64 frame[ONCPU_KERNEL];
};

struct fold_kernel {
	struct fold_common *common;
	struct ksyms *ksyms;
	uint64_t unknown, first_ns, pass_ns; /* pass_ns: start of the last pass; 0: none */
	bool passing;
	size_t nasked;
	uint64_t asked[KSYM_MAX];
	uint32_t n;
	struct unnamed_stack one[FOLD_KERNEL];
};

struct fold_kernel *fold_kernel_new(const char *procfs, struct fold_common *c)
{
	struct fold_kernel *k = sparse_array_new(sizeof(*k));

	k->common = c;
	k->ksyms = ksyms_new(procfs);
	return k;
}

void fold_kernel_free(struct fold_kernel *k)
{
	if (!k)
		return;
	ksyms_free(k->ksyms);
	sparse_array_free(k, sizeof(*k));
}

uint64_t fold_kernel_unknown(const struct fold_kernel *k)
{
	return k->unknown;
}

/* A return address may lie behind the end of its function. */
static uint64_t asked_of(const __u64 *frame, uint32_t i)
{
	return frame[i] - (i > 0 && frame[i]);
}

/* Resolves the leading known frames; true: all frames are known. */
static bool resolve_frames(const struct function_cache *f, const __u64 *frame, uint32_t n,
			   struct stack_item *s)
{
	*s = (struct stack_item){ .flags = n == ONCPU_KERNEL ? CUT : 0 };
	while (s->n < n) {
		s->frame[s->n] = function_cache_find(f, SPACE, asked_of(frame, s->n));
		if (!s->frame[s->n]) {
			s->flags |= CUT;
			return false;
		}
		s->n++;
	}
	return true;
}

static uint64_t add_pending(struct fold_kernel *k, uint64_t id, const __u64 *frame, uint32_t n)
{
	struct unnamed_stack *w;

	for (uint32_t i = 0; i < k->n; i++)
		if (k->one[i].id == id)
			return id;
	if (k->n == FOLD_KERNEL)
		return 0;
	if (!k->n)
		k->first_ns = k->common->now_ns;
	w = &k->one[k->n++];
	*w = (struct unnamed_stack){ .id = id, .n = n };
	memcpy(w->frame, frame, n * sizeof(*frame));
	return id;
}

uint64_t fold_kernel_id(struct fold_kernel *k, const __u64 *frame, uint32_t n)
{
	struct stack_item s;
	uint64_t id;

	n = n < ONCPU_KERNEL ? n : ONCPU_KERNEL;
	if (!n)
		return 0;
	if (resolve_frames(k->common->functions, frame, n, &s))
		return fold_send_stack(k->common, &s);
	id = add_pending(k, hash_add(HASH_START, frame, n * sizeof(*frame)) | STACK_PENDING, frame,
			 n);
	if (id)
		return id;
	k->unknown++;
	return fold_send_stack(k->common, &s);
}

/* Sends pending stacks whose functions are known by now, also from other passes. */
static void send_known(struct fold_kernel *k)
{
	struct fold_common *c = k->common;
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct unnamed_stack *w = &k->one[i];
		struct stack_item s;

		if (resolve_frames(c->functions, w->frame, w->n, &s))
			c->named(c->arg, w->id, fold_send_stack(c, &s));
		else
			k->one[n++] = *w;
	}
	k->n = n;
}

static void begin_lookup(struct fold_kernel *k)
{
	k->nasked = 0;
	for (uint32_t i = 0; i < k->n; i++)
		for (uint32_t j = 0; j < k->one[i].n && k->nasked < KSYM_MAX; j++) {
			uint64_t at = asked_of(k->one[i].frame, j);

			if (!function_cache_find(k->common->functions, SPACE, at))
				k->asked[k->nasked++] = at;
		}
	ksyms_begin(k->ksyms, k->asked, k->nasked);
	k->passing = true;
	k->pass_ns = k->common->now_ns;
}

/* An address without a symbol becomes "(kernel)". */
static void store_functions(const struct fold_kernel *k)
{
	struct function_cache *f = k->common->functions;

	if (ksyms_hidden(k->ksyms))
		function_cache_add(f, SPACE, 0, UINT64_MAX, "(kernel)", false);
	for (size_t i = 0; i < k->nasked; i++) {
		uint64_t from = k->asked[i], to = from + 1;
		char text[KSYM_TEXT] = "(kernel)";

		if (function_cache_find(f, SPACE, from))
			continue;
		ksyms_function(k->ksyms, k->asked[i], text, &from, &to);
		function_cache_add(f, SPACE, from, to, text, false);
	}
}

static bool is_due(const struct fold_kernel *k)
{
	uint64_t now = k->common->now_ns, since = now - k->pass_ns;

	if (!k->n || now - k->first_ns < GATHER_NS)
		return false;
	return !k->pass_ns || ksyms_quick(k->ksyms) || since >= REPEAT_NS ||
	       (k->n >= CROWDED && since >= CROWDED_NS);
}

void fold_kernel_step(struct fold_kernel *k)
{
	send_known(k);
	if (!k->passing && is_due(k))
		begin_lookup(k);
	if (!k->passing || !ksyms_step(k->ksyms, STEP_BYTES))
		return;
	store_functions(k);
	k->passing = false;
	ksyms_begin(k->ksyms, NULL, 0); /* frees the names */
	send_known(k);
}
