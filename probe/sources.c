// SPDX-License-Identifier: Apache-2.0
#include "sources.h"

#include <stdio.h>

#include "../lib/log.h"

static const struct source *const table[] = {
#define SOURCE(name) &source_##name,
#include "sources.def"
#undef SOURCE
};

struct sources {
	void *self[ARRAY_SIZE(table)]; /* NULL: off */
	char why[ARRAY_SIZE(table)][WHY_LEN]; /* "": attached and read */
};

size_t sources_count(void)
{
	return ARRAY_SIZE(table);
}

const struct source *sources_at(size_t i)
{
	return table[i];
}

size_t sources_layouts(const struct wire_dict **out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		for (size_t j = 0; j < table[i]->nlayouts; j++) {
			if (n == room)
				die("more than %zu layouts", room);
			out[n++] = table[i]->layouts[j];
		}
	}
	return n;
}

static void explain(char why[static WHY_LEN], int err)
{
	if (why[0])
		return;
	if ((err == -EPERM || err == -EACCES) && geteuid() != 0)
		snprintf(why, WHY_LEN, "not permitted; start seismo-probe as root");
	else
		snprintf(why, WHY_LEN, "%s", strerror(-err));
}

/* NULL: env->why says what is missing. */
static void *open_one(size_t i, const struct probe_env *env)
{
	void *self = calloc(1, table[i]->size);
	int r;

	if (!self)
		die("out of memory");
	env->why[0] = 0;
	r = table[i]->open(self, env);
	if (r == 0) {
		env->why[0] = 0;
		return self;
	}
	table[i]->close(self);
	free(self);
	explain(env->why, r);
	return NULL;
}

int sources_try(size_t i, const struct probe_env *env)
{
	struct sink sink = { 0 };
	void *self = open_one(i, env);
	int r;

	if (!self)
		return -ENODEV;
	r = table[i]->read(self, &sink);
	table[i]->close(self);
	free(self);
	buf_free(&sink.event);
	buf_free(&sink.metric);
	if (r < 0)
		explain(env->why, r);
	return r < 0 ? r : 0;
}

struct sources *sources_open(const struct probe_env *env)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct probe_env one = *env;

		one.why = s->why[i];
		s->self[i] = open_one(i, &one);
		if (!s->self[i])
			log_warn(0, "source %s is off: %s", table[i]->name, s->why[i]);
	}
	return s;
}

void sources_close(struct sources *s)
{
	if (!s)
		return;
	for (size_t i = ARRAY_SIZE(table); i-- > 0;) {
		if (s->self[i])
			table[i]->close(s->self[i]);
		free(s->self[i]);
	}
	free(s);
}

static void tell(const struct sources *s, size_t i, struct sink *out)
{
	const struct source_item item = {
		.name = table[i]->name,
		.state = s->why[i][0] ? SOURCE_OFF : SOURCE_ATTACHED,
		.why = s->why[i],
	};

	sink_source(out, &item);
}

void sources_read(struct sources *s, size_t i, struct sink *out)
{
	char *why = s->why[i];
	int r;

	if (!s->self[i])
		return;
	r = table[i]->read(s->self[i], out);
	if (r < 0 && !why[0]) {
		snprintf(why, WHY_LEN, "cannot be read: %s", strerror(-r));
		log_warn(0, "source %s %s; asking it again", table[i]->name, why);
		tell(s, i, out);
	} else if (r >= 0 && why[0]) {
		why[0] = 0;
		log_info("source %s can be read again", table[i]->name);
		tell(s, i, out);
	}
}

void sources_tell(const struct sources *s, struct sink *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		tell(s, i, out);
}
