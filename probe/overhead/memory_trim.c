// SPDX-License-Identifier: Apache-2.0
#include "probe/overhead/memory_trim.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include "lib/base/base.h"

/*
 * Skips writable segments: the dynamic linker has written to them. Of the program itself only the
 * code: its constants lie next to the embedded kernel programs (kernel_loaded), whose pages would
 * be read back with them.
 */
static int on_object(struct dl_phdr_info *o, size_t size UNUSED, void *arg UNUSED)
{
	const bool own = !o->dlpi_name[0];
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &o->dlpi_phdr[i];
		uintptr_t begin = (o->dlpi_addr + h->p_vaddr) & ~(page - 1);
		uintptr_t end = (o->dlpi_addr + h->p_vaddr + h->p_memsz + page - 1) & ~(page - 1);

		if (h->p_type == PT_LOAD && !(h->p_flags & PF_W) && (!own || h->p_flags & PF_X))
			(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
	}
	return 0;
}

void memory_trim_shrink(void)
{
	malloc_trim(0);
	dl_iterate_phdr(on_object, NULL);
}
