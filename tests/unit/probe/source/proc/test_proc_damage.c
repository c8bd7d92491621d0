// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "probe/source/proc/proc_devices.h"
#include "tests/fake/proc_host.h"
#include "tests/lib/test.h"

#define NODE(h, id) (host_sample((h), &layout_node, "")[NODE_##id])

TEST(a_malformed_number_is_unavailable)
{
	static const char *const bad[] = {
		"-1", "x", "1x", "99999999999999999999", "", ".", "1e3"
	};
	char text[128];
	struct host h;

	host_open(&h, DATA "/sys");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "%s 1 1 1/2 3\n", bad[i]);
		host_put(&h, "loadavg", text);
		snprintf(text, sizeof(text), "MemFree: %s\n", bad[i]);
		host_put(&h, "meminfo", text);
		host_tick(&h);
		CHECK(isnan(NODE(&h, MEM_FREE)));
		CHECK(isnan(NODE(&h, LOAD1)) || bad[i][0] == 0);
	}
	host_close(&h);
}

/* Nothing happens on this host: a gauge is unchanged, a counter has not moved, or is unavailable.
 */
static void check_still(const struct host *h, const struct wire_dict *d, const char *entity,
			const double *gauge)
{
	const double *v = host_sample(h, d, entity);

	for (uint32_t i = 0; v && i < d->n; i++) {
		double want = d->metrics[i].kind == METRIC_GAUGE ? gauge[i] : 0;

		CHECK(isnan(v[i]) || v[i] == want);
	}
}

static void cut_and_restore(struct host *h, const char *file, const double *node,
			    const double *disk)
{
	char text[8192];
	size_t len = host_original(file, text, sizeof(text));

	for (size_t n = 0; n < len && !test_failed;
	     n += 1 + n % 7) { /* at a different column in each line */
		for (int restored = 0; restored < 2; restored++) {
			host_put_bytes(h, file, text, restored ? len : n);
			host_tick(h);
			check_still(h, &layout_node, "", node);
			check_still(h, &layout_disk, "sda", disk);
		}
	}
}

TEST(a_truncated_file_gives_no_wrong_number)
{
	double node[NODE_END], disk[DISK_END];
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	memcpy(node, host_sample(&h, &layout_node, ""), sizeof(node));
	memcpy(disk, host_sample(&h, &layout_disk, "sda"), sizeof(disk));
	for (size_t f = 0; f < HOST_FILES && !test_failed; f++)
		cut_and_restore(&h, host_files[f], node, disk);
	host_close(&h);
}

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void damage(char *text, size_t len, uint64_t *seed)
{
	static const char likely[] = { '\n', ' ', ':', '=', 0, '.', '-', '/', '9', (char)0xff };

	for (uint64_t n = rnd(seed) % 20; n && len; n--)
		text[rnd(seed) % len] =
			rnd(seed) % 2 ? likely[rnd(seed) % sizeof(likely)] : (char)rnd(seed);
}

TEST(with_any_content_of_proc_names_are_plain_text_and_counters_do_not_decrease)
{
	uint64_t seed = 88172645463325252u;
	char text[8192];
	struct host h;

	host_open(&h, "/nonexistent");
	for (int round = 0; round < 300 && !test_failed; round++) {
		for (size_t f = 0; f < HOST_FILES; f++) {
			size_t len = host_original(host_files[f], text, sizeof(text));

			damage(text, len, &seed);
			host_put_bytes(&h, host_files[f], text, len);
		}
		host_tick(&h);
		for (uint32_t i = 0; i < h.tick.nsamples; i++) {
			const struct sample_item *s = &h.tick.samples[i];

			CHECK(strlen(s->entity) < DEVICE_NAME);
			for (const char *c = s->entity; *c; c++)
				CHECK('!' <= *c && *c <= '~');
			for (uint32_t m = 0; m < s->n; m++)
				CHECK(isnan(s->v[m]) || s->v[m] >= 0);
		}
	}
	host_close(&h);
}
