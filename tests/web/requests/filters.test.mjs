// SPDX-License-Identifier: Apache-2.0
// Filters: to the API, to the address, and back; times in an address are absolute.
import { CHECK, CHECK_EQ, TEST, sleep, until } from '../browser.mjs';
import { request, some } from '../mock/data.mjs';
import { momentOf, rollingText } from '../../../web/src/base/moment.js';
import { readFilters } from '../../../web/src/data/filters.js';
import { shiftRange, widenRange } from '../../../web/src/data/time_bins.js';

const query = (t) => Object.fromEntries([...new URL(t.page.url()).searchParams].filter(([name]) => name !== 'view'));
const asked = (t) => Object.fromEntries(new URL(t.mock.asked.filter((a) => a.startsWith('/api/v1/requests?')).at(-1), 'http://x').searchParams);

const chips = (t) => t.page.$$eval('.chip', (all) => all.map((el) => el.innerText.replace(/\s+/g, ' ').replace(/ × ?.*$/, '').trim()));

const mixed = () => [
	request({ time: Date.now() - 1000, node: 'web-1', app: 'nginx', status: 502, reason: 'up.connect', path: '/pay/1' }),
	request({ time: Date.now() - 2000, node: 'web-2', app: 'orders', status: 500, reason: 'app.error', path: '/pay/2' }),
	request({ time: Date.now() - 3000, node: 'web-2', app: 'orders', status: 200, reason: 'up.slow', path: '/cart', method: 'GET' }),
	request({ time: Date.now() - 4000, node: 'web-2', app: 'orders', status: null, reason: 'up.error', path: '/cart', method: 'GET' }),
];

TEST('each filter goes to the address and to the API', async (t) => {
	t.mock.rows = mixed();
	await t.open();
	await t.shows(4);
	await t.page.fill('#q', '/pay');
	await t.shows(2);
	CHECK_EQ(query(t), { q: '/pay' }, 'the address');
	await t.choose('node', 'web-2');
	await t.shows(1);
	await t.page.fill('#q', '');
	await t.shows(3);
	await t.choose('app', 'orders');
	await t.choose('status', '5xx');
	await t.shows(1);
	await t.choose('status', '0');
	await t.shows(1);
	await t.choose('reason', 'up.error');
	await until('the address has all', async () => JSON.stringify(query(t)) === JSON.stringify({ node: 'web-2', app: 'orders', status: '0', reason: 'up.error' }));
	await until('the API was asked for just that', async () => JSON.stringify(asked(t)) === JSON.stringify({ ...query(t), limit: '100' }));
	await t.page.keyboard.press('Escape');
	await t.page.click('#clear');
	await t.shows(4);
	CHECK_EQ(query(t), {}, 'the address');
});

TEST('an address with filters shows them, and back restores the last ones', async (t) => {
	t.mock.rows = mixed();
	await t.open('/?q=pay&status=5xx&node=web-2&view=rows');
	await t.shows(1);
	CHECK_EQ([await t.page.inputValue('#q'), ...(await chips(t))], ['pay', 'Node = web-2', 'Status = 5xx'], 'the field and the chips');
	await t.page.fill('#q', 'nothing-like-it');
	await t.shows(0);
	CHECK((await t.text('main')).includes('No abnormal request matches these filters'), 'it says why it is empty');
	await t.page.goBack();
	await t.shows(1);
	CHECK_EQ(await t.page.inputValue('#q'), 'pay', 'the field');
});

const panel = (t) => t.page.$$eval('.facet li', (all) => all.map((li) => `${li.querySelector('bdi').innerText} ${li.querySelector('.n').innerText}`));

TEST('a facet lists its values with their counts under the other filters', async (t) => {
	t.mock.rows = mixed();
	await t.open('/?node=web-2&view=rows');
	await t.shows(3);
	await t.page.click('#facet-node');
	await until('its own filter does not count', async () => JSON.stringify(await panel(t)) === JSON.stringify(['web-2 3', 'web-1 1']));
	await t.page.click('#facet-status');
	await until('the others do', async () => JSON.stringify(await panel(t)) === JSON.stringify(['500 1', '200 1', 'no answer 1']));
});

TEST('clients are listed by address with their counts, and one can be typed by its beginning', async (t) => {
	t.mock.rows = mixed();
	t.mock.rows.forEach((row, i) => (row.remoteAddr = `${i ? '10.1.2.3' : '10.9.0.1'}:${4000 + i}`));
	await t.open();
	await t.shows(4);
	await t.page.click('#facet-remote');
	await until('both are listed', async () => JSON.stringify(await panel(t)) === JSON.stringify(['10.1.2.3 3', '10.9.0.1 1']));
	await t.page.click('.facet .only:has-text("10.9.0.1")');
	await t.shows(1);
	await t.choose('remote', '10.1.');
	await t.shows(3);
});

