// SPDX-License-Identifier: Apache-2.0
// What distinguishes the requests of a range from those before it: the values whose share differs most.
import { HOUR_MS } from './filters.js';

const NAMES = ['reason', 'app', 'route', 'node', 'upstream', 'status', 'remote', 'region', 'tag'];
const LEAST = 0.05; /* of all requests; a smaller difference says nothing */
const SHOWN = 12;

// The filters with the time before the range: as long as it is, at least an hour.
export const beforeRange = (f) => {
	const [from, to] = [Date.parse(f.from), Date.parse(f.to)];
	return { ...f, from: new Date(from - Math.max(to - from, HOUR_MS)).toISOString(), to: f.from };
};

const sharesOf = (data, name) => new Map((data.facets?.[name] ?? []).map(({ value, count }) => [value, data.total ? count / data.total : 0]));

// [{name, value, here, before}] as shares of all requests, the largest difference first; of equal ones those that are more here.
// Names that are filtered are left out: their counts disregard their own filter.
export const differences = (here, before, filters) => {
	const found = NAMES.filter((name) => !filters[name]?.length).flatMap((name) => {
		const [now, was] = [sharesOf(here, name), sharesOf(before, name)];
		return [...new Set([...now.keys(), ...was.keys()])].map((value) => ({ name, value, here: now.get(value) ?? 0, before: was.get(value) ?? 0 }));
	});
	const apart = (d) => Math.round(1e6 * Math.abs(d.here - d.before)) / 1e6; /* 1 - 0.7 is 0.30000000000000004 */
	return found.filter((d) => apart(d) >= LEAST).sort((a, b) => apart(b) - apart(a) || b.here - a.here).slice(0, SHOWN);
};
