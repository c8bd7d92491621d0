// SPDX-License-Identifier: Apache-2.0
/* seccomp.h - give up, for good, every system call that a probe whose programs are attached does
 * not make. */
#pragma once

#include "lib/base/base.h"

/*
 * For this thread and those it makes later, so before the first ZeroMQ socket; after
 * privilege_drop, as nobody may change capabilities from then on. A probe goes on where it fails.
 */
int seccomp_enter(void) MUST_CHECK;

bool seccomp_possible(void); /* this kernel has filters of system calls */
