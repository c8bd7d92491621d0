// SPDX-License-Identifier: Apache-2.0
// The regions that relay to this collector, refreshed every few seconds while they are shown.
import { useEffect } from 'preact/hooks';
import { get } from '../base/api.js';
import { store, useStore } from '../base/store.js';

const EVERY_MS = 10_000;
const LATE_MS = 30_000; /* a relay reports its progress every two seconds */

const regions = store([]);
let users = 0;
let timer = 0;

const ask = async () => {
	clearTimeout(timer);
	if (!document.hidden) {
		await get('/api/v1/regions').then(
			(answer) => regions.set(answer.regions ?? []),
			() => {}, /* the last answer stays; the page shows that the server is away */
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

// A page of the region's own console; null if it has none, or if its address must not be a link.
export const consoleAddress = (region, path) => (/^https?:\/\/[^/]/.test(region?.console ?? '') ? region.console.replace(/\/+$/, '') + path : null);
