// SPDX-License-Identifier: Apache-2.0
// The filters of the table, to the address line and back. Times in an address are always absolute.
const NAMES = ['from', 'to', 'q', 'region', 'node', 'app', 'route', 'status', 'reason'];
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

export const readFilters = (search) => {
	const query = new URLSearchParams(search);
	const f = {};
	for (const name of NAMES) {
		const value = query.get(name);
		if (!value) continue;
		if ((name === 'from' || name === 'to') && !(TIME.test(value) && Date.parse(value))) continue;
		f[name] = value;
	}
	return f;
};

export const writeFilters = (f) => {
	const query = new URLSearchParams();
	for (const name of NAMES) if (f[name]) query.set(name, f[name]);
	const text = query.toString().replaceAll('%3A', ':');
	return text ? `/?${text}` : '/';
};

export const isFiltered = (f) => NAMES.some((name) => name !== 'from' && name !== 'to' && f[name]);

// A range without an end is live; without a beginning it is the API's last hour.
export const isLive = (f) => !f.to;
export const HOUR_MS = 3600e3;
