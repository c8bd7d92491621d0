// SPDX-License-Identifier: Apache-2.0
// The layout of the call graph: nothing lies on anything else, whatever calls whom.
import { CHECK, CHECK_EQ, TEST } from '../browser.mjs';
import { BOX, LABEL, pathOf, placed } from '../../../web/src/chart/topology_layout.js';

let seed = 1;
const random = (n) => {
	seed = (seed * 48271) % 0x7fffffff;
	return seed % n;
};

const graph = (nodes, pairs) => ({
	nodes: Array.from({ length: nodes }, (_, i) => ({ key: `n${i}` })),
	links: [...new Set(pairs.map(([a, b]) => `n${a} n${b}`))].map((key) => ({ key, from: key.split(' ')[0], to: key.split(' ')[1] })),
});
const times = (n, f) => Array.from({ length: n }, (_, i) => f(i));

// A fleet: front ends call services, those call others and databases; some call back, some call themselves.
const fleet = (n) => graph(n, [...times(n - 1, (i) => [random(Math.max(1, (i + 1) >> 1)), i + 1]), ...times(n >> 1, () => [random(n), random(n)])]);

const shapes = {
	'one box': graph(1, []),
	'two boxes without a call': graph(2, []),
	'one that calls itself': graph(1, [[0, 0]]),
	'a circle': graph(3, [[0, 1], [1, 2], [2, 0]]),
	'two that call each other': graph(2, [[0, 1], [1, 0]]),
	'a star of 40': graph(41, times(40, (i) => [0, i + 1])),
	'a chain of 20': graph(20, times(19, (i) => [i, i + 1])),
	'a layer that is skipped': graph(5, [[0, 1], [1, 2], [2, 3], [0, 3], [0, 4], [4, 3]]),
	...Object.fromEntries([10, 60, 300].flatMap((n) => times(3, (i) => [`a fleet of ${n}, ${i}`, fleet(n)]))),
};

const box = (n) => ({ name: n.key, left: n.x, right: n.x + BOX.width, top: n.y, bottom: n.y + BOX.height });
const label = (l) => ({ name: `label ${l.key}`, left: l.label.x - LABEL.width / 2, right: l.label.x + LABEL.width / 2, top: l.label.y - LABEL.height / 2, bottom: l.label.y + LABEL.height / 2 });
const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// Points of the path that pathOf() makes, seven between the ends of each piece: lines and quadratic curves.
const drawn = (points) => {
	const all = [];
	for (const [, kind, numbers] of pathOf(points).matchAll(/([MLQ])([^MLQ]*)/g)) {
		const n = numbers.match(/-?[0-9.]+/g).map(Number);
		const [b, a] = [{ x: n.at(-2), y: n.at(-1) }, all.at(-1) ?? { x: n[0], y: n[1] }];
		const c = kind === 'Q' ? { x: n[0], y: n[1] } : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
		for (let s = 1; s <= 8; s++) {
			const t = s / 8;
			all.push({ x: (1 - t) ** 2 * a.x + 2 * t * (1 - t) * c.x + t * t * b.x, y: (1 - t) ** 2 * a.y + 2 * t * (1 - t) * c.y + t * t * b.y });
		}
	}
	return all;
};

const inside = (p, r) => p.x > r.left + 1 && p.x < r.right - 1 && p.y > r.top + 1 && p.y < r.bottom - 1;

for (const [name, shape] of Object.entries(shapes)) {
	TEST(`nothing overlaps in ${name}`, () => {
		const made = placed(shape);
		const boxes = made.nodes.map(box);
		const labels = made.links.filter((l) => l.label).map(label);
		const all = [...boxes, ...labels];
		const faults = [];
		for (const [i, a] of all.entries()) for (const b of all.slice(i + 1)) if (overlap(a, b)) faults.push(`${a.name} lies on ${b.name}`);
		for (const l of made.links) {
			const points = drawn(l.points);
			for (const r of boxes) if (points.some((p) => inside(p, r))) faults.push(`the line ${l.key} crosses ${r.name}`);
			for (const r of labels) if (r.name !== `label ${l.key}` && points.some((p) => inside(p, r))) faults.push(`the line ${l.key} crosses ${r.name}`);
			if (points.some((p) => p.x < 0 || p.y < 0 || p.x > made.width || p.y > made.height)) faults.push(`the line ${l.key} leaves the drawing`);
		}
		CHECK_EQ(faults, [], 'what lies on what');
		CHECK(all.every((r) => r.left >= 0 && r.top >= 0 && r.right <= made.width && r.bottom <= made.height), 'all is in the drawing');
	});
}

TEST('a box that more call moves nothing: the layout is that of the shape', () => {
	const a = shapes['a fleet of 60, 0'];
	const b = { nodes: [...a.nodes].reverse(), links: [...a.links].reverse() };
	const at = (g) => Object.fromEntries(placed(g).nodes.map((n) => [n.key, [n.x, n.y]]).sort());
	CHECK_EQ(at(b), at(a), 'places');
});
