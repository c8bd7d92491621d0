// SPDX-License-Identifier: Apache-2.0
/*
 * sources.h - every line of sources.def and every program of the operator's own, opened, read and
 * told about as a whole.
 *
 * Each source fails alone: one that cannot be opened is off for good, one that cannot be read says
 * so once and is asked again. What became of each is an item in the sink.
 */
#pragma once

#include "probe/overhead/map_memory.h"
#include "probe/core/source.h"

struct sources;

void sources_use(const char *programs); /* a directory of custom.h, "": none; before all else */
void sources_forget(void); /* those programs */
struct sources *
sources_open(const struct probe_env *env); /* env->why is scratch; the rest is kept */
void sources_close(struct sources *s); /* NULL is fine */

size_t sources_count(void);
const struct source *sources_at(size_t i);
/* That it is off is to be minded: it is asked for, and no host is whole without what it reads. */
bool sources_minded(size_t i, const struct probe_config *c);
/* Open, read once, close: 0, or -errno with the reason in env->why. To maps, unless it is NULL, is
 * added what its maps take, if this process has none else. */
int sources_try(size_t i, const struct probe_env *env, struct map_memory *maps) MUST_CHECK;
size_t sources_layouts(const struct wire_dict **out, size_t room); /* of all; dies without room */

/* The next read of a source that costs more than its share is left out (source_throttle.h), and that told.
 */
bool sources_read(struct sources *s, size_t i, struct sink *out); /* whether it rests; off: yes */
bool sources_on(const struct sources *s, size_t i); /* it could be opened: it may be read */
int sources_wakes(struct sources *s, size_t i); /* its descriptor, or -1 */
/* The budget of kernel programs (source_throttle.h), which the kernel counts some of the time: to be called
 * each sources_watch_ms. */
void sources_watch(struct sources *s, struct sink *out);
uint32_t sources_watch_ms(const struct sources *s);
void sources_tell_cost(struct sources *s, struct sink *out); /* what came since the last call */
void sources_tell(const struct sources *s, struct sink *out); /* the state of each */

DEFINE_AUTO(struct sources *, sources_close)
