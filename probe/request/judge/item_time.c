// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/item_time.h"

uint64_t item_judged_us(const struct request_item *r)
{
	return r->queue_us + (r->flags & REQUEST_BY_FIRST ? r->first_us : r->request_us);
}

uint64_t item_try_us(const struct request_item *r, const struct up_item *u)
{
	uint64_t left = u->start_us < r->first_us ? r->first_us - u->start_us : 0;

	return r->flags & REQUEST_BY_FIRST && u->response_us > left ? left : u->response_us;
}

uint64_t item_upstream_us(const struct request_item *r)
{
	uint64_t us = 0;

	for (uint32_t i = 0; i < r->nups; i++)
		us += item_try_us(r, &r->ups[i]);
	return us;
}

bool item_failed(const struct request_item *r)
{
	return r->status >= 500 || (r->flags & REQUEST_NO_ANSWER);
}
