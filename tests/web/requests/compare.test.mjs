// SPDX-License-Identifier: Apache-2.0
// A chosen range beside the time before it.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { request } from '../mock/data.mjs';
import { beforeRange, differences } from '../../../web/src/data/compare.js';

const facets = (total, of) => ({ total, facets: Object.fromEntries(Object.entries(of).map(([name, values]) => [name, Object.entries(values).map(([value, count]) => ({ value, count }))])) });

TEST('values whose share differs most come first, and small differences are left out', async () => {
	const before = facets(100, { app: { shop: 50, cart: 50 }, node: { a: 98, b: 2 }, status: { 500: 100 } });
	const here = facets(10, { app: { shop: 10 }, node: { a: 9, b: 1 }, status: { 500: 7, 502: 3 } });
	CHECK_EQ(differences(here, before, {}).map((d) => [d.name, d.value]), [['app', 'shop'], ['app', 'cart'], ['status', '500'], ['status', '502'], ['node', 'a'], ['node', 'b']], 'the order');
	CHECK_EQ(differences(here, before, { app: ['shop'] }).filter((d) => d.name === 'app'), [], 'a filtered name');
	CHECK_EQ(differences(facets(10, { node: { a: 10 } }), facets(100, { node: { a: 97, b: 3 } }), {}), [], 'small differences');
	CHECK_EQ(differences(facets(10, { app: { shop: 10 } }), facets(0, { app: {} }), {}).map((d) => [d.value, d.here, d.before]), [['shop', 1, 0]], 'nothing before');
});

TEST('a value that a full list does not name is not taken for one that never occurs', async () => {
	const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}`, 20 - i > 10 ? 30 : 20]));
	const before = facets(500, { node: many });
	const found = differences(facets(100, { node: { n0: 50, other: 50 } }), before, {});
	const other = found.find((d) => d.value === 'other');
	CHECK_EQ([other.here, other.before, other.hereMost, other.beforeMost], [0.5, 0.04, false, true], 'at most the last one');
	CHECK_EQ(differences(facets(100, { node: { other: 8 } }), before, {}).filter((d) => d.value === 'other'), [], 'it may be no difference at all');
});

TEST('the time before a range is as long, and at least an hour', async () => {
	const range = (from, to) => ({ from: `2026-03-01T${from}:00.000Z`, to: `2026-03-01T${to}:00.000Z` });
	CHECK_EQ(beforeRange(range('10:00', '10:05')), range('09:00', '10:00'), 'an hour');
	CHECK_EQ(beforeRange(range('10:00', '13:00')), range('07:00', '10:00'), 'three hours');
});

TEST('a chosen range says what differs from the hour before, and a click filters by it', async (t) => {
	const at = (minutes) => new Date(Date.parse('2026-03-01T10:00:00Z') + minutes * 60e3).toISOString();
	const one = (time, over) => request({ time, node: 'web-1', app: 'shop', reason: 'app.error', status: 500, path: '/buy', method: 'GET', ...over });
	t.mock.rows = [...[1, 2, 3, 4].map((k) => one(at(k), { app: 'cart', node: 'web-2' })), ...Array.from({ length: 20 }, (_, k) => one(at(-k - 1)))];
	await t.open('/requests');
	CHECK_EQ(await t.page.$('.compare'), null, 'a live range has nothing to compare');
	await t.open(`/requests?from=${at(0)}&to=${at(5)}`);
	await t.page.click('.compare summary');
	await t.page.waitForSelector('.compare tbody tr');
	const rows = await t.page.$$eval('.compare tbody tr', (all) => all.map((tr) => [...tr.cells].map((td) => td.innerText.trim())));
	CHECK(rows.some(([, value, , here, before]) => value === 'cart' && here === '100 %' && before === '0 %'), JSON.stringify(rows));
	CHECK((await t.text('.compare .hint')).startsWith('4 abnormal requests in this range, beside 20 from'), 'the counts');
	await t.page.click('.compare a:has-text("cart")');
	await until('it is filtered', async () => new URL(t.page.url()).searchParams.get('app') === 'cart');
});
