// SPDX-License-Identifier: Apache-2.0
/* privilege.h - drops the capabilities that a probe does not need once its sources are open. */
#pragma once

#include "lib/base/base.h"

/* For this thread and threads it creates later: call it before the first ZeroMQ socket. */
int privilege_drop(void) MUST_CHECK;
int privilege_keep_one(int cap) MUST_CHECK; /* for this thread; if it lacks cap, it keeps none */

bool privilege_has_bpf(void); /* may load tracing programs */
