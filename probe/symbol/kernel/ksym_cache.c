// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/kernel/ksym_cache.h"

#include "lib/base/log.h"
#include "probe/symbol/kernel/ksym.h"

enum {
	ROOM = 1024, /* functions; KSYM_MAX in one pass */
	STEP_BYTES = 2 << 20, /* some 30 ms */
	CALM_READS = 6, /* reads between two passes */
};

struct ksym_cache {
	struct ksyms *ksyms;
	size_t n, asked; /* asked: functions in the current pass; 0: no pass */
	uint32_t calm;
	struct fn {
		uint64_t addr;
		char *name; /* NULL: not known yet */
	} fn[ROOM];
};

struct ksym_cache *ksym_cache_new(const char *procfs)
{
	struct ksym_cache *n = calloc(1, sizeof(*n));

	if (!n)
		die("out of memory");
	n->ksyms = ksyms_new(procfs);
	return n;
}

void ksym_cache_free(struct ksym_cache *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++)
		free(n->fn[i].name);
	ksyms_free(n->ksyms);
	free(n);
}

const char *ksym_cache_of(struct ksym_cache *n, uint64_t addr)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->fn[i].addr == addr)
			return n->fn[i].name;
	if (n->n == ROOM)
		return "?";
	n->fn[n->n++].addr = addr;
	return NULL;
}

static void begin_pass(struct ksym_cache *n)
{
	uint64_t addr[ROOM];

	for (size_t i = 0; i < n->n; i++)
		if (!n->fn[i].name)
			addr[n->asked++] = n->fn[i].addr;
	if (n->asked)
		ksyms_begin(n->ksyms, addr, n->asked);
}

static bool was_asked(const struct ksym_cache *n, size_t i, size_t *left)
{
	return !n->fn[i].name && *left && (*left)--;
}

/* Only those of the pass: later functions may have been added meanwhile. */
static void take_names(struct ksym_cache *n)
{
	size_t left = n->asked;

	for (size_t i = 0; i < n->n; i++) {
		char text[KSYM_TEXT];
		uint64_t from, to;

		if (!was_asked(n, i, &left))
			continue;
		n->fn[i].name = strdup(
			ksyms_function(n->ksyms, n->fn[i].addr, text, &from, &to) ? text : "?");
		if (!n->fn[i].name)
			die("out of memory");
	}
	ksyms_begin(n->ksyms, NULL, 0); /* frees the names of the pass */
	n->asked = 0;
	n->calm = ksyms_quick(n->ksyms) ? 0 : CALM_READS;
}

void ksym_cache_step(struct ksym_cache *n)
{
	if (n->calm) {
		n->calm--;
		return;
	}
	if (!n->asked)
		begin_pass(n);
	if (n->asked && ksyms_step(n->ksyms, STEP_BYTES))
		take_names(n);
}
