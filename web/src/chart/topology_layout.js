// SPDX-License-Identifier: Apache-2.0
// Where the boxes, lines and labels of a call graph lie: in layers, callers on the left. Nothing lies on anything else. Tests call
// it without a page.
import { graphlib, layout } from '@dagrejs/dagre';

export const BOX = { width: 150, height: 40 };
export const LABEL = { width: 170, height: 14 };
const MARGIN = 4;
const CORNER = 8; /* radius of a line's corners */
const LOOP = 50; /* half of the width of a call to itself */
const LABELLED = 40; /* links; with more, labels make the drawing too large to read */
const EXACT = 120; /* boxes; with more, the layers are found by a simpler rule, as the exact one takes long */

const compare = (a, b) => (a.key < b.key ? -1 : 1);

// The same graph has the same layout, whatever its figures are.
const arranged = ({ nodes, links }, labelled) => {
	const graph = new graphlib.Graph();
	graph.setGraph({ rankdir: 'LR', nodesep: 26, edgesep: 16, ranksep: labelled ? 72 : 80, ranker: nodes.length > EXACT ? 'longest-path' : 'network-simplex' });
	const id = new Map([...nodes].sort(compare).map((n, i) => [n.key, String(i)]));
	for (const i of id.values()) graph.setNode(i, { ...BOX });
	for (const l of [...links].sort(compare)) graph.setEdge(id.get(l.from), id.get(l.to), labelled ? { ...LABEL, labelpos: 'c' } : {});
	layout(graph);
	return { graph, id };
};

// Straight through each layer, so that a line cuts no corner of the boxes above and below it; it bends between layers only.
const through = (points, columns, labelled) =>
	points.flatMap(({ x, y }) => {
		const half = (columns.has(Math.round(x)) ? BOX.width : labelled ? LABEL.width : 0) / 2 + CORNER;
		return [
			{ x: x - half, y },
			{ x: x + half, y },
		];
	});

// Below the box, where its label has its place.
const loopOf = (edge, { x, y }) =>
	[-LOOP, LOOP].flatMap((dx) => {
		const ends = [
			{ x: x + dx, y: y + BOX.height / 2 },
			{ x: x + dx, y: edge.y },
		];
		return dx < 0 ? ends : ends.reverse();
	});

const lineOf = (edge, a, b, columns, labelled) => {
	if (a === b) return loopOf(edge, a);
	const { points } = edge;
	const side = Math.sign(b.x - a.x) || 1;
	const inner = through(side > 0 ? points.slice(1, -1) : points.slice(1, -1).reverse(), columns, labelled);
	return [{ x: a.x + (side * BOX.width) / 2, y: a.y }, ...(side > 0 ? inner : inner.reverse()), { x: b.x - (side * BOX.width) / 2, y: b.y }];
};

// All of it, moved to the upper left corner.
const framed = (nodes, links) => {
	const corners = links.flatMap(({ label: l }) => (l ? [-0.5, 0.5].map((s) => ({ x: l.x + s * LABEL.width, y: l.y + s * LABEL.height })) : []));
	const all = [...nodes, ...nodes.map((n) => ({ x: n.x + BOX.width, y: n.y + BOX.height })), ...corners, ...links.flatMap((l) => l.points)];
	const [left, top] = ['x', 'y'].map((axis) => all.reduce((least, p) => Math.min(least, p[axis]), Infinity) - MARGIN);
	const [right, bottom] = ['x', 'y'].map((axis) => all.reduce((most, p) => Math.max(most, p[axis]), -Infinity) + MARGIN);
	const moved = (p) => ({ ...p, x: p.x - left, y: p.y - top });
	return { nodes: nodes.map(moved), links: links.map((l) => ({ ...l, points: l.points.map(moved), label: l.label && moved(l.label) })), width: right - left, height: bottom - top };
};

// {nodes: [{..., x, y}], links: [{..., points, label}], width, height}: x and y of a box are its upper left corner, those of a label
// its middle; label is null if there are too many.
export const placed = (graph) => {
	const labelled = graph.links.length <= LABELLED;
	const { graph: made, id } = arranged(graph, labelled);
	const at = (key) => made.node(id.get(key));
	const columns = new Set(graph.nodes.map((n) => Math.round(at(n.key).x)));
	const nodes = graph.nodes.map((n) => ({ ...n, x: at(n.key).x - BOX.width / 2, y: at(n.key).y - BOX.height / 2 }));
	const links = graph.links.map((l) => {
		const edge = made.edge(id.get(l.from), id.get(l.to));
		return { ...l, points: lineOf(edge, at(l.from), at(l.to), columns, labelled), label: labelled ? { x: edge.x, y: edge.y } : null };
	});
	return framed(nodes, links);
};

// The path of a line through these points, its corners rounded.
export const pathOf = (points) => {
	const to = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
	const towards = (a, b) => {
		const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
		const part = Math.min(CORNER, length / 2) / length;
		return { x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part };
	};
	const corner = (p, i) => `L${to(towards(p, points[i]))}Q${to(p)} ${to(towards(p, points[i + 2]))}`;
	return `M${to(points[0])}${points.slice(1, -1).map(corner).join('')}L${to(points[points.length - 1])}`;
};
