// SPDX-License-Identifier: Apache-2.0
/* privilege.h - give up, for good, what a probe does not need once its sources are open. */
#pragma once

#include "../lib/base.h"

/* For this thread and those it makes later: so before the first ZeroMQ socket. */
int privilege_drop(void) MUST_CHECK;

bool privilege_has_bpf(void); /* may load programs that look at the kernel */
