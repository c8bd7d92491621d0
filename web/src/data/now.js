// SPDX-License-Identifier: Apache-2.0
// The health of each application: its last minutes beside the rest of the hour before.
import { percentile, rowsOf } from './red.js';

export const NOW_MS = 5 * 60e3;
export const USUAL_MS = 55 * 60e3;
const STEP_MS = 60e3;
const LEAST = 20; /* requests, in both parts, before a comparison means anything */
const SLOWER = 2; /* times the usual 99th percentile */
const SLOWER_MS = 20;
const MORE_ERRORS = 0.01; /* of all requests */

// The full minutes that end now: {from, to, begin, step, n} as for the page of routes.
export const hourUntil = (now) => {
	const to = Math.floor(now / STEP_MS) * STEP_MS;
	const from = to - NOW_MS - USUAL_MS;
	return { from, to, begin: from, step: STEP_MS, n: (to - from) / STEP_MS };
};

export const healthQuestion = () => {
	const hour = hourUntil(Date.now());
	const { from, to, step } = hour;
	return { path: '/api/v1/red', params: [['from', new Date(from).toISOString()], ['to', new Date(to).toISOString()], ['step', step / 1000], ['by', 'app']], live: true, hour };
};

const sumOf = (columns) => {
	const sum = { count: 0, errors: 0, slots: {} };
	for (const column of columns) {
		sum.count += column.count;
		sum.errors += column.errors;
		for (const [i, n] of Object.entries(column.slots)) sum.slots[i] = (sum.slots[i] ?? 0) + n;
	}
	return { ...sum, errorPart: sum.count ? sum.errors / sum.count : null, p50: percentile(sum.slots, 0.5), p99: percentile(sum.slots, 0.99) };
};

// Whether there is enough to compare.
const isKnown = (now, usual) => now.count >= LEAST && usual.count >= LEAST;

// 'errors', 'slow' or null: how an application is worse than usual. Without a usual to compare with only errors count.
export const worseBy = (now, usual) => {
	if (now.count < LEAST) return null;
	if (now.errorPart - (usual.errorPart ?? 0) >= MORE_ERRORS) return 'errors';
	if (isKnown(now, usual) && now.p99 >= SLOWER * usual.p99 && now.p99 - usual.p99 >= SLOWER_MS) return 'slow';
	return null;
};

const RANK = { errors: 0, slow: 1 };
const rankOf = (app) => RANK[app.worse] ?? 2;

// One entry per application that answered requests, from the series by application: {app, node, nodes, now, usual, worse, known, spark}.
// node is null if there are several. The worse ones are first, then the busiest.
export const appsOf = (series, hour) => {
	const summed = new Map(series.filter((one) => one.role === 'server').map((one) => [one.app, one]));
	const cut = hour.n - NOW_MS / STEP_MS;
	const all = rowsOf(series, 'server', hour).rows.map(({ app, columns }) => {
		const now = sumOf(columns.slice(cut));
		const usual = sumOf(columns.slice(0, cut));
		const { node, nodes } = summed.get(app);
		return { app, node, nodes, now, usual, worse: worseBy(now, usual), known: isKnown(now, usual), spark: columns.map((column) => column.count) };
	});
	return all.sort((a, b) => rankOf(a) - rankOf(b) || b.now.errors - a.now.errors || b.now.count - a.now.count || b.usual.count - a.usual.count);
};
