// SPDX-License-Identifier: Apache-2.0
// Made-up incidents in the shape of the API.
import { idOf } from './data.mjs';
import { Refused } from './explore.mjs';

const iso = (ms) => new Date(ms).toISOString();

let signals = 0;
const signal = (over) => ({ signal: (signals += 1).toString(16).padStart(16, '0'), app: 'checkout', route: '/buy', class: 'up', reason: 'up.slow', count: 60, excess: 1600, samples: [idOf(Date.now() - 50e3, 0xa1)], ...over });

// The database db-3 is slow because of its disk: shop calls cart, cart calls db-3.
export const incident = ({ n = 1, time = Date.now() - 300e3, detail = {}, ...over } = {}) => {
	const id = idOf(time, 0xc000 + n);
	const ends = { first: iso(time), last: iso(time + 60e3) };
	return {
		brief: {
			id, state: 'open', region: 'eu-1', onset: iso(time), last: iso(time + 60e3), opened: iso(time + 12e3), closed: null, mergedInto: null,
			nodes: ['cart-1', 'db-3', 'shop-1'], apps: ['checkout', 'postgres'], signals: 3, requests: 180, acknowledged: null, clear: true,
			headline: { app: 'checkout', route: '/buy', class: 'up', node: 'shop-1', count: 60, excess: 1600 },
			first: { node: 'db-3', address: null, external: false, share: 0.875, own: 84e6, edge: 0, ms: 1400, reason: 'io.block' },
			code: 'slow', params: { app: 'checkout', host: 'db-3', took: '1.4 s', of: '1.6 s', count: 60, percent: 88 },
			text: { en: 'as the API says it', zh: '由接口所述' }, diagnosis: `/incidents/${id}`,
			...over,
		},
		detail: {
			candidates: [
				{ ranking: 'time', place: 1, node: 'db-3', address: null, external: false, own: 84000, edge: 0, share: 0.875, parts: [{ from: 'db-3', to: null, value: 84e6, net: 84e6 }] },
				{ ranking: 'time', place: 2, node: 'cart-1', address: null, external: false, own: 2000, edge: 6000, share: 0.083, parts: [{ from: 'shop-1', to: 'cart-1', value: 6e6, net: 90e6 }, { from: 'cart-1', to: null, value: 2e6, net: 2e6 }] },
				{ ranking: 'time', place: 3, node: null, address: '10.9.9.9:443', external: true, own: 0, edge: 4000, share: 0.042, parts: [{ from: 'shop-1', to: '10.9.9.9:443', value: 4e6, net: 4e6 }] },
			],
			whole: 96e6,
			graph: [{ from: 'shop-1', to: 'cart-1', value: 6e6, net: 92e6 }, { from: 'cart-1', to: 'db-3', value: 0, net: 84e6 }, { from: 'db-3', to: null, value: 84e6, net: 84e6 }, { from: 'cart-1', to: null, value: 2e6, net: 2e6 }, { from: 'shop-1', to: '10.9.9.9:443', value: 4e6, net: 4e6 }],
			order: { first: 'db-3', next: 'cart-1', apart: 12, within: 1.1, known: true, text: { en: 'db-3 went wrong first, 12 ms before cart-1.', zh: 'db-3 最先出错。' } },
			evidence: [signal({ node: 'shop-1', ...ends }), signal({ node: 'cart-1', ...ends, excess: 1550 }), signal({ node: 'db-3', app: 'postgres', route: '/q', class: 'io', reason: 'io.block', ...ends, began: iso(time - 5e3), excess: 1400 })],
			events: [{ node: 'db-3', kind: 'io.slow', reason: 'io.slow', count: 4, first: iso(time), last: iso(time + 50e3), worst: `/events/${idOf(time, 0xe001)}` }],
			steps: [
				{ time: iso(time + 12e3), made: iso(time + 12e3), kind: 'opened', who: null, detail: { node: 'db-3', app: 'postgres', route: '/q', class: 'io', count: 12 } },
				{ time: iso(time + 13e3), made: iso(time + 13e3), kind: 'joined', who: null, detail: { node: 'shop-1', app: 'checkout', route: '/buy', class: 'up', count: 14 } },
				{ time: iso(time + 14e3), made: iso(time + 14e3), kind: 'ranked', who: null, detail: { first: 'db-3', share: 0.875 } },
			],
			...detail,
		},
	};
};

export const listCases = (all, q) => {
	const wanted = (c) => (q.get('state') ? c.brief.state === q.get('state') : c.brief.state !== 'merged') && (!q.get('node') || c.brief.nodes.includes(q.get('node')));
	return { incidents: all.filter(wanted).map((c) => c.brief).sort((a, b) => (a.onset < b.onset ? 1 : -1)), next: null };
};

// /api/v1/where: the answer has the ranking of the first incident; a span of more than an hour is refused.
export const whereOf = (all, q) => {
	if (Date.parse(q.get('to') ?? iso(Date.now())) - Date.parse(q.get('from') ?? iso(Date.now() - 3600e3)) > 3900e3) throw new Refused(400, 'bad_parameter', 'The database refused a value: at most an hour is compared with what was before; ask for the part in which it began.');
	const { candidates = [], whole = 0, graph = [] } = q.get('node') ? {} : (all[0]?.detail ?? {});
	return { usual: { from: all.length ? iso(Date.now() - 7200e3) : null, to: all.length ? iso(Date.now() - 5400e3) : null }, nodes: 10, clear: candidates.length > 0, whole, candidates, graph };
};

export const oneCase = (all, id) => {
	const one = all.find((c) => c.brief.id === id);
	if (!one) throw new Refused(404, 'not_found', `There is no incident ${id}.`);
	return { ...one.brief, ...one.detail };
};

export const decideCase = (all, path, body) => {
	const [, id, verb] = path.match(/^\/api\/v1\/incidents\/([^/]+)\/(\w+)$/) ?? [];
	const one = all.find((c) => c.brief.id === id);
	if (verb === 'close' && one.brief.state !== 'open') return [409, { error: { code: 'conflict', message: 'This incident is closed already.' } }];
	const now = iso(Date.now());
	if (verb === 'merge') {
		const into = all.find((c) => c.brief.id === body.into);
		if (!into || into === one || into.brief.state === 'merged') return [400, { error: { code: 'bad_parameter', message: 'into must be another incident, which is not merged itself.' } }];
		Object.assign(one.brief, { state: 'merged', mergedInto: body.into });
	}
	if (verb === 'split') {
		const made = incident({ n: 99, time: Date.parse(one.brief.onset) + 1, detail: { evidence: one.detail.evidence.filter((e) => body.signals.includes(e.signal)) } });
		one.detail.evidence = one.detail.evidence.filter((e) => !body.signals.includes(e.signal));
		all.push(made);
		return [200, { id, done: verb, new: made.brief.id }];
	}
	if (verb === 'acknowledge') one.brief.acknowledged = { time: now, by: body.by };
	if (verb === 'close') one.brief.state = 'closed';
	one.detail.steps.push({ time: now, made: now, kind: { acknowledge: 'acknowledged', comment: 'commented', close: 'closed', merge: 'merged' }[verb], who: body.by, detail: body.text ? { text: body.text } : {} });
	return [200, { id, done: verb, new: null }];
};
