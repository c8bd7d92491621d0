// SPDX-License-Identifier: Apache-2.0
#include "probe/sandbox/privilege.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/*
 * Needed to read maps and rings, to read /proc/PID of other users' processes, and to attach to the
 * packets of the host when io_uring is first seen on a socket.
 */
static const int kept[] = { CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
			    CAP_NET_ADMIN };

static bool is_among(int cap, const int *caps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (caps[i] == cap)
			return true;
	return false;
}

/* Drops the bounding set, from which a program started by a compromised probe could regain rights.
 */
static void drop_bounds(const int *caps, size_t n)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!is_among(cap, caps, n))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* fails without root */
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

static int keep_caps(const int *caps, size_t n)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	drop_bounds(caps, n);
	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t mask = 0;

		for (int bit = 0; bit < 32; bit++)
			if (is_among(i * 32 + bit, caps, n))
				mask |= 1u << bit;
		data[i].permitted &= mask;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

int privilege_drop(void)
{
	return keep_caps(kept, ARRAY_SIZE(kept));
}

int privilege_keep_one(int cap)
{
	return keep_caps(&cap, 1);
}
