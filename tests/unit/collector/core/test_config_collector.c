// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <fcntl.h>
#include <unistd.h>

#include "collector/core/collector_config.h"
#include "collector/core/counters.h"
#include "collector/access/listen.h"

static struct config c;
static enum config_task task;
static char err[512];

/* The arguments of main are writable; literals are not. */
static int given(int n, const char *const *args)
{
	char *argv[8] = { NULL };
	int r;

	for (int i = 0; i < n; i++)
		argv[i] = strdup(args[i]);
	err[0] = 0;
	r = config_read(n, argv, &c, &task, err, sizeof(err));
	for (int i = 0; i < n; i++)
		free(argv[i]);
	return r;
}

#define READ(...)                                                                                  \
	({                                                                                         \
		const char *const args_[] = { "seismo-collector", __VA_ARGS__ };                   \
		given(sizeof(args_) / sizeof(args_[0]), args_);                                    \
	})

TEST(without_a_flag_the_defaults_hold)
{
	CHECK_EQ(READ("--check-config"), 0);
	CHECK_EQ(task, CONFIG_CHECK);
	CHECK_STR(c.bind, "tcp://127.0.0.1:7470");
	CHECK_STR(c.web, "127.0.0.1:8080");
	CHECK_EQ(c.keep.requests, 30);
	CHECK_EQ(c.keep.evidence, 14);
}

TEST(a_flag_wins_over_the_file_wherever_it_stands)
{
	char path[] = "/tmp/seismo-config-XXXXXX";
	static const char text[] = "[collector]\nregion = north\nkeep_days = 5\n";
	int fd = mkstemp(path);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	CHECK_EQ(READ("--keep-days=7", "--config", path), 0);
	CHECK_EQ(task, CONFIG_RUN);
	CHECK_STR(c.region, "north");
	CHECK_EQ(c.keep.requests, 7);
	unlink(path);
}

TEST(a_wrong_flag_is_refused_with_the_reason)
{
	CHECK_EQ(READ("--keep-days", "0"), -EINVAL);
	CHECK(strstr(err, "1 to 3650"));
	CHECK_EQ(READ("--keep-days"), -EINVAL);
	CHECK(strstr(err, "--keep-days needs a value"));
	CHECK_EQ(READ("--colour", "red"), -EINVAL);
	CHECK(strstr(err, "--colour is not a flag"));
	CHECK_EQ(READ("--config"), -EINVAL);
	CHECK_EQ(READ("--config", "/nonexistent/x"), -ENOENT);
}

TEST(help_and_version_stop_parsing)
{
	CHECK_EQ(READ("--help", "--nonsense"), 0);
	CHECK_EQ(task, CONFIG_HELP);
	CHECK_EQ(READ("--version"), 0);
	CHECK_EQ(task, CONFIG_PRINT_VERSION);
}

TEST(any_address_of_this_machine_may_be_bound_and_nothing_else)
{
	CHECK_EQ(READ("--bind", "tcp://[::1]:7470"), 0);
	CHECK_EQ(READ("--bind", "tcp://localhost:1"), 0);
	CHECK_EQ(READ("--bind", "tcp://127.255.0.1:65535"), 0);
	CHECK_EQ(READ("--bind", "tcp://0.0.0.0:7470"), 0);
	CHECK_EQ(READ("--bind", "tcp://[::]:7470"), 0);
	CHECK_EQ(READ("--bind", "tcp://*:7470"), -EINVAL);
	CHECK(strstr(err, "is not tcp://address:port"));
}

TEST(an_incomplete_address_is_refused)
{
	struct endpoint e;

	CHECK_EQ(endpoint_parse("tcp://127.0.0.1:0", &e, err, sizeof(err)), -EINVAL);
	CHECK_EQ(endpoint_parse("tcp://127.0.0.1:65536", &e, err, sizeof(err)), -EINVAL);
	CHECK_EQ(endpoint_parse("tcp://127.0.0.1:80x", &e, err, sizeof(err)), -EINVAL);
	CHECK_EQ(endpoint_parse("tcp://127.0.0.1", &e, err, sizeof(err)), -EINVAL);
	CHECK_EQ(endpoint_parse("tcp://:80", &e, err, sizeof(err)), -EINVAL);
	CHECK_EQ(endpoint_parse("udp://127.0.0.1:80", &e, err, sizeof(err)), -EINVAL);
	CHECK_EQ(endpoint_parse("tcp://[::1]:443", &e, err, sizeof(err)), 0);
	CHECK_EQ(ntohs(e.v6.sin6_port), 443);
}

TEST(a_port_in_use_is_refused_with_its_address)
{
	char bind_to[64] = "";
	int first = -1, second = -1;

	for (unsigned port = 42001; port < 42100 && first < 0; port++) {
		snprintf(bind_to, sizeof(bind_to), "tcp://127.0.0.1:%u", port);
		(void)!listen_bind(bind_to, &first, err, sizeof(err));
	}
	CHECK(first >= 0);
	CHECK_EQ(listen_begin(first), 0);
	CHECK_EQ(listen_bind(bind_to, &second, err, sizeof(err)), -EADDRINUSE);
	CHECK(strstr(err, bind_to) && strstr(err, "--bind"));
	close(first);
}

TEST(counters_of_one_name_share_their_help_and_type)
{
	struct buf b = { 0 };

	counter_add(C_REFUSED_GAP, 3);
	counters_text(&b);
	buf_put(&b, "", 1);
	const char *text = (const char *)b.data;
	const char *type = strstr(text, "# TYPE seismo_refused_total counter\n");
	CHECK(type && !strstr(type + 1, "# TYPE seismo_refused_total"));
	CHECK(strstr(text, "\nseismo_refused_total{cause=\"gap\"} 3\n"));
	CHECK(strstr(text, "\nseismo_frames_total 0\n"));
	CHECK(strstr(text, "# TYPE seismo_queue_batches gauge\n"));
	counter_set(C_REFUSED_GAP, 0);
	buf_free(&b);
}
