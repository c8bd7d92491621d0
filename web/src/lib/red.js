// SPDX-License-Identifier: Apache-2.0
// Rates, errors and durations: where their page is.
import { address, canWant } from './filters.js';

// What cannot be asked for is left out: the page then shows more.
export const redAddress = ({ from, to, app, route }) => {
	const all = [
		['from', from],
		['to', to],
		['app', app],
		['route', route],
	];
	return address('/red', all.filter(([name, value]) => value && (name === 'from' || name === 'to' || canWant(value))));
};
