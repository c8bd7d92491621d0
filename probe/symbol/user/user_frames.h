// SPDX-License-Identifier: Apache-2.0
/* user_frames.h - the plausible part of a user stack that was read by frame pointers. */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/base/base.h"

enum { USER_FRAME_BY_ID = 1 }; /* status of a frame that has a build id: BPF_STACK_BUILD_ID_VALID */

/*
 * The number of frames, from the innermost outwards, that can be code; the innermost always counts.
 * max: the number of frames in f.
 */
uint32_t user_frames_count(const struct req_frame *f, uint32_t max);
