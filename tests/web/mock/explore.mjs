// SPDX-License-Identifier: Apache-2.0
// The queries of the API over a list of requests: matches, facets, histogram, groups.
const HOUR = 3600e3;
const AHEAD = 300e3;
const SPARK = 20;
const FACETS = 20;
const FILTERS = {
	region: (r) => r.region,
	node: (r) => r.node,
	app: (r) => r.app,
	route: (r) => r.route,
	status: (r) => String(r.status ?? 0),
	reason: (r) => r.reason.code,
	remote: (r) => r.remoteAddr,
	upstream: (r) => r.upstreamAddr,
	tag: () => null,
};

export class Refused extends Error {
	constructor(status, code, message) {
		super(message);
		Object.assign(this, { status, code });
	}
}

export const newestFirst = (a, b) => (a.time === b.time ? (a.id < b.id ? 1 : -1) : a.time < b.time ? 1 : -1);

const same = (name, wanted, value) => {
	if (wanted === '-') return value === null;
	if (name === 'status') return wanted.endsWith('xx') ? value[0] === wanted[0] : value === wanted;
	if (name === 'remote' || name === 'upstream') return (value ?? '').startsWith(wanted);
	return value === wanted;
};

const check = (name, value) => {
	const text = value.replace(/^!/, '');
	if (name === 'status' && !/^([1-5]xx|\d{3}|0)$/.test(text)) throw new Refused(400, 'bad_parameter', 'status must be a status like 502, a class like 5xx, or 0 for no answer.');
	if (!text || Buffer.byteLength(text) > 200) throw new Refused(400, 'bad_parameter', `${name} must be 1 to 200 bytes of UTF-8 text.`);
};

// True if a request matches all filters except the named one.
export const fits = (q, less) => {
	const all = Object.keys(FILTERS).filter((name) => name !== less).map((name) => {
		const values = q.getAll(name);
		for (const v of values) check(name, v);
		return [name, values.filter((v) => v[0] !== '!'), values.filter((v) => v[0] === '!').map((v) => v.slice(1))];
	});
	const text = (q.get('q') ?? '').toLowerCase();
	return (r) => {
		if (!all.every(([name, yes, no]) => (!yes.length || yes.some((v) => same(name, v, FILTERS[name](r)))) && !no.some((v) => same(name, v, FILTERS[name](r))))) return false;
		return [r.method, r.path, r.app, r.node, r.remoteAddr, r.upstreamAddr].join(' ').toLowerCase().includes(text);
	};
};

export const range = (q) => {
	const to = q.get('to') ? Date.parse(q.get('to')) : Date.now() + AHEAD;
	const from = q.get('from') ? Date.parse(q.get('from')) : (q.get('to') ? to : to - AHEAD) - HOUR;
	if (!(from < to)) throw new Refused(400, 'bad_parameter', 'from must be before to.');
	return [from, to];
};

export const inRange = (rows, q) => {
	const [from, to] = range(q);
	return rows.filter((r) => Date.parse(r.time) >= from && Date.parse(r.time) < to);
};

const tally = (values) => {
	const sums = new Map();
	for (const v of values) sums.set(v, (sums.get(v) ?? 0) + 1);
	return [...sums].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
};

const hostOf = (addr) => addr?.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

const facets = (rows, q) => {
	const within = inRange(rows, q);
	const made = Object.entries({ ...FILTERS, remote: (r) => hostOf(r.remoteAddr) }).map(([name, value]) => [name, tally(within.filter(fits(q, name)).map((r) => value(r) ?? '-')).slice(0, FACETS)]);
	return { facets: Object.fromEntries(made), total: within.filter(fits(q)).length, exact: true };
};

const histogram = (rows, q) => {
	const [from, to] = range(q);
	const bins = Number(q.get('bins') ?? 60);
	const found = inRange(rows, q).filter(fits(q));
	const step = (to - from) / bins;
	const made = Array.from({ length: bins }, (_, i) => ({ time: new Date(from + i * step).toISOString(), counts: {} }));
	for (const r of found) {
		const { counts } = made[Math.floor((Date.parse(r.time) - from) / step)];
		counts[r.reason.code] = (counts[r.reason.code] ?? 0) + 1;
	}
	return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), binSeconds: step / 1000, reasons: tally(found.map((r) => r.reason.code)).map((x) => x.value), bins: made, total: found.length, exact: true };
};

