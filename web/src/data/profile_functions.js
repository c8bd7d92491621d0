// SPDX-License-Identifier: Apache-2.0
// The functions of a profile: how long each was on a CPU itself, and with what it called.
const KERNEL = 'kernel';
const USER = 'user';

// From the innermost one: kernel functions were called by those of the program.
const framesOf = (s) => [...(s.kernel ?? []).map((name) => [KERNEL, name]), ...(s.user ?? []).map((name) => [USER, name])];

const add = (functions, [kind, name], times) => {
	const key = `${kind}\n${name}`;
	if (!functions.has(key)) functions.set(key, { key, kind, name, self: 0, total: 0, selfBase: 0, totalBase: 0 });
	const of = functions.get(key);
	for (const [field, ms] of Object.entries(times)) of[field] += ms;
};

// [{key, kind, name, self, total, selfBase, totalBase}] in ms, those with the most self time first. A function that calls itself
// counts once in a stack.
export const functionsOf = (answer) => {
	const functions = new Map();
	for (const s of answer.stacks) {
		const frames = framesOf(s);
		const distinct = new Map(frames.map((frame) => [frame.join('\n'), frame]));
		for (const frame of distinct.values()) add(functions, frame, { total: s.ms, totalBase: s.baseMs ?? 0 });
		if (frames.length) add(functions, frames[0], { self: s.ms, selfBase: s.baseMs ?? 0 });
	}
	return [...functions.values()].sort((a, b) => b.self - a.self || b.total - a.total);
};
