// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_layout.h"
#include "tests/lib/test.h"

static struct custom_manifest m;
static char err[256];

static int read_text(const char *text)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int r;

	err[0] = 0;
	if (!f)
		return -ENOMEM;
	r = custom_manifest_read(f, "x.conf", &m, err, sizeof(err));
	fclose(f);
	return r;
}

#define GOOD "[map a]\n[metric b]\nmap = a\nkind = counter\n"

TEST(a_manifest_of_two_sections_is_enough)
{
	CHECK_EQ(read_text(GOOD), 0);
	CHECK_EQ(m.nmaps, 1);
	CHECK_EQ(m.nmetrics, 1);
	CHECK_EQ(m.period_ms, 2000);
	CHECK_EQ(m.map[0].entities, 64);
	CHECK_EQ(m.map[0].nlabels, 0);
	CHECK_STR(m.metric[0].name, "b");
	CHECK_STR(m.metric[0].field, "");
	CHECK_EQ(m.metric[0].kind, CUSTOM_COUNTER);
	CHECK(m.metric[0].scale == 1);
}

TEST(each_key_is_read)
{
	CHECK_EQ(
		read_text("# a comment\n[program]\nhelp = what it is\nperiod_ms = 5000\n"
			  "[metric ns_total]\nmap = .bss\nfield = ns\nkind = counter\nunit = s\n"
			  "scale = 1e-9\n[map .bss]\n[map lat]\nlabels = port, comm\nentities = 7\n"
			  "[metric lat_us]\nmap = lat\nfield = slots\nkind = histogram\nfirst = 4\n"
			  "[metric now]\nmap = lat\nkind = gauge\n"),
		0);
	CHECK_STR(m.help, "what it is");
	CHECK_EQ(m.period_ms, 5000);
	CHECK_EQ(m.nmaps, 2);
	CHECK_EQ(m.map[1].entities, 7);
	CHECK_EQ(m.map[1].nlabels, 2);
	CHECK_STR(m.map[1].label[0].name, "port");
	CHECK_STR(m.map[1].label[1].name, "comm");
	CHECK_EQ(m.metric[0].map, 0);
	CHECK(m.metric[0].scale == 1e-9);
	CHECK_STR(m.metric[0].unit, "s");
	CHECK_EQ(m.metric[1].map, 1);
	CHECK_EQ(m.metric[1].kind, CUSTOM_HISTOGRAM);
	CHECK_EQ(m.metric[1].first, 4);
	CHECK_EQ(m.metric[2].kind, CUSTOM_GAUGE);
}

static const struct {
	const char *text, *want;
} bad[] = {
	{ "", "x.conf: reports nothing: needs a [map NAME] and a [metric NAME]" },
	{ "a = b\n", "x.conf:1: \"a\" is not in a section" },
	{ "[maps]\n",
	  "x.conf:1: there is no section [maps]; the sections are [program] [map NAME]" },
	{ "[map]\n", "x.conf:1: there is no section [map]" },
	{ "[map a b]\n", "x.conf:1: [map a b]: the name of a map in C is allowed" },
	{ "[map a\n", "x.conf:1: the section's name has no ] at its end" },
	{ "[metric A]\n", "x.conf:1: [metric A]: a small letter, then small letters" },
	{ "[metric 1a]\n", "x.conf:1: [metric 1a]: a small letter" },
	{ "[metric a-b]\n", "x.conf:1: [metric a-b]: a small letter" },
	{ "[program]\nperiod_ms = 999\n", "x.conf:2: [program] period_ms = \"999\": a whole "
					  "number from 1000 to 60000 is allowed" },
	{ "[program]\nperiod = 1\n", "x.conf:2: [program] has no key \"period\"; its keys are "
				     "help period_ms" },
	{ "[map a]\nentities = 0\n", "x.conf:2: [map] entities = \"0\": a whole number from 1 "
				     "to 512 is allowed" },
	{ "[map a]\nlabel = x\n", "x.conf:2: [map] has no key \"label\"; its keys are labels "
				  "entities" },
	{ "[map a]\n[map a]\n", "x.conf:2: [map a] is already defined in line 1" },
	{ GOOD "[metric b]\n", "x.conf:5: [metric b] is already defined in line 2" },
	{ GOOD "limit = 1\n",
	  "x.conf:5: [metric] has no key \"limit\"; its keys are map field kind "
	  "unit scale first" },
	{ GOOD "scale = 0\n", "x.conf:5: [metric] scale = \"0\": a number from 1e-15" },
	{ GOOD "scale = nan\n", "x.conf:5: [metric] scale = \"nan\": a number" },
	{ GOOD "nonsense\n", "x.conf:5: neither [section] nor key = value" },
	{ GOOD "unit = a b\n", "x.conf:2: unit = \"a b\": a word is allowed" },
	{ GOOD "first = 1\n", "x.conf:2: first = is for a histogram" },
	{ GOOD "first = 63\n", "x.conf:5: [metric] first = \"63\": a whole number from 0 to 62" },
	{ "[map a]\nlabels = x,x\n" GOOD, "x.conf:3: [map a] is already defined in line 1" },
	{ "[map c]\nlabels = x,x\n[metric d]\nmap = c\nkind = gauge\n",
	  "x.conf:1: label x is listed twice" },
	{ "[map c]\nlabels = a b c d e\n[metric d]\nmap = c\nkind = gauge\n",
	  "x.conf:1: at most 4 labels are allowed" },
	{ "[map c]\nlabels = 1x\n[metric d]\nmap = c\nkind = gauge\n",
	  "x.conf:1: labels = \"1x\": names of members are allowed" },
	{ "[metric b]\nkind = counter\n", "x.conf:1: map = \"\": there is no section [map "
					  "NAME]" },
	{ "[map a]\n[metric b]\nmap = c\nkind = counter\n",
	  "x.conf:2: map = \"c\": there is no section [map c]" },
	{ "[map a]\n[metric b]\nmap = a\n", "x.conf:2: kind = \"\": counter, gauge or "
					    "histogram is allowed" },
	{ "[map a]\n[metric b]\nmap = a\nkind = sum\n",
	  "x.conf:2: kind = \"sum\": counter, gauge or histogram is allowed" },
	{ "[map a]\n[metric b]\nmap = a\nkind = histogram\n",
	  "x.conf:2: a histogram needs first =" },
	{ "[map a]\n[metric b]\nmap = a\nkind = histogram\nfirst = 1\nscale = 2\n",
	  "x.conf:2: a histogram counts: no scale = is allowed" },
	{ GOOD "[map d]\n", "x.conf:5: no [metric NAME] has map = d" },
};

