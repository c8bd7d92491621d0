// SPDX-License-Identifier: Apache-2.0
// The grouped view: the content of a group, how it opens, and that it holds still under the pointer. Export.
import { readFile } from 'node:fs/promises';
import { CHECK, CHECK_EQ, TEST, sleep, until } from '../browser.mjs';
import { fleet, request } from '../mock/data.mjs';

const query = (t) => new URL(t.page.url()).searchParams;
const cells = (t, of) => t.page.$$eval(`tbody .g-${of}`, (all) => all.map((td) => td.innerText.trim()));
const one = (over, ago) => request({ node: 'web-1', app: 'nginx', path: '/pay', method: 'GET', queueTime: 0, time: Date.now() - ago, ...over });

const pay = () => [
	one({ reason: 'app.error', status: 500, requestTime: 10 }, 1000),
	one({ reason: 'app.error', status: 500, requestTime: 30 }, 61_000),
	one({ reason: 'app.error', status: 503, requestTime: 20 }, 121_000),
	one({ reason: 'up.slow', status: 200, requestTime: 900 }, 5000),
];

TEST('the first page shows groups with their counts, times and statuses', async (t) => {
	t.mock.rows = pay();
	await t.open('/requests?view=groups');
	await until('two groups', async () => (await t.rows()).length === 2);
	CHECK_EQ([await cells(t, 'n'), await cells(t, 'p50'), await cells(t, 'max')], [['3', '1'], ['20.0', '900.0'], ['30.0', '900.0']], 'count, median, longest');
	CHECK_EQ((await cells(t, 'statuses'))[0].replace(/\s+/g, ' '), '500 failed ×2 503 failed ×1', 'the statuses');
	CHECK((await cells(t, 'why'))[0].startsWith('App failed by itself'), 'the reason');
	const [most] = await t.page.$$eval('.spark title', (all) => all.map((el) => el.textContent));
	CHECK(/^3 in this range, at most [123] in a twentieth of it$/.test(most), `the line over time in words: ${most}`);
	await until('the coverage is said', async () => /stored\s+4/.test(await t.text('.coverage')));
});

TEST('groups with the most failures come first; a heading sorts by another value and the address keeps it', async (t) => {
	t.mock.rows = [one({ reason: 'up.slow', status: 200, requestTime: 20_000 }, 1000), ...pay().slice(0, 3).map((r) => ({ ...r, time: new Date(Date.now() - 90_000).toISOString() }))];
	await t.open('/requests?view=groups');
	await until('two groups', async () => (await t.rows()).length === 2);
	const harm = async () => (await cells(t, 'harm')).map((text) => text.replace(/\s+/g, ' '));
	CHECK_EQ([await cells(t, 'n'), await harm()], [['3', '1'], ['3 failed', '+19 s']], 'the failures are first');
	CHECK_EQ(await t.page.getAttribute('th.g-count', 'aria-sort'), 'descending', 'what is sorted by');
	for (const [order, column, counts] of [['last', 'last', ['1', '3']], ['slowest', 'times', ['1', '3']], ['count', 'count', ['3', '1']]]) {
		await t.page.click(`th a[data-sort=${order}]`);
		await until(`sorted by ${order}`, async () => (await t.page.getAttribute(`th.g-${column}`, 'aria-sort')) === 'descending' && JSON.stringify(await cells(t, 'n')) === JSON.stringify(counts));
		CHECK_EQ(query(t).get('sort'), order, 'the address');
	}
	await t.page.click('th a[data-sort=harm]');
	await until('the first order again', async () => query(t).get('sort') === null);
});

TEST('a group leads to the diagnosis of its newest request', async (t) => {
	t.mock.rows = pay();
	await t.open('/requests?view=groups');
	await until('two groups', async () => (await t.rows()).length === 2);
	CHECK_EQ(await t.page.getAttribute('.groups tbody tr:first-child .g-links a:nth-child(2)', 'href'), `/requests/${t.mock.rows[0].id}`, 'the link');
});

TEST('every page says how many incidents are open, and since when', async (t) => {
	t.mock.rows = pay();
	t.mock.openIncidents = { open: 2, since: '2026-11-21T05:40:00.000Z' };
	await t.open('/nodes');
	await t.page.waitForSelector('.top nav .open-count');
	CHECK((await t.text('.top nav a[href="/incidents"]')).includes('2 incidents are open, the oldest since'), 'the words');
	CHECK((await t.page.title()).startsWith('(2) '), 'the title');
});

TEST('every page says how many nodes are silent', async (t) => {
	t.mock.rows = pay();
	t.mock.silentNodes = 1;
	await t.open('/requests');
	await t.page.waitForSelector('.top nav a[href="/nodes"] .open-count');
	CHECK((await t.text('.top nav a[href="/nodes"]')).includes('1 node has sent nothing for 10 s or longer'), 'the words');
});

