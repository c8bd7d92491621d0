// SPDX-License-Identifier: Apache-2.0
// The page of a request with shares: summary, time bar, evidence, checks, the node around it.
import { readFile } from 'node:fs/promises';
import { CHECK, CHECK_EQ, TEST, require, until } from '../browser.mjs';
import { request } from '../mock/data.mjs';
import { KERNEL, evidence, event, explained, parts } from '../mock/events.mjs';

const openOne = async (t, row = explained(), options = {}) => {
	t.mock.rows.push(row);
	t.mock.stall = Date.parse(row.time);
	await t.open(`/requests/${row.id}`, options);
	await t.page.waitForSelector('.verdict');
	return row;
};

const one = (text) => text.replace(/\s+/g, ' ').trim();
const textOf = async (t, selector) => one(await t.text(selector));
const cells = (t, selector) => t.page.$$eval(selector, (all) => all.map((tr) => [...tr.cells].map((td) => td.innerText.replace(/\s+/g, ' ').trim())));
const hasParts = (t) => until('the parts have their names', async () => (await t.text('.shares')).includes('block I/O'));

TEST('the summary shows how long, where, who, and what to do next', async (t) => {
	await openOne(t);
	await hasParts(t);
	CHECK_EQ(await t.text('h1'), 'fsync of data/orders.wal on nvme0n1 took 800.9 ms of 1042 ms', 'the verdict');
	CHECK((await textOf(t, '.tile-what')).includes('1,042.0 ms') && (await textOf(t, '.tile-what')).includes('30.6 × normal'), 'how long');
	const where = await textOf(t, '.tile-where');
	CHECK(where.includes('block I/O') && where.includes('797.7 ms over its normal') && where.includes('explains 79 % of the delay'), where);
	CHECK((await textOf(t, '.tile-who')).includes('data/orders.wal the file on nvme0n1'), await textOf(t, '.tile-who'));
	CHECK((await textOf(t, '.tile-next')).includes('what else used that disk'), 'what next');
	const box = await t.page.$eval('.summary', (el) => el.getBoundingClientRect().toJSON());
	CHECK(box.bottom < 400, `it stands at the top (${box.bottom})`);
});

TEST('the parts are in the order of the API, add up to the total, and stand beside their normal', async (t) => {
	const row = await openOne(t);
	await hasParts(t);
	const rows = await cells(t, '.shares tbody tr');
	CHECK_EQ(rows.map((r) => r[1]), row.shares.map((s) => parts.find((p) => p.code === s.code).en), 'names from the API');
	CHECK_EQ(Math.round(rows.reduce((n, r) => n + Number(r[2]), 0) * 10) / 10, 1042, 'their sum');
	CHECK_EQ(rows[3].slice(2), ['800.9', '77 %', '3.20', '+797.7'], 'block I/O');
	CHECK_EQ(await t.page.$eval('.shares .most', (tr) => tr.dataset.part), 'io', 'the one over its normal the most');
	const widths = await t.page.$$eval('#times .bar:not(.bar-normal) .seg', (all) => all.map((el) => el.getBoundingClientRect().width));
	const bar = await t.page.$eval('#times .bar', (el) => el.getBoundingClientRect().width);
	CHECK(Math.abs(widths.reduce((a, b) => a + b, 0) - bar) < 4 && Math.abs(widths[3] / bar - 0.769) < 0.01, 'the bar is full and to scale');
	const normal = await t.page.$eval('#times .segs', (el) => el.getBoundingClientRect().width);
	CHECK(Math.abs(normal / bar - 34 / 1042) < 0.01, 'the normal bar is on the same scale');
	CHECK(!(await t.text('#times')).includes('do not trust'), 'nothing is wrong');
});

TEST('parts that do not add up have a warning', async (t) => {
	const row = explained();
	row.shares[3].ms = 700;
	await openOne(t, row);
	CHECK((await textOf(t, '#times')).includes('add up to 941.1 ms, not to 1,042.0 ms'), 'it is said');
});

TEST('the largest part is not blamed if it is always that large', async (t) => {
	const row = explained({ reason: { code: 'unknown', params: {}, text: { en: 'x', zh: 'x' } } });
	row.shares = [{ code: 'upstream', ms: 900, normal: 890 }, { code: 'runqueue', ms: 142, normal: 1 }];
	row.normalTime = 891;
	await openOne(t, row);
	await until('the part has its name', async () => (await textOf(t, '.tile-where')).includes('waiting for a CPU'));
	CHECK((await textOf(t, '.tile-who')).includes('stress-ng[4711]'), 'who comes from the evidence of that part');
});

