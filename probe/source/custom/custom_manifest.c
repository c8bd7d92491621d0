// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_manifest.h"

#include <stdarg.h>

#include "lib/config/config.h"

enum { LIST = 200, WORD = 16 };

/* Values as written, before they are checked together. */
struct text_of_map {
	char labels[LIST];
};

struct text_of_metric {
	char map[CUSTOM_NAME], kind[WORD];
	int64_t first;
	bool has_scale;
};

struct manifest_reader {
	struct custom_manifest *m;
	const char *path;
	enum { NOWHERE, PROGRAM, MAP, METRIC } in;
	struct text_of_map map[CUSTOM_MAPS];
	struct text_of_metric metric[CUSTOM_METRICS];
};

#define FIELD(section, type, of, key) section, #key, type, CONFIG_FIELD(struct of, key)

static const struct config_option of_program[] = {
	{ FIELD("program", CONFIG_STR, custom_manifest, help), .min = 1 },
	{ FIELD("program", CONFIG_INT, custom_manifest, period_ms), .min = 1000, .max = 60000 },
};

static const struct config_option of_map[] = {
	{ FIELD("map", CONFIG_INT, custom_map, entities), .min = 1, .max = CUSTOM_ENTITIES },
};

static const struct config_option text_map[] = {
	{ FIELD("map", CONFIG_STR, text_of_map, labels), .min = 1 },
};

static const struct config_option of_metric[] = {
	{ FIELD("metric", CONFIG_STR, custom_metric, field), .min = 1 },
	{ FIELD("metric", CONFIG_STR, custom_metric, unit), .min = 1 },
	{ FIELD("metric", CONFIG_REAL, custom_metric, scale), .min = 1e-15, .max = 1e15 },
};

static const struct config_option text_metric[] = {
	{ FIELD("metric", CONFIG_STR, text_of_metric, map), .min = 1 },
	{ FIELD("metric", CONFIG_STR, text_of_metric, kind), .min = 1 },
	{ FIELD("metric", CONFIG_INT, text_of_metric, first), .min = 0, .max = 62 },
};

static bool has_key(const struct config_option *table, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].key, key) == 0)
			return true;
	return false;
}

/* Starts a section: 0 or -EINVAL; its name was checked before. */
static int map_begin(struct manifest_reader *r, int line, const char *name, char *err,
		     size_t errlen)
{
	struct custom_manifest *m = r->m;
	struct custom_map *map = &m->map[m->nmaps];

	for (uint32_t i = 0; i < m->nmaps; i++)
		if (strcmp(m->map[i].name, name) == 0)
			return config_refuse(err, errlen, "[map %s] is already defined in line %d",
					     name, m->map[i].line);
	if (m->nmaps == CUSTOM_MAPS)
		return config_refuse(err, errlen, "[map %s]: at most %d maps are allowed", name,
				     CUSTOM_MAPS);
	*map = (struct custom_map){ .entities = 64, .line = line };
	snprintf(map->name, sizeof(map->name), "%s", name);
	m->nmaps++;
	r->in = MAP;
	return 0;
}

static int metric_begin(struct manifest_reader *r, int line, const char *name, char *err,
			size_t errlen)
{
	struct custom_manifest *m = r->m;
	struct custom_metric *metric = &m->metric[m->nmetrics];

	for (uint32_t i = 0; i < m->nmetrics; i++)
		if (strcmp(m->metric[i].name, name) == 0)
			return config_refuse(err, errlen,
					     "[metric %s] is already defined in line %d", name,
					     m->metric[i].line);
	if (m->nmetrics == CUSTOM_METRICS)
		return config_refuse(err, errlen, "[metric %s]: at most %d metrics are allowed",
				     name, CUSTOM_METRICS);
	*metric = (struct custom_metric){ .scale = 1, .line = line };
	snprintf(metric->name, sizeof(metric->name), "%s", name);
	r->metric[m->nmetrics] = (struct text_of_metric){ .first = -1 };
	m->nmetrics++;
	r->in = METRIC;
	return 0;
}

