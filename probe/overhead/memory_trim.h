// SPDX-License-Identifier: Apache-2.0
/*
 * memory_trim.h - returns unused memory to the kernel: freed memory, and pages of the program and
 * its libraries that were used once, mostly at the start. Pages used again come from the page
 * cache, about 0.1 ms in total, so it should be called rarely.
 */
#pragma once

void memory_trim_shrink(void);
