// SPDX-License-Identifier: Apache-2.0
/*
 * reads.c [PROGRAMS [BUDGET_PERCENT BUDGET_LOOK_S]] - the sources of the probe, opened (with the
 * operator's own programs of that directory) and with as little left of root as there, but read
 * when somebody says so: a line on standard input is the name of a source, "cost" for what the
 * probe reports of itself, or "watch" for the budget of kernel programs. Its report is printed
 * as tests/tools/fakecollector.c does it,
 *
 *	sample LAYOUT KIND ENTITY NAME=VALUE...		LAYOUT is "own" of an operator's program
 *	state SOURCE WHY				of "watch"; "": it does all that it can
 *	budget SOURCE REASON going on|over NAME=VALUE...	the event
 *
 * with fields parted by tabs, to all digits, and then "done". First of all a line "source NAME WHY"
 * for each, "" if it is on, and "done".
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/wire/reason.h"
#include "probe/overhead/budget.h"
#include "probe/core/layout.h"
#include "probe/sandbox/privilege.h"
#include "probe/sandbox/seccomp.h"
#include "probe/source/sources.h"
#include "lib/uplink/uplink.h"
#include "tests/tools/source_config.h"

static const struct {
	const char *name;
	const struct wire_dict *dict;
} layouts[] = {
#define LAYOUT(ID, name, kind) { #name, &layout_##name },
#include "schema/def/metrics.def"
};

static const struct wire_dict *layout_of(uint64_t id, const char **name)
{
	const struct wire_dict *all[UPLINK_LAYOUTS];
	size_t n = sources_layouts(all, ARRAY_SIZE(all));

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].dict->layout == id) {
			*name = layouts[i].name;
			return layouts[i].dict;
		}
	*name = "own";
	for (size_t i = 0; i < n; i++)
		if (all[i]->layout == id)
			return all[i];
	die("a sample of no layout");
}

static void print_sample(const struct sample_item *s)
{
	const char *name;
	const struct wire_dict *d = layout_of(s->layout, &name);

	printf("sample\t%s\t%s\t%s\t", name, d->entity_kind, s->entity);
	for (uint32_t i = 0; i < s->n; i++)
		printf("%s=%.17g ", d->metrics[i].name, s->v[i]);
	putchar('\n');
}

static void print_budget(const struct event_item *e)
{
	printf("budget\t%s\t%s\t%s\t", e->params[0].text, reason_find(e->reason)->code,
	       e->going_on ? "going on" : "over");
	for (uint32_t i = 1; i < e->nparams; i++)
		printf("%s=%.17g ", e->params[i].key, e->params[i].number);
	putchar('\n');
}

static void print_watched(struct sink *out, struct arena *a)
{
	struct wire_body b;

	if (wire_body_decode(a, out->event.data, out->event.len, &b) < 0)
		die("the report of the budget cannot be read");
	for (uint32_t i = 0; i < b.nsources; i++)
		printf("state\t%s\t%s\n", b.sources[i].name, b.sources[i].why);
	for (uint32_t i = 0; i < b.nevents; i++)
		print_budget(&b.events[i]);
}

static void print_all(struct sink *out, struct arena *a)
{
	struct wire_body b;

	if (wire_body_decode(a, out->metric.data, out->metric.len, &b) < 0)
		die("the report of a source cannot be read");
	for (uint32_t i = 0; i < b.nsamples; i++)
		print_sample(&b.samples[i]);
	buf_reset(&out->metric);
	buf_reset(&out->event);
	arena_reset(a);
	puts("done");
	fflush(stdout);
}

static void print_sources(struct sources *s, struct sink *out, struct arena *a)
{
	struct wire_body b;

	sources_send_states(s, out);
	if (wire_body_decode(a, out->event.data, out->event.len, &b) < 0)
		die("what the sources say of themselves cannot be read");
	for (uint32_t i = 0; i < b.nsources; i++)
		printf("source\t%s\t%s\n", b.sources[i].name, b.sources[i].why);
	print_all(out, a);
}

/* One that costs too much to read leaves out some of its turns: with a budget it is given more. */
static void read_it(struct sources *s, size_t i, struct sink *out)
{
	int turns = source_config.budget_percent > 0 ? 1 << BUDGET_STEPS : 1;

	do
		sources_read(s, i, out);
	while (--turns && !out->metric.len);
}

static void read_named(struct sources *s, const char *name, struct sink *out, struct arena *a)
{
	if (strcmp(name, "watch") == 0) {
		sources_watch(s, out);
		print_watched(out, a);
		return;
	}
	if (strcmp(name, "cost") == 0) {
		sources_send_cost(s, out);
		return;
	}
	for (size_t i = 0; i < sources_count(); i++)
		if (strcmp(sources_at(i)->name, name) == 0) {
			read_it(s, i, out);
			return;
		}
	die("there is no source %s", name);
}

int main(int argc, char *argv[])
{
	AUTO(arena_free) struct arena *a = arena_new(64 << 20);
	char why[WHY_LEN], line[64];
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = "/sys", .config = &source_config, .why = why
	};
	struct sink out = { 0 };
	struct sources *s;

	log_init("reads", LOG_WARN);
	sources_use(argc > 1 ? argv[1] : "");
	if (argc > 3) {
		source_config.budget_percent = atof(argv[2]);
		source_config.budget_look_s = atoi(argv[3]);
	}
	s = sources_open(&env);
	if (privilege_drop() < 0 || seccomp_enter() < 0)
		die("privileges cannot be given up");
	print_sources(s, &out, a);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		read_named(s, line, &out, a);
		print_all(&out, a);
	}
	sources_close(s);
	sources_forget();
	buf_free(&out.event);
	buf_free(&out.metric);
	return EXIT_SUCCESS;
}
