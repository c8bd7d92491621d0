/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* loss.h - classifies why TCP retransmits a segment. */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/request/request.h"

enum { CA_RECOVERY = 3, CA_LOSS = 4, TIMER_LOSS_PROBE = 5 }; /* enum tcp_ca_state; ICSK_TIME_... */

/* From the socket's state at the retransmission; the order of the checks matters. */
static __always_inline __u32 loss_kind(struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	__u8 ca = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
	__u8 timer = BPF_CORE_READ(icsk, icsk_pending);

	if (BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_SYN_SENT)
		return REQ_LOSS_SYN;
	if (ca == CA_RECOVERY)
		return REQ_LOSS_FAST;
	if (ca == CA_LOSS)
		return timer ? REQ_LOSS_SLOW_START : REQ_LOSS_RTO;
	return timer == TIMER_LOSS_PROBE ? REQ_LOSS_TLP : REQ_LOSS_RTO;
}
