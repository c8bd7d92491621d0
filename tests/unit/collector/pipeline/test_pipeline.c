// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/pipeline/pipeline.h"

static int opened, closed, answer;
static char trace[16];

static int fake_open(void *self UNUSED, const struct stage_env *env UNUSED)
{
	opened++;
	return 0;
}

static int broken_open(void *self UNUSED, const struct stage_env *env UNUSED)
{
	return -ENOENT;
}

static int first_run(void *self, struct batch *b UNUSED)
{
	++*(int *)self;
	strcat(trace, "1");
	return answer;
}

static int second_run(void *self UNUSED, struct batch *b UNUSED)
{
	strcat(trace, "2");
	return STAGE_NEXT;
}

static void fake_close(void *self UNUSED)
{
	closed++;
}

static const struct stage first = { .name = "first",
				    .size = sizeof(int),
				    .open = fake_open,
				    .run = first_run,
				    .close = fake_close,
				    STAGE_COUNTERS(DECODE) };
static const struct stage second = { .name = "second", .run = second_run, STAGE_COUNTERS(ENRICH) };
static const struct stage broken = { .name = "broken",
				     .open = broken_open,
				     .run = second_run,
				     .close = fake_close,
				     STAGE_COUNTERS(STORE) };

static struct pipeline *make(const struct stage *a, const struct stage *b)
{
	const struct stage *const stages[] = { a, b };
	struct pipeline *l = NULL;

	opened = closed = 0;
	trace[0] = 0;
	return pipeline_open(&l, stages, 2, &(struct stage_env){ 0 }) < 0 ? NULL : l;
}

TEST(stages_run_in_the_order_of_the_table)
{
	AUTO(pipeline_close) struct pipeline *l = make(&second, &first);
	struct batch b = { 0 };

	answer = STAGE_NEXT;
	CHECK_EQ(pipeline_run(l, &b), 0);
	CHECK_STR(trace, "21");
}

TEST(a_stage_that_fails_ends_the_pipeline_and_is_counted)
{
	AUTO(pipeline_close) struct pipeline *l = make(&first, &second);
	uint64_t in = counter_get(C_DECODE_IN), failed = counter_get(C_DECODE_FAILED);
	uint64_t behind = counter_get(C_ENRICH_IN);
	struct batch b = { 0 };

	answer = -EBADMSG;
	CHECK_EQ(pipeline_run(l, &b), -EBADMSG);
	CHECK_STR(trace, "1");
	CHECK_EQ(counter_get(C_DECODE_IN), in + 1);
	CHECK_EQ(counter_get(C_DECODE_FAILED), failed + 1);
	CHECK_EQ(counter_get(C_ENRICH_IN), behind);
}

TEST(a_stage_that_is_done_ends_the_pipeline_without_an_error)
{
	AUTO(pipeline_close) struct pipeline *l = make(&first, &second);
	struct batch b = { 0 };

	answer = STAGE_DONE;
	CHECK_EQ(pipeline_run(l, &b), 0);
	CHECK_STR(trace, "1");
}

TEST(a_pipeline_that_half_opened_closes_what_it_opened)
{
	CHECK(!make(&first, &broken));
	CHECK_EQ(opened, 1);
	CHECK_EQ(closed, 2);
}

TEST(closing_no_pipeline_is_harmless)
{
	pipeline_close(NULL);
}
