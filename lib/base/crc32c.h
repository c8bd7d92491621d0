// SPDX-License-Identifier: Apache-2.0
/* crc32c.h - Castagnoli CRC (RFC 3720, appendix B.4). "123456789" gives e3069283. */
#pragma once

#include "lib/base/base.h"

uint32_t crc32c(uint32_t crc, const void *p,
		size_t len); /* crc: 0, or the CRC of the preceding bytes */
