// SPDX-License-Identifier: Apache-2.0
#include "privilege.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/*
 * To read maps and rings, and /proc/PID of other users' processes; and to attach to the packets of
 * the host when io_uring is first seen on a socket.
 */
static const int kept[] = { CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
			    CAP_NET_ADMIN };

static bool is_kept(int cap)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (kept[i] == cap)
			return true;
	return false;
}

/* What a program that this one might be made to run could get back. */
static void drop_bounds(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!is_kept(cap))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* not ours to drop without root */
}

bool privilege_has_bpf(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	return (data[CAP_TO_INDEX(CAP_BPF)].effective & CAP_TO_MASK(CAP_BPF)) &&
	       (data[CAP_TO_INDEX(CAP_PERFMON)].effective & CAP_TO_MASK(CAP_PERFMON));
}

int privilege_drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	drop_bounds();
	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t mask = 0;

		for (int bit = 0; bit < 32; bit++)
			if (is_kept(i * 32 + bit))
				mask |= 1u << bit;
		data[i].permitted &= mask;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}
