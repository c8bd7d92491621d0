// SPDX-License-Identifier: Apache-2.0
#include "lib/base/addr.h"
#include "tests/lib/test.h"

static const uint8_t v4[] = { 10, 0, 0, 1 };
static const uint8_t v6[] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };
static const uint8_t mapped[] = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 1 };

TEST(an_address_has_one_text)
{
	struct addr a = addr_make(v4, 4, 80), b = addr_make(v6, 16, 65535);
	char text[ADDR_TEXT];

	CHECK_STR(addr_text(&a, text), "10.0.0.1:80");
	CHECK_STR(addr_text(&b, text), "[2001:db8::1]:65535");
}

TEST(a_mapped_address_is_the_ipv4_one)
{
	struct addr a = addr_make(v4, 4, 80), b = addr_make(mapped, 16, 80);

	CHECK_EQ(b.len, 4);
	CHECK(addr_equal(&a, &b));
}

TEST(no_address_has_an_empty_text)
{
	struct addr none = addr_make("", 0, 0);
	char text[ADDR_TEXT] = "x";

	CHECK_STR(addr_text(&none, text), "");
}

TEST(addresses_differ_by_bytes_port_and_family)
{
	struct addr a = addr_make(v4, 4, 80), port = addr_make(v4, 4, 81),
		    six = addr_make(v6, 16, 80);
	struct addr other = a;

	other.ip[3]++;
	CHECK(addr_equal(&a, &a));
	CHECK(!addr_equal(&a, &port));
	CHECK(!addr_equal(&a, &six));
	CHECK(!addr_equal(&a, &other));
}

TEST(the_longest_address_fits_its_text)
{
	uint8_t ip[16];
	char text[ADDR_TEXT];
	struct addr a;

	memset(ip, 0xee, sizeof(ip));
	a = addr_make(ip, 16, 65535);
	CHECK_STR(addr_text(&a, text), "[eeee:eeee:eeee:eeee:eeee:eeee:eeee:eeee]:65535");
}
