// SPDX-License-Identifier: Apache-2.0
// The parts of the time. Their names come from the API, queried once; until then a part is shown by its code.
/* global PART_CODES */
import { useEffect } from 'preact/hooks';
import { get } from '../base/api.js';
import { lang } from '../text/i18n.js';
import { store, useStore } from '../base/store.js';

const names = store(null); /* a Map of code to {en, zh} */
let asking = false;

const ask = async () => {
	if (asking || names.get()) return;
	asking = true;
	const data = await get('/api/v1/parts').catch(() => null);
	asking = false;
	if (Array.isArray(data?.parts)) names.set(new Map(data.parts.map((p) => [p.code, p])));
};

// A component that shows names of parts calls this.
export const useParts = () => {
	useEffect(() => {
		ask();
	}, []);
	useStore(names);
};

export const partName = (code) => {
	const name = names.get()?.get(code);
	return name?.[lang.get()] ?? name?.en ?? code ?? '–';
};

// The class of a part; a part that this console does not know looks like unattributed time.
export const partClass = (code) => `part part-${PART_CODES.includes(code) ? code : 'unattributed'}`;
