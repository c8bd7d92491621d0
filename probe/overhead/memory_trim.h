// SPDX-License-Identifier: Apache-2.0
/*
 * memory_trim.h - gives back the memory that is not needed any more: what was freed, and the pages of
 * program and libraries that were needed once, mostly to begin. Those that are needed after all
 * come back from the kernel's cache of the file: some 0.1 ms in all, so now and then will do.
 */
#pragma once

void memory_trim_shrink(void);