TEST('a request that failed fast blames no part of its time', async (t) => {
	const row = explained({ status: 500, requestTime: 3.1, queueTime: 0.2, totalTime: 3.3, shares: [{ code: 'queue', ms: 0.2, normal: 0.1 }, { code: 'cpu', ms: 3.1, normal: 30 }] });
	await openOne(t, row);
	CHECK((await textOf(t, '.tile-where')).includes('it failed'), await textOf(t, '.tile-where'));
	CHECK_EQ(await t.page.$('.shares .most'), null, 'a part to blame');
});

TEST('all programs that had the CPU are named with their time', async (t) => {
	const row = explained({ reason: { code: 'cpu.wait', params: { who: 'stress-ng[4711]' }, text: { en: 'x', zh: 'x' } } });
	row.shares = [{ code: 'runqueue', ms: 1042, normal: 1 }];
	row.evidence = ['stress-ng[4711]', 'make[99]', 'cc1[12]', 'make[99]'].map((who, i) => evidence(row.time, { part: 'runqueue', call: null, what: null, who, ms: 100 + i, stack: null }));
	await openOne(t, row);
	await until('they are named', async () => (await textOf(t, '.tile-who')).includes('stress-ng[4711] as seen at that moment Also: make[99] 204.0 ms, cc1[12] 102.0 ms'));
});

TEST('without shares the page says that the parts were not measured, and guesses nothing', async (t) => {
	await openOne(t, explained({ shares: [], checked: [], unchecked: [], losses: [], evidence: [] }));
	CHECK((await textOf(t, '#unsplit')).includes('was not measured'), 'the words');
	CHECK((await textOf(t, '.tile-where')).includes('Not measured for this request'), 'the tile');
	CHECK_EQ(await t.page.$('.shares'), null, 'a table of shares');
	CHECK_EQ(await t.page.$('#icicle'), null, 'an icicle');
	CHECK((await textOf(t, '#checked')).includes('Nothing could be ruled out with certainty') && (await textOf(t, '#unchecked')).includes('does not say'), 'checks');
	CHECK((await textOf(t, '#losses')).includes('not known') && !(await textOf(t, '#losses')).includes('No packet loss'), 'losses');
	CHECK((await t.text('.parts')).includes('own time of orders'), 'the bar of what is known');
});

TEST('a route without a normal time has none for its parts', async (t) => {
	const row = explained({ normalTime: null, timesNormal: null });
	for (const share of row.shares) share.normal = null;
	await openOne(t, row);
	await hasParts(t);
	CHECK_EQ((await cells(t, '.shares tbody tr'))[3].slice(4), ['–', '–'], 'normal and over');
	CHECK((await textOf(t, '#times')).includes('not enough requests of this route'), 'why');
	CHECK(!/NaN|undefined|null/.test(await t.text('main')), 'no word of the language');
});

TEST('evidence has time, thread, call, object, culprit, and its stack on demand', async (t) => {
	await openOne(t);
	await until('parts are named', async () => (await t.text('#evidence')).includes('waiting for a lock'));
	const rows = await cells(t, '#evidence tbody tr');
	CHECK_EQ(rows.map((r) => r[1]), ['61.20', '11.20', '760.4', '40.50'], 'in the order of time');
	CHECK(rows[0][0].endsWith('−4.20 ms') && rows[2][0].endsWith('+130.0 ms'), 'before or after the first byte was read');
	CHECK_EQ(rows[1].slice(2), ['waiting for a lock', 'orders[8121/8124]', 'futex', '0x7f31a0c04e80', 'orders[8121/8130]', '▸ 3 frames'], 'the lock');
	CHECK_EQ(rows[0][7], 'none', 'no stack');
	await t.page.click('#evidence tr:nth-child(3) .expand');
	CHECK_EQ(await t.page.$$eval('.frames li', (all) => all.map((li) => li.innerText)), KERNEL, 'the frames, innermost first');
	CHECK_EQ(await t.page.$eval('#evidence tr:nth-child(3) .expand', (b) => b.getAttribute('aria-expanded')), 'true', 'it is expanded');
	await t.page.click('#evidence tr:nth-child(3) .expand');
	await t.page.click('#evidence tr:nth-child(4) .expand');
	CHECK((await textOf(t, '.stack-row')).includes('cut short'), 'a cut stack says so');
});

TEST('evidence that aged out is not shown as none', async (t) => {
	await openOne(t, explained({ evidence: null }));
	CHECK((await textOf(t, '#evidence')).includes('aged out'), await textOf(t, '#evidence'));
});

