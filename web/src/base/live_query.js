// SPDX-License-Identifier: Apache-2.0
// A query whose answer is kept up to date while rows come in: it runs at once, then at most every two seconds,
// less often if it is slow, and never while the page is hidden.
import { get } from './api.js';
import { onLive } from './live.js';
import { store } from './store.js';

const GAP_MS = 2000;
const SHARE = 4; /* queries take at most a quarter of the time */
const EVERY_MS = 10_000;
const NOTHING = { data: null, question: null };

// what() returns {path, params, live} or null. The store holds {data, question, error}: the last answer, its question, and
// the error of a newer query, if it failed.
export const liveQuery = (gap = GAP_MS) => {
	const state = store({ data: null, question: null, error: null });
	let what = null;
	let run = 0; /* answers to an older query are dropped */
	let busy = false;
	let timer = 0;
	let due = 0;

	const ask = async () => {
		const mine = run;
		const question = what();
		const start = Date.now();
		busy = true;
		clearTimeout(timer);
		timer = 0;
		const next = await get(question.path, question.params).then(
			(data) => ({ data, question, error: null }),
			(error) => ({ ...state.get(), error }),
		);
		if (mine !== run) return;
		busy = false;
		due = Date.now() + Math.max(gap, SHARE * (Date.now() - start));
		state.set(next);
		if (next.error && next.error.kind !== 'api') soon();
	};
	const soon = () => {
		if (!what || busy || timer || document.hidden) return;
		timer = setTimeout(ask, Math.max(20, due - Date.now()));
	};
	const change = (next, { data, question }) => {
		what = next;
		run += 1;
		busy = false;
		clearTimeout(timer);
		timer = 0;
		if (data !== state.get().data || state.get().error) state.set({ data, question, error: null });
		if (what) ask();
	};

	onLive((type) => {
		if (type === 'open' || ((type === 'request' || type === 'skipped') && what?.().live)) soon();
	});
	setInterval(() => what?.().live && soon(), EVERY_MS);
	return {
		state,
		begin: (next) => change(next, NOTHING),
		turn: (next) => change(next, state.get()) /* the old data stays until the answer */,
		end: () => change(null, NOTHING),
	};
};
