// SPDX-License-Identifier: Apache-2.0
/* files_calls.h - the system calls that count as file operations. */
#pragma once

#include <linux/types.h>

#include "bpf/files/files.h"
#include "lib/base/base.h"

const char *files_call_name(uint32_t call); /* "pwrite64"; "" if invalid */
bool files_call_syncs(uint32_t call); /* has no byte count: it concerns the whole file */
void files_calls_fill(uint8_t call_of[static FILE_NRS]); /* by the number of the system call */
