// SPDX-License-Identifier: Apache-2.0
#include "collector/core/engine_state.h"

#include <pthread.h>

#include "lib/base/clock.h"
#include "lib/base/text_clean.h"
#include "collector/core/counters.h"

static const struct {
	const char *name;
	enum counter since, skipped;
} engines[ENGINES] = {
	[ENGINE_INCIDENTS] = { "incidents", C_BEHIND_INCIDENTS, C_SKIPPED_INCIDENTS },
	[ENGINE_ARCHIVE] = { "archive", C_BEHIND_ARCHIVE, C_SKIPPED_ARCHIVE },
	[ENGINE_TOPOLOGY] = { "topology", C_BEHIND_TOPOLOGY, C_SKIPPED_TOPOLOGY },
	[ENGINE_SCORES] = { "scores", C_BEHIND_SCORES, C_SKIPPED_SCORES },
	[ENGINE_RELAY] = { "relay", C_BEHIND_RELAY, C_SKIPPED_RELAY },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects whys and the times */
static char whys[ENGINES][ENGINE_WHY];

const char *engine_name(enum engine_name e)
{
	return engines[e].name;
}

void engine_well(enum engine_name e)
{
	pthread_mutex_lock(&lock);
	counter_set(engines[e].since, 0);
	whys[e][0] = '\0';
	pthread_mutex_unlock(&lock);
}

void engine_failed(enum engine_name e, const char *why)
{
	pthread_mutex_lock(&lock);
	if (counter_get(engines[e].since) == 0)
		counter_set(engines[e].since, clock_wall_ns() / 1000000000u);
	text_clean_into(whys[e], sizeof(whys[e]), why, strlen(why));
	pthread_mutex_unlock(&lock);
}

void engine_skipped(enum engine_name e, uint64_t rows)
{
	counter_add(engines[e].skipped, rows);
}

void engine_read(enum engine_name e, struct engine_state *out)
{
	pthread_mutex_lock(&lock);
	*out = (struct engine_state){ .name = engines[e].name,
				      .since_s = counter_get(engines[e].since),
				      .skipped = counter_get(engines[e].skipped) };
	memcpy(out->why, whys[e], sizeof(out->why));
	pthread_mutex_unlock(&lock);
}
