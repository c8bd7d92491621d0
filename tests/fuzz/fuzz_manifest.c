// SPDX-License-Identifier: Apache-2.0
/*
 * What a NAME.conf says of a program of the operator's own: what is taken keeps its bounds and
 * makes layouts that the collector takes, what is not is reported in one sentence. The first byte
 * is how many slots a histogram has.
 */
#include <stdio.h>

#include "probe/source/custom/custom_layout.h"
#include "tests/fuzz/check.h"

enum { ERR = 256, MEMORY = 1 << 20 };

static struct custom_manifest m;
static struct custom_layout layout;

static void check_manifest(void)
{
	must(m.nmaps >= 1 && m.nmaps <= CUSTOM_MAPS && m.nmetrics >= 1 &&
	     m.nmetrics <= CUSTOM_METRICS);
	must(m.period_ms >= 1000 && m.period_ms <= 60000);
	for (uint32_t i = 0; i < m.nmaps; i++)
		must(m.map[i].entities >= 1 && m.map[i].entities <= CUSTOM_ENTITIES &&
		     m.map[i].nlabels <= CUSTOM_LABELS && m.map[i].name[0]);
	for (uint32_t i = 0; i < m.nmetrics; i++) {
		must(m.metric[i].map < m.nmaps && m.metric[i].first <= 62);
		must(m.metric[i].scale > 0 && m.metric[i].name[0] >= 'a');
		must(is_text(m.metric[i].unit, strlen(m.metric[i].unit)));
	}
}

static void check_layout(void)
{
	struct arena *a = arena_new(MEMORY);
	struct buf frame = { 0 };
	struct wire_dict d;

	wire_dict_encode(&frame, &layout.dict);
	must(wire_dict_decode(a, frame.data, frame.len, &d) == 0);
	must(d.n == layout.dict.n && d.layout == layout.dict.layout);
	buf_free(&frame);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char err[ERR] = "";
	FILE *f;
	int r;

	if (len < 2)
		return 0;
	f = fmemopen((void *)(uintptr_t)(data + 1), len - 1, "r");
	must(f != NULL);
	r = custom_manifest_read(f, "m.conf", &m, err, sizeof(err));
	fclose(f);
	must(memchr(err, 0, sizeof(err)) && (r == 0) == !err[0]);
	if (r < 0)
		return 0;
	check_manifest();
	for (uint32_t i = 0; i < m.nmetrics; i++)
		m.metric[i].at.n = m.metric[i].kind == CUSTOM_HISTOGRAM ? 2 + *data % 63 : 1;
	for (uint32_t i = 0; i < m.nmaps; i++) {
		for (uint32_t j = 0; j < m.nmetrics; j++)
			if (m.metric[j].kind == CUSTOM_HISTOGRAM &&
			    m.metric[j].first + m.metric[j].at.n - 2 > 62)
				m.metric[j].at.n = 2;
		err[0] = 0;
		if (custom_layout_make(&layout, &m, i, "own.m", "m.conf", err, sizeof(err)) == 0)
			check_layout();
		else
			must(strncmp(err, "m.conf:", 7) == 0);
	}
	return 0;
}