TEST('a click selects only that value, + adds one, ≠ excludes one, and each chip removes its own', async (t) => {
	t.mock.rows = mixed();
	await t.open();
	await t.shows(4);
	await t.page.click('#facet-reason');
	await t.page.click('.facet .only:has-text("App failed")');
	await t.shows(1);
	await t.page.click('[aria-label="Also Slow upstream"]');
	await t.shows(2);
	CHECK_EQ(new URL(t.page.url()).searchParams.getAll('reason'), ['app.error', 'up.slow'], 'the address');
	await t.page.click('#facet-status');
	await t.page.click('[aria-label="Not 500"]');
	await t.shows(1);
	CHECK_EQ(await chips(t), ['Status ≠ not 500', 'Reason = App failed by itself', 'Reason = Slow upstream'], 'the chips');
	await t.page.click('[data-filter=status]');
	await t.shows(2);
	await t.page.reload();
	await t.shows(2);
	await t.page.click('#clear');
	await t.shows(4);
});

TEST('the keyboard alone opens a facet, chooses, excludes and closes', async (t) => {
	t.mock.rows = mixed();
	await t.open();
	await t.shows(4);
	await t.page.focus('#facet-node');
	await t.page.keyboard.press('Enter');
	await t.page.waitForSelector('.facet li');
	await t.page.keyboard.press('Tab');
	await t.page.keyboard.press('Tab');
	await t.page.keyboard.press('Enter');
	await t.shows(3);
	await t.page.keyboard.press('Escape');
	CHECK_EQ(await t.page.$('.facet'), null, 'the panel');
	CHECK_EQ(await t.page.evaluate(() => document.activeElement.id), 'facet-node', 'the focus');
});

TEST('hostile values of filters are text, and one that begins with ! can only be excluded', async (t) => {
	const evil = ['<script>window.hurt=1</script>', '!important', 'a\u202egnp', `/${'x'.repeat(400)}`, '-'];
	t.mock.rows = evil.map((route, i) => request({ time: Date.now() - i * 1000, route }));
	await t.open();
	await t.shows(5);
	await t.page.click('#facet-route');
	await until('all are listed', async () => (await panel(t)).length === 5);
	const said = (await panel(t)).join();
	CHECK(said.includes('<script>window.hurt=1</script> 1') && said.includes('a\\u202egnp'), 'readable');
	CHECK_EQ(await t.page.evaluate(() => window.hurt), undefined, 'what an injected script would set');
	CHECK_EQ(await t.page.$$eval('.facet .only:disabled', (all) => all.length), 2, 'what cannot be asked for');
	await t.page.click('[aria-label="Not !important"]');
	await t.shows(4);
	await t.page.click('.facet .only:has-text("script")');
	await t.shows(1);
	CHECK_EQ(await chips(t), ['Route = <script>window.hurt=1</script>'], 'the chip');
});

TEST('a preset moves with the time: every query begins so long before it is made', async (t) => {
	t.mock.rows = some(1);
	await t.open();
	await t.page.selectOption('#range', '-6h');
	await until('the address has it', () => query(t).from === '-6h');
	CHECK_EQ([query(t).to, (await t.text('#range option:checked')).trim()], [undefined, 'Last 6 h, live'], 'the end');
	const asked = t.page.waitForRequest((r) => r.url().includes('/api/v1/requests?'));
	await t.page.reload();
	const from = Date.parse(new URL((await asked).url()).searchParams.get('from'));
	CHECK(Math.abs(Date.now() - 6 * 3600e3 - from) < 60e3, `the query has a time (${new Date(from).toISOString()})`);
	await t.shows(1);
	t.mock.emit(request({ time: Date.now() }));
	await t.shows(2);
	CHECK(!(await t.page.getAttribute('.export', 'href')).includes('-6h'), 'a file is of a time');
});

TEST('a time before now is only a beginning, and of a whole number', async () => {
	for (const bad of ['-0m', '15m', '-15', '-15s', '-999999m', '-1.5h', '--1h']) CHECK_EQ(readFilters(`?from=${bad}`).from, undefined, bad);
	CHECK_EQ(readFilters('?from=-15m&to=2026-03-01T10:00:00Z').from, undefined, 'with an end');
	CHECK_EQ(['-15m', '-2h', '-7d'].map((s) => momentOf(s, 7 * 86400e3)), [7 * 86400e3 - 900e3, 7 * 86400e3 - 7200e3, 0], 'the moments');
	CHECK_EQ([60e3, 61e3, 3600e3, 5400e3, 86400e3].map(rollingText), ['-1m', '-2m', '-1h', '-90m', '-1d'], 'the texts');
});

