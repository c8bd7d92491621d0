// SPDX-License-Identifier: Apache-2.0
/* seccomp.h - the filter that allows only the system calls that a probe with open sources makes. */
#pragma once

#include "lib/base/base.h"

/*
 * For this thread and threads it creates later: call it before the first ZeroMQ socket, and after
 * privilege_drop, because the filter forbids capset. The probe continues if it fails.
 */
int seccomp_enter(void) MUST_CHECK;

bool seccomp_possible(void); /* this kernel supports filters */
