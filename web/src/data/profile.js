// SPDX-License-Identifier: Apache-2.0
// The profile: its address, and its stacks as a tree from the outermost function inwards, kernel functions below those of
// the program. When two ranges are compared, the width of a node is the sum of both its shares, so that a function that
// no longer runs is still shown.
import { address, isQueryable, readFilters } from './filters.js';
import { layOutTree } from './evidence_tree.js';
import { endsOf } from './time_bins.js';

const NAMES = ['node', 'app', 'from', 'to', 'base_from', 'base_to'];
const MIN = 60e3;
const POINTS = [0.2, 1, 3, 8, 20]; /* percentage points from which a difference has a stronger colour */

const iso = (ms) => new Date(ms).toISOString();

export const readProfile = (search) => {
	const query = new URLSearchParams(search);
	const { from, to } = readFilters(search);
	const moment = (name) => (Number.isNaN(Date.parse(query.get(name) ?? '')) ? undefined : query.get(name));
	const [base_from, base_to] = [moment('base_from'), moment('base_to')];
	const whole = base_from && base_to && Date.parse(base_from) < Date.parse(base_to);
	return { node: query.get('node') || undefined, app: query.get('app') || undefined, from, to, ...(whole ? { base_from, base_to } : {}) };
};

export const profilePairs = (view) => NAMES.map((name) => [name, view[name]]).filter(([name, value]) => value && ((name !== 'node' && name !== 'app') || isQueryable(value)));
export const profileAddress = (view) => address('/profile', profilePairs(view));

// The same view with an end, in whole minutes, as profiles are stored.
export const closedView = (view, now = Date.now()) => {
	const [from, to] = endsOf(view, now);
	return { ...view, from: iso(Math.floor(from / MIN) * MIN), to: iso(Math.ceil(to / MIN) * MIN) };
};

// The range to compare with: as long directly before, a day or a week before; 'this': the range shown now, so that the
// user can choose another one.
export const baseView = (view, which, now = Date.now()) => {
	const one = closedView(view, now);
	const [from, to] = [Date.parse(one.from), Date.parse(one.to)];
	const back = { before: to - from, day: 24 * 60 * MIN, week: 7 * 24 * 60 * MIN, this: 0 }[which];
	return { ...one, base_from: iso(from - back), base_to: iso(to - back) };
};

const pathOf = (s) => {
	const path = [];
	if (s.cut) path.push(['cut', '']);
	for (const f of [...(s.user ?? [])].reverse()) path.push(['user', f]);
	if (!s.user) path.push(['lost', '']);
	for (const f of [...(s.kernel ?? [])].reverse()) path.push(['kernel', f]);
	if (!s.kernel) path.push(['lost', '']);
	return path.length ? path : [['unknown', '']];
};

// Returns null if there are no samples. ms of a node is its width; now and base are its CPU times in the two ranges.
export const profileTree = (answer) => {
	const compared = answer.baseMs !== null;
	const width = (now, base) => (compared ? (answer.ms ? now / answer.ms : 0) + (answer.baseMs ? base / answer.baseMs : 0) : now);
	const made = (kind, name) => ({ kind, name, part: null, ms: 0, now: 0, base: 0, below: new Map() });
	const root = made('all', '');
	const add = (path, now, base) => {
		let node = root;
		for (const [kind, name] of [null, ...path].map((p) => p ?? [])) {
			if (kind) {
				const key = `${kind}\n${name}`;
				if (!node.below.has(key)) node.below.set(key, made(kind, name));
				node = node.below.get(key);
			}
			node.now += now;
			node.base += base;
			node.ms += width(now, base);
		}
	};
	for (const s of answer.stacks) add(pathOf(s), s.ms, s.baseMs ?? 0);
	if (answer.otherMs || answer.otherBaseMs) add([['other', '']], answer.otherMs, answer.otherBaseMs ?? 0);
	return root.ms > 0 ? layOutTree(root, 0, 0, 'n') : null;
};

// The shares of the whole in the two ranges, in percent.
export const sharesOf = (node, all) => [all.now ? (100 * node.now) / all.now : 0, all.base ? (100 * node.base) / all.base : 0];

// "more-3", "less-1", "same": how much larger or smaller the share is than in the base range.
export const shareChange = (node, all) => {
	const [now, base] = sharesOf(node, all);
	const strong = POINTS.filter((p) => Math.abs(now - base) >= p).length;
	return strong ? `${now > base ? 'more' : 'less'}-${strong}` : 'same';
};
