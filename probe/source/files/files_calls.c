// SPDX-License-Identifier: Apache-2.0
#include "probe/source/files/files_calls.h"

#include <sys/syscall.h>

static const struct call {
	const char *name;
	uint16_t nr[2]; /* the second: its variant with flags, or 0 */
} calls[FILE_CALLS] = {
	[FILE_READ] = { "read", { SYS_read } },
	[FILE_WRITE] = { "write", { SYS_write } },
	[FILE_PREAD] = { "pread64", { SYS_pread64 } },
	[FILE_PWRITE] = { "pwrite64", { SYS_pwrite64 } },
	[FILE_READV] = { "readv", { SYS_readv } },
	[FILE_WRITEV] = { "writev", { SYS_writev } },
	[FILE_PREADV] = { "preadv", { SYS_preadv, SYS_preadv2 } },
	[FILE_PWRITEV] = { "pwritev", { SYS_pwritev, SYS_pwritev2 } },
	[FILE_SENDFILE] = { "sendfile", { SYS_sendfile } },
	[FILE_COPY] = { "copy_file_range", { SYS_copy_file_range } },
	[FILE_FSYNC] = { "fsync", { SYS_fsync } },
	[FILE_FDATASYNC] = { "fdatasync", { SYS_fdatasync } },
	[FILE_SYNC_RANGE] = { "sync_file_range", { SYS_sync_file_range } },
	[FILE_FALLOCATE] = { "fallocate", { SYS_fallocate } },
	[FILE_TRUNCATE] = { "ftruncate", { SYS_ftruncate } },
	[FILE_MSYNC] = { "msync", { SYS_msync } },
};

const char *files_call_name(uint32_t call)
{
	return call < FILE_CALLS && calls[call].name ? calls[call].name : "";
}

bool files_call_syncs(uint32_t call)
{
	return call == FILE_FSYNC || call == FILE_FDATASYNC || call == FILE_TRUNCATE;
}

void files_calls_fill(uint8_t call_of[static FILE_NRS])
{
	for (uint8_t c = FILE_NONE + 1; c < FILE_CALLS; c++)
		for (int i = 0; i < 2; i++)
			if ((i == 0 || calls[c].nr[i]) && calls[c].nr[i] < FILE_NRS)
				call_of[calls[c].nr[i]] = c;
}
