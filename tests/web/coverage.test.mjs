// SPDX-License-Identifier: Apache-2.0
// Coverage on every page with requests: losses with node, time and what to do; unread connections by app.
import { CHECK, CHECK_EQ, TEST, until } from './browser.mjs';
import { fleet, loss, node, request, some, unread } from './mock/data.mjs';
import { shapes } from './mock/explore.mjs';

const figures = (t) => t.page.$$eval('.coverage .figure', (all) => Object.fromEntries(all.map((el) => [el.dataset.name, el.querySelector('b').innerText])));
const asked = (t) => Object.fromEntries(new URL(t.mock.asked.findLast((a) => a.startsWith('/api/v1/coverage')), 'http://x').searchParams);
const ago = (ms) => new Date(Date.now() - ms).toISOString();
const more = async (t) => {
	await t.page.click('#cover-more');
	await t.page.waitForSelector('.cover-details');
	return t.text('.cover-details');
};

TEST('every page with requests shows what was seen and what was lost', async (t) => {
	const row = request({ time: Date.now() - 3600e3, node: 'web-2' });
	Object.assign(t.mock, { rows: [row, ...some(3)], nodes: fleet(3), shapes, seen: 48213, withheld: 12, losses: [loss()], unread });
	await t.open('/requests');
	for (const where of ['/requests', '/?view=rows', '/red', '/nodes', row.diagnosis, '/?q=nothing', '/?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z']) {
		await t.page.goto(t.mock.url + where);
		await until(`${where} has its figures`, async () => (await figures(t)).seen === '48,213');
		CHECK_EQ([(await figures(t)).withheld, (await figures(t)).lost, (await figures(t)).unread], ['12', '7', '327'], where);
		CHECK((await t.text('.headline')).includes('web-2 7 requests lost: the ring buffer to the probe was full'), `${where} says the loss`);
	}
});

TEST('a loss has its node, its time and what to do; an ongoing one says so', async (t) => {
	const first = ago(600e3);
	t.mock.losses = [loss({ first, last: ago(500e3) })];
	await t.open('/requests', { timezoneId: 'UTC' });
	await until('the line', () => t.page.$('.headline'));
	const clock = (time) => time.slice(11, 19);
	const said = await t.text('.headline');
	CHECK(said.includes(`${clock(first)} +00:00 to `) && said.includes(clock(t.mock.losses[0].last)) && said.includes('Raise ring_mb in [request] of its probe.conf'), said);
	CHECK_EQ((await t.page.$$('.coverage .figure.warn[data-name=lost]')).length, 1, 'the figure that warns');
	t.mock.losses = [loss({ first, last: ago(0), name: 'conn_full', unit: 'connections', count: 4 })];
	await t.page.reload();
	await until('it goes on', async () => (await t.page.$('.headline')) && (await t.text('.headline')).includes(`since`));
	CHECK((await t.text('.headline')).includes('4 connections not followed: the table was full') && (await t.text('.headline')).includes('ongoing'), 'the connections');
});

TEST('a loss that costs no request is listed without a warning', async (t) => {
	t.mock.losses = [loss({ name: 'late_bytes', unit: 'sends', count: 3 }), loss({ name: 'pipelined', count: 40 })];
	await t.open('/requests');
	await until('the figures', async () => (await figures(t)).lost === '0');
	CHECK_EQ([await t.page.$('.headline'), await t.page.$('.figure.warn')], [null, null], 'warnings');
	const said = await more(t);
	CHECK(said.includes('3 sends after the assumed end of an answer') && said.includes('is too early'), said);
	CHECK(!said.includes('40 pipelined'), 'pipelined requests stand by app');
});

TEST('an unknown counter is shown as a loss with its own name and unit', async (t) => {
	t.mock.losses = [loss({ name: 'uring_sockets', unit: 'sockets', count: 4, node: 'db-1' })];
	await t.open('/requests');
	await until('the line', () => t.page.$('.headline'));
	CHECK((await t.text('.headline')).trim().startsWith('db-1 4 sockets: uring_sockets (this console does not know this counter; the probe is newer)'), await t.text('.headline'));
	CHECK_EQ([(await t.page.$$('.headline.warn')).length, (await t.page.$$('.figure.warn[data-name=lost]')).length], [1, 0], 'it warns, but no request was lost');
});

TEST('all losses, gravest first, and the unread connections of each app are one click away', async (t) => {
	t.mock.losses = [loss({ name: 'late_bytes', unit: 'sends', count: 3, last: ago(0) }), loss(), loss({ name: 'rows_withheld', count: 12, last: ago(1000), node: 'web-1' })];
	t.mock.unread = unread;
	await t.open('/requests');
	await until('the line', async () => (await t.page.$('.headline')) && (await t.text('.headline')).includes('1 more'));
	await more(t);
	CHECK_EQ(await t.page.$$eval('.cover-details [data-loss]', (all) => all.map((li) => li.dataset.loss)), ['rows_withheld', 'ring_full', 'late_bytes'], 'the order');
	const lines = await t.page.$$eval('.cover-details .unread li', (all) => all.map((li) => li.innerText));
	CHECK_EQ(lines, ['nginx: 312 encrypted connections not read', 'envoy: 13 HTTP/2 connections not read', 'chat: 2 upgraded connections (WebSocket …) not read after the upgrade', 'orders: 40 pipelined requests counted, without rows'], 'what was not read');
	CHECK_EQ(await t.page.$('.headline'), null, 'nothing is said twice');
	await t.page.click('#cover-more');
	CHECK_EQ(await t.page.$('.cover-details'), null, 'the panel');
});

