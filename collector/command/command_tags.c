// SPDX-License-Identifier: Apache-2.0
#include "collector/command/command_tags.h"

#include <fcntl.h>
#include <stdio.h>

#include "lib/base/log.h"

enum { MAX_INVENTORY = 16 << 20 };

int command_tag(struct command_session *s)
{
	bool since = strcmp(s->arg[1], "--since") == 0 && s->arg[2];

	for (int i = since ? 3 : 1; s->arg[i]; i++) {
		const char *equals = strchr(s->arg[i], '=');
		char key[80];
		const char *values[] = { s->arg[0], key, equals ? equals + 1 : "",
					 since ? s->arg[2] : "now" };
		int r;

		if (!equals || equals == s->arg[i])
			return log_err(0, "%s is not tag=value", s->arg[i]), -EINVAL;
		snprintf(key, sizeof(key), "%.*s", (int)(equals - s->arg[i]), s->arg[i]);
		r = command_ask(s,
				"select set_tag(node_id, 0, $2, $3, $4::timestamptz, "
				"'command') from node where name = $1",
				4, values);
		if (r < 0)
			return r;
		if (PQntuples(s->res) == 0)
			return log_err(0,
				       "there is no node %s; seismo-collector node list shows all",
				       s->arg[0]),
			       -ENOENT;
	}
	return 0;
}

static int read_file(const char *path, struct buf *out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char piece[4096];
	ssize_t n = -1;

	if (fd >= 0)
		while ((n = read(fd, piece, sizeof(piece))) > 0 && out->len < MAX_INVENTORY)
			buf_put(out, piece, (size_t)n);
	if (n < 0)
		return log_err(errno, "%s cannot be read", path), -EINVAL;
	if (n > 0 || out->len == 0 || memchr(out->data, 0, out->len))
		return log_err(0, "%s is no inventory: it is empty, over %d MiB, or not text", path,
			       MAX_INVENTORY >> 20),
		       -EINVAL;
	buf_put(out, "", 1);
	return 0;
}

int command_inventory(struct command_session *s)
{
	struct buf text = { 0 };
	int r = read_file(s->arg[0], &text);

	if (r == 0)
		r = command_ask1(s, "select node, said from apply_inventory($1::jsonb)",
				 (const char *)text.data);
	buf_free(&text);
	if (r < 0)
		return r;
	for (int i = 0; i < PQntuples(s->res); i++)
		printf("%s %s\n", command_cell(s, i, 0), command_cell(s, i, 1));
	if (PQntuples(s->res) == 0)
		puts("nothing changed: all tags match the inventory");
	return 0;
}
