// SPDX-License-Identifier: Apache-2.0
// The table: rows, live rows, paging, the bound, the empty table, the coverage line.
import { readFile } from 'node:fs/promises';
import { CHECK, CHECK_EQ, TEST, sleep, until } from '../browser.mjs';
import { fleet, loss, node, request, some, unread, upstream } from '../mock/data.mjs';

const scrollTo = (t, top) => t.page.$eval('main', (el, y) => (el.scrollTop = y), top);
const fresh = (t) => t.page.$eval('.fresh', (el) => el.innerText);

TEST('a row shows every column of the API, newest first', async (t) => {
	t.mock.rows = [
		request({ time: Date.now() - 5000, path: '/older' }),
		request({ time: Date.now() - 1000, path: '/newer', method: 'GET', node: 'web-9', app: 'nginx', remoteAddr: '192.0.2.7:4711', reason: 'up.slow', status: 200, requestTime: 1838.4, queueTime: 0, upstreamResponseTime: 1790.2, upstreams: [upstream()], timesNormal: 54.1 }),
	];
	await t.open();
	await t.shows(2);
	const cells = await t.page.$$eval('tbody tr:first-child td', (all) => all.map((td) => td.innerText.replace(/\s+/g, ' ').trim()));
	const p = new Date(Date.parse(t.mock.rows[1].time) + 8 * 3600e3).toISOString();
	CHECK_EQ(cells[0].replace(/[^\d+:.-]/g, ''), `${p.slice(0, 10)}${p.slice(11, 23)}+08:00`.replace(/[^\d+:.-]/g, ''), 'the time');
	CHECK_EQ(cells.slice(1, 9), ['web-9', 'nginx', '192.0.2.7:4711', '10.20.0.14:8080', 'GET /newer', '1,838.4', '1,790.2', '54×'], 'the columns');
	CHECK(cells[9].includes('200') && cells[9].includes('slow'), 'the status says slow in words');
	CHECK_EQ(cells[10], 'Upstream 10.20.0.14:8080 took 1790 ms of 1842 ms', 'the reason');
	CHECK_EQ(await t.page.$eval('tbody tr:first-child .c-diagnosis a', (a) => a.getAttribute('href')), `/requests/${t.mock.rows[1].id}`, 'the link');
});

TEST('a live row is visible within a second of its end', async (t) => {
	t.mock.rows = some(3);
	await t.open();
	await t.shows(3);
	await t.live();
	const took = [];
	for (let i = 0; i < 10; i += 1) {
		const start = Date.now();
		const row = t.mock.emit(request({ time: Date.now() }));
		await until('the row is there', async () => (await t.rows())[0] === row.id);
		took.push(Date.now() - start);
	}
	took.sort((a, b) => a - b); /* visible.sh measures each of them while nothing else runs */
	CHECK(took[4] < 1000, `half of the rows took ${took[4]} ms and more`);
});

TEST('a row that is older than the newest takes its place by time', async (t) => {
	t.mock.rows = some(3);
	await t.open();
	await t.live();
	await t.shows(3);
	const late = t.mock.emit(request({ time: Date.parse(t.mock.rows[1].time) - 500 }));
	await t.shows(4);
	CHECK_EQ((await t.rows()).indexOf(late.id), 2, 'its place');
});

TEST('older rows load page by page, each once, to the end', async (t) => {
	t.mock.rows = some(250);
	await t.open();
	await t.shows(100);
	await t.page.click('text=Load older');
	await t.shows(200);
	await t.page.click('text=Load older');
	await t.shows(250);
	CHECK_EQ(new Set(await t.rows()).size, 250, 'distinct rows');
	CHECK((await t.text('main')).includes('All rows of this range are shown: 250'), 'the end is said');
});

TEST('new rows wait while the user reads further down, and nothing moves', async (t) => {
	t.mock.rows = some(100);
	await t.open();
	await t.shows(100);
	await t.live();
	await scrollTo(t, 600);
	const [before, top] = [await t.rows(), await t.page.$eval('tbody tr:nth-child(30)', (tr) => tr.getBoundingClientRect().top)];
	for (let i = 0; i < 5; i += 1) t.mock.emit(request({ time: Date.now() }));
	await until('the chip says five', async () => (await fresh(t)).includes('5 new'));
	CHECK_EQ(await t.rows(), before, 'the rows');
	CHECK_EQ(await t.page.$eval('tbody tr:nth-child(30)', (tr) => tr.getBoundingClientRect().top), top, 'where the row lies');
	await t.page.click('.fresh button');
	await t.shows(105);
	CHECK_EQ(await t.page.$eval('main', (el) => el.scrollTop), 0, 'the place');
	CHECK_EQ(await fresh(t), '', 'the chip');
});

const holds = (t, n) => until(`the table has ${n} rows`, async () => Number(await t.page.getAttribute('table.requests', 'aria-rowcount')) === n + 1, 30000); // beside other tests

