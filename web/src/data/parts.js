// SPDX-License-Identifier: Apache-2.0
// The parts that time goes into: their names come from the API, asked once; until then a part is its code.
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

// What a component calls that names parts.
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

// The look of a part; one that this console does not know looks like what is not attributed.
export const partClass = (code) => `part part-${PART_CODES.includes(code) ? code : 'unattributed'}`;
