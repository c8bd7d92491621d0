// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/keys.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/uplink/endpoints.h"
#include "lib/uplink/keyring.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

#define A "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define B "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

static char err[512];

static const char *in_place(const char *name)
{
	static char path[4][256];
	static int i;

	snprintf(path[++i % 4], sizeof(path[0]), "%s/%s", place(), name);
	return path[i % 4];
}

static struct keyring_config trusting(const char *collector_key)
{
	return (struct keyring_config){ in_place("k"), collector_key, "" };
}

TEST(a_key_is_40_characters_that_are_32_bytes)
{
	CHECK(key_is_text(A));
	CHECK(!key_is_text(""));
	CHECK(!key_is_text(A "x"));
	CHECK(!key_is_text("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf"));
	CHECK(!key_is_text("\"q:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"));
}

TEST(a_pair_is_made_once_and_only_its_owner_reads_it)
{
	struct key_pair one, two;
	struct stat st;
	bool made;

	place_clean();
	CHECK_EQ(keys_open(in_place("a/b"), "node.key", &one, &made, err, sizeof(err)), 0);
	CHECK(made && key_is_text(one.public) && key_is_text(one.secret));
	CHECK_EQ(keys_open(in_place("a/b"), "node.key", &two, &made, err, sizeof(err)), 0);
	CHECK(!made);
	CHECK_STR(two.public, one.public);
	CHECK_STR(two.secret, one.secret);
	CHECK(stat(in_place("a/b/node.key"), &st) == 0 && (st.st_mode & 07777) == 0600);
	place_clean();
}

TEST(a_file_that_is_no_key_or_that_others_may_read_is_refused_with_what_to_do)
{
	struct key_pair k;

	place_clean();
	CHECK_EQ(place_run("(umask 077; : >empty; echo garbage >bad; head -c 100 /dev/urandom >raw;"
			   " printf 'a\\nb\\n' >two; : >open; chmod 644 open)"),
		 0);
	CHECK_EQ(keys_load(in_place("none"), &k, err, sizeof(err)), -ENOENT);
	CHECK_EQ(keys_load(in_place("empty"), &k, err, sizeof(err)), -EINVAL);
	CHECK(strstr(err, "restore the file, or remove it"));
	CHECK_EQ(keys_load(in_place("bad"), &k, err, sizeof(err)), -EINVAL);
	CHECK_EQ(keys_load(in_place("raw"), &k, err, sizeof(err)), -EINVAL);
	CHECK_EQ(keys_load(in_place("two"), &k, err, sizeof(err)), -EINVAL);
	CHECK_EQ(keys_load(in_place("open"), &k, err, sizeof(err)), -EINVAL);
	CHECK(strstr(err, "chmod 600"));
	place_clean();
}

TEST(what_root_makes_belongs_to_whom_the_place_belongs_to)
{
	struct key_pair k;
	struct stat st;
	bool made;

	place_clean();
	if (geteuid() != 0)
		return;
	CHECK_EQ(place_run("chown 65534:65534 ."), 0);
	CHECK_EQ(keys_open(in_place("k"), "collector.key", &k, &made, err, sizeof(err)), 0);
	CHECK(stat(in_place("k"), &st) == 0 && st.st_uid == 65534);
	CHECK(stat(in_place("k/collector.key"), &st) == 0 && st.st_uid == 65534);
	CHECK_EQ(st.st_mode & 07777, 0600);
	place_clean();
}

TEST(a_full_disk_leaves_the_key_that_was_there)
{
	struct key_pair one, two, now;

	place_clean();
	CHECK_EQ(place_run("true"), 0);
	CHECK_EQ(keys_make(&one, err, sizeof(err)), 0);
	CHECK_EQ(keys_make(&two, err, sizeof(err)), 0);
	CHECK_EQ(keys_save(in_place("k"), &one, err, sizeof(err)), 0);
	place_limit(50);
	CHECK(keys_save(in_place("k"), &two, err, sizeof(err)) < 0);
	CHECK(strstr(err, "cannot write a key to"));
	place_limit(RLIM_INFINITY);
	CHECK_EQ(keys_load(in_place("k"), &now, err, sizeof(err)), 0);
	CHECK_STR(now.public, one.public);
	CHECK(access(in_place("k.new"), F_OK) < 0);
	place_clean();
}

TEST(a_list_of_keys_is_read_as_it_was_written_and_the_oldest_goes_when_it_is_full)
{
	struct key_list l = { 0 }, got = { 0 };
	struct key_pair k;

	place_clean();
	CHECK_EQ(place_run("true"), 0);
	keys_add(&l, A);
	keys_add(&l, B);
	keys_add(&l, A);
	CHECK_EQ(l.n, 2);
	CHECK_EQ(keys_write(in_place("pub"), &l, "two", err, sizeof(err)), 0);
	CHECK_EQ(keys_read(in_place("pub"), &got, err, sizeof(err)), 0);
	CHECK(got.n == 2 && keys_has(&got, A) && keys_has(&got, B));
	CHECK_EQ(keys_read(in_place("none"), &got, err, sizeof(err)), -ENOENT);
	for (int i = 0; i < KEYS_MAX - 1; i++) {
		CHECK_EQ(keys_make(&k, err, sizeof(err)), 0);
		keys_add(&l, k.public);
	}
	CHECK_EQ(l.n, KEYS_MAX);
	CHECK(!keys_has(&l, A) && keys_has(&l, B) && keys_has(&l, k.public));
	place_clean();
}

