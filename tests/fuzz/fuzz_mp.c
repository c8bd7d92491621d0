// SPDX-License-Identifier: Apache-2.0
/* What mp_skip accepts, msgpack-c accepts too, and both stop at the same byte. */
#include <msgpack.h>

#include "../../lib/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mp m = mp_over(data, len);
	msgpack_unpacked u;
	size_t off = 0;

	mp_skip(&m);
	if (mp_bad(&m))
		return 0;
	msgpack_unpacked_init(&u);
	if (msgpack_unpack_next(&u, (const char *)data, len, &off) < MSGPACK_UNPACK_SUCCESS - 1 ||
	    data + off != m.p)
		__builtin_trap();
	msgpack_unpacked_destroy(&u);
	return 0;
}
