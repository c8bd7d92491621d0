// SPDX-License-Identifier: Apache-2.0
/* Address translations, from lines of nf_conntrack as a kernel 6.18 prints them, and from netlink.
 */
#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>

#include "lib/base/arena.h"
#include "probe/source/address/conntrack.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

#define TCP(there, back)                                                                           \
	"ipv4     2 tcp      6 117 TIME_WAIT " there " " back " [ASSURED] mark=0 zone=0 use=2"

static void see(struct nat *n, const char *line, uint64_t netns)
{
	conntrack_line(n, line, strlen(line), netns);
}

/* The sent translations as text. */
static const char *sent_text(struct nat *n)
{
	static char all[1024];
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };
	struct sink s = { 0 };
	size_t len = 0;

	nat_send(n, &s);
	CHECK_EQ(wire_body_decode(a, s.event.data, s.event.len, &b), 0);
	CHECK_EQ(b.nnats, 1);
	len += (size_t)snprintf(all, sizeof(all), "%u:", b.nats[0].left_out);
	for (uint32_t i = 0; i < b.nats[0].n && i < 8; i++) {
		const struct nat_way *w = &b.nats[0].ways[i];
		char x[ADDR_TEXT], y[ADDR_TEXT];

		len += (size_t)snprintf(all + len, sizeof(all) - len, " %u%s %s=%s", w->kind,
					w->netns ? "c" : "", addr_text(&w->seen, x),
					addr_text(&w->real, y));
	}
	buf_free(&s.event);
	return all;
}

TEST(a_translated_destination_is_reported_once)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));

	see(n,
	    TCP("src=10.0.0.1 dst=10.96.0.1 sport=40001 dport=80",
		"src=10.0.0.2 dst=10.0.0.1 sport=8000 dport=40001"),
	    0);
	see(n,
	    TCP("src=10.0.0.1 dst=10.96.0.1 sport=40002 dport=80",
		"src=10.0.0.2 dst=10.0.0.1 sport=8000 dport=40002"),
	    0);
	see(n,
	    TCP("src=10.0.0.1 dst=10.96.0.1 sport=40003 dport=80",
		"src=10.0.0.3 dst=10.0.0.1 sport=8000 dport=40003"),
	    9);
	see(n,
	    TCP("src=10.0.0.1 dst=10.0.0.9 sport=40004 dport=80",
		"src=10.0.0.9 dst=10.0.0.1 sport=80 dport=40004"),
	    0);
	CHECK_STR(sent_text(n), "0: 1 10.96.0.1:80=10.0.0.2:8000 1c 10.96.0.1:80=10.0.0.3:8000");
	CHECK(!n->changed);
}

TEST(a_translated_source_is_reported_without_ports)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));

	see(n,
	    TCP("src=10.0.0.1 dst=192.0.2.9 sport=40001 dport=443",
		"src=192.0.2.9 dst=192.0.2.1 sport=443 dport=1024"),
	    0);
	see(n,
	    TCP("src=10.0.0.1 dst=192.0.2.8 sport=40002 dport=443",
		"src=192.0.2.8 dst=192.0.2.1 sport=443 dport=40002"),
	    0);
	see(n,
	    TCP("src=10.0.0.1 dst=10.0.0.254 sport=40003 dport=8080",
		"src=10.1.0.4 dst=10.1.0.254 sport=9000 dport=40003"),
	    0);
	CHECK_STR(sent_text(n), "0: 2 192.0.2.1:0=10.0.0.1:0 1 10.0.0.254:8080=10.1.0.4:9000 2 "
				"10.1.0.254:0=10.0.0.1:0");
}

