// SPDX-License-Identifier: Apache-2.0
// Turns the series of one API answer into the lines and cells of a group of panels. Tests call it without a page.
import { isNumber } from '../base/number.js';
import { PERCENT } from './panels.js';

export const TOP = 8; /* entities on a panel */
const LATE_MS = 10e3; /* samples of the last ten seconds may still be on their way */
const JOINED = 1.5; /* times the usual distance of two values: closer values are joined */
const TICKS_MS = 5e3; /* two ticks: closer values are joined, too, as a short step may fall between them */
const ROWS = 6;

const most = (values) => values.reduce((n, v) => (v > n ? v : n), -Infinity);
const by = (of) => (a, b) => of(b) - of(a);

// The entities of a group in a fixed order, so that each has the same colour on every panel.
export const entitiesOf = (series) => [...new Set(series.map((s) => s.entity))].sort();

// For each step whether any metric that is sent at every tick had a value.
export const reportedSteps = (series, n) => {
	const alive = new Array(n).fill(false);
	for (const s of series.filter((one) => !one.onlyChanges)) for (const [i, v] of (s.values ?? s.buckets).entries()) if (v !== null) alive[i] = true;
	return alive;
};

// Nulls between values at their usual distance become undefined: the line continues. All other nulls are gaps.
export const joined = (values, step) => {
	const at = values.flatMap((v, i) => (v === null ? [] : [i]));
	const distances = at.slice(1).map((i, k) => i - at[k]).sort((a, b) => a - b);
	const usual = distances[Math.floor(distances.length / 2)] ?? 1;
	const out = [...values];
	for (let k = 1; k < at.length; k += 1) if (at[k] - at[k - 1] <= Math.max(usual * JOINED, TICKS_MS / step)) out.fill(undefined, at[k - 1] + 1, at[k]);
	return out;
};

const times = (values, factor) => values?.map((v) => (v === null ? null : v * factor));
const added = (lists) => lists[0].map((_, i) => lists.reduce((sum, list) => (list[i] === null ? sum : (sum ?? 0) + list[i]), null));
const divided = (values, other) => values.map((v, i) => (v === null || !(other?.[i] > 0) ? null : v / other[i]));

// A step without a value because nothing happened is 0. A gauge, which is sent once a minute, keeps its value.
const HELD_MS = 90e3;
const held = (values, alive, step) => {
	let last = -Infinity;
	return values.map((v, i) => {
		if (v !== null) last = i;
		return v ?? (alive[i] && (i - last) * step <= HELD_MS ? values[last] : null);
	});
};
const filled = (s, alive, step) => {
	if (!s.onlyChanges) return s;
	return { ...s, values: s.kind === 'gauge' ? held(s.values, alive, step) : s.values.map((v, i) => (v === null && alive[i] ? 0 : v)) };
};

const whole = (series, metric) => {
	const found = series.filter((s) => s.metric === metric && s.values);
	if (!found.length) return null;
	const alone = found.length === 1 ? found[0] : {};
	return { values: added(found.map((s) => s.values)), low: alone.min, high: alone.max };
};

const byEntity = (panel, series, top) => {
	const entities = new Map();
	for (const { metric } of panel.lines) {
		for (const s of series.filter((one) => one.metric === metric && one.values)) entities.set(s.entity, [...(entities.get(s.entity) ?? []), s]);
	}
	const order = entitiesOf(series);
	const lines = [...entities].map(([entity, found]) => {
		const values = added(found.map((s) => s.values));
		const other = panel.by && series.find((s) => s.metric === panel.by && s.entity === entity);
		return { name: entity, fromWire: true, look: order.indexOf(entity), values: times(panel.by ? divided(values, other?.values) : values, panel.factor) };
	});
	const measured = lines.filter((l) => l.values.some((v) => v !== null));
	const moved = measured.filter((l) => l.values.some((v) => v > 0));
	return (moved.length ? moved : measured).sort(by((l) => most(l.values))).slice(0, top);
};

