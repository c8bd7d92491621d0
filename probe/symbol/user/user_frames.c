// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/user_frames.h"

#define FILE_END (1ull << 40)
#define FIRST_PAGES 65536ull
#define USER_END (1ull << 56)

/*
 * Code without frame pointers leaves arbitrary values in the chain of frames. For an address in no
 * file the kernel returns the build id of the next file, and an offset before the start of that
 * file.
 */
static bool is_nowhere(const struct req_frame *f)
{
	if (f->status == USER_FRAME_BY_ID)
		return f->where >= FILE_END;
	return f->where < FIRST_PAGES || f->where >= USER_END;
}

uint32_t user_frames_count(const struct req_frame *f, uint32_t max)
{
	uint32_t n = max ? 1 : 0;

	while (n < max && !is_nowhere(&f[n]))
		n++;
	return n;
}