TEST('a group opens its rows by click and by Enter, and back returns to it', async (t) => {
	t.mock.rows = pay();
	await t.open('/requests?view=groups');
	await until('two groups', async () => (await t.rows()).length === 2);
	await t.page.keyboard.press('j');
	await t.page.keyboard.press('Enter');
	await t.page.waitForSelector('table.requests:not(.groups)');
	await t.shows(3);
	CHECK_EQ(['view', 'region', 'node', 'app', 'route', 'reason'].map((name) => query(t).get(name)), [null, 'eu-1', 'web-1', 'nginx', 'GET /pay', 'app.error'], 'the address');
	await t.page.goBack();
	await t.page.waitForSelector('.groups');
	await until('the group that was open has the focus', () => t.page.evaluate(() => document.activeElement.closest('tr')?.querySelector('.g-n').innerText === '3'));
	await t.page.click('.groups tbody tr:nth-child(2) .g-node');
	await t.shows(1);
});

TEST('links switch between groups and rows and keep the filters; a link to rows stays rows', async (t) => {
	t.mock.rows = pay();
	await t.open('/?app=nginx');
	await t.page.click('.views a:has-text("Rows")');
	await t.shows(4);
	CHECK_EQ([query(t).get('app'), query(t).get('view')], ['nginx', null], 'the address');
	await t.page.reload();
	await t.shows(4);
	CHECK_EQ(await t.text('.views [aria-current]'), 'Rows', 'the view');
	await t.page.click('.views a:has-text("Groups")');
	await t.page.waitForSelector('.groups');
	CHECK_EQ([query(t).get('app'), query(t).get('view')], ['nginx', 'groups'], 'the address');
});

TEST('live rows change the groups, with a query at most every 2 s', async (t) => {
	t.mock.rows = pay();
	await t.open('/requests?view=groups');
	await t.live();
	await until('two groups', async () => (await t.rows()).length === 2);
	const from = t.mock.asked.length, began = Date.now();
	for (let i = 0; i < 20; i += 1) {
		t.mock.emit(one({ reason: 'up.slow', status: 200, requestTime: 900 }, 0));
		await sleep(100);
	}
	await until('all are counted', async () => (await cells(t, 'n')).includes('21'));
	const asked = t.mock.asked.slice(from).filter((a) => a.startsWith('/api/v1/requests/groups'));
	CHECK(asked.length <= 2 + (Date.now() - began) / 2000, `asked ${asked.length} times`);
});

TEST('under the pointer counts change in place, and new groups wait behind the chip', async (t) => {
	t.mock.rows = pay();
	await t.open('/?sort=last');
	await t.live();
	await until('two groups', async () => (await t.rows()).length === 2);
	await t.page.hover('.groups tbody tr:nth-child(2)');
	const before = await t.rows();
	t.mock.emit(one({ reason: 'up.slow', status: 200, requestTime: 900 }, 0));
	t.mock.emit(one({ reason: 'up.retry', status: 200, requestTime: 900 }, 0));
	await until('the new one waits', async () => (await t.text('.fresh')).includes('1 new'));
	CHECK_EQ([await t.rows(), await cells(t, 'n')], [before, ['3', '2']], 'the groups and their counts');
	await t.page.click('.fresh button');
	await until('it is shown', async () => (await t.rows()).length === 3);
	CHECK(!before.includes((await t.rows())[0]), 'on top');
});

TEST('without groups the page says what is watched, and the first group appears by itself', async (t) => {
	t.mock.nodes = fleet(1);
	await t.open('/requests?view=groups');
	await t.page.waitForSelector('.empty');
	await t.live();
	t.mock.emit(one({ reason: 'app.error', status: 500 }, 0));
	await until('the group', async () => (await t.rows()).length === 1);
	CHECK_EQ(await t.page.$('.empty'), null, 'the words');
});

TEST('a lost collector and its return are shown over groups, too', async (t) => {
	t.mock.rows = pay();
	await t.open('/requests?view=groups');
	await until('two groups', async () => (await t.rows()).length === 2);
	t.mock.away = true;
	t.mock.emit(one({ reason: 'app.error', status: 500 }, 0));
	await until('the banner', async () => (await t.page.$('.banner[data-kind=db]')) !== null);
	CHECK_EQ((await t.rows()).length, 2, 'what was shown stays');
	t.mock.away = false;
	await until('the banner is gone', async () => (await t.page.$('.banner')) === null);
});

for (const as of ['CSV', 'NDJSON']) {
	TEST(`what is filtered is a file: ${as}`, async (t) => {
		t.mock.rows = pay();
		await t.open('/?status=500&status=503&app=!orders&from=2020-01-01T00:00:00Z');
		const [download] = await Promise.all([t.page.waitForEvent('download'), t.page.click(`.export:has-text("${as === 'CSV' ? 'CSV' : 'NDJSON'}")`)]);
		const lines = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/);
		CHECK_EQ(lines.length, as === 'CSV' ? 4 : 3, 'lines');
		const asked = new URL(t.mock.asked.findLast((a) => a.includes(`requests.${as.toLowerCase()}`)), 'http://x').searchParams;
		CHECK_EQ([...asked], [['from', '2020-01-01T00:00:00Z'], ['app', '!orders'], ['status', '500'], ['status', '503']], 'what was asked');
	});
}
