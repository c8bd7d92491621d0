// SPDX-License-Identifier: Apache-2.0
// The page of a node: its address and its queries.
import { TOP } from './columns.js';
import { address, readFilters } from './filters.js';
import { metricsOf } from './panels.js';
import { endsOf } from './time_bins.js';

const AROUND_MS = 300e3;
const LATE_MS = 10e3; /* samples of the last ten seconds may still be on their way */

const iso = (ms) => new Date(ms).toISOString();
const TIMES = ['from', 'to', 'at', 'until'];

// {from, to, at, until, only}: the range, the marked moment, and for each group the one entity to show.
export const readNode = (search, groups) => {
	const query = new URLSearchParams(search);
	const f = readFilters(search);
	const moment = (name) => (Number.isNaN(Date.parse(query.get(name) ?? '')) ? undefined : query.get(name));
	const only = {};
	for (const { name } of groups) if (query.get(name)) only[name] = query.get(name);
	return { from: f.from, to: f.to, at: moment('at'), until: moment('until'), only };
};

// Lone surrogates, which an address cannot hold.
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export const nodeAddress = (name, view = {}) => {
	const all = [...TIMES.map((k) => [k, view[k]]), ...Object.entries(view.only ?? {})].filter(([, value]) => value);
	return address(`/nodes/${encodeURIComponent(name.replace(HALVES, '\ufffd'))}`, all);
};

// The address of the node five minutes before and after a moment, with the moment marked.
export const nodeAround = (name, begin, end) => nodeAddress(name, { from: iso(begin - AROUND_MS), to: iso(end + AROUND_MS), at: iso(begin), until: end > begin ? iso(end) : undefined });

export const rangeOf = (view, now = Date.now()) => {
	const [from, to] = endsOf(view, now);
	return { from, to: Math.max(to, from + 1000) };
};

// True if the range has no end, or an end in the future.
export const isOpenEnded = (view, now = Date.now()) => !view.to || Date.parse(view.to) + LATE_MS > now;

export const columnsQuery = (name, range, panels, entity, top = TOP, kind = undefined) => {
	/* load1 comes at every tick: without it, a silent node and an idle one look the same */
	const metrics = [...new Set([...panels.flatMap(metricsOf), ...(panels.some((p) => p.fromWire) ? ['load1'] : [])])];
	return [['node', name], ['from', iso(range.from)], ['to', iso(range.to)], ['metric', metrics.join(',')], ['top', top], ...(entity ? [['entity', entity]] : []), ...(kind ? [['kind', kind]] : [])];
};
