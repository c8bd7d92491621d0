// SPDX-License-Identifier: Apache-2.0
// The filters of the table, to the address line and back. Times in an address are always absolute. Names of
// MANY hold a list of values, one of which must be so; a value that begins with ! must not be so.
export const MANY = ['region', 'node', 'app', 'route', 'status', 'reason', 'remote', 'upstream', 'tag'];
const ONE = ['from', 'to', 'q'];
const VALUES = 10; /* of one filter, what the API takes */
const TEXT_BYTES = 200;
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

export const NONE = '-';
export const isNot = (value) => value.startsWith('!');
export const bare = (value) => (isNot(value) ? value.slice(1) : value);
export const fits = (text) => new TextEncoder().encode(text).length <= TEXT_BYTES;
export const canWant = (value) => fits(value) && !isNot(value);

export const readFilters = (search) => {
	const query = new URLSearchParams(search);
	const f = {};
	for (const name of ONE) {
		const value = query.get(name);
		if (value && (name === 'q' || (TIME.test(value) && Date.parse(value)))) f[name] = value;
	}
	for (const name of MANY) {
		const values = [...new Set(query.getAll(name).filter(Boolean))].slice(0, VALUES);
		if (values.length) f[name] = values;
	}
	if (query.get('view') === 'rows') f.view = 'rows';
	return f;
};

const listed = (value) => [value ?? []].flat();

// As pairs of a name and a value, as the API takes them.
export const pairs = (f, names = [...ONE, ...MANY]) => names.flatMap((name) => listed(f[name]).map((value) => [name, value]));

export const address = (path, all) => {
	const text = new URLSearchParams(all).toString().replaceAll('%3A', ':');
	return text ? `${path}?${text}` : path;
};

export const writeFilters = (f) => address('/', [...pairs(f), ...(f.view === 'rows' ? [['view', 'rows']] : [])]);

export const isFiltered = (f) => pairs(f).some(([name]) => name !== 'from' && name !== 'to');

// A value joins those there are; it is never both wanted and excluded.
export const withValue = (f, name, value) => {
	const others = listed(f[name]).filter((v) => bare(v) !== bare(value));
	return { ...f, [name]: [...others, value].slice(-VALUES) };
};

export const withoutValue = (f, name, value) => {
	const left = listed(f[name]).filter((v) => v !== value);
	return { ...f, [name]: left.length ? left : undefined };
};

// A range without an end is live; without a beginning it is the API's last hour.
export const isLive = (f) => !f.to;
export const HOUR_MS = 3600e3;

// What a question is asked with that takes one value of each of these: the first that is wanted.
export const pairsOfOne = (f, names, one) =>
	pairs(Object.fromEntries(names.map((name) => [name, one.includes(name) ? [f[name] ?? []].flat().find((v) => !isNot(v)) : f[name]])), names).filter(([, value]) => value);
