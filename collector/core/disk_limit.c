// SPDX-License-Identifier: Apache-2.0
#include "collector/core/disk_limit.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

static const uint64_t RESERVE_MAX = 512ull << 20;

/* 0: no such unit. */
static uint64_t unit_bytes(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = { { "", 1 },
		      { "B", 1 },
		      { "KB", 1000 },
		      { "MB", 1000 * 1000 },
		      { "GB", 1000 * 1000 * 1000 },
		      { "TB", 1000ull * 1000 * 1000 * 1000 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcasecmp(unit, units[i].name) == 0)
			return units[i].bytes;
	return 0;
}

int disk_limit_parse(const char *text, struct disk_limit *out)
{
	unsigned long long n;
	uint64_t unit;
	char *end;

	if (strcmp(text, "off") == 0) {
		*out = (struct disk_limit){ 0 };
		return 0;
	}
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	end += *end == ' ';
	if (strcmp(end, "%") == 0 && n >= 1 && n <= 100) {
		*out = (struct disk_limit){ .percent = (unsigned)n };
		return 0;
	}
	unit = unit_bytes(end);
	if (!unit || !n || n > INT64_MAX / unit)
		return -EINVAL;
	*out = (struct disk_limit){ .bytes = n * unit };
	return 0;
}

struct disk_bounds disk_bounds(const struct disk_limit *l, uint64_t total)
{
	struct disk_bounds b = { .allowed = l->percent ? total / 100 * l->percent : l->bytes };

	if (l->percent || l->bytes)
		b.reserve = total / 8 < RESERVE_MAX ? total / 8 : RESERVE_MAX;
	return b;
}

static bool is_over(uint64_t used, uint64_t allowed, unsigned percent)
{
	return allowed && used >= allowed / 100 * percent;
}

static bool is_short(uint64_t avail, uint64_t reserve, unsigned percent)
{
	return reserve && avail < reserve / 100 * percent;
}

struct disk_state disk_judge(const struct disk_bounds *b, const struct disk_sizes *s,
			     struct disk_state was)
{
	return (struct disk_state){
		.dropping = is_over(s->used, b->allowed, was.dropping ? 88 : 94) ||
			    is_short(s->avail, b->reserve, was.dropping ? 200 : 150),
		.refusing = is_over(s->used, b->allowed, was.refusing ? 97 : 100) ||
			    is_short(s->avail, b->reserve, was.refusing ? 125 : 100),
	};
}

uint64_t disk_room(const struct disk_bounds *b, const struct disk_sizes *s)
{
	uint64_t room = UINT64_MAX;

	if (b->allowed)
		room = b->allowed > s->used ? b->allowed - s->used : 0;
	if (b->reserve && (s->avail < b->reserve || s->avail - b->reserve < room))
		room = s->avail > b->reserve ? s->avail - b->reserve : 0;
	return room;
}

static int compare_slopes(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Compaction shrinks the database each hour: where the history allows, only points that are whole
 * hours apart are compared. */
static bool is_pair(const struct disk_point *a, const struct disk_point *b, bool hourly)
{
	int64_t apart = b->at_s - a->at_s;

	return apart > 0 && (!hourly || (apart >= 3300 && (apart + 300) % 3600 < 600));
}

int64_t disk_forecast_s(const struct disk_point *p, size_t n, uint64_t room)
{
	static _Thread_local double slope[DISK_POINTS * (DISK_POINTS - 1) / 2];
	size_t m = 0;
	bool hourly;
	double s;

	if (n > DISK_POINTS) {
		p += n - DISK_POINTS;
		n = DISK_POINTS;
	}
	if (n < 3 || p[n - 1].at_s - p[0].at_s < DISK_SPAN_S)
		return -1;
	hourly = p[n - 1].at_s - p[0].at_s >= 2 * 3600 + 600;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (is_pair(&p[i], &p[j], hourly))
				slope[m++] = ((double)p[j].used - (double)p[i].used) /
					     (double)(p[j].at_s - p[i].at_s);
	if (m == 0)
		return -1;
	qsort(slope, m, sizeof(slope[0]), compare_slopes);
	s = slope[m / 2];
	if (s <= 0 || room == UINT64_MAX || (double)room / s >= (double)DISK_NEVER)
		return DISK_NEVER;
	return (int64_t)((double)room / s);
}
