// SPDX-License-Identifier: Apache-2.0
// The page of one request: verdict, times that add up, tries, facts, permalink, missing requests.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { idOf, node, request, some, upstream } from '../mock/data.mjs';

const retried = (over = {}) =>
	request({
		time: Date.now() - 60e3,
		reason: 'up.retry',
		status: 200,
		queueTime: 3.6,
		requestTime: 1044.8,
		upstreamResponseTime: 1041.6,
		method: 'GET',
		path: '/api/orders/8123',
		flags: [],
		upstreams: [
			upstream({ addr: '10.20.0.15:8080', startTime: 0.9, connectTime: null, responseTime: 1001, status: null, error: 'timed out', retransmits: 2 }),
			upstream({ startTime: 1003.4, connectTime: null, reused: true, responseTime: 40.6 }),
		],
		...over,
	});

const openRow = async (t, row, options) => {
	t.mock.rows = [row];
	await t.open(`/requests/${row.id}`, options);
	await t.page.waitForSelector('.verdict');
};

const parts = (t) => t.page.$$eval('.parts tr', (all) => all.map((tr) => [tr.querySelector('th').innerText, Number(tr.querySelector('.n').innerText.replace(/[^\d.]/g, ''))]));

TEST('a permalink opens the request by itself, with its verdict first', async (t) => {
	const row = retried();
	await openRow(t, row);
	CHECK_EQ(await t.text('h1'), row.reason.text.en, 'the verdict');
	const line = await t.text('.line');
	CHECK(line.includes('200 slow') && line.includes('GET /api/orders/8123'), 'the line below');
	CHECK((await t.page.title()).includes('Seismo'), 'the title');
});

TEST('a request shows the ids that its client sent, as text', async (t) => {
	await openRow(t, retried({ ids: { trace: '0af7651916cd43dd8448eb211c80319c', parent: 'b7ad6b7169203331', request: '<i>17</i>' } }));
	const facts = () => t.page.$$eval('.facts div', (all) => Object.fromEntries(all.map((d) => [d.querySelector('dt').textContent, d.querySelector('dd').textContent])));
	const shown = await facts();
	CHECK_EQ([shown.traceparent, shown['X-Request-Id']], ['0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331', '<i>17</i>'], 'both');
	await openRow(t, retried({ ids: { trace: null, parent: null, request: null } }));
	CHECK(!('traceparent' in (await facts())) && !('X-Request-Id' in (await facts())), 'none is not shown');
});

TEST('a retried request within its limit is not called slow', async (t) => {
	await openRow(t, retried({ requestTime: 20, queueTime: 0, upstreams: [] }));
	CHECK((await t.text('.line')).includes('200 answered'), await t.text('.line'));
	await t.page.goto(`${t.mock.url}/?view=rows`);
	await t.shows(1);
	CHECK_EQ(await t.page.$('.c-status .is-slow'), null, 'the sign of a slow one');
});

for (const [error, said] of [['Connection refused', '连接被拒绝'], ['answered 503', '应答 503'], ['no answer within 2000 ms', '2000 ms 内无应答'], ['closed the connection without an answer', '未应答即关闭连接'], ['No such thing 7', 'No such thing 7']]) {
	TEST(`in Chinese a failure is Chinese as far as it is known: ${error}`, async (t) => {
		const row = retried({ reason: 'up.error', status: 502, upstreams: [upstream({ error, status: null })] });
		row.reason = { code: 'up.error', params: { addr: '10.20.0.15:8080', error }, text: { en: `Upstream 10.20.0.15:8080 failed: ${error}`, zh: `上游 10.20.0.15:8080 出错：${error}` } };
		await openRow(t, row, { locale: 'zh-CN' });
		CHECK_EQ(await t.text('h1'), `上游 10.20.0.15:8080 出错：${said}`, 'the verdict');
		CHECK((await t.text('#upstreams tbody')).includes(said), 'the try');
		await t.page.goto(`${t.mock.url}/requests?view=groups`);
		await t.shows(1);
		CHECK((await t.text('tbody .g-why')).includes(said), 'the group');
	});
}

TEST('the parts of the time are in order and add up to the total', async (t) => {
	await openRow(t, retried());
	const all = await parts(t);
	CHECK_EQ(all.map(([name]) => name.split(':')[0]), ['queue', all[1][0], 'upstream try 1', all[1][0], 'upstream try 2', all[1][0]], 'the parts');
	CHECK_EQ(Math.round(all.reduce((n, [, ms]) => n + ms, 0) * 10) / 10, 1048.4, 'their sum');
	CHECK((await t.text('.sum')).startsWith('1,048.4 ms in total'), 'the total is said');
	const widths = await t.page.$$eval('.bar:not(.bar-normal) .seg', (segs) => segs.map((s) => s.getBoundingClientRect().width));
	const bar = await t.page.$eval('.bar', (b) => b.getBoundingClientRect().width);
	CHECK(Math.abs(widths[2] / bar - 1001 / 1048.4) < 0.02, 'the bar is to scale');
});

TEST('tries that overlap count each moment once', async (t) => {
	await openRow(t, retried({ queueTime: 0, requestTime: 100, upstreams: [upstream({ startTime: 10, responseTime: 60 }), upstream({ startTime: 40, responseTime: 50 })] }));
	CHECK_EQ((await parts(t)).map(([, ms]) => ms), [10, 60, 20, 10], 'the parts');
	CHECK((await t.text('#times')).includes('overlap'), 'it is said');
});

