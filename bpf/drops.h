/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* drops.h - what bpf/drops.bpf.c and probe/src_drops.c agree on. */
#pragma once

enum {
	DROPS_OTHER = 0, /* of the kernel's list 0 is no reason: those beyond the list are counted
			    there */
	DROPS_REASONS =
		256, /* the kernel's own are fewer (6.18: 130); subsystems' begin at 1 << 16 */
};
