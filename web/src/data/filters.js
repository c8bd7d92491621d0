// SPDX-License-Identifier: Apache-2.0
// The filters of the table, to and from the address. The names in MANY hold a list of values: one of them must match; a value
// that begins with ! must not match. A live range may begin at a time before now, such as "-15m" (moment.js).
import { rollingOf } from '../base/moment.js';

export const MANY = ['region', 'node', 'app', 'route', 'status', 'reason', 'remote', 'upstream', 'tag'];
const ONE = ['from', 'to', 'q'];
// The orders of groups that the API knows; the first is that of this console.
export const ORDERS = ['harm', 'last', 'count', 'slowest'];
const VALUES = 10; /* values per filter, the limit of the API */
const TEXT_BYTES = 200;
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

export const NONE = '-';
export const isNot = (value) => value.startsWith('!');
export const bare = (value) => (isNot(value) ? value.slice(1) : value);
export const fits = (text) => new TextEncoder().encode(text).length <= TEXT_BYTES;
export const isQueryable = (value) => fits(value) && !isNot(value);

// Whether this is the page of the list of requests; older versions had it at / with filters.
export const isRequestList = () => location.pathname === '/requests' || (location.pathname === '/' && location.search !== '');

export const readFilters = (search) => {
	const query = new URLSearchParams(search);
	const f = {};
	for (const name of ONE) {
		const value = query.get(name);
		if (value && (name === 'q' || (TIME.test(value) && Date.parse(value)))) f[name] = value;
	}
	if (rollingOf(query.get('from')) && !f.to) f.from = query.get('from');
	for (const name of MANY) {
		const values = [...new Set(query.getAll(name).filter(Boolean))].slice(0, VALUES);
		if (values.length) f[name] = values;
	}
	if (ORDERS.indexOf(query.get('sort')) > 0) f.sort = query.get('sort');
	if (query.get('view') === 'groups' || f.sort) f.view = 'groups'; /* only groups are sorted */
	return f;
};

const listed = (value) => [value ?? []].flat();

// The filters as [name, value] pairs for the API.
export const pairs = (f, names = [...ONE, ...MANY]) => names.flatMap((name) => listed(f[name]).map((value) => [name, value]));

export const address = (path, all) => {
	const text = new URLSearchParams(all).toString().replaceAll('%3A', ':');
	return text ? `${path}?${text}` : path;
};

export const writeFilters = (f) => address('/requests', [...pairs(f), ...(f.view === 'groups' ? [['view', 'groups']] : []), ...(f.view === 'groups' && f.sort ? [['sort', f.sort]] : [])]);

export const isFiltered = (f) => pairs(f).some(([name]) => name !== 'from' && name !== 'to');

// Adds a value to those of the filter; no value is both wanted and excluded.
export const withValue = (f, name, value) => {
	const others = listed(f[name]).filter((v) => bare(v) !== bare(value));
	return { ...f, [name]: [...others, value].slice(-VALUES) };
};

export const withoutValue = (f, name, value) => {
	const left = listed(f[name]).filter((v) => v !== value);
	return { ...f, [name]: left.length ? left : undefined };
};

// A range without an end is live; without a beginning it is the last hour, as the API defines it.
export const isLive = (f) => !f.to;
export const HOUR_MS = 3600e3;

// Pairs for a query that takes one value of each of these names: the first one that is wanted.
export const pairsOfOne = (f, names, one) =>
	pairs(Object.fromEntries(names.map((name) => [name, one.includes(name) ? [f[name] ?? []].flat().find((v) => !isNot(v)) : f[name]])), names).filter(([, value]) => value);

// The page that ranks the hosts of a time span.
export const whereParams = (f) => pairsOfOne(f, ['from', 'to', 'region', 'node'], ['region', 'node']);
export const whereAddress = (f) => address('/where', whereParams(f));
