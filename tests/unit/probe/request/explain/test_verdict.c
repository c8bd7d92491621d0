// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/reason.h"
#include "probe/request/explain/verdict.h"
#include "probe/request/judge/item_time.h"
#include "tests/lib/test.h"

static struct verdict_text text;
static const struct part_baseline_part nothing[PART_END];
static const struct verdict_facts unknown_base = { .usual = nothing };

static struct up_item try_of(uint16_t status, uint32_t flags, uint64_t response_us)
{
	const uint8_t ip[4] = { 10, 0, 0, 7 };

	return (struct up_item){ .addr = addr_make(ip, 4, 80),
				 .status = status,
				 .flags = flags,
				 .response_us = response_us };
}

static struct request_item request(uint16_t status, uint64_t us)
{
	return (struct request_item){ .app = "nginx", .status = status, .request_us = us };
}

static void with_try(struct request_item *r, struct up_item u)
{
	r->ups[r->nups++] = u;
}

static const char *reason_of(struct request_item *r, const struct verdict_facts *known)
{
	static const struct req_head none;
	struct verdict_facts f = *known;
	struct breakdown all;

	breakdown_of(&none, NULL, r, &all);
	breakdown_judged(&all, r, &f.split);
	verdict_find(r, &f, &text);
	return reason_find(r->reason)->code;
}

static const struct param *param_of(const struct request_item *r, const char *key)
{
	static const struct param none = { .text = "(no such parameter)", .number = -1 };

	for (uint32_t i = 0; i < r->nparams; i++)
		if (strcmp(r->params[i].key, key) == 0)
			return &r->params[i];
	return &none;
}

TEST(a_client_that_left_is_the_reason_regardless_of_the_upstream)
{
	struct request_item r = request(499, 300000);

	r.flags = REQUEST_CLIENT_CLOSED;
	with_try(&r, try_of(0, UP_NO_ANSWER, 299000));
	CHECK_STR(reason_of(&r, &unknown_base), "client.abort");
	CHECK(param_of(&r, "ms")->number == 300);
}

TEST(a_refused_upstream_is_named_with_its_error)
{
	struct request_item r = request(502, 400);

	with_try(&r, try_of(0, UP_NO_CONNECT, 300));
	r.ups[0].error = ECONNREFUSED;
	CHECK_STR(reason_of(&r, &unknown_base), "up.connect");
	CHECK_STR(param_of(&r, "addr")->text, "10.0.0.7:80");
	CHECK_STR(param_of(&r, "error")->text, "Connection refused");
}

TEST(a_bad_answer_or_a_broken_connection_is_the_upstreams_error)
{
	struct request_item r = request(503, 400), broken = request(502, 400);

	with_try(&r, try_of(503, 0, 300));
	CHECK_STR(reason_of(&r, &unknown_base), "up.error");
	CHECK_STR(param_of(&r, "error")->text, "answered 503");
	with_try(&broken, try_of(0, UP_NO_ANSWER, 300));
	broken.ups[0].error = EPIPE;
	CHECK_STR(reason_of(&broken, &unknown_base), "up.error");
	CHECK_STR(param_of(&broken, "error")->text, "closed the connection without an answer");
}

TEST(a_failed_try_before_a_good_one_is_a_retry)
{
	struct request_item r = request(200, 31000);

	with_try(&r, try_of(0, UP_NO_ANSWER | UP_REUSED, 123));
	r.ups[0].error = ECONNRESET;
	with_try(&r, try_of(200, 0, 30000));
	CHECK_STR(reason_of(&r, &unknown_base), "up.retry");
	CHECK(param_of(&r, "tries")->number == 2);
	CHECK(param_of(&r, "ms")->number == 0.123);
}

TEST(an_upstream_without_an_answer_in_time_was_slow)
{
	struct request_item r = request(504, 1001000);

	with_try(&r, try_of(0, UP_NO_ANSWER, 1000000));
	CHECK_STR(reason_of(&r, &unknown_base), "up.slow");
	CHECK(param_of(&r, "ms")->number == 1000);
	CHECK(param_of(&r, "total_ms")->number == 1001);
}

TEST(the_upstream_is_to_blame_only_for_its_share_of_the_excess)
{
	const struct verdict_facts base = { .usual = nothing, .up_normal_us = 45000 };
	struct request_item slow_up = request(200, 150000), slow_self = request(200, 150000);

	slow_up.normal_us = slow_self.normal_us = 50000;
	with_try(&slow_up, try_of(200, 0, 140000));
	CHECK_STR(reason_of(&slow_up, &base), "up.slow");
	with_try(&slow_self, try_of(200, 0, 80000)); /* most of it all, a third of what is new */
	CHECK_STR(reason_of(&slow_self, &base), "unknown");
}

TEST(an_error_without_a_failed_call_is_the_applications_own)
{
	struct request_item r = request(500, 900), closed = request(0, 900);

	CHECK_STR(reason_of(&r, &unknown_base), "app.error");
	CHECK_STR(param_of(&r, "app")->text, "nginx");
	with_try(&r, try_of(200, 0, 100));
	CHECK_STR(reason_of(&r, &unknown_base), "app.error");
	closed.flags = REQUEST_NO_ANSWER;
	CHECK_STR(reason_of(&closed, &unknown_base), "app.error");
}

