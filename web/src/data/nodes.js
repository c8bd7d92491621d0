// SPDX-License-Identifier: Apache-2.0
// What the probes report about themselves, refreshed every few seconds while it is shown.
import { useEffect } from 'preact/hooks';
import { get } from '../base/api.js';
import { store, useStore } from '../base/store.js';

const EVERY_MS = 5000;
export const SILENT_MS = 10_000; /* a probe sends every second or two */

// {list: null | [], error}
export const nodes = store({ list: null, error: null });

let users = 0;
let timer = 0;

const ask = async () => {
	clearTimeout(timer);
	if (!document.hidden) {
		await get('/api/v1/nodes').then(
			(answer) => nodes.set({ list: answer.nodes, error: null }),
			(error) => nodes.set({ ...nodes.get(), error }),
		);
	}
	clearTimeout(timer);
	if (users > 0) timer = setTimeout(ask, EVERY_MS);
};

export const askNodes = ask;
document.addEventListener('visibilitychange', () => users > 0 && ask());

export const useNodes = () => {
	useEffect(() => {
		users += 1;
		if (users === 1) ask();
		return () => {
			users -= 1;
		};
	}, []);
	return useStore(nodes);
};

// The ms by which a node's clock is ahead of the collector's (below 0: behind), if certainly off by a second or more.
const OFF_MS = 1000;
export const clockOff = (node) => {
	const { ahead, uncertainty } = node?.clock ?? {};
	return Math.abs(ahead) - uncertainty >= OFF_MS ? ahead : 0;
};

export const isSilent = (node) => !(node.lag < SILENT_MS);

// The data that a probe saw but could not keep or deliver in the last hour.
const LOST = ['ring_full', 'head_missed', 'requests_lost'];
export const lostOf = (node) => LOST.reduce((sum, name) => sum + (Number(node.coverage?.[name]) || 0), 0);
export const unreadOf = (list) => {
	const sums = new Map();
	for (const node of list ?? []) {
		for (const u of node.unread ?? []) {
			const key = `${u.app}\n${u.kind}`;
			const sum = sums.get(key) ?? { app: u.app, kind: u.kind, count: 0 };
			sum.count += Number(u.count) || 0;
			sums.set(key, sum);
		}
	}
	return [...sums.values()].sort((a, b) => b.count - a.count);
};
