// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom.h"

#include <dirent.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "probe/core/layout.h"
#include "probe/source/custom/custom_file.h"
#include "probe/source/custom/custom_table.h"

enum {
	NAME = 32, /* of a program */
	OBJECT_BYTES = 1 << 20,
	CONF_BYTES = 64 << 10,
	PERIOD_MS = 2000,
};

struct program {
	struct source source;
	const char *dir;
	char name[NAME + 1];
	char title[NAME + 5]; /* "own.NAME" */
	struct custom_manifest manifest;
	struct custom_layout *layout[CUSTOM_MAPS]; /* of the last open */
	const struct wire_dict *dict[CUSTOM_MAPS + 1];
};

struct custom_source {
	struct program *program;
	struct custom_fds fds;
	struct custom_table *table[CUSTOM_MAPS];
	uint64_t sent_cut;
	uint64_t reads;
	bool cut_logged;
};

static struct {
	char *dir;
	struct program *program[CUSTOM_PROGRAMS];
	size_t n;
	struct source whole; /* "own", reported if the directory itself is refused */
	char why[WHY_LEN];
} programs;

static void forget_layouts(struct program *p)
{
	for (uint32_t i = 0; i < CUSTOM_MAPS; i++) {
		free(p->layout[i]);
		p->layout[i] = NULL;
	}
	p->source.nlayouts = 0;
	p->source.layouts = NULL;
}

static int make_layouts(struct program *p, const char *conf, char *why)
{
	int r = 0;

	for (uint32_t i = 0; i < p->manifest.nmaps && r == 0; i++) {
		struct custom_layout *l = p->layout[i] = calloc(1, sizeof(*l));

		if (!l)
			return -ENOMEM;
		r = custom_layout_make(l, &p->manifest, i, p->title, conf, why, WHY_LEN);
		p->dict[i] = &l->dict;
	}
	if (r == 0) {
		p->source.layouts = p->dict;
		p->dict[p->manifest.nmaps] = &layout_own;
		p->source.nlayouts = p->manifest.nmaps + 1;
	}
	return r;
}

static int make_tables(struct custom_source *s, const struct custom_shape *shape, const char *conf,
		       char *why)
{
	const struct custom_manifest *m = &s->program->manifest;

	for (uint32_t i = 0; i < m->nmaps; i++) {
		const struct custom_layout *l = s->program->layout[i];

		s->table[i] = custom_table_new(m, i, l, &shape[i], s->fds.fd[s->fds.map[i]]);
		if (!s->table[i]) {
			snprintf(why, WHY_LEN,
				 "%s:%d: %u values of %lld entities are more than %d: make "
				 "entities smaller",
				 conf, m->map[i].line, l->dict.n, (long long)m->map[i].entities,
				 CUSTOM_CELLS);
			return -E2BIG;
		}
	}
	return 0;
}

static int read_conf(struct program *p, int dir, const char *conf, char *why)
{
	struct buf text = { 0 };
	int r = custom_file_read(dir, p->dir, conf, CONF_BYTES, &text, why, WHY_LEN);
	FILE *f;

	if (r == 0 && text.len == 0)
		buf_put(&text, "\n", 1); /* fmemopen needs a byte */
	f = r == 0 ? fmemopen(text.data, text.len, "r") : NULL;
	if (f) {
		r = custom_manifest_read(f, conf, &p->manifest, why, WHY_LEN);
		fclose(f);
	} else if (r == 0) {
		r = -ENOMEM;
	}
	buf_free(&text);
	return r;
}

static int read_files(struct program *p, const char *conf, struct buf *object, char *why)
{
	AUTO_CLOSE int dir = custom_dir_open(p->dir, why, WHY_LEN);
	char name[NAME + 8];
	int r;

	if (dir < 0)
		return dir;
	r = read_conf(p, dir, conf, why);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "%s.bpf.o", p->name);
	return custom_file_read(dir, p->dir, name, OBJECT_BYTES, object, why, WHY_LEN);
}

_Static_assert((int)CUSTOM_WHY == (int)WHY_LEN, "one sentence");

static int custom_open(void *self, const struct probe_env *env)
{
	struct custom_source *s = self;
	struct program *p = s->program = env->arg;
	struct custom_shape shape[CUSTOM_MAPS];
	struct buf object = { 0 };
	struct custom_file f;
	char conf[NAME + 8];
	int r;

	forget_layouts(p);
	snprintf(conf, sizeof(conf), "%s.conf", p->name);
	r = read_files(p, conf, &object, env->why);
	f = (struct custom_file){ object.data, object.len, p->name, conf };
	if (r == 0)
		r = custom_load(&f, &p->manifest, &s->fds, shape, env->why);
	buf_free(&object);
	if (r == 0)
		r = make_layouts(p, conf, env->why);
	if (r == 0)
		r = make_tables(s, shape, conf, env->why);
	if (r < 0)
		return r;
	p->source.period_ms = (uint32_t)p->manifest.period_ms;
	p->source.help = p->manifest.help;
	return 0;
}