TEST('a try that never connected gets its time from the sum over the tries', async (t) => {
	const none = { connectTime: null, responseTime: null, status: null };
	await openRow(t, retried({ queueTime: 0, requestTime: 3050, upstreamResponseTime: 3040, upstreams: [upstream({ startTime: 5, ...none, error: 'Connection timed out' }), upstream({ startTime: 3006, responseTime: 40 })] }));
	const all = await parts(t);
	CHECK_EQ(all.map(([, ms]) => ms), [5, 3000, 1, 40, 4], 'the parts');
	CHECK(all[1][0].startsWith('upstream try 1'), 'the second part is the try');
});

TEST('calls that could not be identified are neither shown nor guessed', async (t) => {
	await openRow(t, retried({ flags: ['upstreamUnknown'], upstreams: [], queueTime: 0, requestTime: 50 }));
	CHECK_EQ((await parts(t)).map(([, ms]) => ms), [50], 'the parts');
	CHECK((await t.text('#upstreams')).includes('could not be identified'), 'it is said');
});

TEST('each try has a row with its measurements, and a dash for missing ones', async (t) => {
	await openRow(t, retried());
	const cells = await t.page.$$eval('#upstreams tbody tr', (all) => all.map((tr) => [...tr.cells].map((td) => td.innerText.replace(/\s+/g, ' ').trim())));
	CHECK_EQ(cells[0], ['1', '10.20.0.15:8080', '0.90', '–', '1,001.0', 'none', 'timed out', 'new', '2', '0.21'], 'the first try');
	CHECK_EQ(cells[1].slice(2), ['1,003.4', '–', '40.60', '200 answered', '–', 'reused', '0', '0.21'], 'the second try');
});

TEST('null numbers are a dash', async (t) => {
	const row = retried({ upstreams: [], flags: ['noAnswer'], status: null });
	for (const name of ['normalTime', 'limitTime', 'timesNormal', 'upstreamResponseTime', 'upstreamAddr', 'region', 'local', 'socket', 'pid', 'bytesOut']) row[name] = null;
	await openRow(t, row);
	const said = await t.text('main');
	CHECK(said.includes('not enough requests of this route yet'), 'no normal time is said');
	CHECK(said.includes('the server closed without an answer'), 'the flag in words');
	CHECK(!/NaN|undefined|null|Infinity/.test(said), 'no word of the language in the page');
});

TEST('the permalink is copied, and the raw JSON is that of the API', async (t) => {
	const row = retried();
	await openRow(t, row);
	await t.page.click('text=Copy permalink');
	CHECK_EQ(await t.page.evaluate(() => navigator.clipboard.readText()), `${t.mock.url}/requests/${row.id}`, 'the link');
	await t.page.click('.json summary');
	await t.page.click('.json button');
	CHECK_EQ(JSON.parse(await t.page.evaluate(() => navigator.clipboard.readText())), row, 'the JSON');
});

TEST('the tags of its node at that time are shown and link to requests with the same tag', async (t) => {
	t.mock.nodes = [node({ name: 'web-1', tags: { rack: 'r12' } })];
	await openRow(t, { ...retried(), node: 'web-1' });
	await t.page.waitForSelector('.tag a');
	CHECK_EQ(await t.page.$$eval('.tag a', (all) => all.map((a) => [a.innerText, a.getAttribute('href')])), [['rack=r12', '/requests?tag=rack%3Dr12']], 'the tag');
	await t.page.click('.tag a');
	await until('only those are asked for', () => t.mock.asked.some((u) => u.startsWith('/api/v1/requests') && u.includes('tag=rack%3Dr12')));
});

TEST('a missing request has a message', async (t) => {
	await t.open(`/requests/${idOf(Date.now(), 99)}`);
	await t.page.waitForSelector('.missing');
	CHECK((await t.text('main')).includes('There is no such request'), 'the words');
});

TEST('an invalid id has a message and no broken page', async (t) => {
	await t.open('/requests/%E0%A4%A');
	await t.page.waitForSelector('.missing');
	await t.page.goto(`${t.mock.url}/requests/..%2f<script>`);
	await t.page.waitForSelector('.missing');
});

TEST('a request that aged out shows its time', async (t) => {
	await t.open(`/requests/${idOf(Date.parse('2026-01-01T00:00:00.000Z'), 5)}`, { timezoneId: 'UTC' });
	await t.page.waitForSelector('.missing');
	const said = await t.text('main');
	CHECK(said.includes('aged out') && said.includes('2026-01-01 00:00:00.000 +00:00') && said.includes('retention 30 days'), 'the words');
});

TEST('the table keeps its position when the user comes back from a request', async (t) => {
	t.mock.rows = some(100);
	await t.open();
	await t.shows(100);
	await t.page.$eval('main', (el) => (el.scrollTop = 800));
	const id = await t.page.$eval('tbody tr:nth-child(35)', (tr) => tr.dataset.id);
	await t.page.click('tbody tr:nth-child(35) .c-path, tbody tr:nth-child(35) .c-request');
	await t.page.waitForSelector('.verdict');
	CHECK(t.page.url().endsWith(id), 'the address');
	await t.page.goBack();
	await t.shows(100);
	await until('it is where it was', async () => Math.abs((await t.page.$eval('main', (el) => el.scrollTop)) - 800) < 40);
	CHECK_EQ(await t.page.evaluate(() => document.activeElement.dataset.id), id, 'the row with the focus');
});
