// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/engine/incident_engine.h"
#include "collector/incident/model/incident_remote.h"

void engine_forget_reports(struct engine *e)
{
	for (size_t i = 0; i < e->nreports; i++) {
		struct incident_report *t = &e->reports[i];

		for (size_t k = 0; k < t->nsignals; k++) {
			free(t->signal[k].app);
			free(t->signal[k].route);
		}
		free(t->signal);
	}
	free(e->reports);
	e->reports = NULL;
	e->nreports = 0;
}

void engine_forget(struct engine *e)
{
	incident_set_free(e->set);
	e->set = NULL;
	pairmap_forget(e->seen);
	pairmap_forget(e->nodes);
	engine_forget_reports(e);
	e->newest_us = e->nodes_us = e->forgot_us = e->slowdowns_us = 0;
	e->full = e->merged = false;
}

void engine_close(struct engine *e)
{
	engine_forget(e);
	pairmap_free(e->seen);
	pairmap_free(e->nodes);
	free(e->region);
}
