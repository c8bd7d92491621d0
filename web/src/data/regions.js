// SPDX-License-Identifier: Apache-2.0
// The regions that come to this collector, asked every few seconds while someone looks.
import { useEffect } from 'preact/hooks';
import { get } from '../base/api.js';
import { store, useStore } from '../base/store.js';

const EVERY_MS = 10_000;
const LATE_MS = 30_000; /* a relay says every two seconds how far it is */

const regions = store([]);
let users = 0;
let timer = 0;

const ask = async () => {
	clearTimeout(timer);
	if (!document.hidden) {
		await get('/api/v1/regions').then(
			(answer) => regions.set(answer.regions ?? []),
			() => {}, /* what was known stays: its lag is older than it says, and the page says that the server is away */
		);
	}
	clearTimeout(timer);
	if (users > 0) timer = setTimeout(ask, EVERY_MS);
};

export const useRegions = () => {
	useEffect(() => {
		users += 1;
		if (users === 1) ask();
		return () => {
			users -= 1;
		};
	}, []);
	return useStore(regions);
};

export const isLate = (region) => region.relay && !(region.lag < LATE_MS);

// A page of the region's own console; null: it has none, or at no address that a link may lead to.
export const consoleAddress = (region, path) => (/^https?:\/\/[^/]/.test(region?.console ?? '') ? region.console.replace(/\/+$/, '') + path : null);
