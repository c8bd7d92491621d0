// SPDX-License-Identifier: Apache-2.0
// What a person decides of an incident goes by one hook: {by, busy, failed, act}, failed being why it was refused.
import { useState } from 'preact/hooks';
import { post } from '../../base/api.js';
import { remembered, useStore } from '../../base/store.js';

export const operator = remembered('seismo.name', '');

// act gives the answer, or null where it was refused.
export const useIncidentAction = (of, onDone) => {
	const by = useStore(operator);
	const [state, set] = useState({ busy: false, failed: null });
	const act = async (verb, more = {}) => {
		set({ busy: true, failed: null });
		const [answer, failed] = await post(`/api/v1/incidents/${encodeURIComponent(of.id)}/${verb}`, { by, ...more }).then(
			(a) => [a, null],
			(e) => [null, e],
		);
		set({ busy: false, failed });
		if (answer) onDone(answer);
		return answer;
	};
	return { by, act, ...state };
};