static bool is_name(const char *s, const char *first, const char *rest)
{
	return *s && strchr(first, *s) && s[1 + strspn(s + 1, rest)] == 0;
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define LETTERS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

static int on_section(void *arg, int line, const char *name, char *err, size_t errlen)
{
	struct manifest_reader *r = arg;
	const char *what;

	if (strcmp(name, "program") == 0) {
		r->in = PROGRAM;
		return 0;
	}
	if (strncmp(name, "map ", 4) == 0) {
		what = name + 4;
		if (!is_name(what, LETTERS ".", LETTERS DIGITS "."))
			return config_refuse(err, errlen,
					     "[%s]: the name of a map in C is allowed, like "
					     "[map latency]",
					     name);
		return map_begin(r, line, what, err, errlen);
	}
	if (strncmp(name, "metric ", 7) == 0) {
		what = name + 7;
		if (!is_name(what, LOWER, LOWER DIGITS "_"))
			return config_refuse(err, errlen,
					     "[%s]: a small letter, then small letters, "
					     "digits and _ are allowed",
					     name);
		return metric_begin(r, line, what, err, errlen);
	}
	return config_refuse(
		err, errlen,
		"there is no section [%s]; the sections are [program] [map NAME] [metric NAME]",
		name);
}

static int set_map(struct manifest_reader *r, const char *key, const char *value, char *err,
		   size_t errlen)
{
	uint32_t i = r->m->nmaps - 1;

	if (has_key(text_map, ARRAY_SIZE(text_map), key))
		return config_set(text_map, ARRAY_SIZE(text_map), &r->map[i], "map", key, value,
				  err, errlen);
	if (has_key(of_map, ARRAY_SIZE(of_map), key))
		return config_set(of_map, ARRAY_SIZE(of_map), &r->m->map[i], "map", key, value, err,
				  errlen);
	return config_refuse(err, errlen, "[map] has no key \"%s\"; its keys are labels entities",
			     key);
}

static int set_metric(struct manifest_reader *r, const char *key, const char *value, char *err,
		      size_t errlen)
{
	uint32_t i = r->m->nmetrics - 1;
	struct text_of_metric *t = &r->metric[i];

	t->has_scale |= strcmp(key, "scale") == 0;
	if (has_key(text_metric, ARRAY_SIZE(text_metric), key))
		return config_set(text_metric, ARRAY_SIZE(text_metric), t, "metric", key, value,
				  err, errlen);
	if (has_key(of_metric, ARRAY_SIZE(of_metric), key))
		return config_set(of_metric, ARRAY_SIZE(of_metric), &r->m->metric[i], "metric", key,
				  value, err, errlen);
	return config_refuse(
		err, errlen,
		"[metric] has no key \"%s\"; its keys are map field kind unit scale first", key);
}

static int on_pair(void *arg, const char *key, const char *value, char *err, size_t errlen)
{
	struct manifest_reader *r = arg;

	switch (r->in) {
	case NOWHERE:
		break;
	case PROGRAM:
		return config_set(of_program, ARRAY_SIZE(of_program), r->m, "program", key, value,
				  err, errlen);
	case MAP:
		return set_map(r, key, value, err, errlen);
	case METRIC:
		return set_metric(r, key, value, err, errlen);
	}
	return config_refuse(err, errlen,
			     "\"%s\" is not in a section; the sections are [program] [map NAME] "
			     "[metric NAME]",
			     key);
}

/* "dport, comm": names separated by commas. */
static int split_labels(const struct manifest_reader *r, struct custom_map *map, char *list,
			char *err, size_t errlen)
{
	char *rest = NULL;

	for (char *s = strtok_r(list, ", \t", &rest); s; s = strtok_r(NULL, ", \t", &rest)) {
		if (!is_name(s, LETTERS, LETTERS DIGITS) || strlen(s) >= CUSTOM_NAME)
			return config_refuse(
				err, errlen,
				"%s:%d: labels = \"%s\": names of members are allowed, "
				"like dport, comm",
				r->path, map->line, s);
		if (map->nlabels == CUSTOM_LABELS)
			return config_refuse(err, errlen, "%s:%d: at most %d labels are allowed",
					     r->path, map->line, CUSTOM_LABELS);
		for (uint32_t i = 0; i < map->nlabels; i++)
			if (strcmp(map->label[i].name, s) == 0)
				return config_refuse(err, errlen, "%s:%d: label %s is listed twice",
						     r->path, map->line, s);
		snprintf(map->label[map->nlabels++].name, CUSTOM_NAME, "%s", s);
	}
	return 0;
}

static int find_map(const struct custom_manifest *m, const char *name)
{
	for (uint32_t i = 0; i < m->nmaps; i++)
		if (strcmp(m->map[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int finish_metric(const struct manifest_reader *r, struct custom_metric *metric,
			 const struct text_of_metric *t, char *err, size_t errlen)
{
	static const char *const kinds[] = { "counter", "gauge", "histogram" };
	int map = find_map(r->m, t->map);
	size_t kind = 0;

	if (map < 0)
		return config_refuse(err, errlen,
				     "%s:%d: map = \"%s\": there is no section [map %s]", r->path,
				     metric->line, t->map, *t->map ? t->map : "NAME");
	while (kind < ARRAY_SIZE(kinds) && strcmp(kinds[kind], t->kind) != 0)
		kind++;
	if (kind == ARRAY_SIZE(kinds))
		return config_refuse(err, errlen,
				     "%s:%d: kind = \"%s\": counter, gauge or histogram is allowed",
				     r->path, metric->line, t->kind);
	for (const char *c = metric->unit; *c; c++)
		if (*c <= ' ' || *c > '~')
			return config_refuse(err, errlen,
					     "%s:%d: unit = \"%s\": a word is allowed, "
					     "like requests",
					     r->path, metric->line, metric->unit);
	if ((kind == CUSTOM_HISTOGRAM) != (t->first >= 0))
		return config_refuse(
			err, errlen, "%s:%d: %s", r->path, metric->line,
			kind == CUSTOM_HISTOGRAM
				? "a histogram needs first =, log2 of the upper edge of its "
				  "first slot, from 0 to 62"
				: "first = is for a histogram");
	if (kind == CUSTOM_HISTOGRAM && t->has_scale)
		return config_refuse(err, errlen,
				     "%s:%d: a histogram counts: no scale = is allowed", r->path,
				     metric->line);
	metric->map = (uint32_t)map;
	metric->kind = (enum custom_kind)kind;
	metric->first = t->first >= 0 ? (uint32_t)t->first : 0;
	return 0;
}

static int finish_manifest(struct manifest_reader *r, char *err, size_t errlen)
{
	struct custom_manifest *m = r->m;
	int bad = 0;

	if (!m->nmetrics)
		return config_refuse(err, errlen,
				     "%s: reports nothing: needs a [map NAME] and a [metric NAME]",
				     r->path);
	for (uint32_t i = 0; i < m->nmaps && !bad; i++)
		bad = split_labels(r, &m->map[i], r->map[i].labels, err, errlen);
	for (uint32_t i = 0; i < m->nmetrics && !bad; i++)
		bad = finish_metric(r, &m->metric[i], &r->metric[i], err, errlen);
	for (uint32_t i = 0; i < m->nmaps && !bad; i++) {
		uint32_t metrics = 0;

		for (uint32_t j = 0; j < m->nmetrics; j++)
			metrics += m->metric[j].map == i;
		if (!metrics)
			bad = config_refuse(err, errlen, "%s:%d: no [metric NAME] has map = %s",
					    r->path, m->map[i].line, m->map[i].name);
	}
	return bad;
}

int custom_manifest_read(FILE *f, const char *path, struct custom_manifest *m, char *err,
			 size_t errlen)
{
	AUTO_FREE struct manifest_reader *r = calloc(1, sizeof(*r));
	struct config_visit visit = { on_section, on_pair, r };
	int bad;

	if (!r)
		return -ENOMEM;
	*m = (struct custom_manifest){ .period_ms = 2000, .help = "a custom program" };
	r->m = m;
	r->path = path;
	bad = config_read_file(f, path, &visit, err, errlen);
	return bad < 0 ? bad : finish_manifest(r, err, errlen);
}