TEST('batches that never arrived are reported with what to do', async (t) => {
	await t.open('/requests');
	await until('it was asked', async () => (await figures(t)).lost === '0');
	t.mock.lostBatches = 5;
	await t.page.reload();
	await until('the figure warns', () => t.page.$('.figure.warn[data-name=lost]'));
	const said = await more(t);
	CHECK(said.includes('5 batches of requests never arrived') && said.includes('spool_mb'), said);
});

TEST('coverage follows the range, region and node of the filters', async (t) => {
	await t.open('/?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&node=web-1&region=!eu-1&app=nginx&status=5xx');
	await until('it was asked', () => t.mock.asked.some((a) => a.startsWith('/api/v1/coverage')));
	CHECK_EQ(asked(t), { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', region: '!eu-1', node: 'web-1' }, 'what the API was asked');
});

TEST('the page of a request shows what its node missed in the minute around it', async (t) => {
	const row = request({ time: Date.now() - 3600e3, node: 'web-2', requestTime: 1000 });
	Object.assign(t.mock, { rows: [row], losses: [loss({ node: 'web-1', count: 9 }), loss()] });
	await t.open(row.diagnosis);
	await until('the line', () => t.page.$('.headline'));
	const { from, to, node: of } = asked(t);
	CHECK_EQ([Date.parse(row.time) - Date.parse(from), Date.parse(to) - Date.parse(row.end), of], [60_000, 60_000, 'web-2'], 'what the API was asked');
	CHECK((await t.text('.coverage')).includes('web-2, the minute before and after'), 'of what it is');
	CHECK(!(await t.text('.coverage')).includes('web-1'), 'another node');
});

TEST('an app with unreadable connections is named where its requests are missing', async (t) => {
	t.mock.unread = unread;
	const sentence = 'nginx: 312 encrypted connections not read';
	for (const where of ['/?app=nginx', '/?app=nginx&view=rows', '/red?app=nginx', '/requests']) {
		await (t.page ? t.page.goto(t.mock.url + where) : t.open(where));
		await until(`${where} says it`, async () => (await t.text('main')).includes(sentence));
		if (where !== '/requests') CHECK(!(await t.text('main')).includes('envoy'), `${where} names another app`);
	}
});

TEST('each counter of a node has the time it rose and what to do about it', async (t) => {
	t.mock.nodes = [node({ name: 'web-2', coverage: { requests_seen: 9, ring_full: 7, late_bytes: 0 } })];
	t.mock.losses = [loss()];
	await t.open('/nodes', { timezoneId: 'UTC' });
	await until('the remark', () => t.page.$('.remark'));
	const said = await t.text('.remark');
	CHECK(said.includes(`${t.mock.losses[0].first.slice(11, 19)} +00:00 to `) && said.includes('Raise ring_mb'), said);
	CHECK_EQ((await t.page.$$('.remark')).length, 1, 'remarks');
});

TEST('a row count that is not exact is shown as about so many', async (t) => {
	Object.assign(t.mock, { stored: 1234567 });
	await t.open('/requests');
	await until('the figure', async () => (await figures(t)).stored === 'about 1,234,567');
});

TEST('coverage in Chinese is Chinese', async (t) => {
	Object.assign(t.mock, { losses: [loss(), loss({ name: 'uring_sockets', unit: 'sockets' })], unread });
	await t.open('/requests', { locale: 'zh-CN' });
	await until('the line', () => t.page.$('.headline'));
	const said = await more(t);
	for (const part of ['丢失的请求：通往探针的环形缓冲已满：7', 'ring_mb', 'uring_sockets：7 sockets', 'nginx：312 个加密连接未读', 'orders：40 个流水线请求']) CHECK(said.includes(part), `it says: ${part}, in ${said}`);
	CHECK(!/\b(cov|do|c)\.\w+/.test(said), 'a key of a message');
});

TEST('hostile text in losses and in what was not read is text', async (t) => {
	const evil = '<img src=x onerror="window.hurt=1">\u202e\u0000';
	const long = 'x'.repeat(5000);
	t.mock.losses = [loss({ node: evil, name: evil, unit: evil }), loss({ node: long, name: long, unit: long }), loss({ name: '__proto__' }), loss({ name: 'constructor', count: 2 })];
	t.mock.unread = [{ app: evil, kind: evil, count: 1, nodes: [evil], last: ago(0) }, { app: long, kind: 'tls', count: 1, nodes: [], last: ago(0) }];
	await t.open('/red');
	await until('the line', () => t.page.$('.headline'));
	const said = await more(t);
	CHECK(said.includes('<img src=x') && said.includes('\\u202e\\x00') && !said.includes('\u202e'), 'readable, and turns nothing');
	CHECK(said.length < 3000, `it is cut (${said.length})`);
	CHECK_EQ(await t.page.evaluate(() => [window.hurt, document.querySelectorAll('img').length, document.documentElement.scrollWidth <= innerWidth]), [undefined, 0, true], 'what it did');
});
