// SPDX-License-Identifier: Apache-2.0
// Parts of the console that are loaded when they are first shown. Their names hold a hash of their content, so after an upgrade
// of the collector an open page may ask for a part that is gone: then `gone` is true until the page is reloaded.
import { store } from './store.js';

export const gone = store(false);

// load() imports the part. Rejects as load() does.
export const loadPart = (load) =>
	load().catch((error) => {
		gone.set(true);
		throw error;
	});
