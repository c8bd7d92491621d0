// SPDX-License-Identifier: Apache-2.0
// The layout of the call graph: applications in layers, callers on the left. Tests call it without a page.
import { address, pairsOfOne } from './filters.js';

const FILTERS = ['from', 'to', 'region', 'node', 'app'];
const ONE = ['region', 'node', 'app']; /* the API takes one value of each */
export const SHOWN = 40; /* applications in the drawing; the others are folded into one */
const WIDTH = 260;
const HEIGHT = 66;

const params = (f) => pairsOfOne(f, FILTERS, ONE);
export const topologyAddress = (f) => address('/topology', params(f));
export const topologyQuestion = (f) => () => ({ path: '/api/v1/topology', params: params(f), live: !f.to });

const callerOf = (e) => ({ key: JSON.stringify([e.from.node, e.from.app]), name: e.from.app, node: e.from.node, how: 'listener' });
const calleeOf = ({ to }) => (to.node && to.app ? { key: JSON.stringify([to.node, to.app]), name: to.app, node: to.node, how: to.how } : { key: JSON.stringify([to.node, null, to.addr]), name: to.addr, node: to.node, how: to.how });

const busiest = (edges) => {
	const nodes = new Map();
	const add = (n, count) => nodes.set(n.key, { ...n, count: (nodes.get(n.key)?.count ?? 0) + count });
	for (const e of edges) for (const n of [callerOf(e), calleeOf(e)]) add(n, e.calls.count);
	return [...nodes.values()].sort((a, b) => b.count - a.count);
};

// An edge back to an application of the current walk is drawn, but moves no layer.
const layersOf = (nodes, links) => {
	const layer = new Map(nodes.map((n) => [n.key, 0]));
	const out = new Map(nodes.map((n) => [n.key, links.filter((l) => l.from === n.key && l.to !== n.key)]));
	const called = new Set(links.filter((l) => l.from !== l.to).map((l) => l.to));
	const path = new Set();
	const walk = (key, at) => {
		if (path.has(key) || (at && layer.get(key) >= at)) return;
		layer.set(key, at);
		path.add(key);
		for (const l of out.get(key)) walk(l.to, at + 1);
		path.delete(key);
	};
	const starts = nodes.filter((n) => !called.has(n.key));
	for (const n of starts.length ? starts : nodes.slice(0, 1)) walk(n.key, 0);
	return layer;
};

// {nodes: [{..., x, y}], links: [{from, to, edges}], folded, width, height}
export const graphOf = (edges, most = SHOWN) => {
	const all = busiest(edges);
	const kept = all.slice(0, all.length > most ? most - 1 : most);
	const folded = all.length - kept.length;
	const nodes = folded ? [...kept, { key: 'others', name: null, node: null, how: 'others', count: folded }] : kept;
	const known = new Set(nodes.map((n) => n.key));
	const links = new Map();
	for (const e of edges) {
		const [from, to] = [callerOf(e).key, calleeOf(e).key].map((key) => (known.has(key) ? key : 'others'));
		const key = `${from}\n${to}`;
		links.set(key, { key, from, to, edges: [...(links.get(key)?.edges ?? []), e] });
	}
	const list = [...links.values()];
	const layer = layersOf(nodes, list);
	const filled = new Map();
	const placed = nodes.map((n) => {
		const column = layer.get(n.key);
		const row = filled.get(column) ?? 0;
		filled.set(column, row + 1);
		return { ...n, x: column * WIDTH, y: row * HEIGHT };
	});
	return { nodes: placed, links: list, folded, width: (Math.max(0, ...layer.values()) + 1) * WIDTH, height: Math.max(1, ...filled.values()) * HEIGHT };
};

// The sum of several edges; for figures that cannot be added up, the worst.
export const figuresOf = (link) => {
	const sum = (of) => link.edges.reduce((n, e) => n + (of(e.calls) ?? 0), 0);
	const [count, errors] = [sum((c) => c.count), sum((c) => c.errors)];
	return { count, errors, rate: sum((c) => c.rate), errorRatio: count ? errors / count : 0, p99: Math.max(...link.edges.map((e) => e.calls.p99 ?? 0)) };
};
