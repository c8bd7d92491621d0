// SPDX-License-Identifier: Apache-2.0
// Rates, errors and durations (RED). Series of several nodes are added up slot by slot. Slot i counts durations of
// (2^(i-1), 2^i] µs, slot 0 up to 1 µs.
import { address, bare, isQueryable, fits, isNot, pairs } from './filters.js';
import { endsOf, niceStep } from './time_bins.js';

const MINUTE = 60e3; /* counts are stored per minute */
const FILTERS = ['from', 'to', 'region', 'node', 'app', 'route'];

// Columns that sort the table; without one the busiest row is first.
export const SORTS = ['nodes', 'rate', 'count', 'errors', 'p50', 'p99'];
const DEFAULT_SORT = 'count';

// Values that the API does not take are left out: the page then shows more.
export const redAddress = (f) => {
	const known = pairs(f, FILTERS).filter(([, value]) => value && (isNot(value) ? fits(bare(value)) : isQueryable(value)));
	return address('/red', [...known, ...(SORTS.includes(f.sort) && f.sort !== DEFAULT_SORT ? [['sort', f.sort]] : [])]);
};

export const readSort = (search) => {
	const sort = new URLSearchParams(search).get('sort');
	return SORTS.includes(sort) ? sort : DEFAULT_SORT;
};

// {from, to, begin, step, n}: the columns of the range; they begin at multiples of step.
export const columnsOf = (f) => {
	const [from, to] = endsOf(f, Date.now());
	const step = niceStep(from, to, MINUTE);
	const begin = Math.floor(from / step) * step;
	return { from, to, begin, step, n: Math.max(1, Math.ceil((to - begin) / step)) };
};

export const redQuestion = (f) => () => {
	const { from, to, step } = columnsOf(f);
	const range = { ...f, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
	return { path: '/api/v1/red', params: [...pairs(range, FILTERS), ['step', step / 1000]], live: !f.to };
};

const addSlots = (into, slots) => {
	for (const [i, n] of (slots?.b ?? []).entries()) into[slots.lo + i] = (into[slots.lo + i] ?? 0) + n;
};

// In ms, interpolated within its slot; null if nothing was counted.
export const percentile = (slots, part) => {
	const all = Object.entries(slots).map(([i, n]) => [Number(i), n]).filter(([, n]) => n > 0);
	const want = part * all.reduce((sum, [, n]) => sum + n, 0);
	let upto = 0;
	for (const [i, n] of all) {
		upto += n;
		if (upto < want) continue;
		const low = i ? 2 ** (i - 1) : 0;
		return (low + ((2 ** i - low) * Math.max(0, want - (upto - n))) / n) / 1000;
	}
	return null;
};

const fresh = (n) => ({ count: 0, errors: 0, slots: {}, columns: Array.from({ length: n }, () => ({ count: 0, errors: 0, slots: {} })) });

const add = (row, points, cols) => {
	for (const p of points) {
		const column = row.columns[Math.floor((Date.parse(p.time) - cols.begin) / cols.step)];
		for (const part of column ? [row, column] : []) {
			part.count += p.count;
			part.errors += p.errors;
			addSlots(part.slots, p.slots);
		}
	}
};

// One row per app and route, and per called peer; busiest first. all: their sum.
export const rowsOf = (series, role, cols) => {
	const rows = new Map();
	const all = fresh(cols.n);
	for (const s of series.filter((one) => one.role === role)) {
		const peer = role === 'client' ? s.peer : null;
		const key = JSON.stringify([s.app, s.route, peer]);
		if (!rows.has(key)) rows.set(key, { ...fresh(cols.n), key, app: s.app, route: s.route, peer, nodes: new Set() });
		rows.get(key).nodes.add(s.node);
		add(rows.get(key), s.points, cols);
		add(all, s.points, cols);
	}
	return { all, rows: [...rows.values()].filter((row) => row.count).sort((a, b) => b.count - a.count) };
};

const valueOf = {
	nodes: (row) => row.nodes.size,
	rate: (row) => row.count,
	count: (row) => row.count,
	errors: (row) => row.errors / row.count,
	p50: (row) => percentile(row.slots, 0.5) ?? -1,
	p99: (row) => percentile(row.slots, 0.99) ?? -1,
};

// The largest value of that column first; of equal ones the busiest.
export const sortRows = (rows, by) => {
	const valued = rows.map((row) => [valueOf[by](row), row]);
	return valued.sort(([a, x], [b, y]) => b - a || y.count - x.count).map(([, row]) => row);
};
