// SPDX-License-Identifier: Apache-2.0
// Loads the columns of a group of panels in one request when the group comes into view, and again when the range moves on.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../../base/api.js';
import { reportedSteps } from '../../data/columns.js';
import { columnsQuery } from '../../data/node.js';

const AHEAD = '500px 0px';

export const useInView = () => {
	const ref = useRef(null);
	const [seen, set] = useState(false);
	useEffect(() => {
		const watcher = new IntersectionObserver((all) => set(all.at(-1).isIntersecting), { rootMargin: AHEAD });
		watcher.observe(ref.current);
		return () => watcher.disconnect();
	}, []);
	return [ref, seen];
};

const withSteps = (answer, range) => {
	const n = Math.round((Date.parse(answer.to) - Date.parse(answer.from)) / 1e3 / answer.step);
	return { answer, range, from: Date.parse(answer.from), step: answer.step * 1e3, alive: reportedSteps(answer.series, n) };
};

// {data, error} of the last answer; it stays while a newer query is on its way.
export const useColumns = (name, range, panels, entity, seen, top, kind) => {
	const [state, set] = useState({ key: null, data: null, error: null });
	const key = `${range.from} ${range.to} ${entity ?? ''}`;
	const last = useRef(null);
	useEffect(() => {
		if (!seen || !panels.length || last.current === key) return undefined;
		last.current = key;
		get('/api/v1/series/columns', columnsQuery(name, range, panels, entity, top, kind)).then(
			(answer) => last.current === key && set({ data: withSteps(answer, range), error: null }),
			(error) => {
				if (last.current !== key) return;
				set((was) => ({ ...was, error }));
				last.current = null;
			},
		);
		return undefined;
	}, [seen, key, panels]);
	return state;
};
