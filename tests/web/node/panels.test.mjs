// SPDX-License-Identifier: Apache-2.0
// The table of panels compared with schema/def/metrics.def, and columns that become lines.
import { reportedSteps, panelDataOf, joined, hasValues, silentRanges } from '../../../web/src/data/columns.js';
import { GROUPS, NOT_DRAWN, metricsOf, ownGroup, panelsFor, unplacedOf } from '../../../web/src/data/panels.js';
import { CHECK, CHECK_EQ, TEST } from '../browser.mjs';
import { METRICS } from '../mock/columns.mjs';

const all = GROUPS.flatMap((g) => g.panels);
const isLike = (pattern, metric) => (pattern.endsWith('*') ? metric.startsWith(pattern.slice(0, -1)) : metric === pattern);

TEST('every metric of schema/def/metrics.def is either on a panel of web/src/data/panels.js or in its NOT_DRAWN with the reason', async () => {
	CHECK(Object.keys(METRICS).length > 200, 'metrics are read');
	CHECK_EQ(unplacedOf(Object.keys(METRICS)), [], 'metrics without a place: give each a panel, or a line in NOT_DRAWN');
	const placed = all.flatMap(metricsOf);
	CHECK_EQ(Object.keys(NOT_DRAWN).filter((m) => placed.some((p) => isLike(m, p) || isLike(p, m))), [], 'drawn and not drawn');
});

TEST('a panel names existing metrics, and every panel name occurs once', async () => {
	const wanted = [...all.flatMap(metricsOf), ...Object.keys(NOT_DRAWN)];
	CHECK_EQ(wanted.filter((m) => !Object.keys(METRICS).some((name) => isLike(m, name))), [], 'metrics that are not in schema/def/metrics.def');
	CHECK_EQ(all.map((p) => p.name).filter((name, i, names) => names.indexOf(name) !== i), [], 'names of panels given twice');
	CHECK_EQ(all.filter((p) => !p.title[0] || !p.title[1] || !p.unit || !['lines', 'stack', 'heat'].includes(p.form)).map((p) => p.name), [], 'panels without a title in both languages, a unit or a form');
	for (const group of GROUPS) CHECK(new Set(group.panels.flatMap(metricsOf)).size <= 64, `${group.name} is one question`);
});

TEST('the lines of a panel have its unit: seconds per second are a share, and lines per entity are of one kind', async () => {
	for (const p of all) {
		const kinds = new Set(metricsOf(p).flatMap((m) => Object.keys(METRICS).filter((name) => isLike(m, name)).map((name) => METRICS[name].kind)));
		CHECK(!p.each || kinds.size === 1, `${p.name} is of one kind of entity (${[...kinds]})`);
		const counters = new Set(p.lines.map((l) => METRICS[l.metric]?.counter));
		CHECK(counters.size === 1 || p.form === 'heat', `${p.name} has counters or gauges, not both`);
		if (counters.has(true)) CHECK(/\/s$|^%$|^ms$|requests$/.test(p.unit), `${p.name}: ${p.unit} of a counter`);
	}
});

TEST('a node without a source has no panels of it', async () => {
	const metrics = Object.keys(METRICS).filter((m) => !/_us_|_size_bytes_|disk_errors/.test(m) && METRICS[m].kind !== 'coverage');
	const names = GROUPS.flatMap((g) => panelsFor(g, metrics)).map((p) => p.name);
	CHECK(names.includes('disk-busy') && !names.some((n) => /-us$|-size$|^requests$|^disk-errors$/.test(n)), names.join(' '));
	CHECK_EQ(unplacedOf(['load1', 'of_tomorrow_total', 'disk_discarded_bytes_total']), ['of_tomorrow_total'], 'what has no place');
});

const panelOf = (name) => all.find((p) => p.name === name);
const series = (metric, values, entity = '', more = {}) => ({ metric, entity, kind: 'rate', values, ...more });
const linesOf = (name, list, alive = list[0].values.map(() => true)) => panelDataOf(panelOf(name), { series: list, cut: [] }, alive).lines;

TEST('values at the usual distance are one line, others leave a gap', async () => {
	CHECK_EQ(joined([1, null, 2, null, 3, null, null, null, 4], 6000).map((v) => (v === undefined ? 'on' : v)), [1, 'on', 2, 'on', 3, null, null, null, 4], 'every second step');
	CHECK_EQ(joined([1, 2, null, 3], 6000), [1, 2, null, 3], 'one missing of a dense line');
	CHECK_EQ(joined([1, 1, 1, 2, null, 3, null, null, 4], 2000).map((v) => (v === undefined ? 'on' : v)), [1, 1, 1, 2, 'on', 3, null, null, 4], 'a step as short as a tick');
	CHECK_EQ(joined([null, 1, null], 6000), [null, 1, null], 'one alone');
	CHECK_EQ(joined([], 6000), [], 'none');
});

