// SPDX-License-Identifier: Apache-2.0
/* What mp_skip accepts, msgpack-c accepts too, and both stop at the same byte. No getter reads
 * past. */
#include <msgpack.h>

#include "../../lib/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void same_as_oracle(const uint8_t *data, size_t len)
{
	struct mp m = mp_over(data, len);
	msgpack_unpacked u;
	msgpack_unpack_return r;
	size_t off = 0;

	mp_skip(&m);
	if (mp_bad(&m))
		return;
	msgpack_unpacked_init(&u);
	r = msgpack_unpack_next(&u, (const char *)data, len, &off);
	if (r != MSGPACK_UNPACK_SUCCESS || data + off != m.p)
		__builtin_trap();
	msgpack_unpacked_destroy(&u);
}

/* A getter that takes a value takes just what mp_skip takes. */
static void get(struct mp *m, uint8_t how)
{
	struct mp skipped = *m;
	uint32_t n = 0;

	mp_skip(&skipped);
	if (how == 0)
		mp_uint(m);
	else if (how == 1)
		mp_double(m);
	else if (how == 2)
		mp_str(m, &n);
	else if (how == 3)
		mp_bin(m, &n);
	else
		mp_skip(m);
	if (mp_bad(m) && (n || m->p != m->end))
		__builtin_trap();
	if (!mp_bad(m) && (mp_bad(&skipped) || m->p != skipped.p))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mp m = mp_over(data, len);

	same_as_oracle(data, len);
	while (!mp_bad(&m) && m.p < m.end) {
		uint8_t how = *m.p++ % 6;

		if (how == 5)
			mp_array(&m);
		else
			get(&m, how);
	}
	return 0;
}
