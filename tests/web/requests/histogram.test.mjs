// SPDX-License-Identifier: Apache-2.0
// The histogram: its counts in text, and the ways to choose a range in it.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { request, some } from '../mock/data.mjs';

const TO = '2026-03-01T04:00:00.000Z';
const FROM = '2026-03-01T03:00:00.000Z';
const fixed = `/?view=rows&from=${FROM}&to=${TO}`;
const at = (minute, reason) => request({ time: `2026-03-01T03:${minute}:30.000Z`, reason });
const query = (t) => new URL(t.page.url()).searchParams;
const said = (t) => t.page.$eval('.histogram .said', (el) => el.innerText).catch(() => '');

const open = async (t) => {
	t.mock.rows = [at('05', 'up.slow'), at('05', 'up.slow'), at('05', 'app.error'), at('59', 'unknown')];
	await t.open(fixed, { timezoneId: 'UTC' });
	await t.page.waitForSelector('.strip rect');
};

TEST('the histogram shows each reason with its own pattern, and the legend its count', async (t) => {
	await open(t);
	CHECK_EQ(await t.page.$$eval('.legend li', (all) => all.map((li) => li.innerText.trim())), ['Slow upstream 2', 'App failed by itself 1', 'No cause found 1'], 'the legend');
	const fills = await t.page.$$eval('.strip rect', (all) => all.map((r) => r.getAttribute('fill')));
	CHECK_EQ([fills.length, new Set(fills).size], [3, 3], 'bars, and their patterns');
});

TEST('the pointer over a bin shows its time and counts in text', async (t) => {
	await open(t);
	const box = await (await t.page.$('.strip')).boundingBox();
	await t.page.mouse.move(box.x + (box.width * 5.5) / 60, box.y + 20);
	await until('it is said', async () => (await said(t)).includes('requests: 3 (Slow upstream 2, App failed by itself 1)'));
	CHECK((await said(t)).includes('2026-03-01 03:05:00') && (await said(t)).includes('2026-03-01 03:06:00'), 'the time');
});

TEST('dragging over the histogram chooses the range in absolute times, and back restores it', async (t) => {
	await open(t);
	await t.shows(4);
	const box = await (await t.page.$('.strip')).boundingBox();
	await t.page.mouse.move(box.x + (box.width * 4.5) / 60, box.y + 20);
	await t.page.mouse.down();
	await t.page.mouse.move(box.x + (box.width * 9.5) / 60, box.y + 20, { steps: 4 });
	await t.page.mouse.up();
	await t.shows(3);
	CHECK_EQ([query(t).get('from'), query(t).get('to')], ['2026-03-01T03:04:00.000Z', '2026-03-01T03:10:00.000Z'], 'the range');
	await t.page.goBack();
	await t.shows(4);
});

TEST('the keyboard alone reads out the counts and chooses a range', async (t) => {
	await open(t);
	await t.page.focus('.strip');
	await t.page.keyboard.press('End');
	const value = () => t.page.$eval('.strip', (el) => el.getAttribute('aria-valuetext'));
	await until('the last part is said', async () => (await value()).includes('requests: 1 (No cause found 1)'));
	await t.page.keyboard.press('Home');
	for (let i = 0; i < 5; i += 1) await t.page.keyboard.press('ArrowRight');
	await until('the sixth part is said', async () => (await value()).includes('requests: 3'));
	await t.page.keyboard.press('Shift+ArrowRight');
	await t.page.keyboard.press('Enter');
	await t.shows(3);
	CHECK_EQ([query(t).get('from'), query(t).get('to')], ['2026-03-01T03:05:00.000Z', '2026-03-01T03:07:00.000Z'], 'the range');
});

TEST('the histogram follows live rows and the filters', async (t) => {
	t.mock.rows = some(3, { app: 'orders', reason: 'up.slow' });
	await t.open('/?view=rows&app=orders');
	await t.live();
	await until('three are counted', async () => (await t.text('.legend')).includes('Slow upstream 3'));
	t.mock.emit(request({ time: Date.now(), app: 'orders', reason: 'up.slow' }));
	t.mock.emit(request({ time: Date.now(), app: 'other', reason: 'up.slow' }));
	await until('four are', async () => (await t.text('.legend')).includes('Slow upstream 4'));
});

TEST('a reason that this console does not know is shown by its code, as text', async (t) => {
	t.mock.rows = [request({ time: Date.now() - 1000 })];
	t.mock.rows[0].reason.code = '<img src=x onerror=window.hurt=1>';
	await t.open();
	await until('it is in the legend', async () => (await t.text('.histogram')).includes('<img src=x'));
	CHECK_EQ(await t.page.evaluate(() => window.hurt), undefined, 'what an injected script would set');
});

TEST('the legend names the most frequent reasons and counts the others', async (t) => {
	const codes = ['lock', 'sleep', 'io.block', 'net.loss', 'cpu.wait', 'cpu.own', 'queue.app', 'up.slow', 'stopped'];
	t.mock.rows = codes.flatMap((reason, i) => some(12 - i, { reason }));
	await t.open();
	await t.page.waitForSelector('.legend li:nth-child(8)');
	const said = await t.page.$$eval('.legend li', (all) => all.map((li) => [li.innerText.trim(), li.title]));
	CHECK_EQ([said.length, said[0][0], said[7]], [8, 'Waited for a lock 12', ['other reasons (2) 9', 'Slow upstream 5, Stopped 4']], 'the legend');
	const fills = await t.page.$$eval('.strip rect', (all) => new Set(all.map((r) => r.getAttribute('fill'))).size);
	CHECK_EQ(fills, codes.length, 'looks in the strip');
});
