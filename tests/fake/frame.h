// SPDX-License-Identifier: Apache-2.0
/* frame.h - stack frames in the test program itself, in the kernel's form. */
#pragma once

#include <fcntl.h>
#include <stdio.h>

#include "bpf/request/request.h"
#include "probe/symbol/user/elf_file.h"
#include "tests/lib/test.h"

/* The frame of an address in this program. */
static struct req_frame by_id(const void *addr)
{
	AUTO_CLOSE int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t at = (uint64_t)(uintptr_t)addr, start, end, from;
	struct req_frame f = { .status = 1 };
	FILE *maps = fopen("/proc/self/maps", "re");
	struct elf_file e;
	char line[512];

	CHECK_EQ(elf_file_open(&e, fd), 0);
	memcpy(f.build_id, e.build_id, sizeof(f.build_id));
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &from) == 3 && start <= at &&
		    at < end)
			f.where = at - start + from;
	fclose(maps);
	return f;
}
