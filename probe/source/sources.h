// SPDX-License-Identifier: Apache-2.0
/*
 * sources.h - opens, reads and reports all sources: every line of sources.def and every custom
 * program.
 *
 * Sources fail independently: one that cannot be opened stays off; one that cannot be read is
 * reported once and retried. The state of each is an item in the sink.
 */
#pragma once

#include "probe/overhead/map_memory.h"
#include "probe/core/source.h"

struct sources;

void sources_use(const char *programs); /* directory of custom programs, "": none; call first */
void sources_forget(void); /* drops the custom programs */
struct sources *
sources_open(const struct probe_env *env); /* env->why is scratch; the rest is used */
void sources_close(struct sources *s); /* NULL is fine */

size_t sources_count(void);
const struct source *sources_at(size_t i);
/* Whether a disabled source should be reported as a problem. */
bool sources_required(size_t i, const struct probe_config *c);
/* Opens, reads once, closes: 0, or -errno with the reason in env->why. maps (may be NULL): adds the
 * memory of its maps, valid if this process has no others. */
int sources_try(size_t i, const struct probe_env *env, struct map_memory *maps) MUST_CHECK;
size_t sources_layouts(const struct wire_dict **out,
		       size_t room); /* of all sources; exits if room is too small */

/* Reads a source; skips the read if the source exceeds its CPU share (source_throttle.h), and
 * reports that. Returns when the next read is due; a source that is off rests. */
enum source_pace sources_read(struct sources *s, size_t i, struct sink *out);
bool sources_on(const struct sources *s, size_t i); /* it was opened and may be read */
int sources_wakes(struct sources *s, size_t i); /* its descriptor, or -1 */
/* Enforces the CPU budget of kernel programs (source_throttle.h), which the kernel measures part of
 * the time; call every sources_watch_ms. */
void sources_watch(struct sources *s, struct sink *out);
uint32_t sources_watch_ms(const struct sources *s);
void sources_send_cost(struct sources *s, struct sink *out); /* since the last call */
void sources_send_states(const struct sources *s, struct sink *out); /* the state of each */

DEFINE_AUTO(struct sources *, sources_close)
