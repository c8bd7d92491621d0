// SPDX-License-Identifier: Apache-2.0
// The list of events: the newest page under the filters, refreshed while it is shown, and the older pages.
import { get } from '../base/api.js';
import { liveQuery } from '../base/live_query.js';
import { address, isQueryable, pairs, readFilters } from './filters.js';
import { store } from '../base/store.js';

const NAMES = ['from', 'to', 'node', 'kind'];
export const SEVERITIES = ['warning', 'critical']; /* at least so severe */
const severityPair = { warning: [['severity', '!info']], critical: [['severity', 'critical']] };
const EVERY_MS = 10_000;
export const PAGE = 100;

export const eventHref = (e) => (typeof e.diagnosis === 'string' && e.diagnosis.startsWith('/events/') ? e.diagnosis : `/events/${encodeURIComponent(e.id)}`);

// One node and one kind at a time; values that the API does not take are left out.
export const readEventFilters = (search) => {
	const query = new URLSearchParams(search);
	const { from, to } = readFilters(search);
	const one = (name) => (query.get(name) && isQueryable(query.get(name)) ? query.get(name) : undefined);
	const severity = SEVERITIES.includes(query.get('severity')) ? query.get('severity') : undefined;
	return { from, to, node: one('node'), kind: one('kind'), severity, each: query.get('each') === '1' };
};

const own = (f) => [...(f.severity ? [['severity', f.severity]] : []), ...(f.each ? [['each', '1']] : [])];
export const eventsAddress = (f) => address('/events', [...pairs(f, NAMES).filter(([name, value]) => value && (name === 'from' || name === 'to' || isQueryable(value))), ...own(f)]);

const newest = liveQuery(EVERY_MS);
export const newestPage = newest.state;

// {rows, next, busy, error}: the older pages loaded so far.
const NOTHING = { rows: [], next: undefined, busy: false, error: null };
export const olderPages = store(NOTHING);

let run = 0;
let params = [];

export const loadEvents = (f) => {
	run += 1;
	params = [...pairs(f, NAMES), ...(severityPair[f.severity] ?? []), ['limit', PAGE]];
	olderPages.set(NOTHING);
	newest.begin(() => ({ path: '/api/v1/events', params, live: !f.to }));
};

export const endEvents = () => {
	run += 1;
	olderPages.set(NOTHING);
	newest.end();
};

// next is undefined until an older page was loaded; then the newest page has the cursor.
export const loadOlderEvents = async () => {
	const was = olderPages.get();
	const cursor = was.next === undefined ? newest.state.get().data?.next : was.next;
	if (was.busy || !cursor) return;
	const mine = run;
	olderPages.set({ ...was, busy: true });
	const next = await get('/api/v1/events', [...params, ['cursor', cursor]]).then(
		(page) => ({ rows: [...was.rows, ...page.events], next: page.next, busy: false, error: null }),
		(error) => ({ ...was, busy: false, error }),
	);
	if (mine === run) olderPages.set(next);
};

// Every event once, newest first.
export const mergeEvents = (data, more) => {
	const byId = new Map([...(data?.events ?? []), ...more].map((e) => [e.id, e]));
	return [...byId.values()].sort((a, b) => (a.time === b.time ? (a.id < b.id ? 1 : -1) : a.time < b.time ? 1 : -1));
};
