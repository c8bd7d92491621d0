// SPDX-License-Identifier: Apache-2.0
// The coverage of a range: what the probes could not see. Queried while a page shows it.
import { useEffect } from 'preact/hooks';
import { liveQuery } from '../base/live_query.js';
import { isLive, pairs } from './filters.js';
import { useStore } from '../base/store.js';

const GOING_ON_MS = 20_000; /* a probe reports its losses every second or two */

/* these losses make a row incomplete or late; all others, unknown names included, mean lost data */
const SLIGHT = new Set(['upstream_unknown', 'late_bytes', 'calls_full', 'client_full', 'state_refused', 'state_unsaved', 'file_detail_full', 'file_name_unknown', 'file_samples_late', 'file_32bit_calls', 'evidence_pushed_out', 'nginx_lost', 'nginx_unread', 'unjudged', 'calls_by_name', 'calls_unclear', 'foreign_files_refused', 'foreign_elf_files_refused', 'foreign_perf_maps_refused', 'foreign_mappings_refused', 'foreign_descriptors_refused']);
const LISTED = 'pipelined'; /* listed by app, among the connections that were not read */
const REQUESTS = new Set(['ring_full', 'head_missed', 'requests_lost']);

const cover = liveQuery();

// The last answer for the range, regions and nodes of the filters; null until there is one.
export const useCoverage = (filters) => {
	const params = pairs(filters, ['from', 'to', 'region', 'node']);
	const key = JSON.stringify(params);
	useEffect(() => cover.turn(() => ({ path: '/api/v1/coverage', params, live: isLive(filters) })), [key]);
	useEffect(() => cover.end, []);
	return useStore(cover.state).data?.coverage ?? null;
};

// The same without a query of its own: the coverage footer makes it.
export const useCovered = () => useStore(cover.state).data?.coverage ?? null;

export const isSevere = (loss) => !SLIGHT.has(loss.name);

// Losses that cost requests first; in each class the one that grew last comes first.
export const lossesOf = (coverage) => {
	const all = (coverage?.losses ?? []).filter((loss) => loss.name !== LISTED);
	return all.sort((a, b) => isSevere(b) - isSevere(a) || (a.last < b.last ? 1 : a.last > b.last ? -1 : 0));
};

export const isGoingOn = (loss, now = Date.now()) => now - Date.parse(loss.last) < GOING_ON_MS;

export const lostRequests = (coverage) => (coverage?.losses ?? []).filter((loss) => REQUESTS.has(loss.name)).reduce((n, loss) => n + loss.count, 0);

export const notRead = (coverage, app = null) => (coverage?.unread ?? []).filter((u) => !app || app.includes(u.app));
export const connections = (unread) => unread.filter((u) => u.kind !== LISTED).reduce((n, u) => n + u.count, 0);
