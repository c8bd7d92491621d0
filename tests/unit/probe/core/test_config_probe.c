// SPDX-License-Identifier: Apache-2.0
#include "probe/core/probe_config.h"
#include "probe/core/on_demand.h"
#include "tests/lib/test.h"

static struct probe_config c;
static enum probe_task task;
static char err[512];

#define READ(...)                                                                                  \
	({                                                                                         \
		const char *argv_[] = { "seismo-probe", __VA_ARGS__, NULL };                       \
		read_config((int)ARRAY_SIZE(argv_) - 1, argv_);                                    \
	})

/* main has char *argv[], and nothing is written there. */
static int read_config(int argc, const char *const argv[])
{
	err[0] = 0;
	return probe_config_read(argc, (char *const *)(uintptr_t)argv, &c, &task, err, sizeof(err));
}

/* A file of this text, as a path that lasts until the next one. */
static char *file_of(const char *text)
{
	static char path[] = "/tmp/seismo-config.XXXXXX";
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	return path;
}

TEST(without_arguments_the_probe_has_its_defaults)
{
	const char *argv[] = { "seismo-probe", NULL };
	char host[64] = "";

	gethostname(host, sizeof(host) - 1);
	CHECK_EQ(read_config(1, argv), 0);
	CHECK_EQ(task, PROBE_RUN);
	CHECK_STR(c.node, host);
	CHECK_STR(c.collector, "tcp://127.0.0.1:7470");
	CHECK_EQ(c.spool_mb, 6);
	CHECK_EQ(c.slow_ms, -1);
	CHECK_EQ(c.query_string, false);
	CHECK_EQ(c.rows_per_s, 5000);
	CHECK_EQ(c.ring_mb, 4);
	CHECK_STR(c.scope, "");
	CHECK_STR(c.state, "");
	CHECK_STR(c.programs, "");
	CHECK_STR(c.on_demand, "");
}

TEST(only_what_is_measured_on_demand_can_be_asked_for)
{
	CHECK_EQ(READ("--on-demand", "vfs"), 0);
	CHECK_STR(c.on_demand, "vfs");
	CHECK_EQ(READ("--on-demand", "vfs,proc"), -EINVAL);
	CHECK(strstr(err, "on_demand \"vfs,proc\": ") && strstr(err, "vfs"));
}

TEST(the_help_names_every_source_that_is_measured_on_demand)
{
	const struct config_option *o = probe_program.options;
	char names[256], *rest = names;

	while (strcmp(o->key, "on_demand") != 0)
		o++;
	on_demand_names(names, sizeof(names));
	for (char *name; (name = strsep(&rest, ",")) != NULL;)
		CHECK(strstr(o->help, name) && strstr(o->more, name));
}

TEST(help_may_name_a_format)
{
	CHECK_EQ(READ("--help"), 0);
	CHECK_STR(c.help, "");
	CHECK_EQ(READ("--help=man"), 0);
	CHECK_EQ(task, PROBE_HELP);
	CHECK_STR(c.help, "man");
	CHECK_EQ(READ("--helpless"), -EINVAL);
}

TEST(every_option_is_a_flag)
{
	CHECK_EQ(READ("--node", "n1", "--collector", "tcp://[::1]:1", "--spool-mb", "2",
		      "--slow-ms", "0.5", "--query-string", "--rows-per-s", "7", "--ring-mb=16",
		      "--scope", "cgroup=/c", "--state", "s", "--programs", "p"),
		 0);
	CHECK_STR(c.node, "n1");
	CHECK_STR(c.collector, "tcp://[::1]:1");
	CHECK_EQ(c.spool_mb, 2);
	CHECK(c.slow_ms == 0.5);
	CHECK_EQ(c.query_string, true);
	CHECK_EQ(c.rows_per_s, 7);
	CHECK_EQ(c.ring_mb, 16);
	CHECK_STR(c.scope, "cgroup=/c");
	CHECK_STR(c.state, "s");
	CHECK_STR(c.programs, "p");
}

TEST(every_option_is_a_key_of_the_file)
{
	char *path = file_of(
		"[probe]\nnode = n2\ncollector = tcp://h:2\nspool_mb = 3\nprograms = d\n"
		"[request]\nslow_ms = 250\nquery_string = yes\nrows_per_s = 9\nring_mb = 1\n");

	CHECK_EQ(READ("--config", path), 0);
	CHECK_STR(c.node, "n2");
	CHECK_STR(c.collector, "tcp://h:2");
	CHECK_EQ(c.spool_mb, 3);
	CHECK_STR(c.programs, "d");
	CHECK_EQ(c.slow_ms, 250);
	CHECK_EQ(c.query_string, true);
	CHECK_EQ(c.rows_per_s, 9);
	CHECK_EQ(c.ring_mb, 1);
	unlink(path);
}

