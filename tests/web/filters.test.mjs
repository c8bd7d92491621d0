// SPDX-License-Identifier: Apache-2.0
// Filters: to the API, to the address, and back; times in an address are absolute.
import { CHECK, CHECK_EQ, TEST, until } from './browser.mjs';
import { request, some } from './data.mjs';

const query = (t) => Object.fromEntries(new URL(t.page.url()).searchParams);
const asked = (t) => Object.fromEntries(new URL(t.mock.asked.filter((a) => a.startsWith('/api/v1/requests?')).at(-1), 'http://x').searchParams);

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
	await t.page.fill('#node', 'web-2');
	await t.shows(1);
	await t.page.fill('#q', '');
	await t.shows(3);
	await t.page.fill('#app', 'orders');
	await t.page.selectOption('#status', '5xx');
	await t.shows(1);
	await t.page.selectOption('#status', '0');
	await t.shows(1);
	await t.page.selectOption('#reason', 'up.error');
	await until('the address has all', async () => JSON.stringify(query(t)) === JSON.stringify({ node: 'web-2', app: 'orders', status: '0', reason: 'up.error' }));
	CHECK_EQ(asked(t), { ...query(t), limit: '100' }, 'what the API was asked');
	await t.page.click('#clear');
	await t.shows(4);
	CHECK_EQ(query(t), {}, 'the address');
});

TEST('an address with filters shows them, and the way back restores the last', async (t) => {
	t.mock.rows = mixed();
	await t.open('/?q=pay&status=5xx&node=web-2');
	await t.shows(1);
	CHECK_EQ(await t.page.$$eval('#q, #node, #status', (all) => all.map((el) => el.value)), ['pay', 'web-2', '5xx'], 'the fields');
	await t.page.fill('#q', 'nothing-like-it');
	await t.shows(0);
	CHECK((await t.text('main')).includes('No abnormal request matches these filters'), 'it says why it is empty');
	await t.page.goBack();
	await t.shows(1);
	CHECK_EQ(await t.page.inputValue('#q'), 'pay', 'the field');
});

TEST('a filter that the console has no field for is shown and can be removed', async (t) => {
	t.mock.rows = mixed();
	await t.open('/?route=' + encodeURIComponent('GET /cart'));
	await t.shows(2);
	await t.page.click('.chip');
	await t.shows(4);
});

TEST('a preset becomes an absolute time in the address, and stays live', async (t) => {
	t.mock.rows = some(1);
	await t.open();
	await t.page.selectOption('#range', '6h');
	await until('the address has it', () => query(t).from);
	const off = Date.now() - Date.parse(query(t).from) - 6 * 3600e3;
	CHECK(Math.abs(off) < 5000, `it is six hours ago (${off} ms off)`);
	CHECK_EQ(query(t).to, undefined, 'the end');
	t.mock.emit(request({ time: Date.now() }));
	await t.shows(2);
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

TEST('a range that ends before it begins is not asked for', async (t) => {
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
	await t.open('/?app=orders');
	await t.shows(3);
	await t.page.click('text=Copy link');
	const link = new URL(await t.page.evaluate(() => navigator.clipboard.readText()));
	CHECK_EQ([...link.searchParams.keys()].sort(), ['app', 'from', 'to'], 'its parameters');
	CHECK_EQ(Date.parse(link.searchParams.get('to')) - Date.parse(link.searchParams.get('from')), 3600e3, 'the range');
});

TEST('a filter that the API refuses is said in its words', async (t) => {
	await t.open('/?status=9zz');
	await until('the banner says it', async () => (await t.page.$('.banner'))?.innerText().then((s) => s.includes('status must be a status like 502')));
});

TEST('words around and beside the times of an address are ignored, not sent', async (t) => {
	t.mock.rows = some(2);
	await t.open('/?from=yesterday&to=%3Cscript%3E&nonsense=1');
	await t.shows(2);
	CHECK_EQ(asked(t), { limit: '100' }, 'what the API was asked');
});
