// SPDX-License-Identifier: Apache-2.0
// Incidents: the list, refreshed while it is shown, and the title of each.
import { liveQuery } from '../base/live_query.js';
import { address, isQueryable, pairs, readFilters } from './filters.js';
import { timeParts, visible } from '../text/format.js';
import { lang, t } from '../text/i18n.js';
import { messages } from '../text/messages.js';

const NAMES = ['from', 'to', 'node', 'app', 'state'];
const EVERY_MS = 5000;
const CUT = 60;
export const PAGE = 200;
export const STATES = ['open', 'closed', 'merged'];

export const incidentHref = (i) => `/incidents/${encodeURIComponent(i.id)}`;

export const readIncidentFilters = (search) => {
	const query = new URLSearchParams(search);
	const { from, to } = readFilters(search);
	const one = (name) => (query.get(name) && isQueryable(query.get(name)) ? query.get(name) : undefined);
	return { from, to, node: one('node'), app: one('app'), state: STATES.includes(query.get('state')) ? query.get('state') : undefined };
};

export const incidentsAddress = (f) => address('/incidents', pairs(f, NAMES).filter(([, value]) => value));

const list = liveQuery(EVERY_MS);
export const incidents = list.state;
export const loadIncidents = (f) => list.begin(() => ({ path: '/api/v1/incidents', params: [...pairs(f, NAMES), ['limit', PAGE]], live: !f.to }));
export const endIncidents = () => list.end();

const RANK = { open: 0, closed: 1, merged: 2 };
export const openFirst = (all) => [...all].sort((a, b) => (RANK[a.state] ?? 1) - (RANK[b.state] ?? 1) || (a.onset < b.onset ? 1 : a.onset > b.onset ? -1 : 0));

const DAY_MS = 86400e3;
const since = (time) => {
	const p = timeParts(time);
	if (!p) return '–';
	return `${Date.now() - Date.parse(time) > DAY_MS ? `${p.date} ` : ''}${p.time.slice(0, 5)} ${p.zone}`;
};
const several = (name, n) => (n === 1 ? t(`inc.${name}`) : t(`inc.${name}s`, { n }));
const short = (text) => visible(String(text ?? '?')).slice(0, CUT);

// The title in the language and zone of the page; a code that this console does not know keeps the API's text. An incident whose
// signals were all merged into another one has no headline, and so nothing to fill a sentence with.
export const titleOf = (i) => {
	if (!(`inc.${i.code}` in messages)) return visible(i.text?.[lang.get()] ?? i.text?.en ?? '–');
	const p = i.params ?? {};
	const reason = i.first?.reason || i.first?.event ? t('inc.reason', { reason: short(i.first.reason || i.first.event) }) : '';
	const what = i.headline === null ? t('inc.empty') : t(`inc.${i.code}`, { app: short(p.app), host: short(p.host), took: p.took, of: p.of, count: p.count, percent: p.percent, region: short(p.region), hosts: p.hosts, shared: short(p.shared), reason });
	return t('inc.tail', { what, since: since(i.onset), nodes: several('node', i.nodes?.length ?? 0), apps: several('app', i.apps?.length ?? 0) });
};