const groupOf = (rows, from, step) => {
	const [newest] = rows;
	const spark = Array.from({ length: SPARK }, () => 0);
	for (const r of rows) spark[Math.floor((Date.parse(r.time) - from) / step)] += 1;
	const total = rows.map((r) => r.totalTime).sort((a, b) => a - b);
	const { region, node, app, route, reason } = newest;
	const statuses = Object.fromEntries(tally(rows.map((r) => String(r.status ?? 0))).map((s) => [s.value, s.count]));
	const times = { first: rows.at(-1).time, last: newest.time, totalTimeP50: total[Math.floor(total.length / 2)], totalTimeMax: total.at(-1) };
	const failed = rows.filter((r) => !r.status || r.status >= 500).length;
	const excess = rows.reduce((n, r) => n + Math.max(0, r.totalTime - (r.normalTime ?? 0)), 0);
	return { region, node, app, route, reason, count: rows.length, ...times, statuses, spark, newest: newest.id, failed, excess };
};

const groups = (rows, q) => {
	const [from, to] = range(q);
	const found = new Map();
	for (const r of inRange(rows, q).filter(fits(q)).sort(newestFirst)) {
		const key = JSON.stringify([r.region, r.node, r.app, r.route, r.reason.code]);
		if (!found.has(key)) found.set(key, []);
		found.get(key).push(r);
	}
	const all = [...found.values()].map((g) => groupOf(g, from, (to - from) / SPARK));
	const by = { harm: (a, b) => b.failed - a.failed || b.excess - a.excess, count: (a, b) => b.count - a.count, slowest: (a, b) => b.totalTimeMax - a.totalTimeMax }[q.get('sort')];
	if (by) all.sort(by);
	return { groups: all.slice(0, Number(q.get('limit') ?? 100)), total: all.length, exact: true };
};

export const counts = { facets, histogram, groups };

// Made-up counts of all requests: series of answered requests and of calls, one value per step.
const MIX = [3, 9, 20, 12, 4, 1];

const points = (shape, from, to, step) => {
	const all = [];
	for (let at = Math.ceil(from / step) * step; at < to; at += step) {
		const b = MIX.map((n, i) => Math.max(0, n * shape.weight - ((at / step + i) % 3)));
		const count = b.reduce((sum, n) => sum + n, 0);
		all.push({ time: new Date(at).toISOString(), count, errors: shape.errors, statusClasses: { 2: count - shape.errors, 5: shape.errors }, p50: 1, p99: 9, slots: { lo: shape.lo, b } });
	}
	return all;
};

const keyOf = ({ node, app, route, peer = ':80', role = 'server' }) => ({ node, app, route, peer, role });

const summed = (shapes, q) => {
	const [from, to] = range(q);
	return { red: wantedOf(shapes, q).map((s) => ({ ...keyOf(s), statusClass: 2, count: (s.points ?? points({ weight: 1, errors: 0, lo: 9, ...s }, from, to, 60e3)).reduce((n, p) => n + p.count, 0) })) };
};

const wantedOf = (shapes, q) => shapes.filter((s) => ['node', 'app', 'route'].every((name) => !q.get(name) || q.getAll(name).includes(s[name])));

const byApp = (series) => {
	const apps = {};
	for (const s of series) (apps[`${s.app}\n${s.role}`] ??= []).push(s);
	return Object.values(apps).map((all) => {
		const nodes = [...new Set(all.map((s) => s.node))];
		return { ...all[0], node: nodes.length > 1 ? null : nodes[0], nodes: nodes.length, route: null, peer: null, points: all.flatMap((s) => s.points) };
	});
};

export const red = (shapes, q) => {
	if (!q.get('step')) return summed(shapes, q);
	const [from, to] = range(q);
	const step = Number(q.get('step')) * 1000;
	if (!Number.isInteger(step) || (to - from) / step > 500) throw new Refused(400, 'bad_parameter', 'step must be longer.');
	const series = wantedOf(shapes, q).map((s) => ({ ...keyOf(s), nodes: 1, count: 0, points: s.points ?? points({ weight: 1, errors: 0, lo: 9, ...s }, from, to, step) }));
	const all = q.get('by') === 'app' ? byApp(series) : series;
	return { step: step / 1000, total: all.length, series: all.slice(0, q.get('by') === 'app' ? 100 : 50) };
};

export const shapes = [
	{ node: 'web-1', app: 'nginx', route: 'GET /checkout', weight: 9, errors: 2, lo: 11 },
	{ node: 'web-2', app: 'nginx', route: 'GET /checkout', weight: 7, lo: 11 },
	{ node: 'web-1', app: 'nginx', route: 'GET /static/:file', weight: 20, lo: 5 },
	{ node: 'web-1', app: 'orders', route: 'POST /api/orders/:id', weight: 2, errors: 1, lo: 13 },
	{ node: 'web-1', app: 'nginx', route: 'GET /checkout', role: 'client', peer: '10.20.0.14:8080', weight: 8, lo: 10 },
	{ node: 'web-1', app: 'orders', route: 'GET /users/:id', role: 'client', peer: '10.20.0.15:8080', weight: 3, errors: 1, lo: 12 },
];