TEST(a_flag_wins_over_the_file_wherever_it_stands)
{
	char *path =
		file_of("[probe]\nnode = from-file\nspool_mb = 3\n[request]\nquery_string = yes\n");

	CHECK_EQ(READ("--node", "n1", "--query-string=no", "--config", path), 0);
	CHECK_STR(c.node, "n1");
	CHECK_EQ(c.spool_mb, 3);
	CHECK_EQ(c.query_string, false);
	unlink(path);
}

TEST(an_unknown_key_is_refused_with_its_file_and_line)
{
	char where[64], *path = file_of("[probe]\nnode = n\n\ncolector = tcp://h:1\n");

	CHECK(READ("--config", path) < 0);
	snprintf(where, sizeof(where), "%s:4:", path);
	CHECK(strstr(err, where) != NULL);
	CHECK(strstr(err, "colector") != NULL);
	unlink(path);
	CHECK(READ("--config", "/nonexistent/probe.conf") < 0);
	CHECK(strstr(err, "/nonexistent/probe.conf") != NULL);
}

/* Each mistake, and what the sentence about it has to name: the flag, the value, what is allowed.
 */
TEST(a_bad_value_is_refused_with_the_flag_the_value_and_what_is_allowed)
{
	static const struct {
		const char *flag, *value, *name, *allowed;
	} bad[] = {
		{ "--ring-mb", "3", "ring_mb", "1, 2, 4, 8" },
		{ "--ring-mb", "512", "--ring-mb", "from 1 to 256" },
		{ "--spool-mb", "0", "--spool-mb", "from 1 to 1024" },
		{ "--spool-mb", "8x", "--spool-mb", "a whole number" },
		{ "--slow-ms", "-2", "--slow-ms", "from -1" },
		{ "--slow-ms", "nan", "--slow-ms", "a number" },
		{ "--rows-per-s", "-1", "--rows-per-s", "from 0" },
		{ "--scope", "cgroup=nginx", "scope", "cgroup=PATH" },
		{ "--scope", "pid=1", "scope", "cgroup=PATH" },
		{ "--node", "a b", "node", "letters, digits" },
		{ "--node", "../x", "node", "letters, digits" },
		{ "--collector", "127.0.0.1:7470", "collector", "tcp://host:port" },
		{ "--collector", "tcp://h", "collector", "tcp://host:port" },
		{ "--collector", "tcp://h:0", "collector", "tcp://host:port" },
		{ "--collector", "tcp://h:65536", "collector", "tcp://host:port" },
		{ "--collector", "tcp://:1", "collector", "tcp://host:port" },
		{ "--hooks", "kprobes", "--hooks", "auto, sockets or syscalls" },
		{ "--nginx", "yes", "--nginx", "auto, on or off" },
		{ "--slow-file-clock", "tock", "--slow-file-clock", "auto, tick or timer" },
		{ "--collector", "ipc:///tmp/x:1", "collector", "tcp://host:port" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(READ(bad[i].flag, bad[i].value), -EINVAL);
		CHECK(strstr(err, bad[i].name) != NULL);
		CHECK(strstr(err, bad[i].value) != NULL);
		CHECK(strstr(err, bad[i].allowed) != NULL);
	}
}

TEST(a_flag_that_is_not_one_or_has_no_value_is_refused)
{
	CHECK_EQ(READ("--nod", "x"), -EINVAL);
	CHECK(strstr(err, "--nod ") && strstr(err, "--help"));
	CHECK_EQ(READ("--nodes", "x"), -EINVAL);
	CHECK_EQ(READ("stray"), -EINVAL);
	CHECK_EQ(READ("--node"), -EINVAL);
	CHECK(strstr(err, "--node needs a value") != NULL);
	CHECK_EQ(READ("--config"), -EINVAL);
	CHECK_EQ(READ("--query-string=perhaps"), -EINVAL);
}

TEST(help_version_doctor_and_check_are_tasks_of_their_own)
{
	CHECK_EQ(READ("--help"), 0);
	CHECK_EQ(task, PROBE_HELP);
	CHECK_EQ(READ("--version", "--bogus"), 0);
	CHECK_EQ(task, PROBE_PRINT_VERSION);
	CHECK_EQ(READ("doctor", "--collector", "tcp://h:1"), 0);
	CHECK_EQ(task, PROBE_DOCTOR);
	CHECK_EQ(READ("doctor", "--ring-mb", "5"), -EINVAL);
	CHECK_EQ(READ("--check-config", "--node", "n"), 0);
	CHECK_EQ(task, PROBE_CHECK);
	CHECK_EQ(READ("--check-config", "--ring-mb", "5"), -EINVAL);
}
