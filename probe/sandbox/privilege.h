// SPDX-License-Identifier: Apache-2.0
/* privilege.h - give up, for good, what a probe does not need once its sources are open. */
#pragma once

#include "lib/base/base.h"

/* For this thread and those it makes later: so before the first ZeroMQ socket. */
int privilege_drop(void) MUST_CHECK;
int privilege_keep_one(int cap) MUST_CHECK; /* for this thread; without it, too: it has none then */

bool privilege_has_bpf(void); /* may load programs that look at the kernel */
