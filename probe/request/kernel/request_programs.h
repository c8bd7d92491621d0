// SPDX-License-Identifier: Apache-2.0
/*
 * request_programs.h - selects the programs of a request object that this kernel can run. Programs
 * that only explain a request are left out if their tracepoint is missing; those that see requests
 * are not: then the load fails.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_object;

/* Call before the load. True: scheduler hooks (requested by split) are included. */
bool request_programs_choose(struct bpf_object *obj, bool split);
