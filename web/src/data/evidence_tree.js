// SPDX-License-Identifier: Apache-2.0
// The evidence as a tree: part, call with its object, then the frames of the stack from the outermost inwards. Each
// node is as long as its children together.

const child = (parent, kind, name, part) => {
	const key = `${kind}\n${name}`;
	if (!parent.below.has(key)) parent.below.set(key, { kind, name, part, ms: 0, below: new Map() });
	return parent.below.get(key);
};

const pathOf = (e) => {
	const path = [
		['part', e.part],
		['call', [e.call, e.what || e.who].filter(Boolean).join(' · ')],
	];
	const frames = [...(e.stack ?? [])].reverse();
	if (frames.length && e.stackFlags?.includes('cut')) path.push(['cut', '']);
	for (const frame of frames) path.push([e.stackFlags?.includes('user') ? 'user' : 'frame', frame]);
	return path;
};

export const layOutTree = (node, from, depth, id) => {
	let at = from;
	const all = [...node.below.values()].sort((a, b) => b.ms - a.ms);
	const made = { ...node, id, from, depth, children: [] };
	delete made.below;
	for (const [i, one] of all.entries()) {
		made.children.push({ ...layOutTree(one, at, depth + 1, `${id}.${i}`), index: i, among: all.length });
		at += one.ms;
	}
	return made;
};

// Returns null if there is nothing to draw.
export const icicleOf = (evidence) => {
	const root = { kind: 'all', name: '', part: null, ms: 0, below: new Map() };
	for (const e of evidence ?? []) {
		if (!(e.ms > 0)) continue;
		let node = root;
		node.ms += e.ms;
		for (const [kind, name] of pathOf(e)) {
			node = child(node, kind, name ?? '', e.part);
			node.ms += e.ms;
		}
	}
	return root.ms > 0 ? layOutTree(root, 0, 0, 'n') : null;
};

const TINY = 1e-6; /* ms: rounding difference of two equal sums */

export const overlaps = (node, root) => node.from < root.from + root.ms - TINY && node.from + node.ms > root.from + TINY;

// The nodes to draw when zoomed to root: root, its ancestors, and its descendants that are at least `least` of it.
export const visibleNodes = (all, root, least) => {
	const seen = [];
	const visit = (node) => {
		if (!overlaps(node, root) || (node.depth > root.depth && node.ms < least * root.ms)) return;
		seen.push(node);
		node.children.forEach(visit);
	};
	visit(all);
	return seen;
};

export const maxDepth = (node) => Math.max(node.depth, ...node.children.map(maxDepth));

// The path from the root to the node with that id, both included; null if there is none.
export const pathTo = (node, id) => {
	if (node.id === id) return [node];
	for (const below of node.children) {
		const way = pathTo(below, id);
		if (way) return [node, ...way];
	}
	return null;
};

// The ms of the matching nodes; each moment counts once.
export const sumMatches = (node, fits, size = (n) => n.ms) => (fits(node) ? size(node) : node.children.reduce((sum, below) => sum + sumMatches(below, fits, size), 0));