TEST(a_node_trusts_the_keys_it_is_given_by_text_and_by_file)
{
	struct keyring ring;
	struct keyring_config cfg = trusting("");

	place_clean();
	CHECK_EQ(place_run("true"), 0);
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), -ENOKEY);
	CHECK(strstr(err, "set collector_key to the output of seismo-collector key"));
	cfg = trusting("/nowhere/pub");
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), -ENOENT);
	CHECK(strstr(err, "neither a public key of 40 characters nor a file"));
	CHECK_EQ(place_run("printf '# one\\n%s\\n' '" B "' >'a pub'"), 0);
	cfg = trusting(A);
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK(ring.collectors.n == 1 && keys_has(&ring.collectors, A));
	{
		char both[400];

		snprintf(both, sizeof(both), "%s, %s", A, in_place("a pub"));
		cfg = trusting(both);
		CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
		CHECK(ring.collectors.n == 2 && keys_has(&ring.collectors, B));
	}
	place_clean();
}

TEST(a_file_whose_path_is_as_long_as_a_key_is_a_file)
{
	char name[KEY_TEXT], command[256];
	struct keyring_config cfg;
	struct keyring ring;
	size_t left;

	place_clean();
	left = KEY_TEXT - 2 - strlen(place());
	CHECK(left > 0 && left < KEY_TEXT);
	memset(name, 'k', sizeof(name));
	name[left] = 0;
	snprintf(command, sizeof(command), "printf '%%s\n' '%s' >%s", B, name);
	CHECK_EQ(place_run(command), 0);
	cfg = trusting(in_place(name));
	CHECK(key_is_text(cfg.collector_key));
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK(ring.collectors.n == 1 && keys_has(&ring.collectors, B));
	place_clean();
}

TEST(a_key_announced_by_a_collector_is_trusted_after_a_restart)
{
	struct keyring ring;
	struct keyring_config cfg = trusting(A);

	place_clean();
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK(!keyring_trust(&ring, "") && !keyring_trust(&ring, "short"));
	CHECK(!keyring_trust(&ring, A));
	CHECK(keyring_trust(&ring, B));
	CHECK(!keyring_trust(&ring, B));
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK(keys_has(&ring.collectors, B));
	place_clean();
}

TEST(a_change_of_key_goes_on_after_a_restart_and_ends_with_one_key)
{
	struct keyring ring;
	struct keyring_config cfg = trusting(A);
	char was[KEY_TEXT], next[KEY_TEXT];

	place_clean();
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK_STR(ring.next.public, "");
	memcpy(was, ring.own.public, KEY_TEXT);
	CHECK_EQ(keyring_prepare(&ring), 0);
	memcpy(next, ring.next.public, KEY_TEXT);
	CHECK_EQ(keyring_prepare(&ring), 0);
	CHECK_STR(ring.next.public, next);
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK_STR(ring.own.public, was);
	CHECK_STR(ring.next.public, next);
	CHECK_EQ(keyring_change(&ring), 0);
	CHECK_STR(ring.own.public, next);
	CHECK_STR(ring.next.public, "");
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK_STR(ring.own.public, next);
	CHECK_STR(ring.next.public, "");
	place_clean();
}

TEST(a_token_is_the_first_word_of_its_file_if_there_is_one)
{
	struct keyring ring;
	struct keyring_config cfg = trusting(A);

	place_clean();
	CHECK_EQ(place_run("printf 'let-me-in\\n' >token"), 0);
	cfg.token = in_place("token");
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK_STR(ring.token, "let-me-in");
	cfg.token = in_place("none");
	CHECK_EQ(keyring_open(&ring, &cfg, err, sizeof(err)), 0);
	CHECK_STR(ring.token, "");
	place_clean();
}

TEST(collectors_are_a_list_of_endpoints)
{
	struct endpoints e;

	CHECK_EQ(endpoints_parse("tcp://a:1", &e), 0);
	CHECK_EQ(e.n, 1);
	CHECK_EQ(endpoints_parse(" tcp://a:1, tcp://[::1]:7470\ttcp://c:65535 ", &e), 0);
	CHECK_EQ(e.n, 3);
	CHECK_STR(e.at[1], "tcp://[::1]:7470");
	CHECK_EQ(endpoints_parse("", &e), -EINVAL);
	CHECK_EQ(endpoints_parse("tcp://a:1 udp://b:1", &e), -EINVAL);
	CHECK_STR(e.at[e.n], "udp://b:1");
	CHECK_EQ(endpoints_parse("tcp://a:65536", &e), -EINVAL);
	CHECK_EQ(endpoints_parse("tcp://\x03:1", &e), -EINVAL);
	CHECK_EQ(endpoints_parse(",tcp://a:1", &e), 0);
	CHECK_EQ(endpoints_parse("tcp://a:1 tcp://a:1 tcp://a:1 tcp://a:1 tcp://a:1 tcp://a:1 "
				 "tcp://a:1 tcp://a:1 tcp://a:1",
				 &e),
		 -E2BIG);
}
