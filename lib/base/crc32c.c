// SPDX-License-Identifier: Apache-2.0
#include "lib/base/crc32c.h"

#include <pthread.h>

#define POLYNOMIAL 0x82f63b78u /* bits reversed */

static uint32_t table[256];

static void make_table(void)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
		table[i] = c;
	}
}

uint32_t crc32c(uint32_t crc, const void *p, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const unsigned char *s = p;

	pthread_once(&once, make_table);
	crc = ~crc;
	while (len--)
		crc = table[(crc ^ *s++) & 0xff] ^ crc >> 8;
	return ~crc;
}
