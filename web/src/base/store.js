// SPDX-License-Identifier: Apache-2.0
// A value that components watch. set() with an equal value notifies no watcher.
import { useEffect, useState } from 'preact/hooks';

export const store = (value) => {
	const watchers = new Set();
	const self = {
		get: () => value,
		set: (next) => {
			if (Object.is(next, value)) return;
			value = next;
			for (const w of [...watchers]) w(value);
		},
		watch: (w) => {
			watchers.add(w);
			return () => watchers.delete(w);
		},
	};
	return self;
};

export const useStore = (s) => {
	const [value, set] = useState(s.get());
	useEffect(() => {
		set(s.get());
		return s.watch(set);
	}, [s]);
	return value;
};

// A store that the browser keeps: any text, or one of `allowed`. If the browser keeps nothing (private mode), it works for
// this page only.
export const remembered = (key, fallback, allowed) => {
	let first = null;
	try {
		first = localStorage.getItem(key);
	} catch {
		first = null;
	}
	const s = store((allowed ? allowed.includes(first) : first !== null) ? first : fallback);
	s.watch((value) => {
		try {
			localStorage.setItem(key, value);
		} catch {
			/* not kept, but set for this page */
		}
	});
	return s;
};