TEST(a_mirror_beside_the_answers_own_call_is_not_blamed)
{
	struct request_item r = request(503, 9000), refused = request(502, 9000);
	struct request_item slow = request(200, 9000);

	with_try(&r, try_of(503, 0, 8000));
	with_try(&r, try_of(0, UP_NO_CONNECT, 100)); /* began with the first one */
	CHECK_STR(reason_of(&r, &unknown_base), "up.error");
	CHECK_STR(param_of(&r, "error")->text, "answered 503");
	with_try(&refused, try_of(0, UP_NO_CONNECT, 300));
	refused.ups[0].error = ECONNREFUSED;
	with_try(&refused, try_of(200, 0, 8000));
	CHECK_STR(reason_of(&refused, &unknown_base), "up.connect");
	with_try(&slow, try_of(0, UP_NO_CONNECT, 3000));
	with_try(&slow, try_of(200, 0, 8900));
	CHECK_STR(reason_of(&slow, &unknown_base), "up.slow");
}

TEST(a_peer_by_another_protocol_is_named_with_what_became_of_it)
{
	static const struct {
		uint32_t state;
		uint16_t error;
		const char *outcome;
	} cases[] = {
		{ PEER_READ, 0, "answered" },
		{ PEER_ENDED, EPIPE, "closed the connection without an answer" },
		{ PEER_ENDED, ECONNRESET, "broke off: Connection reset by peer" },
		{ PEER_REFUSED, ENOENT, "could not be reached: No such file or directory" },
		{ 0, 0, "did not answer" },
	};
	struct up_item peer = { .path = "unix:/run/php.sock" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct req_peer did = { .first = 0x01000101,
					.state = cases[i].state,
					.error = cases[i].error };
		struct verdict_facts f = { .usual = nothing, .peer = &peer, .peer_did = &did };
		struct request_item r = request(503, 900);

		CHECK_STR(reason_of(&r, &f), "app.peer");
		CHECK_STR(param_of(&r, "peer")->text, "unix:/run/php.sock");
		CHECK_STR(param_of(&r, "protocol")->text, "FastCGI");
		CHECK_STR(param_of(&r, "outcome")->text, cases[i].outcome);
	}
}

TEST(a_protocol_is_known_by_its_first_bytes_or_its_port)
{
	static const uint8_t ip[4] = { 10, 0, 0, 3 };
	static const struct {
		const char *first;
		uint16_t port;
		const char *name;
	} cases[] = {
		{ "\x01\x01\x00\x01", 9000, "FastCGI" }, { "*3\r\n", 7000, "Redis" },
		{ "\x16\x03\x01\x02", 5432, "TLS" },	 { "\0\0\0\x08", 5432, "PostgreSQL" },
		{ "\0\0\0\0", 3306, "MySQL" },		 { "quit", 7000, "no HTTP" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct up_item peer = { .addr = addr_make(ip, 4, cases[i].port) };
		struct req_peer did = { .state = PEER_READ };
		struct verdict_facts f = { .usual = nothing, .peer = &peer, .peer_did = &did };
		struct request_item r = request(500, 900);

		memcpy(&did.first, cases[i].first, sizeof(did.first));
		CHECK_STR(reason_of(&r, &f), "app.peer");
		CHECK_STR(param_of(&r, "protocol")->text, cases[i].name);
	}
}

TEST(nothing_failed_by_itself_whose_calls_are_not_known)
{
	struct request_item r = request(500, 900);

	r.flags = REQUEST_UPSTREAM_UNKNOWN;
	CHECK_STR(reason_of(&r, &unknown_base), "up.unknown");
	CHECK_STR(param_of(&r, "error")->text, "answered 500");
}

TEST(a_server_that_closes_and_goes_on_decided_so)
{
	struct verdict_facts f = { .usual = nothing, .dropped = true };
	struct request_item r = request(0, 900);

	r.flags = REQUEST_NO_ANSWER;
	CHECK_STR(reason_of(&r, &f), "app.closed");
	f.dropped = false; /* it died */
	CHECK_STR(reason_of(&r, &f), "app.error");
}

TEST(every_parameter_named_in_a_sentence_is_set)
{
	struct request_item all[] = { request(499, 1), request(502, 1), request(503, 1),
				      request(200, 9), request(504, 9), request(500, 1) };

	all[0].flags = REQUEST_CLIENT_CLOSED;
	with_try(&all[1], try_of(0, UP_NO_CONNECT, 1));
	with_try(&all[2], try_of(503, 0, 1));
	with_try(&all[3], try_of(502, 0, 1));
	with_try(&all[3], try_of(200, 0, 1));
	with_try(&all[4], try_of(0, UP_NO_ANSWER, 9));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const char *s;

		reason_of(&all[i], &unknown_base);
		s = reason_find(all[i].reason)->en;
		while ((s = strchr(s, '{'))) {
			char key[32] = "";

			sscanf(s++, "{%31[a-z_]}", key);
			CHECK(param_of(&all[i], key)->number != -1);
		}
	}
}

TEST(of_a_stream_only_the_time_before_the_first_byte_is_the_upstreams)
{
	struct request_item r = request(200, 300000000);

	r.flags = REQUEST_BY_FIRST;
	r.first_us = 2000000;
	with_try(&r, try_of(200, 0, 299000000));
	CHECK_EQ(item_judged_us(&r), 2000000);
	CHECK_EQ(item_upstream_us(&r), 2000000);
	CHECK_STR(reason_of(&r, &unknown_base), "up.slow");
	CHECK(param_of(&r, "ms")->number == 2000);
	CHECK(param_of(&r, "total_ms")->number == 2000);
	CHECK(param_of(&r, "first_ms")->number == 2000);
}
