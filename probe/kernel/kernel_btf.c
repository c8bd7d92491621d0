// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/kernel_btf.h"

#include <bpf/btf.h>
#include <malloc.h>

/*
 * libbpf reads the types once more for each object. As long as what it frees is not given back, the
 * kernel need not get 11 MiB of pages for each: a start took 2.1 s of CPU time on a slow machine,
 * and .8 so.
 */
enum { KEPT_BYTES = 64 << 20, USUAL_BYTES = 1 << 20 };

static struct btf *types;

void kernel_btf_begin(void)
{
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

void kernel_btf_end(void)
{
	btf__free(types);
	types = NULL;
	mallopt(M_MMAP_THRESHOLD, USUAL_BYTES);
	mallopt(M_TRIM_THRESHOLD, USUAL_BYTES);
	malloc_trim(0);
}

const struct btf *kernel_btf(void)
{
	if (!types)
		types = btf__load_vmlinux_btf();
	return types;
}
