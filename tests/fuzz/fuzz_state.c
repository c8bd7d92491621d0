// SPDX-License-Identifier: Apache-2.0
/*
 * The probe's state file, whoever wrote it: refused, or what is normal, which is kept as it was.
 * The first byte chooses: a whole file, or a body whose sum is made right, since no fuzzer finds
 * one.
 */
#include "lib/daemon/state_file.c"

#include "lib/wire/mp.h"
#include "probe/request/judge/detect.h"
#include "tests/fuzz/check.h"

#define WALL_NS 1790000000000000000ull

enum { SURE = 16 }; /* so many routes have a place, whatever their hashes are */

static void file(const uint8_t *data, size_t len)
{
	struct buf b = { 0 };
	int r;

	buf_put(&b, data, len);
	r = check_frame(&b);
	must(r == 0 || r == -ENOENT || r == -EEXIST || r == -EBADMSG);
	must((r == -ENOENT) == (len == 0));
	must(r != 0 || (b.len == len - HEAD - TAIL && memcmp(b.data, data + HEAD, b.len) == 0));
	buf_free(&b);
}

/* With a head and a sum it is whole; with one bit turned anywhere it is not. */
static void whole(const uint8_t *data, size_t len)
{
	struct buf b = { 0 };
	uint8_t tail[TAIL];
	uint64_t sum;

	buf_put(&b, head, HEAD);
	buf_put(&b, data, len);
	sum = sum_of(b.data, b.len);
	for (int i = 0; i < TAIL; i++)
		tail[i] = (uint8_t)(sum >> 8 * i);
	buf_put(&b, tail, TAIL);
	b.data[len % b.len] ^= 1;
	must(!is_whole(&b));
	b.data[len % b.len] ^= 1;
	must(check_frame(&b) == 0 && b.len == len && (!len || memcmp(b.data, data, len) == 0));
	buf_free(&b);
}

static size_t routes_in(const struct buf *b)
{
	struct mp m = mp_over(b->data, b->len);

	return mp_array(&m);
}

static void save(struct detect *d, struct buf *out)
{
	buf_reset(out);
	detect_save(d, out, WALL_NS);
}

static void body(const uint8_t *data, size_t len)
{
	static struct detect *blank; /* making one takes longest */
	static struct buf once, twice;
	struct detect *other;

	if (!blank)
		blank = detect_new(-1);
	if (detect_load(blank, data, len, WALL_NS) < 0) {
		save(blank, &once);
		must(once.len == 1 && once.data[0] == 0x90);
		return;
	}
	save(blank, &once);
	other = detect_new(-1);
	must(detect_load(other, once.data, once.len, WALL_NS) == 0);
	save(other, &twice);
	must(routes_in(&once) > SURE || twice.len == once.len);
	buf_put(&once, "", 1);
	must(detect_load(other, once.data, once.len, WALL_NS) < 0);
	must(detect_load(other, once.data, once.len - 2, WALL_NS) < 0);
	detect_free(other);
	detect_free(TAKE(blank));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!len)
		return 0;
	if (*data == 'f') {
		file(data + 1, len - 1);
	} else {
		whole(data + 1, len - 1);
		body(data + 1, len - 1);
	}
	return 0;
}
