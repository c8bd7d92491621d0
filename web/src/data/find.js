// SPDX-License-Identifier: Apache-2.0
// Where a typed text may lead: pages, nodes, apps, routes, incidents, ids and addresses, and at last the search in the requests.
import { fits, isNot, isQueryable, writeFilters } from './filters.js';
import { nodeAddress } from './node.js';
import { redAddress } from './red.js';

const EACH = 6; /* of a kind */
const ID = /^[0-9a-f]{1,16}-[0-9a-f]{16}$/;
const ADDRESS = /^(?=.*[.:])[0-9a-fA-F:.[\]]{3,50}$/;

export const PAGES = ['now', 'requests', 'red', 'fleet', 'nodes', 'events', 'profile', 'incidents', 'topology', 'where', 'storage'];

const hasText = (text) => (name) => name.toLowerCase().includes(text);

// Those that begin with the text first.
const found = (names, text) => {
	const all = [...new Set(names)].filter(Boolean).filter(hasText(text));
	return all.sort((a, b) => b.toLowerCase().startsWith(text) - a.toLowerCase().startsWith(text) || (a < b ? -1 : 1)).slice(0, EACH);
};

const ofIds = (text) => (ID.test(text) ? ['request', 'event', 'incident'].map((kind) => ({ kind, name: text, href: `/${kind}s/${text}` })) : []);

const ofAddresses = (text) =>
	ADDRESS.test(text) ? [{ kind: 'remote', name: text, href: writeFilters({ remote: [text] }) }, { kind: 'upstream', name: text, href: writeFilters({ upstream: [text] }) }] : [];

// [{kind, name, href}]. known: {pages: [[title, href]], nodes, apps, routes: names, incidents: [{id, title}]}.
export const placesFor = (typed, known) => {
	const text = typed.trim().toLowerCase();
	const pages = known.pages.filter(([title]) => hasText(text)(title)).map(([name, href]) => ({ kind: 'page', name, href }));
	if (!text) return pages;
	const incidents = known.incidents.filter(({ title }) => hasText(text)(title)).slice(0, EACH);
	const whole = typed.trim();
	return [
		...ofIds(text),
		...found(known.nodes, text).map((name) => ({ kind: 'node', name, href: nodeAddress(name) })),
		...found(known.apps.filter(isQueryable), text).map((name) => ({ kind: 'app', name, href: redAddress({ app: [name] }) })),
		...found(known.routes.filter(isQueryable), text).map((name) => ({ kind: 'route', name, href: redAddress({ route: [name] }) })),
		...incidents.map((of) => ({ kind: 'incident', name: of.title, href: `/incidents/${encodeURIComponent(of.id)}` })),
		...pages,
		...ofAddresses(whole),
		...(fits(whole) && !isNot(whole) ? [{ kind: 'text', name: whole, href: writeFilters({ q: whole }) }] : []),
	];
};
