// SPDX-License-Identifier: Apache-2.0
// The call graph: applications, and the calls between them. Tests call it without a page.
import { address, pairsOfOne } from './filters.js';

const FILTERS = ['from', 'to', 'region', 'node', 'app'];
const ONE = ['region', 'node', 'app']; /* the API takes one value of each */
export const SHOWN = 40; /* applications in the drawing; the others are folded into one */

const params = (f) => pairsOfOne(f, FILTERS, ONE);
export const topologyAddress = (f, byApp = false) => address('/topology', [...params(f), ...(byApp ? [['by', 'app']] : [])]);
export const topologyQuestion = (f) => () => ({ path: '/api/v1/topology', params: params(f), live: !f.to });

const ofApp = (node, app, how, byApp) => ({ key: JSON.stringify(byApp ? [app] : [node, app]), name: app, hosts: [node], how });
const callerOf = ({ from }, byApp) => ofApp(from.node, from.app, 'listener', byApp && from.app);
const calleeOf = ({ to }, byApp) => (to.node && to.app ? ofApp(to.node, to.app, to.how, byApp) : { key: JSON.stringify([to.node, null, to.addr]), name: to.addr, hosts: to.node ? [to.node] : [], how: to.how });

const busiest = (edges, byApp) => {
	const nodes = new Map();
	const add = (n, count) => {
		const known = nodes.get(n.key);
		nodes.set(n.key, { ...n, count: (known?.count ?? 0) + count, hosts: [...new Set([...(known?.hosts ?? []), ...n.hosts])] });
	};
	for (const e of edges) for (const n of [callerOf(e, byApp), calleeOf(e, byApp)]) add(n, e.calls.count);
	return [...nodes.values()].sort((a, b) => b.count - a.count);
};

// {nodes, links: [{key, from, to, edges}], folded, total}: busiest first; the nodes after the `most` busiest are one.
export const graphOf = (edges, { byApp = false, most = SHOWN } = {}) => {
	const all = busiest(edges, byApp);
	const kept = all.slice(0, all.length > most ? most - 1 : most);
	const folded = all.length - kept.length;
	const nodes = folded ? [...kept, { key: 'others', name: null, hosts: [], how: 'others', count: folded }] : kept;
	const known = new Set(nodes.map((n) => n.key));
	const links = new Map();
	for (const e of edges) {
		const [from, to] = [callerOf(e, byApp).key, calleeOf(e, byApp).key].map((key) => (known.has(key) ? key : 'others'));
		const key = `${from}\n${to}`;
		links.set(key, { key, from, to, edges: [...(links.get(key)?.edges ?? []), e] });
	}
	return { nodes, links: [...links.values()], folded, total: all.length };
};

// The sum of several edges; for figures that cannot be added up, the worst.
export const figuresOf = (link) => {
	const sum = (of) => link.edges.reduce((n, e) => n + (of(e.calls) ?? 0), 0);
	const [count, errors] = [sum((c) => c.count), sum((c) => c.errors)];
	return { count, errors, rate: sum((c) => c.rate), errorRatio: count ? errors / count : 0, p99: Math.max(...link.edges.map((e) => e.calls.p99 ?? 0)) };
};
