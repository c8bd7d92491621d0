// SPDX-License-Identifier: Apache-2.0
// Sources of a facet's values and counts. values() returns undefined if the source does not have that facet.
import { NONE, isLive, pairs } from './filters.js';
import { nodes } from './nodes.js';

const CUT = 1000; /* rows of /api/v1/red */
const SHOWN = 20;

// Abnormal requests. For the counts of a facet the API ignores that facet's own filter.
export const ofRequests = {
	question: (filters) => ({ path: '/api/v1/requests/facets', params: pairs(filters), live: isLive(filters) }),
	values: (data, name) => data.facets?.[name],
	note: (data) => (data.exact === false ? 'facet.inexact' : null),
};

const byCount = (sums) => [...sums].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count).slice(0, SHOWN);

// The value of a row for a filter. A row of /api/v1/red names its node, not its region.
const valueOf = (row, name) => (name === 'region' ? nodes.get().list?.find((n) => n.name === row.node)?.region : row[name]) || NONE;

// All requests. A value that answered none is counted by its calls.
export const ofRed = {
	question: (filters, name) => ({ path: '/api/v1/red', params: pairs({ ...filters, [name]: undefined }, ['from', 'to', 'region', 'node', 'app', 'route']), live: isLive(filters) }),
	values: (data, name) => {
		const sums = { server: new Map(), client: new Map() };
		for (const row of data.red ?? []) {
			const sum = sums[row.role];
			sum?.set(valueOf(row, name), (sum.get(valueOf(row, name)) ?? 0) + row.count);
		}
		return byCount(new Map([...sums.client, ...sums.server]));
	},
	note: (data) => (data.red?.length >= CUT ? 'facet.cut' : null),
};
