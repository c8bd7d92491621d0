/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* drops.h - limits shared by bpf/net/drops.bpf.c and probe/source/src_drops.c. */
#pragma once

enum {
	/* The kernel's own list ends below (6.18: at 128); those of subsystems begin at 1 << 16. */
	DROPS_REASONS = 256,
	DROPS_OTHER = 0, /* reasons beyond the list; in the list 0 is not a reason */
};
