// SPDX-License-Identifier: Apache-2.0
// useQuery: one API query of a component. It runs when its address changes, again while it fails for a temporary
// reason, and again after again(data) ms if that is not 0. Answers to an older address are dropped.
import { useEffect, useState } from 'preact/hooks';
import { get } from './api.js';

const RETRY_MS = 3000;
const NOTHING = { data: null, error: null };

// path null: no query. first: data shown until the answer comes. turn: a new number repeats the query.
export const useQuery = (path, params = [], { again = () => 0, first = null, turn = 0 } = {}) => {
	const key = path && JSON.stringify([path, params]);
	const [state, set] = useState(NOTHING);
	useEffect(() => {
		let gone = false;
		let timer = 0;
		const ask = async () => {
			const next = await get(path, params).then(
				(data) => ({ key, data, error: null }),
				(error) => ({ key, data: null, error }),
			);
			if (gone) return;
			set((was) => (next.error && was.key === key ? { ...was, error: next.error } : next));
			const wait = next.error ? (next.error.kind === 'api' ? 0 : RETRY_MS) : again(next.data);
			if (wait) timer = setTimeout(ask, wait);
		};
		if (key) ask();
		return () => {
			gone = true;
			clearTimeout(timer);
		};
	}, [key, turn]);
	return state.key === key && (state.data || state.error) ? { data: state.data ?? first, error: state.error } : { data: first, error: null };
};
