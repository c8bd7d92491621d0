// SPDX-License-Identifier: Apache-2.0
// Pages by path. The address holds everything that a page shows, so a link shows the same again.
import { store } from './store.js';

const here = () => `${location.pathname}${location.search}`;

export const place = store(here());
addEventListener('popstate', () => place.set(here()));

let depth = 0; /* pages of this console before this one in the history */

export const go = (to, { replace = false } = {}) => {
	if (to === here()) return;
	if (replace) {
		history.replaceState(history.state, '', to);
	} else {
		depth += 1;
		history.pushState({ depth }, '', to);
	}
	place.set(here());
};

export const back = (to = '/') => {
	if (history.state?.depth) history.back();
	else go(to);
};

// Clicks for the browser itself (new tab, download) are left to it.
export const onLink = (event) => {
	const a = event.target.closest?.('a[href]');
	if (!a || a.target || a.origin !== location.origin || a.hasAttribute('data-plain')) return;
	if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
	event.preventDefault();
	go(`${a.pathname}${a.search}`);
};
