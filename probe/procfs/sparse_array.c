// SPDX-License-Identifier: Apache-2.0
#include "probe/procfs/sparse_array.h"

#include <sys/mman.h>

#include "lib/base/log.h"

void *sparse_array_new(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("out of memory");
	return p;
}

void sparse_array_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}
