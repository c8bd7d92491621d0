// SPDX-License-Identifier: Apache-2.0
// The live connection: loss and recovery, hidden pages, a database that is away.
import { CHECK, CHECK_EQ, TEST, sleep, until } from '../browser.mjs';
import { request, some } from '../mock/data.mjs';

const banner = (t) => t.page.$eval('body', (b) => b.querySelector('.banner')?.innerText ?? '');
const hide = (t, hidden) =>
	t.page.evaluate((h) => {
		Object.defineProperty(document, 'hidden', { value: h, configurable: true });
		document.dispatchEvent(new Event('visibilitychange'));
	}, hidden);

TEST('a lost collector has a banner, and after its return every row is there', async (t) => {
	t.mock.rows = some(3);
	await t.open();
	await t.shows(3);
	await t.live();
	const { port } = t.mock;
	await t.mock.stop();
	await until('the banner says so', async () => (await banner(t)).includes('No connection to the collector'));
	CHECK((await banner(t)).includes('+08:00'), 'the banner has a time with its zone');
	CHECK((await banner(t)).includes('systemctl status seismo-collector'), 'the banner says what to do');
	t.mock.rows.push(request({ time: Date.now() }));
	await t.mock.start(port);
	await t.shows(4);
	await until('the banner is gone', async () => (await banner(t)) === '');
	t.mock.emit(request({ time: Date.now() }));
	await t.shows(5);
});

TEST('more rows than one page during an outage leave no gap', async (t) => {
	t.mock.rows = some(3, {});
	await t.open();
	await t.shows(3);
	await t.live();
	const { port } = t.mock;
	await t.mock.stop();
	t.mock.rows.push(...Array.from({ length: 150 }, (_, i) => request({ time: Date.now() + i })));
	await t.mock.start(port);
	await t.shows(100);
	await t.page.click('text=Load older');
	await t.shows(153);
});

TEST('a gap that opens while the user reads waits behind the chip', async (t) => {
	t.mock.rows = some(100);
	await t.open();
	await t.shows(100);
	await t.live();
	await t.page.$eval('main', (el) => (el.scrollTop = 500));
	const before = await t.rows();
	const { port } = t.mock;
	await t.mock.stop();
	t.mock.rows.push(...Array.from({ length: 150 }, (_, i) => request({ time: Date.now() + i })));
	await t.mock.start(port);
	await until('the chip says so', async () => (await t.text('.fresh')).includes('100+ new'));
	CHECK_EQ(await t.rows(), before, 'the rows');
	await t.page.click('.fresh button');
	await until('the newest are there', async () => (await t.rows())[0] === t.mock.rows.at(-1).id);
});

TEST('a row that arrives while its table is loading is not lost', async (t) => {
	t.mock.rows = some(3);
	t.mock.slow = 600;
	await t.open();
	await t.live();
	await until('the table is asked for', () => t.mock.asked.some((a) => a.startsWith('/api/v1/requests?')));
	await sleep(100);
	t.mock.emit(request({ time: Date.now() }));
	await t.shows(4);
});

TEST('the counts keep up with the rows', async (t) => {
	t.mock.rows = some(3);
	await t.open();
	await t.live();
	await t.shows(3);
	for (let i = 0; i < 5; i += 1) t.mock.emit(request({ time: Date.now() }));
	await t.shows(8);
	await until('eight are stored', async () => (await t.text('[data-name=stored] b')) === '8');
});

TEST('a broken stream resumes after the last event received', async (t) => {
	t.mock.rows = some(1);
	await t.open();
	await t.live();
	t.mock.emit(request({ time: Date.now() }));
	t.mock.emit(request({ time: Date.now() }));
	await t.shows(3);
	for (const res of t.mock.streams) res.destroy();
	await until('it came back', () => t.mock.resumed.length === 2);
	CHECK_EQ(t.mock.resumed, [null, '2'], 'Last-Event-ID');
});