TEST(truncated_lines_and_other_protocols_are_ignored)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));
	static const char *const lines[] = {
		"ipv4     2 udp      17 29 src=10.0.0.1 dst=10.96.0.1 sport=4 dport=53 "
		"src=10.0.0.2 dst=10.0.0.1 sport=53 dport=4",
		"ipv4     2 tcp      6 117 SYN_SENT src=10.0.0.1 dst=10.96.0.1 sport=4 dport=80 "
		"[UNREPLIED] src=10.0.0.2 dst=10.0.0",
		"ipv4     2 tcp      6 117 src=x dst=y sport=1 dport=2 src=x dst=z sport=1 dport=2",
		"",
		" tcp ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		see(n, lines[i], 0);
	see(n,
	    "ipv6     10 tcp      6 117 CLOSE src=20010db8000000000000000000000001 dst=fd00 "
	    "sport=1 dport=2",
	    0);
	CHECK_STR(sent_text(n), "0:");
	see(n,
	    "ipv6     10 tcp      6 9 CLOSE src=2001:0db8:0000:0000:0000:0000:0000:0001 "
	    "dst=fd00:0000:0000:0000:0000:0000:0000:0001 sport=1 dport=80 "
	    "src=2001:0db8:0000:0000:0000:0000:0000:0002 "
	    "dst=2001:0db8:0000:0000:0000:0000:0000:0001 sport=8000 dport=1 use=1",
	    0);
	CHECK_STR(sent_text(n), "0: 1 [fd00::1]:80=[2001:db8::2]:8000");
}

TEST(an_unused_translation_is_forgotten_after_some_readings)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));
	static const char way[] = TCP("src=10.0.0.1 dst=10.96.0.1 sport=4 dport=80",
				      "src=10.0.0.2 dst=10.0.0.1 sport=8000 dport=4");

	see(n, way, 0);
	see(n, way, 9);
	sent_text(n);
	for (int i = 0; i < 5; i++) {
		nat_begin(n, 0);
		nat_end(n, 0);
	}
	CHECK(!n->changed && n->n == 2);
	nat_begin(n, 0);
	see(n, way, 0);
	nat_end(n, 0);
	CHECK(!n->changed && n->n == 2);
	for (int i = 0; i < 6; i++) {
		nat_begin(n, 0);
		nat_end(n, 0);
	}
	CHECK(n->changed);
	CHECK_STR(sent_text(n), "0: 1c 10.96.0.1:80=10.0.0.2:8000");
	nat_forget(n, 9);
	CHECK(n->changed);
	CHECK_STR(sent_text(n), "0:");
}

TEST(translations_beyond_the_limit_are_counted)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));
	struct nat_flow f = { .from = addr_make("\x0a\0\0\1", 4, 9),
			      .hears = addr_make("\x0a\0\0\1", 4, 9),
			      .answers = addr_make("\x0a\0\0\2", 4, 80) };

	for (int i = 0; i < ITEM_MAX_WAYS + 3; i++) {
		f.to = addr_make("\x0a\x60\0\1", 4, (uint16_t)(i + 1));
		nat_add(n, &f, 0);
	}
	CHECK_EQ(n->n, ITEM_MAX_WAYS);
	CHECK_EQ(n->left_out, 3);
}

/* Attributes as the kernel nests them. */
struct message {
	uint8_t b[512];
	size_t len;
};

static size_t begin(struct message *m, uint16_t type)
{
	size_t at = m->len;

	memcpy(m->b + at + 2, &type, sizeof(type));
	m->len += 4;
	return at;
}

static void end(struct message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->len - at);

	memcpy(m->b + at, &len, sizeof(len));
	m->len = NLA_ALIGN(m->len);
}

static void put(struct message *m, uint16_t type, const void *p, size_t len)
{
	size_t at = begin(m, type);

	memcpy(m->b + m->len, p, len);
	m->len += len;
	end(m, at);
}

static void put_tuple(struct message *m, uint16_t type, const char *src, const char *dst,
		      uint16_t sport, uint16_t dport)
{
	size_t tuple = begin(m, type | NLA_F_NESTED), in = begin(m, CTA_TUPLE_IP | NLA_F_NESTED);
	uint16_t from = htons(sport), to = htons(dport);

	put(m, CTA_IP_V4_SRC, src, 4);
	put(m, CTA_IP_V4_DST, dst, 4);
	end(m, in);
	in = begin(m, CTA_TUPLE_PROTO | NLA_F_NESTED);
	put(m, CTA_PROTO_NUM, "\6", 1);
	put(m, CTA_PROTO_SRC_PORT, &from, 2);
	put(m, CTA_PROTO_DST_PORT, &to, 2);
	end(m, in);
	end(m, tuple);
}