TEST(each_mistake_is_reported_with_file_line_and_what_is_allowed)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(read_text(bad[i].text[0] ? bad[i].text : "\n"), -EINVAL);
		CHECK_EQ(strncmp(err, bad[i].want, strlen(bad[i].want)), 0);
		if (strncmp(err, bad[i].want, strlen(bad[i].want)) != 0)
			printf("      %s\n", err);
	}
}

static void many(const char *what, int n, char *text, size_t size)
{
	size_t len = 0;

	for (int i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, size - len, "[%s a%d]\n", what, i);
}

TEST(too_many_maps_or_metrics_are_refused)
{
	char text[2048];

	many("map", CUSTOM_MAPS + 1, text, sizeof(text));
	CHECK_EQ(read_text(text), -EINVAL);
	CHECK_STR(err, "x.conf:9: [map a8]: at most 8 maps are allowed");
	many("metric", CUSTOM_METRICS + 1, text, sizeof(text));
	CHECK_EQ(read_text(text), -EINVAL);
	CHECK_STR(err, "x.conf:33: [metric a32]: at most 32 metrics are allowed");
}

static struct custom_layout layout;

static int make(const char *text, uint32_t slots)
{
	CHECK_EQ(read_text(text), 0);
	for (uint32_t i = 0; i < m.nmetrics; i++)
		m.metric[i].at.n = m.metric[i].kind == CUSTOM_HISTOGRAM ? slots : 1;
	return custom_layout_make(&layout, &m, 0, "own.x", "x.conf", err, sizeof(err));
}

TEST(a_histogram_is_a_counter_per_slot_named_by_its_upper_edge)
{
	CHECK_EQ(make("[map a]\n[metric us]\nmap = a\nkind = histogram\nfirst = 4\nunit = calls\n"
		      "[metric now]\nmap = a\nkind = gauge\n",
		      3),
		 0);
	CHECK_EQ(layout.dict.n, 4);
	CHECK_STR(layout.dict.metrics[0].name, "us_16");
	CHECK_STR(layout.dict.metrics[1].name, "us_32");
	CHECK_STR(layout.dict.metrics[2].name, "us_more");
	CHECK_STR(layout.dict.metrics[2].unit, "calls");
	CHECK_EQ(layout.dict.metrics[2].kind, METRIC_COUNTER);
	CHECK_STR(layout.dict.metrics[3].name, "now");
	CHECK_EQ(layout.dict.metrics[3].kind, METRIC_GAUGE);
	CHECK_STR(layout.dict.entity_kind, "own.x");
	CHECK_EQ(layout.dict.layout, wire_layout_id(&layout.dict));
}

TEST(a_reserved_or_duplicate_name_is_refused)
{
	CHECK_EQ(make("[map a]\n[metric load1]\nmap = a\nkind = gauge\n", 1), -EINVAL);
	CHECK_STR(err, "x.conf:2: load1: a metric of Seismo's own has that name: choose another");
	CHECK_EQ(make("[map a]\n[metric us]\nmap = a\nkind = histogram\nfirst = 0\n"
		      "[metric us_more]\nmap = a\nkind = counter\n",
		      2),
		 -EINVAL);
	CHECK_STR(err, "x.conf:6: us_more: another value of this map has that name");
	CHECK_EQ(make("[map a]\n[metric u]\nmap = a\nkind = histogram\nfirst = 0\n"
		      "[metric v]\nmap = a\nkind = histogram\nfirst = 0\n"
		      "[metric w]\nmap = a\nkind = histogram\nfirst = 0\n",
		      63),
		 -EINVAL);
	CHECK(strstr(err, "x.conf:10: w_4: one more than the 128 values") != NULL);
}
