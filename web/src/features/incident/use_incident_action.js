// SPDX-License-Identifier: Apache-2.0
// The hook for all actions on an incident: {by, busy, failed, act}; failed is the error of a refused action.
import { useState } from 'preact/hooks';
import { post } from '../../base/api.js';
import { remembered, useStore } from '../../base/store.js';

export const operator = remembered('seismo.name', '');

// act returns the answer, or null if the action was refused.
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