for (const [setting, zone] of [['local', '+08:00'], ['utc', 'Z']]) {
	TEST(`a chosen range is taken in the zone of the setting: ${setting}`, async (t) => {
		await t.open();
		if (setting === 'utc') await t.page.click('#zone');
		await t.page.selectOption('#range', 'custom');
		await t.page.fill('#range-from', '2026-03-01T03:00:00');
		await t.page.fill('#range-to', '2026-03-01T03:05:00');
		await t.page.click('#range-apply');
		await until('the address has it', () => query(t).to);
		CHECK_EQ(query(t), { from: new Date(`2026-03-01T03:00:00${zone}`).toISOString(), to: new Date(`2026-03-01T03:05:00${zone}`).toISOString() }, 'the address');
		CHECK((await t.text('#range')).includes('2026-03-01 03:00:00'), 'the bar says it');
	});
}

TEST('a range moves by its length and doubles; one that would end in the future is live', async () => {
	const at = (text) => Date.parse(`2026-03-01T${text}:00Z`), now = at('12:00');
	const f = (from, to) => ({ app: ['a'], from: new Date(at(from)).toISOString(), to: to && new Date(at(to)).toISOString() });
	CHECK_EQ(shiftRange(f('10:00', '10:30'), -1, now), f('09:30', '10:00'), 'earlier');
	CHECK_EQ(shiftRange(f('10:00', '10:30'), 1, now), f('10:30', '11:00'), 'later');
	CHECK_EQ(shiftRange(f('11:20', '11:50'), 1, now), { app: ['a'], from: '-30m', to: undefined }, 'later than now');
	CHECK_EQ(shiftRange({}, -1, now), { from: f('10:00').from, to: f('11:00').from }, 'before the last hour');
	CHECK_EQ(widenRange(f('10:00', '10:30'), now), f('09:45', '10:45'), 'wider');
	CHECK_EQ(widenRange(f('11:00'), now), { app: ['a'], from: '-2h', to: undefined }, 'wider and live');
	CHECK_EQ(widenRange({ from: '-15m' }, now), { from: '-30m', to: undefined }, 'wider and rolling');
});

TEST('buttons beside the range go to the one before, after and around it', async (t) => {
	await t.open('/requests?from=2026-03-01T10:00:00.000Z&to=2026-03-01T10:30:00.000Z');
	const range = () => ['from', 'to'].map((name) => new URL(t.page.url()).searchParams.get(name)?.slice(11, 16));
	for (const [id, from, to] of [['earlier', '09:30', '10:00'], ['later', '10:00', '10:30'], ['wider', '09:45', '10:45']]) {
		await t.page.click(`#range-${id}`);
		await until(id, async () => range()[0] === from && range()[1] === to);
	}
	await t.open('/requests');
	CHECK(await t.page.isDisabled('#range-later'), 'nothing is later than now');
});

TEST('a range that ends before it begins is not queried', async (t) => {
	await t.open();
	await t.page.selectOption('#range', 'custom');
	await t.page.fill('#range-from', '2026-03-02T03:00:00');
	await t.page.fill('#range-to', '2026-03-01T03:00:00');
	await t.page.click('#range-apply');
	CHECK((await t.text('.popover')).includes('ends before it begins'), 'it is said');
	CHECK_EQ(query(t), {}, 'the address');
});

TEST('the copied link has both ends of the range', async (t) => {
	t.mock.rows = mixed();
	await t.open('/?app=orders&view=rows');
	await t.shows(3);
	await t.page.click('text=Copy link');
	const link = new URL(await t.page.evaluate(() => navigator.clipboard.readText()));
	CHECK_EQ([...link.searchParams.keys()].sort(), ['app', 'from', 'to'], 'its parameters');
	CHECK_EQ(Date.parse(link.searchParams.get('to')) - Date.parse(link.searchParams.get('from')), 3600e3, 'the range');
});

TEST('a filter that the API refuses is reported in the words of the API', async (t) => {
	await t.open('/?status=9zz&view=rows');
	await until('the banner says it', async () => (await t.page.$('.banner'))?.innerText().then((s) => s.includes('status must be a status like 502')));
});

TEST('invalid times in an address are ignored, not sent', async (t) => {
	t.mock.rows = some(2);
	await t.open('/?from=yesterday&to=%3Cscript%3E&nonsense=1&view=rows');
	await t.shows(2);
	CHECK_EQ(asked(t), { limit: '100' }, 'what the API was asked');
});

TEST('leaving the page a moment after typing does not bring the user back', async (t) => {
	await t.open();
	await t.page.evaluate(() => {
		const field = document.getElementById('q');
		Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, '/pay');
		field.dispatchEvent(new InputEvent('input', { bubbles: true }));
		document.querySelector('header a[href="/nodes"]').click();
	});
	await t.page.waitForSelector('.nodes');
	await sleep(600);
	CHECK_EQ(new URL(t.page.url()).pathname, '/nodes', 'the page');
});
