// SPDX-License-Identifier: Apache-2.0
/* Answers of netlink, whole and hostile. */
#include "probe/source/address/netlink.h"

#include "tests/lib/test.h"

enum { HEADER = 8 };

static void count(const struct nlmsghdr *m, void *ctx)
{
	uint32_t *n = ctx;
	const uint8_t *payload = mnl_nlmsg_get_payload(m);

	CHECK(mnl_nlmsg_get_payload_len(m) >= HEADER);
	for (size_t i = 0; i < mnl_nlmsg_get_payload_len(m); i++) /* all readable, in a sanitizer */
		*n += payload[i];
}

/* Parses in exactly sized memory one message of room bytes, each of its payload a 1. */
static int parse(uint32_t len, uint16_t type, size_t room, uint32_t *n)
{
	const struct nlmsghdr head = { .nlmsg_len = len, .nlmsg_type = type };
	AUTO_FREE uint8_t *b = malloc(room);

	memset(b, 1, room);
	memcpy(b, &head, room < sizeof(head) ? room : sizeof(head));
	return netlink_parse(b, room, HEADER, count, n);
}

TEST(a_message_within_its_answer_is_read)
{
	uint32_t n = 0;

	CHECK_EQ(parse(NLMSG_HDRLEN + 12, NLMSG_MIN_TYPE, NLMSG_HDRLEN + 12, &n), 1);
	CHECK_EQ(n, 12);
	CHECK_EQ(parse(NLMSG_HDRLEN + 9, NLMSG_MIN_TYPE, NLMSG_HDRLEN + 9, &n), 1);
	CHECK_EQ(n, 12 + 9);
	CHECK_EQ(parse(NLMSG_HDRLEN + 4, NLMSG_DONE, NLMSG_HDRLEN + 4, &n), 0);
	CHECK_EQ(n, 12 + 9);
}

TEST(no_length_of_a_message_is_trusted)
{
	static const uint32_t lengths[] = { 0,
					    1,
					    NLMSG_HDRLEN - 1,
					    NLMSG_HDRLEN,
					    NLMSG_HDRLEN + HEADER - 1,
					    NLMSG_HDRLEN + HEADER + 1,
					    INT32_MAX,
					    0x80000000u,
					    0x80000018u,
					    UINT32_MAX };
	uint32_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		CHECK_EQ(parse(lengths[i], NLMSG_MIN_TYPE, NLMSG_HDRLEN + HEADER, &n), -EBADMSG);
	CHECK_EQ(parse(UINT32_MAX, NLMSG_DONE, NLMSG_HDRLEN + HEADER, &n), -EBADMSG);
	CHECK_EQ(parse(NLMSG_HDRLEN + 3, NLMSG_ERROR, NLMSG_HDRLEN + 3, &n), -EBADMSG);
	for (size_t room = 1; room < NLMSG_HDRLEN; room++)
		CHECK_EQ(parse(NLMSG_HDRLEN + HEADER, NLMSG_MIN_TYPE, room, &n), 1);
	CHECK_EQ(n, 0);
}

TEST(a_request_is_a_dump)
{
	_Alignas(struct nlmsghdr) char buf[64];
	const struct nlmsghdr *m = netlink_dump_request(buf, 20);

	CHECK_EQ(m->nlmsg_len, NLMSG_HDRLEN);
	CHECK_EQ(m->nlmsg_type, 20);
	CHECK_EQ(m->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
}
