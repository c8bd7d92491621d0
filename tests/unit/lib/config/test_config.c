// SPDX-License-Identifier: Apache-2.0
#include "lib/config/config.h"
#include "tests/lib/test.h"

struct settings {
	char node[16];
	int64_t rows;
	double slow_ms;
	bool query;
	char mode[8];
};

static const struct config_option table[] = {
	{ "probe", "node", CONFIG_STR, CONFIG_FIELD(struct settings, node), .min = 1,
	  .initial = "host" },
	{ "probe", "rows", CONFIG_INT, CONFIG_FIELD(struct settings, rows), .min = 1, .max = 1000,
	  .initial = "50" },
	{ "request", "slow_ms", CONFIG_REAL, CONFIG_FIELD(struct settings, slow_ms),
	  .initial = "-1" },
	{ "request", "query", CONFIG_BOOL, CONFIG_FIELD(struct settings, query), .initial = "no" },
	{ "request", "mode", CONFIG_CHOICE, CONFIG_FIELD(struct settings, mode),
	  .choices = "auto|on|off", .initial = "auto" },
};

static const struct settings defaults = { "host", 50, -1, false, "auto" };
static struct settings got;
static char err[256];

/* Loads a file of this text, over the defaults; PATH in err is "FILE". */
static int load(const char *text, size_t len)
{
	char path[] = "/tmp/test_config.XXXXXX", *at;
	int fd = mkstemp(path), r;

	CHECK(write(fd, text, len) == (ssize_t)len);
	close(fd);
	got = defaults;
	err[0] = 0;
	r = config_load(table, ARRAY_SIZE(table), &got, path, err, sizeof(err));
	unlink(path);
	at = strstr(err, path);
	if (at == err)
		snprintf(err, sizeof(err), "FILE%s", strdupa(err + strlen(path)));
	return r;
}

#define LOAD(text) load(text, sizeof(text) - 1)

static void refused(const char *text, const char *why)
{
	CHECK_EQ(load(text, strlen(text)), -EINVAL);
	CHECK_STR(err, why);
}

static int set(const char *section, const char *key, const char *value)
{
	return config_set(table, ARRAY_SIZE(table), &got, section, key, value, err, sizeof(err));
}

TEST(each_type_of_option_is_read_from_a_file)
{
	CHECK_EQ(LOAD("; a comment\n# another\n[probe]\nnode = web-1 ; here\nrows=7\n\n"
		      "[request]\n  slow_ms : 12.5\r\nquery = Yes"),
		 0);
	CHECK_STR(got.node, "web-1");
	CHECK_EQ(got.rows, 7);
	CHECK(got.slow_ms == 12.5);
	CHECK(got.query);
	CHECK_STR(err, "");
}

TEST(what_a_file_does_not_say_stays_as_it_was)
{
	CHECK_EQ(LOAD(""), 0);
	CHECK(memcmp(&got, &defaults, sizeof(got)) == 0);
}

TEST(an_unknown_key_or_section_is_refused_with_what_there_is)
{
	refused("[probe]\n\nnod = x\n",
		"FILE:3: [probe] has no key \"nod\"; its keys are node rows");
	refused("[prob]\nnode = x\n",
		"FILE:1: there is no section [prob]; the sections are [probe] [request]");
	refused("[prob]\n",
		"FILE:1: there is no section [prob]; the sections are [probe] [request]");
	refused("node = x\n",
		"FILE:1: \"node\" is not in a section; the sections are [probe] [request]");
}

TEST(a_bad_value_is_refused_with_what_is_allowed)
{
	refused("[probe]\nrows = 1001\n",
		"FILE:2: [probe] rows = \"1001\": a whole number from 1 to 1000 is allowed");
	refused("[probe]\nrows = 5x\n",
		"FILE:2: [probe] rows = \"5x\": a whole number from 1 to 1000 is allowed");
	refused("[probe]\nrows =\n",
		"FILE:2: [probe] rows = \"\": a whole number from 1 to 1000 is allowed");
	refused("[request]\nslow_ms = fast\n",
		"FILE:2: [request] slow_ms = \"fast\": a number is allowed");
	refused("[request]\nslow_ms = nan\n",
		"FILE:2: [request] slow_ms = \"nan\": a number is allowed");
	refused("[request]\nquery = maybe\n",
		"FILE:2: [request] query = \"maybe\": yes or no is allowed");
	refused("[probe]\nnode = 0123456789abcdef\n",
		"FILE:2: [probe] node is 16 bytes long: at most 15 are allowed");
	refused("[probe]\nnode =\n", "FILE:2: [probe] node is empty: a value is required");
}

