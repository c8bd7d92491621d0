// SPDX-License-Identifier: Apache-2.0
// A narrow page cuts no sentence and no number.
import { CHECK, CHECK_EQ, TEST } from './browser.mjs';
import { fleet, loss, request, unread } from './mock/data.mjs';
import { shapes } from './mock/explore.mjs';

/* the longest sentence of a probe, with addresses of full length */
const LONG = [
	['up.retry', '2 upstream tries, 1001 ms lost on those that failed; first 10.231.177.126:18000: closed the connection without an answer'],
	['up.connect', 'Upstream 10.231.177.126:18000 could not be reached: Connection refused'],
	['up.error', 'Upstream 10.231.177.126:18000 failed: closed the connection without an answer'],
	['up.slow', 'Upstream 10.231.177.126:18000 took 60001 ms of 60012 ms'],
	['client.abort', 'The client closed the connection after 60012 ms, before an answer'],
	['app.error', 'gunicorn failed by itself: closed the connection without an answer'],
	['unknown', 'No measured cause reaches half of the delay'],
];
const rows = () => LONG.map(([reason, en], i) => request({ time: Date.now() - i * 1000, node: 'web-1', app: 'gunicorn', reason, text: { en, zh: en } }));

/* elements whose content does not fit */
const cut = (t, selector) => t.page.$$eval(selector, (all) => all.filter((el) => el.scrollHeight > el.clientHeight + 1 || el.scrollWidth > el.clientWidth + 1).map((el) => el.innerText));

for (const width of [1440, 1024]) {
	const viewport = { width, height: 800 };

	TEST(`every reason is read whole in groups and rows: ${width} px`, async (t) => {
		t.mock.rows = rows();
		for (const where of ['/requests', '/?view=rows']) {
			await (t.page ? t.page.goto(t.mock.url + where) : t.open(where, { viewport }));
			await t.shows(LONG.length);
			CHECK_EQ(await cut(t, '.g-why .clamp, .c-reason .clamp'), [], `what is cut on ${where}`);
			const said = await t.page.$$eval('.g-why .clamp, .c-reason .clamp', (all) => all.map((el) => el.innerText).join('\n'));
			for (const [, en] of LONG) CHECK(said.includes(en), `${where} says: ${en}`);
			CHECK((await t.page.$$eval('tbody tr', (all) => Math.max(...all.map((tr) => tr.getBoundingClientRect().height)))) < 60, 'a row stays a row');
		}
	});

	TEST(`no count, status or time is cut: ${width} px`, async (t) => {
		t.mock.rows = Array.from({ length: 400 }, (_, i) => request({ time: Date.now() - i, node: 'web-1', app: 'gunicorn', path: '/pay', method: 'GET', reason: 'app.error', status: i % 3 ? 503 : null, requestTime: 60012.4 }));
		for (const [where, n] of [['/requests?view=groups', 1], ['/requests', 100]]) {
			await (t.page ? t.page.goto(t.mock.url + where) : t.open(where, { viewport }));
			await t.shows(n);
			CHECK_EQ(await cut(t, '.g-count, .g-times div, .g-statuses, .times, .c-requestTime, .c-upstreamResponseTime, .c-status, .c-time, .g-last'), [], `what is cut on ${where}`);
		}
		CHECK((await t.text('tbody .c-node')).includes('gunicorn') === (width === 1024), 'the app stands below the node where there is no column for it');
	});

	TEST(`every reason of the strip has its count: ${width} px`, async (t) => {
		t.mock.rows = LONG.flatMap(([reason], i) => Array.from({ length: 140 }, (_, k) => request({ time: Date.now() - k * 10 - i, reason })));
		await t.open('/requests', { viewport });
		await t.page.waitForSelector('.legend li');
		const box = await t.page.$eval('.histogram .over', (el) => el.getBoundingClientRect().toJSON());
		const ends = await t.page.$$eval('.legend b', (all) => all.map((el) => el.getBoundingClientRect().toJSON()));
		CHECK_EQ([ends.length, ends.filter((b) => b.right > box.right || b.bottom > box.bottom).length], [LONG.length, 0], 'counts, and those outside');
	});

	TEST(`no page is wider than the window, with losses and all: ${width} px`, async (t) => {
		const all = rows();
		Object.assign(t.mock, { rows: all, nodes: fleet(3), shapes, seen: 123456789, withheld: 1234567, losses: [loss({ node: 'web-1', count: 1234567 })], unread });
		for (const where of ['/', '/requests', '/requests?view=groups', '/red', '/nodes', '/fleet', all[0].diagnosis]) {
			await (t.page ? t.page.goto(t.mock.url + where) : t.open(where, { viewport }));
			await t.page.waitForSelector('.headline');
			for (const part of where === '/' ? ['#harmed li', '#apps tbody tr'] : []) await t.page.waitForSelector(part);
			await t.page.waitForSelector('.coverage a[href="/nodes"]');
			const ends = await t.page.$$eval('.figures > *', (parts) => parts.map((el) => el.getBoundingClientRect().right));
			CHECK(Math.max(...ends) <= width, `the line of coverage ends in the page on ${where} (${Math.max(...ends)})`);
			CHECK(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), where);
			CHECK_EQ(await t.page.$$eval('main:not(.page)', (mains) => mains.filter((el) => el.scrollWidth > el.clientWidth).length), 0, `what is wider on ${where}`);
		}
	});
}