TEST('the page lists checks made, checks not made and why, and losses by side and kind', async (t) => {
	await openOne(t);
	CHECK((await textOf(t, '#checked')).includes('no packet loss or retransmission seen'), 'the words for clean');
	CHECK_EQ(await t.page.$$eval('#checked li', (all) => all.length), 6, 'all of them');
	CHECK_EQ(await textOf(t, '#unchecked li'), 'Page faults from disk: the kernel has no tracepoint exceptions:page_fault_user', 'why not');
	CHECK((await textOf(t, '#losses')).includes('No packet loss or retransmission seen'), 'no loss');
	const row = explained({ checked: [], losses: [{ side: 'client', kind: 'rto', count: 2 }, { side: 'upstream', kind: 'tlp', count: 1 }] });
	row.reason = { code: 'net.loss', params: { peer: '10.20.0.14:8080' }, text: { en: 'x', zh: 'x' } };
	t.mock.rows.push(row);
	await t.page.goto(`${t.mock.url}/requests/${row.id}`);
	await t.page.waitForSelector('#losses table');
	CHECK_EQ(await t.page.$$eval('.tile-next a', (all) => new URLSearchParams(all[0].search).get('upstream')), '10.20.0.14:8080', 'the next step leads to the peer that lost');
	CHECK_EQ(await cells(t, '#losses tbody tr'), [['the client', 'timeout (RTO)', '2'], ['an upstream', 'tail loss probe', '1']], 'losses');
});

TEST('in the icicle a click zooms, keys move, and matches are summed up once', async (t) => {
	await openOne(t);
	await t.page.waitForSelector('.cell');
	const label = () => t.page.evaluate(() => document.activeElement.getAttribute('aria-label'));
	CHECK_EQ((await textOf(t, '#icicle .hint')).slice(0, 40), '873.3 ms of evidence, of 1,042.0 ms in t', 'what it is of');
	const cell = (name) => t.page.locator('.cell', { hasText: name }).first();
	const [all, io] = await Promise.all([cell('all evidence').boundingBox(), cell('fsync · data').boundingBox()]);
	CHECK(Math.abs(io.width / all.width - 800.9 / 873.3) < 0.01, 'as wide as it is long');
	await cell('stress-ng').click();
	CHECK_EQ((await cell('stress-ng').boundingBox()).width, all.width, 'zoomed');
	CHECK((await label()).startsWith('stress-ng[4711] · 61.20 ms · 7.0 %'), await label());
	await t.page.keyboard.press('Escape');
	CHECK_EQ([(await cell('all evidence').boundingBox()).width, new URL(t.page.url()).pathname.split('/')[1]], [all.width, 'requests'], 'Escape zooms out first');
	for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown']) await t.page.keyboard.press(key);
	await until('the arrows lead to the waiter', async () => (await label()).startsWith('stress-ng'));
	await t.page.fill('#ice-search', 'FSYNC');
	CHECK((await textOf(t, '#ice-found')).includes('found in 800.9 ms, 92 %'), await textOf(t, '#ice-found'));
	CHECK((await t.page.$$eval('.cell.found', (cells) => cells.length)) > 3, 'they are marked');
	await t.page.fill('#ice-search', 'nowhere');
	CHECK_EQ(await textOf(t, '#ice-found'), 'not found', 'nothing');
});

TEST('the node around the moment is drawn, and its figures are listed', async (t) => {
	t.mock.mute = ['netstat_Tcp_RetransSegs'];
	await openOne(t, explained({ time: Date.now() - 400e3 }));
	await t.page.waitForSelector('#node-context canvas');
	const said = await textOf(t, '#node-context');
	for (const part of ['CPU 11.00 % before: ', 'I/O 86.00 % before: ', 'nvme0n1 99.00 % before: ', 'written 200.3 MiB/s before: ']) CHECK(said.includes(part), `${part} in ${said}`);
	CHECK((await textOf(t, '[data-panel=retrans]')).includes('No measurement from this node'), 'what is not there is said');
	const inked = await t.page.$eval('#node-context canvas', (c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v, i) => i % 4 === 0 && v > 150 && i));
	CHECK(inked, 'something is drawn');
	const asked = t.mock.asked.filter((a) => a.startsWith('/api/v1/series')).map((a) => new URLSearchParams(a.split('?')[1]));
	CHECK_EQ([...new Set(asked.map((q) => q.get('node')))], ['web-1'], 'of that node only');
	CHECK(asked.every((q) => Date.parse(q.get('to')) - Date.parse(q.get('from')) < 620e3 && Number(q.get('step')) === 6), 'five minutes before and after');
});