const shared = (lines) => {
	const sum = added(lines.map((l) => l.values));
	return lines.map((l) => ({ ...l, values: l.values.map((v, i) => (v === null || !sum[i] ? null : (v / sum[i]) * PERCENT)), low: undefined, high: undefined }));
};

const byMetric = (panel, series) => {
	const other = panel.by && whole(series, panel.by);
	const lines = panel.lines.flatMap((l) => {
		const found = whole(series, l.metric);
		if (found && panel.by) return [{ name: l.name, values: times(divided(found.values, other?.values), panel.factor) }];
		return found ? [{ name: l.name, rest: l.metric === panel.rest, values: times(found.values, panel.factor), low: times(found.low, panel.factor), high: times(found.high, panel.factor) }] : [];
	});
	return panel.share && lines.length ? shared(lines) : lines;
};

// The cells of a histogram, summed over all entities: counts[step][bucket], from the lowest to the highest used bucket.
const fieldsOf = (panel, series) => {
	const found = series.filter((s) => s.metric === panel.lines[0].metric && s.buckets?.some((b) => b?.some((n) => n > 0)));
	if (!found.length) return null;
	const { edges } = found[0];
	const counts = found[0].buckets.map((_, i) => {
		const here = found.map((s) => s.buckets[i]).filter(Boolean);
		return here.length ? edges.map((_e, k) => here.reduce((n, b) => n + (b[k] ?? 0), 0)) : null;
	});
	const used = edges.map((_, k) => counts.some((c) => c?.[k] > 0));
	const low = Math.max(0, Math.min(used.indexOf(true), edges.length - ROWS));
	const n = Math.min(edges.length - low, Math.max(ROWS, used.lastIndexOf(true) - low + 1));
	return { edges, low, n, counts, any: used.includes(true), entities: found.map((s) => s.entity) };
};

// The unit that the API gives, for a metric that this console does not know.
const unitOf = (s) => {
	if (!s) return '';
	if (s.kind === 'histogram') return s.edgeUnit === 'us' ? 'µs' : (s.edgeUnit ?? '');
	return s.kind === 'gauge' ? s.unit : `${s.unit}/s`;
};

// {lines | fields, limit, unit, total} for a panel; an empty panel has neither lines nor fields.
export const panelDataOf = (panel, answer, alive, top = TOP) => {
	const { cut } = answer;
	const series = answer.series.map((s) => (s.values ? filled(s, alive, answer.step * 1e3) : s));
	const total = (cut ?? []).find((c) => c.metric === panel.lines[0].metric)?.total;
	const unit = panel.fromWire ? unitOf(series.find((s) => s.metric === panel.lines[0].metric)) : panel.unit;
	if (panel.form === 'heat') return { fields: fieldsOf(panel, series), total, unit };
	const lines = panel.each ? byEntity(panel, series, top) : byMetric(panel, series);
	const limit = panel.limit ? whole(series, panel.limit.metric) : null;
	return { lines, unit, limit: limit && { name: panel.limit.name, values: times(limit.values, panel.factor) }, total };
};

// True if any value is above 0.
export const hasValues = (found) => {
	if (found.fields) return found.fields.any ? 'some' : 'nought';
	const highest = Math.max(-Infinity, ...(found.lines ?? []).map((l) => mostOf(l) ?? -Infinity));
	return highest === -Infinity ? 'nothing' : highest > 0 ? 'some' : 'nought';
};

// Runs of steps without any sample of the node, as [first, last + 1] in ms; steps whose samples may still come are left out.
export const silentRanges = (alive, from, step, now = Date.now()) => {
	const end = Math.min(alive.length, Math.floor((now - LATE_MS - from) / step));
	const runs = [];
	for (let i = 0; i < end; i += 1) {
		if (alive[i]) continue;
		const first = i;
		while (i < end && !alive[i]) i += 1;
		if ((i - first) * step >= LATE_MS) runs.push([from + first * step, from + i * step]);
	}
	return runs;
};

export const lastOf = (values) => values.findLast(isNumber) ?? null;
export const mostOf = (line) => {
	const high = most((line.high ?? line.values).filter(isNumber));
	return Number.isFinite(high) ? high : null;
};
