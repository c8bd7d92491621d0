// SPDX-License-Identifier: Apache-2.0
// The list of events: the newest page of its filters, asked anew while someone looks, and the pages below it.
import { get } from '../base/api.js';
import { liveQuery } from '../base/live_query.js';
import { address, canWant, pairs, readFilters } from './filters.js';
import { store } from '../base/store.js';

const NAMES = ['from', 'to', 'node', 'kind'];
const EVERY_MS = 10_000;
export const PAGE = 100;

export const eventHref = (e) => (typeof e.diagnosis === 'string' && e.diagnosis.startsWith('/events/') ? e.diagnosis : `/events/${encodeURIComponent(e.id)}`);

// One node and one kind at a time; what cannot be asked for is left out.
export const readEventFilters = (search) => {
	const query = new URLSearchParams(search);
	const { from, to } = readFilters(search);
	const one = (name) => (query.get(name) && canWant(query.get(name)) ? query.get(name) : undefined);
	return { from, to, node: one('node'), kind: one('kind') };
};

export const eventsAddress = (f) => address('/events', pairs(f, NAMES).filter(([name, value]) => value && (name === 'from' || name === 'to' || canWant(value))));

const newest = liveQuery(EVERY_MS);
export const listed = newest.state;

// {rows, next, busy, error}: what was loaded below the newest page.
const NOTHING = { rows: [], next: undefined, busy: false, error: null };
export const older = store(NOTHING);

let run = 0;
let params = [];

export const loadEvents = (f) => {
	run += 1;
	params = [...pairs(f, NAMES), ['limit', PAGE]];
	older.set(NOTHING);
	newest.begin(() => ({ path: '/api/v1/events', params, live: !f.to }));
};

export const endEvents = () => {
	run += 1;
	older.set(NOTHING);
	newest.end();
};

// undefined: nothing older was asked yet, so the newest page says where it goes on.
export const loadOlderEvents = async () => {
	const was = older.get();
	const cursor = was.next === undefined ? newest.state.get().data?.next : was.next;
	if (was.busy || !cursor) return;
	const mine = run;
	older.set({ ...was, busy: true });
	const next = await get('/api/v1/events', [...params, ['cursor', cursor]]).then(
		(page) => ({ rows: [...was.rows, ...page.events], next: page.next, busy: false, error: null }),
		(error) => ({ ...was, busy: false, error }),
	);
	if (mine === run) older.set(next);
};

// Each once, the newest first.
export const mergeEvents = (data, more) => {
	const byId = new Map([...(data?.events ?? []), ...more].map((e) => [e.id, e]));
	return [...byId.values()].sort((a, b) => (a.time === b.time ? (a.id < b.id ? 1 : -1) : a.time < b.time ? 1 : -1));
};
