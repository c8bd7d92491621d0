// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_offsets.h"

enum {
	WORDS = NGINX_REQUEST / 8,
	POOL_FIRST = 6, /* after signature, connection, the four configurations */
	POOL_LAST = 32,
	POOL_USES = 3, /* at least r->pool and two header lists */
	POOL_BLOCK = 16384, /* the request is the first object in its pool */
	DAY_S = 24 * 3600,
	LINE_MAX_LEN = 1 << 20,
	METHODS = 1 << 20, /* one bit each; there are 16 */
};

static bool is_version(uint64_t v)
{
	return v == 9 || v == 1000 || v == 1001 || v == 2000 || v == 3000;
}

static bool is_pointer(uint64_t v)
{
	return v >= 4096 && v < 1ull << 47;
}

/* The word that holds r->pool: it points closely below the request, and occurs often. */
static size_t find_pool(const struct nginx_look *l)
{
	for (size_t i = POOL_FIRST; i < POOL_LAST; i++) {
		uint64_t v = l->request[i];
		size_t uses = 0;

		if (!is_pointer(v) || v >= l->at || l->at - v > POOL_BLOCK)
			continue;
		for (size_t k = i; k < WORDS; k++)
			uses += l->request[k] == v;
		if (uses >= POOL_USES)
			return i;
	}
	return 0;
}

/* headers_out.status: follows a header list, which ends with its pool. */
static size_t find_status(const struct nginx_look *l, size_t pool)
{
	size_t found = 0, n = 0;

	for (size_t i = pool + 2; i < WORDS; i++) {
		uint64_t v = l->request[i];

		if (l->request[i - 1] != l->request[pool] || v < 100 || v > 599)
			continue;
		found = i;
		n++;
	}
	return n == 1 ? found : 0;
}

static bool is_start(const __u64 *w, uint64_t wall_s)
{
	return w[0] <= wall_s + 1 && w[0] + DAY_S > wall_s && w[1] < 1000 && w[2] > 1 &&
	       w[2] < METHODS && (w[2] & (w[2] - 1)) == 0 && is_version(w[3]) && w[4] > 0 &&
	       w[4] < LINE_MAX_LEN && is_pointer(w[5]);
}

/* start_sec, start_msec, method, http_version and request_line are adjacent. */
static size_t find_start(const struct nginx_look *l, size_t status, uint64_t wall_s)
{
	size_t found = 0, n = 0;

	for (size_t i = status + 1; i + 6 <= WORDS; i++) {
		if (is_start(&l->request[i], wall_s)) {
			found = i;
			n++;
		}
	}
	return n == 1 ? found : 0;
}

int nginx_offsets_find(const struct nginx_look *l, uint64_t wall_s, struct nginx_offsets *out)
{
	size_t pool, status, start;

	if (memcmp(l->request, "HTTP", 4) != 0 || l->connection.data != l->at)
		return -ENOENT;
	pool = find_pool(l);
	status = pool ? find_status(l, pool) : 0;
	start = status ? find_start(l, status, wall_s) : 0;
	if (!start)
		return -ENOENT;
	*out = (struct nginx_offsets){ .states = (uint16_t)((pool - 1) * 8),
				       .status = (uint16_t)(status * 8),
				       .start = (uint16_t)(start * 8) };
	return 0;
}