TEST(a_line_that_is_no_option_is_refused)
{
	refused("[probe]\nnode\n", "FILE:2: neither [section] nor key = value");
	refused("[probe\nrows = 1\n", "FILE:1: the section's name has no ] at its end");
}

TEST(the_first_mistake_is_reported)
{
	refused("[probe]\nrows = 0\nx = 1\n",
		"FILE:2: [probe] rows = \"0\": a whole number from 1 to 1000 is allowed");
}

TEST(an_indented_line_is_an_option_of_its_own)
{
	CHECK_EQ(LOAD("[probe]\nnode = a\n  rows = 3\n"), 0);
	CHECK_STR(got.node, "a");
	CHECK_EQ(got.rows, 3);
}

TEST(a_line_that_would_be_cut_in_two_is_refused)
{
	char line[300];

	snprintf(line, sizeof(line), "[probe]\nnode = %0250d\n", 1);
	refused(line,
		"FILE:2: the line is too long, or has a zero byte: at most 198 bytes are allowed");
	CHECK_EQ(LOAD("[probe]\nrows = 2\0\nrows = 3\n"), -EINVAL);
	CHECK_EQ(got.rows, defaults.rows);
}

TEST(a_file_that_cannot_be_read_is_refused_with_its_reason)
{
	CHECK_EQ(config_load(table, ARRAY_SIZE(table), &got, "/nonexistent/x.conf", err,
			     sizeof(err)),
		 -ENOENT);
	CHECK_STR(err, "/nonexistent/x.conf: No such file or directory");
	CHECK_EQ(config_load(table, ARRAY_SIZE(table), &got, "/", err, sizeof(err)), -EIO);
	CHECK_STR(err, "/ cannot be read");
}

TEST(an_option_is_set_by_hand_and_a_refused_one_stays)
{
	got = defaults;
	CHECK_EQ(set("probe", "rows", "1000"), 0);
	CHECK_EQ(got.rows, 1000);
	CHECK_EQ(set("probe", "rows", "99999999999999999999"), -EINVAL);
	CHECK_EQ(got.rows, 1000);
	CHECK_EQ(set("request", "query", "1"), 0);
	CHECK(got.query);
	CHECK_EQ(set("request", "query", "off"), 0);
	CHECK(!got.query);
	CHECK_EQ(set("request", "rows", "1"), -EINVAL);
	CHECK_STR(err, "[request] has no key \"rows\"; its keys are slow_ms query mode");
	CHECK_EQ(set("probe", "node", "x"), 0);
	CHECK_EQ(memcmp(got.node, "x\0\0\0", 4), 0); /* nothing of the longer one before */
}

TEST(a_choice_is_one_of_its_words)
{
	got = defaults;
	CHECK_EQ(set("request", "mode", "on"), 0);
	CHECK_STR(got.mode, "on");
	CHECK_EQ(set("request", "mode", "off"), 0);
	CHECK_EQ(set("request", "mode", "o"), -EINVAL);
	CHECK_STR(err, "[request] mode = \"o\": auto, on or off is allowed");
	CHECK_EQ(set("request", "mode", "auto|on"), -EINVAL);
	CHECK_EQ(set("request", "mode", ""), -EINVAL);
	CHECK_STR(got.mode, "off");
}

TEST(the_defaults_are_those_of_the_table)
{
	memset(&got, 0xff, sizeof(got));
	config_defaults(table, ARRAY_SIZE(table), &got);
	CHECK_STR(got.node, "host");
	CHECK_EQ(got.rows, 50);
	CHECK(got.slow_ms == -1);
	CHECK(!got.query);
	CHECK_STR(got.mode, "auto");
}

TEST(an_error_is_cut_to_the_room_it_has)
{
	char small[20];

	CHECK_EQ(config_set(table, ARRAY_SIZE(table), &got, "nowhere", "x", "", small,
			    sizeof(small)),
		 -EINVAL);
	CHECK_STR(small, "there is no section");
}
