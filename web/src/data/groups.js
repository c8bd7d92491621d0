// SPDX-License-Identifier: Apache-2.0
// The groups of the filtered requests, in the order that the address names. While the pointer or the focus is in the list, counts
// change in place and new groups wait (hold).
import { liveQuery } from '../base/live_query.js';
import { isQueryable, isLive, NONE, ORDERS, pairs } from './filters.js';
import { store } from '../base/store.js';

export const SHOWN = 200;

const NOTHING = { list: null, fresh: 0, total: 0, exact: true, since: null };
const groupsQuery = liveQuery();
let held = () => false;

// {list: null | [], fresh: number of waiting groups, total, exact, since}
export const grouped = store(NOTHING);
export const groupsState = groupsQuery.state;

export const keyOf = (g) => JSON.stringify([g.region, g.node, g.app, g.route, g.reason?.code]);

const replaceGroups = (data) => grouped.set({ list: data.groups, fresh: 0, total: data.total, exact: data.exact, since: data.since });

const updateInPlace = (list, data) => {
	const byKey = new Map(data.groups.map((g) => [keyOf(g), g]));
	const stay = list.map((g) => byKey.get(keyOf(g)) ?? g);
	for (const g of list) byKey.delete(keyOf(g));
	grouped.set({ ...grouped.get(), list: stay, fresh: byKey.size, total: data.total });
};

groupsQuery.state.watch(({ data }) => {
	const { list } = grouped.get();
	if (!data) grouped.set(NOTHING);
	else if (list?.length && held()) updateInPlace(list, data);
	else replaceGroups(data);
});

export const showGroups = () => {
	const { data } = groupsQuery.state.get();
	if (data) replaceGroups(data);
};

export const setGroupsHold = (fn) => {
	held = fn;
};

export const loadGroups = (filters) => {
	const live = isLive(filters);
	groupsQuery.begin(() => ({ path: '/api/v1/requests/groups', params: [...pairs(filters), ['limit', SHOWN], ['sort', filters.sort ?? ORDERS[0]]], live }));
};

export const endGroups = groupsQuery.end;

// The filters that select the rows of a group.
export const rowsOfGroup = (filters, g) => {
	const own = { region: g.region, node: g.node, app: g.app, route: g.route, reason: g.reason?.code };
	const f = { ...filters, view: undefined };
	for (const [name, value] of Object.entries(own)) if (isQueryable(value ?? NONE)) f[name] = [value || NONE];
	return f;
};