TEST('other requests at the moment are listed, on this node and others, and the same within a day', async (t) => {
	const row = explained();
	const near = (s, over) => request({ time: Date.parse(row.time) + s * 1e3, node: 'web-1', app: 'nginx', path: '/cart', method: 'GET', ...over });
	t.mock.rows = [near(3), near(-4), near(-14), near(2, { node: 'web-2' }), explained({ time: Date.parse(row.time) - 7200e3 })];
	t.mock.incidents = [event({ time: Date.parse(row.time) + 50 }), event({ time: Date.parse(row.time) - 60e3, n: 2 })];
	await openOne(t, row);
	await t.page.waitForSelector('#nearby tbody tr');
	CHECK((await textOf(t, '#nearby')).includes('Other abnormal requests of node web-1 within 10 s: 2.'), await textOf(t, '#nearby'));
	CHECK((await cells(t, '#nearby tbody tr')).every((r) => r[0] === 'nginx' && r[1] === 'GET /cart'), 'not the request itself');
	await until('others are counted', async () => (await textOf(t, '#nearby')).includes('On other nodes at the same time: 1'));
	await t.page.waitForSelector('#events-then li');
	CHECK_EQ(await t.page.$$eval('#events-then a[href^="/events/"]', (all) => all.map((a) => a.pathname)), [t.mock.incidents[0].diagnosis], 'the event of that moment');
	await t.page.waitForSelector('#similar tbody tr');
	CHECK((await textOf(t, '#similar .sum')).startsWith('2 times including this one'), await textOf(t, '#similar .sum'));
	await t.page.click('#nearby .sum a');
	await t.page.waitForSelector('table.requests tbody tr');
	CHECK_EQ((await t.rows()).length, 3, 'the rows of that moment, with the request itself');
});

TEST('a card whose query fails says so, and the others are shown', async (t) => {
	const row = explained();
	t.mock.refuse = ['/api/v1/events', '/api/v1/series', '/api/v1/parts'];
	await openOne(t, row);
	await until('it is said', async () => (await textOf(t, '#events-then')).includes('could not be loaded') && (await textOf(t, '#node-context')).includes('could not be loaded'));
	CHECK((await t.text('.shares')).includes('runqueue'), 'a part without a name is its code');
});

TEST('an unknown part and an unknown reason are shown by their codes', async (t) => {
	const row = explained({ reason: { code: 'gpu.wait', params: {}, text: { en: 'waited for a GPU', zh: 'x' } }, checked: ['gpu.wait'], unchecked: [{ code: 'gpu.mem', why: 'no driver' }] });
	row.shares[3].code = 'gpu';
	row.evidence = [evidence(row.time, { part: 'gpu' })];
	await openOne(t, row);
	CHECK((await t.text('.shares')).includes('gpu') && (await t.text('#checked')).includes('gpu.wait') && (await t.text('#unchecked')).includes('gpu.mem: no driver'), 'codes');
});

for (const [colorScheme, locale] of [['light', 'en-US'], ['dark', 'zh-CN']]) {
	TEST(`what explains is accessible and fits: ${colorScheme}, ${locale}`, async (t) => {
		const row = explained({ losses: [{ side: 'client', kind: 'rto', count: 2 }] });
		t.mock.incidents = [event({ time: Date.parse(row.time) }), event({ n: 2, severity: 'critical' }), event({ n: 3, severity: 'info' })];
		await openOne(t, row, { colorScheme, locale });
		const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
		for (const where of [row.diagnosis, '/events', t.mock.incidents[0].diagnosis]) {
			await t.page.setViewportSize({ width: 1440, height: 900 });
			await t.page.goto(t.mock.url + where);
			await t.page.waitForSelector(where === '/events' ? '.events tbody tr' : '#node-context canvas');
			await t.page.$$eval('#evidence .expand', (all) => all[0]?.click());
			await t.page.evaluate(`${axe}; 0`);
			const found = await t.page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'], resultTypes: ['violations'], preload: false }));
			CHECK_EQ(found.violations.map((v) => `${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary.slice(0, 160)}`), [], `what axe found on ${where}`);
			CHECK(!/\b(ev|evi|summary|split|ice|check|loss|node|nearby|similar|events?|sev|kind|param|link|next|clean)\.[a-z]+\b(?!\.(wal|pt))/.test((await t.text('main')).replace(/io\.(slow|block)/g, '')), `${where} shows no key of a message`);
			for (const width of [1440, 400]) {
				await t.page.setViewportSize({ width, height: 900 });
				await until(`nothing is wider than ${width} px on ${where}`, () => t.page.evaluate(() => [document.documentElement, ...document.querySelectorAll('main')].every((el) => el.scrollWidth <= innerWidth)));
			}
		}
	});
}
