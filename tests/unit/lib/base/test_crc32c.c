// SPDX-License-Identifier: Apache-2.0
#include "lib/base/crc32c.h"
#include "tests/lib/test.h"

TEST(the_check_value_of_the_standard_comes_out)
{
	CHECK_EQ(crc32c(0, "123456789", 9), 0xe3069283);
	CHECK_EQ(crc32c(0, "", 0), 0);
}

/* RFC 3720, appendix B.4 */
TEST(so_do_the_examples_of_iscsi)
{
	unsigned char b[32] = { 0 };

	CHECK_EQ(crc32c(0, b, sizeof(b)), 0x8a9136aa);
	memset(b, 0xff, sizeof(b));
	CHECK_EQ(crc32c(0, b, sizeof(b)), 0x62a8ab43);
	for (unsigned i = 0; i < sizeof(b); i++)
		b[i] = (unsigned char)i;
	CHECK_EQ(crc32c(0, b, sizeof(b)), 0x46dd794e);
}

TEST(parts_add_up_to_the_whole)
{
	CHECK_EQ(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}
