// SPDX-License-Identifier: Apache-2.0
// The rows of the table: newest first by (time, id), each once, bounded. While the user reads (hold), new rows wait, so
// that the table does not move.
import { get } from '../base/api.js';
import { isFiltered, isLive, isRequestList, pairs } from './filters.js';
import { onLive } from '../base/live.js';
import { momentOf } from '../base/moment.js';
import { store } from '../base/store.js';

export const PAGE = 100;
export const KEEP = 2000;
const EVERY_MS = 10_000;
const GATHER_MS = 60; /* live rows of this time are drawn together */
const RETRY_MS = 2000;
const REFETCH_MS = 400; /* with filters, only the API knows which rows match */

const newer = (a, b) => (a.time === b.time ? (a.id < b.id ? 1 : a.id > b.id ? -1 : 0) : a.time < b.time ? 1 : -1);

export const merge = (rows, more) => {
	const byId = new Map(rows.map((r) => [r.id, r]));
	for (const r of more) byId.set(r.id, r);
	return [...byId.values()].sort(newer);
};

const EMPTY = { rows: [], fresh: [], next: null, loaded: false, busy: false, capped: false, error: null, jump: false };

export const table = store(EMPTY);
const patch = (change) => table.set({ ...table.get(), ...change });

let filters = {};
let held = () => false;
let run = 0; /* answers to an older query are dropped */
let gather = [];
let gatherTimer = 0;
let refetchTimer = 0;
let retryTimer = 0;
let seenAt = 0;

export const setHold = (fn) => {
	held = fn;
};

// Drops the oldest rows when there are too many; "older" then queries by time, as the cursor is past them.
const bounded = (rows, state) => (rows.length > KEEP ? { rows: rows.slice(0, KEEP), capped: true, next: null } : { rows, capped: state.capped, next: state.next });

const addNew = (more) => {
	const s = table.get();
	const known = new Set(s.rows.map((r) => r.id));
	const unknown = more.filter((r) => !known.has(r.id));
	if (!unknown.length) return;
	if (held()) patch({ fresh: merge(s.fresh, unknown).slice(0, KEEP) });
	else patch({ ...bounded(merge(s.rows, unknown), s) });
};

export const showFresh = () => {
	const s = table.get();
	if (s.jump) load(filters);
	else if (s.fresh.length) patch({ ...bounded(merge(s.rows, s.fresh), s), fresh: [] });
};

// A query that the API refused is not repeated; any other failure is retried until it succeeds.
const fail = (error) => {
	patch({ error, busy: false });
	clearTimeout(retryTimer);
	if (error.kind !== 'api') retryTimer = setTimeout(refetch, RETRY_MS);
};

// Loads the newest page under the filters. If it does not overlap the known rows, it replaces them: there would be a gap.
const refetch = async () => {
	const mine = run;
	seenAt = Date.now();
	clearTimeout(retryTimer);
	try {
		const page = await get('/api/v1/requests', [...pairs(filters), ['limit', PAGE]]);
		if (mine !== run) return;
		const s = table.get();
		const known = new Set([...s.rows, ...s.fresh].map((r) => r.id));
		const touches = !page.next || !known.size || page.requests.some((r) => known.has(r.id));
		patch({ error: null, busy: false });
		if (touches && s.loaded) addNew(page.requests);
		else if (s.loaded && held()) patch({ jump: true, fresh: page.requests });
		else patch({ ...EMPTY, rows: page.requests, next: page.next, loaded: true });
		if (gather.length) flush();
	} catch (e) {
		if (mine === run) fail(e);
	}
};

export const load = (f) => {
	filters = f;
	run += 1;
	gather = [];
	table.set({ ...EMPTY, busy: true });
	return refetch();
};

// The table is no longer shown: its queries stop.
export const unload = () => {
	run += 1;
	gather = [];
	clearTimeout(retryTimer);
	clearTimeout(refetchTimer);
	refetchTimer = 0;
	table.set(EMPTY);
};

export const loadOlder = async () => {
	const s = table.get();
	const last = s.rows[s.rows.length - 1];
	if (s.busy || !s.next || !last) return;
	const mine = run;
	patch({ busy: true });
	try {
		const page = await get('/api/v1/requests', [...pairs(filters), ['limit', PAGE], ['cursor', s.next]]);
		if (mine !== run) return;
		const now = table.get();
		patch({ busy: false, error: null, ...bounded(merge(now.rows, page.requests), { capped: now.capped, next: page.next }) });
	} catch (e) {
		if (mine === run) fail(e);
	}
};

const soonRefetch = () => {
	if (refetchTimer) return;
	refetchTimer = setTimeout(() => {
		refetchTimer = 0;
		refetch();
	}, Math.max(20, seenAt + REFETCH_MS - Date.now()));
};

// A row may arrive while the table is loading: it waits for the answer, which may not contain it.
const flush = () => {
	gatherTimer = 0;
	if (!table.get().loaded) return;
	const more = gather;
	gather = [];
	addNew(more);
};

const onRow = (row) => {
	if (!isLive(filters)) return;
	if (filters.from && Date.parse(row.time) < momentOf(filters.from)) return;
	if (isFiltered(filters)) {
		soonRefetch();
		return;
	}
	if (gather.length < KEEP) gather.push(row);
	gatherTimer ||= setTimeout(flush, GATHER_MS);
};

// Finds rows that were stored late.
setInterval(() => {
	if (!document.hidden && table.get().loaded && isLive(filters) && isRequestList()) soonRefetch();
}, EVERY_MS);

onLive((type, data) => {
	const { loaded, busy, error } = table.get();
	if (!loaded && !busy && !error) return;
	if (type === 'request') onRow(data);
	else if (type === 'skipped') soonRefetch();
	else if (type === 'open' && (loaded || error)) refetch();
});