/* 10.0.0.1:4 calls 10.96.0.1:80, which is 10.0.0.2:8000. */
static struct message flow(void)
{
	struct message m = { .len = NLMSG_HDRLEN + sizeof(struct nfgenmsg) };
	struct nlmsghdr head = { .nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 };

	put_tuple(&m, CTA_TUPLE_ORIG, "\x0a\0\0\1", "\x0a\x60\0\1", 4, 80);
	put_tuple(&m, CTA_TUPLE_REPLY, "\x0a\0\0\2", "\x0a\0\0\1", 8000, 4);
	put(&m, CTA_STATUS, "\0\0\1\xae", 4);
	head.nlmsg_len = (uint32_t)m.len;
	memcpy(m.b, &head, sizeof(head));
	return m;
}

TEST(netlink_gives_the_same)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));
	struct message m = flow();
	struct nlmsghdr done = { .nlmsg_len = NLMSG_HDRLEN + 4, .nlmsg_type = NLMSG_DONE };

	CHECK_EQ(conntrack_message(n, m.b, m.len), 1);
	memcpy(m.b + m.len, &done, sizeof(done));
	CHECK_EQ(conntrack_message(n, m.b, m.len + NLMSG_HDRLEN + 4), 0);
	CHECK_STR(sent_text(n), "0: 1 10.96.0.1:80=10.0.0.2:8000");
}

TEST(a_refusal_by_netlink_is_returned_as_its_error)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));
	struct {
		struct nlmsghdr head;
		int error;
		struct nlmsghdr of;
	} no = { { .nlmsg_len = sizeof(no), .nlmsg_type = NLMSG_ERROR }, -EPERM, { 0 } };

	CHECK_EQ(conntrack_message(n, &no, sizeof(no)), -EPERM);
	no.error = -EINVAL;
	CHECK_EQ(conntrack_message(n, &no, sizeof(no)), -EOPNOTSUPP);
}

TEST(no_length_in_a_message_is_trusted)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));
	struct message m = flow();

	for (size_t len = 0; len < m.len; len++) { /* in exactly sized memory, for the sanitizer */
		AUTO_FREE uint8_t *cut = malloc(len ? len : 1);

		memcpy(cut, m.b, len);
		CHECK(conntrack_message(n, cut, len) != 0);
	}
	for (size_t at = NLMSG_HDRLEN + sizeof(struct nfgenmsg); at < m.len; at++) {
		AUTO_FREE uint8_t *bad = malloc(m.len);

		memcpy(bad, m.b, m.len);
		bad[at] = 0xff;
		CHECK_EQ(conntrack_message(n, bad, m.len), 1);
	}
}

TEST(a_namespace_with_too_many_connections_is_counted_and_not_read)
{
	AUTO_FREE struct nat *n = calloc(1, sizeof(*n));
	struct buf text = { 0 };

	CHECK_EQ(place_run("mkdir -p 7/net/stat"), 0);
	CHECK_EQ(
		place_run(
			"printf 'entries  found\\n00000001  00000000\\n' >7/net/stat/nf_conntrack"),
		0);
	CHECK_EQ(place_run("echo 'ipv4     2 tcp      6 117 CLOSE src=10.0.0.1 dst=10.0.0.1 "
			   "sport=4 dport=80 src=10.0.0.1 dst=10.0.0.1 sport=8080 dport=4'"
			   " >7/net/nf_conntrack"),
		 0);
	conntrack_of(n, &text, place(), "7", 3);
	CHECK_STR(sent_text(n), "0: 1c 10.0.0.1:80=10.0.0.1:8080");
	CHECK_EQ(
		place_run(
			"printf 'entries  found\\n00000401  00000000\\n' >7/net/stat/nf_conntrack"),
		0);
	conntrack_of(n, &text, place(), "7", 3);
	CHECK_STR(sent_text(n), "1: 1c 10.0.0.1:80=10.0.0.1:8080");
	buf_free(&text);
	place_clean();
}
