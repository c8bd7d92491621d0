// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/kernel_load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "probe/kernel/kernel_btf.h"
#include "probe/sandbox/privilege.h"
#include "probe/core/source.h"

int kernel_can_load(char *why)
{
	if (!privilege_has_bpf()) {
		snprintf(why, WHY_LEN, "needs root (or CAP_BPF and CAP_PERFMON); start as root");
		return -EPERM;
	}
	if (access(KERNEL_BTF, R_OK) < 0) {
		snprintf(why, WHY_LEN,
			 "this kernel has no BTF; boot one with CONFIG_DEBUG_INFO_BTF=y");
		return -ENOENT;
	}
	return 0;
}

/* The type is a pointer to a function whose first argument is not one of the tracepoint. */
int kernel_args_in(const struct btf *btf, const char *name)
{
	char type[64];
	const struct btf_type *t;
	int id;

	if (!btf)
		return -ENOENT;
	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -ENOENT;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	if (!t || !btf_is_ptr(t))
		return -ENOENT;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) && btf_vlen(t) ? btf_vlen(t) - 1 : -ENOENT;
}

int kernel_tracepoint_args(const char *name, char *why)
{
	int n = kernel_args_in(kernel_btf(), name);

	if (n < 0)
		snprintf(why, WHY_LEN, "no tracepoint %s in this kernel", name);
	return n;
}

void kernel_loaded(const void *object, size_t len)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)object;
	const uintptr_t begin = (from + page - 1) & ~(page - 1), end = (from + len) & ~(page - 1);

	if (begin < end)
		(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

int kernel_iterate(const struct bpf_link *iterator)
{
	AUTO_CLOSE int fd = bpf_iter_create(bpf_link__fd(iterator));
	char none[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, none, sizeof(none));
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

static bool is_before(int major, int minor, char release[static KERNEL_RELEASE])
{
	struct utsname u;
	int has_major = 0, has_minor = 0;

	if (uname(&u) < 0 || sscanf(u.release, "%d.%d", &has_major, &has_minor) != 2)
		return false;
	snprintf(release, KERNEL_RELEASE, "%s", u.release);
	return has_major < major || (has_major == major && has_minor < minor);
}

bool kernel_is_old(char release[static KERNEL_RELEASE])
{
	return is_before(5, 15, release);
}

bool kernel_jumps(void)
{
#if defined(__x86_64__)
	return true; /* 5.10 */
#else
	char release[KERNEL_RELEASE];

	return !is_before(6, 0, release); /* arch/arm64/net/bpf_jit_comp.c */
#endif
}

int kernel_explain(int err, char *why)
{
	char release[KERNEL_RELEASE];

	if ((err == -EACCES || err == -EINVAL) && kernel_is_old(release))
		snprintf(why, WHY_LEN, "needs kernel 5.15 or later; this is %s", release);
	else if (err == -EACCES || err == -EINVAL)
		snprintf(why, WHY_LEN,
			 "the verifier of this kernel refused the program; please report the "
			 "kernel's "
			 "version");
	else if (err == -EPERM)
		snprintf(why, WHY_LEN,
			 "the kernel does not permit this program; in a container, add CAP_BPF and "
			 "CAP_PERFMON of the host, otherwise check /sys/kernel/security/lockdown "
			 "and "
			 "lsm");
	return err;
}