TEST('a hidden page holds no connection, and catches up when it is visible again', async (t) => {
	t.mock.rows = some(1);
	await t.open();
	await t.live();
	await hide(t, true);
	await until('the stream is closed', () => t.mock.streams.size === 0);
	await sleep(700);
	CHECK_EQ(t.mock.streams.size, 0, 'streams while hidden');
	t.mock.emit(request({ time: Date.now() }));
	await hide(t, false);
	await t.shows(2);
	await until('one stream is open', () => t.mock.streams.size === 1);
});

TEST('a page has one stream, whatever the user opens', async (t) => {
	t.mock.rows = some(2);
	await t.open();
	await t.shows(2);
	await t.page.click('tbody tr');
	await t.page.waitForSelector('.verdict');
	await t.page.click('nav a[href="/nodes"]');
	await t.page.waitForSelector('.nodes');
	CHECK_EQ([t.mock.streams.size, t.mock.resumed.length], [1, 1], 'streams open and opened');
});

TEST('a database that is away differs from a lost collector', async (t) => {
	t.mock.rows = some(2);
	await t.open();
	await t.shows(2);
	t.mock.away = true;
	await until('the banner says so', async () => (await banner(t)).includes('its database has not'));
	CHECK((await banner(t)).includes('PostgreSQL'), 'the banner says what to do');
	CHECK_EQ((await t.rows()).length, 2, 'rows that stay');
	t.mock.away = false;
	await until('the banner is gone', async () => (await banner(t)) === '');
});

TEST('while retention is held a banner names the clocks, by how much they differ, and what to do', async (t) => {
	t.mock.rows = some(2);
	t.mock.retention = { held: 'database', apartSeconds: 40 * 86400 };
	await t.open();
	await t.shows(2);
	await until('the banner says so', async () => (await banner(t)).includes('the clocks of PostgreSQL and of the collector differ by 40'));
	CHECK((await banner(t)).includes('Set the wrong clock'), 'the banner says what to do');
	await t.page.click('nav a[href="/nodes"]');
	await t.page.waitForSelector('.nodes');
	CHECK((await banner(t)).includes('Retention holds'), 'the banner is on other pages, too');
	await t.page.click('#lang');
	await until('it is in Chinese', async () => (await banner(t)).includes('PostgreSQL 与收集器的时钟相差'));
	await t.page.click('#lang');
	t.mock.retention = { held: 'moon', apartSeconds: 7200 };
	await until('a cause of a newer collector has a sentence', async () => (await banner(t)).includes('clocks differ by 2'));
	t.mock.retention = undefined;
	await until('the banner is gone', async () => (await banner(t)) === '');
});

TEST('a page opened while the database is away fills when the database is back', async (t) => {
	t.mock.rows = some(2);
	t.mock.away = true;
	await t.open();
	await until('the banner says so', async () => (await banner(t)).includes('its database has not'));
	t.mock.away = false;
	await t.shows(2);
});

TEST('with filters only matching rows come in live', async (t) => {
	t.mock.rows = [request({ time: Date.now() - 3000, app: 'orders' })];
	await t.open('/?app=orders&view=rows');
	await t.shows(1);
	await t.live();
	t.mock.emit(request({ time: Date.now(), app: 'nginx' }));
	t.mock.emit(request({ time: Date.now(), app: 'orders' }));
	await t.shows(2);
	await sleep(600);
	CHECK_EQ((await t.rows()).length, 2, 'rows');
});

TEST('a range with an end is not live', async (t) => {
	t.mock.rows = some(5);
	const to = t.mock.rows[0].time;
	await t.open(`/?view=rows&to=${to}`);
	await t.shows(4);
	t.mock.emit(request({ time: Date.now() }));
	await sleep(500);
	CHECK_EQ((await t.rows()).length, 4, 'rows');
	CHECK_EQ(await t.text('.live'), 'Fixed range', 'what it says');
});