TEST('CPU time is percent of all, a mean time is per operation, entities are ordered by their maximum', async () => {
	const cpu = linesOf('cpu', [series('cpu_user_seconds_total', [1, null, 0]), series('cpu_idle_seconds_total', [3, null, 0])]);
	CHECK_EQ(cpu.map((l) => l.values), [[25, null, null], [75, null, null]], 'shares');
	const means = linesOf('disk-read-ms', [series('disk_read_time_seconds_total', [0.5, 0, null], 'sda'), series('disk_reads_completed_total', [10, 0, null], 'sda')]);
	CHECK_EQ(means.map((l) => [l.name, l.values]), [['sda', [50, null, null]]], 'none where nothing was read');
	const hits = linesOf('cache-hits', [series('page_cache_hit_bytes_total', [3, 0, 5]), series('page_cache_read_bytes_total', [4, 2, 0])]);
	CHECK_EQ(hits.map((l) => l.values), [[75, 0, null]], 'a part of what was read, and none where nothing was');
	const drops = linesOf('net-drops', [series('network_receive_drop_total', [1, 2], 'a'), series('network_transmit_drop_total', [1, null], 'a'), series('network_receive_drop_total', [9, 0], 'b')]);
	CHECK_EQ(drops.map((l) => [l.name, l.values]), [['b', [9, 0]], ['a', [2, 2]]], 'sums, the highest first');
	const rare = linesOf('kernel-drops', [series('skb_drops_total', [null, 3, null], 'NO_SOCKET', { onlyChanges: true })], [true, true, false]);
	CHECK_EQ(rare[0].values, [0, 3, null], 'no value is no drop, unless the node was silent');
});

TEST('a line of zeros is left out beside others, and a panel of zeros differs from one without data', async () => {
	const busy = (list) => panelDataOf(panelOf('disk-busy'), { series: list, cut: [] }, [true, true]);
	const of = (entity, values) => series('disk_io_time_seconds_total', values, entity);
	CHECK_EQ(busy([of('a', [0, 0]), of('b', [0, 0.1]), of('c', [null, null])]).lines.map((l) => l.name), ['b'], 'lines');
	CHECK_EQ([[of('a', [0, 0.1])], [of('a', [0, null]), of('b', [null, null])], [of('a', [null, null])], []].map((list) => hasValues(busy(list))), ['some', 'nought', 'nothing', 'nothing'], 'what they say');
});

TEST('a metric without a panel gets one by its name; histograms are joined by prefix, gauges hold their value', async () => {
	const metrics = ['load1', 'mine_total', 'mine_latency_us_32', 'mine_latency_us_64', 'mine_latency_us_more', 'mine_now'];
	const { panels } = ownGroup(metrics);
	CHECK_EQ(panels.map((p) => [p.name, p.form, p.lines[0].metric]), [['own-mine_latency_us', 'heat', 'mine_latency_us_*'], ['own-mine_now', 'lines', 'mine_now'], ['own-mine_total', 'lines', 'mine_total']], 'panels');
	CHECK_EQ(panelsFor(ownGroup(metrics), metrics).length, 3, 'all are there');
	const held = panelDataOf(panels[1], { step: 30, cut: [], series: [series('mine_now', [null, 7, null, null, null, null], 'port=1', { kind: 'gauge', unit: 'calls', onlyChanges: true })] }, [true, true, true, false, true, true]);
	CHECK_EQ([held.lines[0].values, held.unit], [[null, 7, 7, null, 7, null], 'calls'], 'a gauge');
	const rate = panelDataOf(panels[2], { step: 30, cut: [], series: [series('mine_total', [1, null], '', { unit: 'calls', onlyChanges: true })] }, [true, true]);
	CHECK_EQ([rate.lines[0].values, rate.unit], [[1, 0], 'calls/s'], 'a counter');
});

TEST('cells of several disks are added up and begin at the first count', async () => {
	const edges = [16, 32, 64, 128, 256, 512, 1024, 2048, null];
	const of = (entity, buckets) => ({ metric: 'disk_read_latency_us_*', entity, kind: 'histogram', edges, buckets });
	const { fields } = panelDataOf(panelOf('disk-read-us'), { series: [of('a', [[0, 0, 1, 0, 0, 0, 0, 0, 0], null, null]), of('b', [[0, 0, 2, 0, 0, 0, 0, 0, 5], [0, 0, 0, 4, 0, 0, 0, 0, 0], null])], cut: [] }, []);
	CHECK_EQ([fields.low, fields.n, fields.counts[0][2], fields.counts[0][8], fields.counts[1][3], fields.counts[2]], [2, 7, 3, 5, 4, null], 'fields');
});

TEST('a node is silent where no sample of a tick came, except where it may still come', async () => {
	const alive = reportedSteps([series('a', [1, null, null, null, 2, null]), series('b', [null, 5, null, null, null, null], 'x', { onlyChanges: true })], 6);
	CHECK_EQ(alive, [true, false, false, false, true, false], 'alive');
	CHECK_EQ(silentRanges(alive, 0, 6000, 3600e3), [[6000, 24000]], 'silences: one step alone is too short');
	CHECK_EQ(silentRanges(alive, 0, 60000, 300e3), [[60000, 240000]], 'the last steps may still come');
});
