// SPDX-License-Identifier: Apache-2.0
// What distinguishes the requests of a range from those before it: the values whose share differs most.
import { HOUR_MS } from './filters.js';

const NAMES = ['reason', 'app', 'route', 'node', 'upstream', 'status', 'remote', 'region', 'tag'];
const LEAST = 0.05; /* of all requests; a smaller difference says nothing */
const SHOWN = 12;
const LISTED = 20; /* values of a name in an answer */

// The filters with the time before the range: as long as it is, at least an hour.
export const beforeRange = (f) => {
	const [from, to] = [Date.parse(f.from), Date.parse(f.to)];
	return { ...f, from: new Date(from - Math.max(to - from, HOUR_MS)).toISOString(), to: f.from };
};

// The share of a value. One that a full list does not name has at most the share of the last one named.
const sharesOf = (data, name) => {
	const list = (data.facets?.[name] ?? []).map(({ value, count }) => [value, data.total ? count / data.total : 0]);
	const shares = new Map(list);
	const most = list.length >= LISTED ? list.at(-1)[1] : 0;
	return { named: [...shares.keys()], of: (value) => shares.get(value) ?? most, isMost: (value) => most > 0 && !shares.has(value) };
};

// [{name, value, here, before, hereMost, beforeMost}] as shares of all requests, the largest difference first; of equal ones
// those that are more here. A share that is only known to be that at most has its ...Most. Names that are filtered are left
// out: their counts disregard their own filter.
export const differences = (here, before, filters) => {
	const found = NAMES.filter((name) => !filters[name]?.length).flatMap((name) => {
		const [now, was] = [sharesOf(here, name), sharesOf(before, name)];
		const values = [...new Set([...now.named, ...was.named])];
		return values.map((value) => ({ name, value, here: now.of(value), before: was.of(value), hereMost: now.isMost(value), beforeMost: was.isMost(value) }));
	});
	const apart = (d) => Math.round(1e6 * Math.abs(d.here - d.before)) / 1e6; /* 1 - 0.7 is 0.30000000000000004 */
	return found.filter((d) => apart(d) >= LEAST).sort((a, b) => apart(b) - apart(a) || b.here - a.here).slice(0, SHOWN);
};
