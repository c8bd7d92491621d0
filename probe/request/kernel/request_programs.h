// SPDX-License-Identifier: Apache-2.0
/*
 * request_programs.h - which programs of a request object this kernel can run. What only explains
 * a request is left out where a tracepoint is missing; what sees it is not: the load then fails.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_object;

/* Before the load. True: the hooks on the scheduler are among them (asked for by split). */
bool request_programs_choose(struct bpf_object *obj, bool split);