TEST('of many rows those near the visible part are drawn, wherever it is, and the keyboard goes on from there', async (t) => {
	t.mock.rows = some(100);
	await t.open();
	await t.shows(100);
	await t.live();
	const elements = () => t.page.$$eval('main *', (all) => all.length);
	for (let i = 0; i < 200; i += 1) t.mock.emit(request({ time: Date.now() + i }));
	await holds(t, 300);
	const few = await elements();
	for (let i = 0; i < 1700; i += 1) t.mock.emit(request({ time: Date.now() + 1000 + i }));
	await holds(t, 2000);
	await until('no more are drawn than of a few hundred', async () => (await elements()) <= few);
	const place = () => t.page.$eval('main', (el) => [el.scrollTop, el.scrollHeight, el.clientHeight]);
	const inSight = () => t.page.$eval('main', (el) => [...el.querySelectorAll('tbody tr[data-id]')].filter((tr) => { const r = tr.getBoundingClientRect(); const m = el.getBoundingClientRect(); return r.bottom > m.top + 40 && r.top < m.bottom; }).map((tr) => tr.dataset.id));
	const order = [...t.mock.rows].sort((a, b) => (a.time === b.time ? (a.id < b.id ? 1 : -1) : a.time < b.time ? 1 : -1)).map((r) => r.id);
	for (const part of [0.5, 0.98, 0.25, 0]) {
		const [, height, shown] = await place();
		await t.page.$eval('main', (el, y) => (el.scrollTop = y), part * (height - shown));
		await until(`rows fill the page at ${part}`, async () => (await inSight()).length >= Math.floor(shown / 50));
		const ids = await inSight();
		const at = order.indexOf(ids[0]);
		CHECK_EQ(ids, order.slice(at, at + ids.length), `the rows at ${part}, none left out`);
		CHECK(Math.abs(at / 2000 - part) < 0.1, `row ${at} of ${order.length} lies at ${part}: ${await place()}, ${ids.length} in sight`);
		CHECK((await elements()) <= few, `elements at ${part}`);
		await t.page.keyboard.press('j');
		const focused = await t.page.evaluate(() => document.activeElement.closest('tr')?.dataset.id);
		CHECK(ids.slice(0, 2).includes(focused), `the keyboard is at ${order.indexOf(focused)}, the page at ${at}`);
		await t.page.keyboard.press('Escape');
	}
});

TEST('the table holds a bounded number of rows, says so, and links to older ones', async (t) => {
	t.mock.rows = some(300);
	await t.open();
	await t.shows(100);
	await t.live();
	for (let i = 0; i < 1850; i += 1) t.mock.emit(request({ time: Date.now() + (i % 7) }));
	await holds(t, 1950);
	await t.page.click('text=Load older');
	await holds(t, 2000);
	CHECK((await t.text('.more')).includes('keeps at most 2,000 rows'), 'the bound is said');
	t.mock.emit(request({ time: Date.now() }));
	await sleep(300);
	await holds(t, 2000);
	await t.page.click('text=Show the rows before');
	await t.shows(100);
	CHECK(t.page.url().includes('to=20'), 'the end of the range is in the address');
});

TEST('an empty table shows within 5 s what is watched and how to produce a row', async (t) => {
	t.mock.nodes = fleet(1);
	t.mock.servers = [{ node: 'web-1', app: 'nginx', port: 443, rate: 41.3 }, { node: 'web-1', app: 'postgres-proxy', port: 6000, rate: 0 }];
	const took = [];
	for (let i = 0; i < 3 && !(took.at(-1) < 5000); i += 1) { /* repeated if the machine was busy */
		const start = Date.now();
		await t.open();
		await t.page.waitForSelector('.empty');
		took.push(Date.now() - start);
	}
	CHECK(took.at(-1) < 5000, `it is said after ${took} ms`);
	const said = await t.text('.empty');
	for (const part of ['Nothing abnormal yet', '41 requests per second', 'servers: 2', 'nginx', '443', 'make row']) CHECK(said.includes(part), `it says ${part}`);
	CHECK((await readFile(new URL('../../../Makefile', import.meta.url), 'utf8')).includes('\nrow:'), 'the Makefile knows the command');
	t.mock.emit(request({ time: Date.now() }));
	await t.shows(1);
	CHECK((await t.page.$('.empty')) === null, 'the words are gone');
});

TEST('without any probe the empty table shows how to start one', async (t) => {
	t.mock.nodes = [];
	await t.open();
	await t.page.waitForSelector('.empty');
	CHECK((await t.text('.empty')).includes('seismo-probe --collector'), 'the command');
});

TEST('an empty table names the node that is silent', async (t) => {
	t.mock.nodes = [node({ name: 'web-4', lag: 3600e3 * 3 })];
	await t.open();
	await t.page.waitForSelector('.empty .warn');
	CHECK((await t.text('.empty .warn')).includes('web-4 has been silent for 3 h'), 'the node');
});

TEST('the coverage footer shows seen, stored, withheld, lost and unread', async (t) => {
	Object.assign(t.mock, { rows: some(2), seen: 48213, withheld: 12, losses: [loss({ count: 3 })], unread });
	await t.open();
	await t.shows(2);
	await until('the nodes are counted', async () => (await t.text('.coverage')).includes('327'));
	const figures = await t.page.$$eval('.figure', (all) => Object.fromEntries(all.map((f) => [f.dataset.name, f.querySelector('b').innerText])));
	CHECK_EQ(figures, { seen: '48,213', stored: '2', withheld: '12', lost: '3', unread: '327' }, 'the figures');
});

TEST('the number of rows is shown, or that there are more than a bound', async (t) => {
	t.mock.rows = some(130);
	await t.open();
	await t.shows(100);
	await until('all are counted', async () => (await t.text('#shown')) === '100 rows shown of 130');
	t.mock.most = 120;
	await t.page.reload();
	await until('more is said', async () => (await t.text('#shown')) === '100 rows shown of > 120');
});