static void log_cut(struct custom_source *s, uint32_t map, uint64_t cut)
{
	const struct program *p = s->program;

	s->cut_logged = true;
	log_warn(0,
		 "source %s: map %s has %llu keys beyond the limit of %lld; raise entities = in "
		 "%s.conf",
		 p->title, p->manifest.map[map].name, (unsigned long long)cut,
		 (long long)p->manifest.map[map].entities, p->name);
}

static void send_cut(struct custom_source *s, struct sink *out)
{
	const struct program *p = s->program;
	uint64_t sum = 0;
	double v;

	for (uint32_t i = 0; i < p->manifest.nmaps; i++) {
		uint64_t cut = custom_table_cut(s->table[i]);

		if (cut && s->reads > 1 && !s->cut_logged) /* the doctor reads only once */
			log_cut(s, i, cut);
		sum += cut;
	}
	if (sum == s->sent_cut)
		return;
	s->sent_cut = sum;
	v = (double)sum;
	sink_sample(out, &(struct sample_item){ layout_own.layout, p->title, OWN_END, &v });
}

static int custom_read(void *self, struct sink *out)
{
	struct custom_source *s = self;
	int r = 0;

	for (uint32_t i = 0; i < s->program->manifest.nmaps && r == 0; i++)
		r = custom_table_read(s->table[i], out);
	s->reads++;
	send_cut(s, out);
	return r;
}

/* Keeps the layouts: samples that use them may still be queued. */
static void custom_close(void *self)
{
	struct custom_source *s = self;

	for (uint32_t i = 0; i < CUSTOM_MAPS; i++)
		custom_table_free(s->table[i]);
	custom_unload(&s->fds);
}

static int whole_open(void *self UNUSED, const struct probe_env *env)
{
	snprintf(env->why, WHY_LEN, "%s", programs.why);
	return -EINVAL;
}

static int whole_read(void *self UNUSED, struct sink *out UNUSED)
{
	return 0;
}

static void whole_close(void *self UNUSED)
{
}

/* The length of NAME in "NAME.bpf.o" or "NAME.conf"; 0: neither. */
static size_t name_len(const char *file)
{
	static const char *const ends[] = { ".bpf.o", ".conf" };
	size_t len = strlen(file);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strcmp(file + len - end, ends[i]) == 0)
			return len - end;
	}
	return 0;
}

static bool is_name(const char *s, size_t len)
{
	return len <= NAME && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-") >= len;
}

static void add_program(const char *file, size_t len)
{
	struct program *p;

	for (size_t i = 0; i < programs.n; i++)
		if (strlen(programs.program[i]->name) == len &&
		    memcmp(programs.program[i]->name, file, len) == 0)
			return;
	if (programs.n == CUSTOM_PROGRAMS) {
		snprintf(programs.why, WHY_LEN,
			 "%s has more than %d programs: %.*s is one too many", programs.dir,
			 CUSTOM_PROGRAMS, (int)len, file);
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		die("out of memory");
	p->dir = programs.dir;
	memcpy(p->name, file, len);
	snprintf(p->title, sizeof(p->title), "own.%s", p->name);
	p->source = (struct source){ .name = p->title,
				     .help = "a custom program",
				     .period_ms = PERIOD_MS,
				     .steady = true,
				     .size = sizeof(struct custom_source),
				     .arg = p,
				     .open = custom_open,
				     .read = custom_read,
				     .close = custom_close };
	programs.program[programs.n++] = p;
}

static void scan_directory(void)
{
	AUTO_CLOSE int fd = custom_dir_open(programs.dir, programs.why, WHY_LEN);
	struct dirent **list = NULL;
	int n = fd < 0 ? 0 : scandirat(fd, ".", &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *file = list[i]->d_name;
		size_t len = name_len(file);

		if (len && is_name(file, len))
			add_program(file, len);
		else if (len)
			snprintf(programs.why, WHY_LEN,
				 "the name of %.80s/%.80s: at most %d letters, digits, _ and - are "
				 "allowed",
				 programs.dir, file, NAME);
		free(list[i]);
	}
	free(list);
}

size_t custom_find(const char *dir, const struct source *out[static CUSTOM_SOURCES])
{
	size_t n = 0;

	programs.dir = strdup(dir);
	if (!programs.dir)
		die("out of memory");
	scan_directory();
	for (size_t i = 0; i < programs.n; i++)
		out[n++] = &programs.program[i]->source;
	programs.whole = (struct source){ .name = "own",
					  .help = "custom programs",
					  .period_ms = PERIOD_MS,
					  .size = 1,
					  .open = whole_open,
					  .read = whole_read,
					  .close = whole_close };
	if (programs.why[0])
		out[n++] = &programs.whole;
	return n;
}

void custom_forget(void)
{
	for (size_t i = 0; i < programs.n; i++) {
		forget_layouts(programs.program[i]);
		free(programs.program[i]);
	}
	free(programs.dir);
	memset(&programs, 0, sizeof(programs));
}
