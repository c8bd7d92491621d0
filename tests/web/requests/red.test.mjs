// SPDX-License-Identifier: Apache-2.0
// The page of routes: series added up, roles separate, cells of durations in text, links there and back.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { node, some } from '../mock/data.mjs';

const TO = '2026-03-01T04:00:00.000Z';
const FROM = '2026-03-01T03:00:00.000Z';
const fixed = `from=${FROM}&to=${TO}`;
const cells = (t, role) => t.page.$$eval(`#${role} tbody tr`, (all) => all.map((tr) => [...tr.cells].map((td) => td.innerText.trim())));
const point = (minute, over) => ({ time: `2026-03-01T03:${minute}:00.000Z`, count: 100, errors: 0, slots: { lo: 10, b: [100] }, ...over });

/* 100 of (512, 1024] µs on one node; 100 of (1024, 2048] and 1 of (8192, 16384] µs on the other */
const two = () => [
	{ node: 'a', app: 'shop', route: '/pay', points: [point('05', { errors: 10 })] },
	{ node: 'b', app: 'shop', route: '/pay', points: [point('05', { slots: { lo: 11, b: [100] } }), point('59', { count: 1, slots: { lo: 14, b: [1] } })] },
	{ node: 'a', app: 'shop', route: '/pay', role: 'client', peer: '10.0.0.1:80', points: [point('30')] },
];

TEST('a route has one row over all nodes, with rate, errors and percentiles of the sum; calls made are separate', async (t) => {
	t.mock.shapes = two();
	await t.open(`/red?${fixed}`, { timezoneId: 'UTC' });
	await t.page.waitForSelector('#client .plain');
	const [server] = await cells(t, 'server');
	CHECK_EQ(server.slice(0, 8), ['shop', '/pay', '2', '0.1', '201', '5.0 %', '1.03', '2.04'], 'what it answered');
	CHECK_EQ((await cells(t, 'client'))[0].slice(0, 6), ['shop', '/pay', '10.0.0.1:80', '1', '<0.1', '100'], 'what it asked');
	CHECK_EQ(new URL(t.mock.asked.find((a) => a.startsWith('/api/v1/red')), 'http://x').search, `?${new URLSearchParams({ from: FROM, to: TO, step: 60 })}`, 'what the API was asked');
});

TEST('a heading sorts the routes by its column, and the address keeps it', async (t) => {
	t.mock.shapes = [
		{ node: 'a', app: 'busy', route: '/', points: [point('05', { count: 500 })] },
		{ node: 'a', app: 'failing', route: '/', points: [point('05', { count: 10, errors: 5, slots: { lo: 9, b: [10] } })] },
		{ node: 'a', app: 'slow', route: '/', points: [point('05', { count: 20, slots: { lo: 20, b: [20] } })] },
	];
	await t.open(`/red?${fixed}`);
	await t.page.waitForSelector('#server .plain');
	const apps = async () => (await cells(t, 'server')).map(([app]) => app);
	CHECK_EQ(await apps(), ['busy', 'slow', 'failing'], 'the busiest first');
	for (const [sort, first] of [['errors', 'failing'], ['p99', 'slow'], ['count', 'busy']]) {
		await t.page.click(`th a[data-sort=${sort}]`);
		await until(`by ${sort}`, async () => (await apps())[0] === first);
		CHECK_EQ(new URL(t.page.url()).searchParams.get('sort'), sort === 'count' ? null : sort, 'the address');
	}
	await t.open(`/red?${fixed}&sort=errors`);
	await until('as the address says', async () => (await apps())[0] === 'failing');
});

TEST('pointer and arrow keys describe a cell of the durations in text', async (t) => {
	t.mock.shapes = two().slice(0, 2);
	await t.open(`/red?${fixed}`, { timezoneId: 'UTC' });
	await t.page.waitForSelector('.heat rect');
	CHECK_EQ(await t.page.$$eval('.heat .field rect', (all) => all.length), 3, 'fields');
	const said = () => t.text('.heat .over');
	const box = await (await t.page.$('.heat .field')).boundingBox();
	const column = (box.width - 56) / 60;
	await t.page.mouse.move(box.x + 56 + 5.5 * column, box.y + box.height - 6);
	await until('the pointer', async () => (await said()).startsWith('2026-03-01 03:05:00 +00:00') && (await said()).includes('512 µs to 1 ms: 100 of 200 requests'));
	CHECK((await said()).includes('errors 10'), 'the errors of the column');
	await t.page.mouse.move(2, 2);
	await t.page.focus('.heat .field');
	await t.page.keyboard.press('ArrowLeft');
	for (let i = 0; i < 4; i += 1) await t.page.keyboard.press('ArrowUp');
	await until('the keys', async () => (await said()).includes('8 ms to 16 ms: 1 of 1 requests'));
});

TEST('a route narrows the page, its chip widens it again, and its abnormal requests are one click away', async (t) => {
	t.mock.shapes = [{ node: 'a', app: 'shop', route: '/pay' }, { node: 'a', app: 'other', route: '/x' }];
	t.mock.rows = some(3, { app: 'shop', route: '/pay' });
	await t.open('/red');
	await until('two rows', async () => (await cells(t, 'server')).length === 2);
	await t.page.click('.route:has-text("/x")');
	await until('one row', async () => (await cells(t, 'server')).length === 1);
	const query = new URL(t.page.url()).searchParams;
	CHECK_EQ([query.get('app'), query.get('route')], ['other', '/x'], 'the address');
	await t.page.click('.chip[data-filter=route]');
	await t.page.click('.chip[data-filter=app]');
	await until('two rows', async () => (await cells(t, 'server')).length === 2);
	await t.page.click('a[aria-label="Abnormal requests of other /x"]');
	await t.page.waitForSelector('.views');
	CHECK_EQ(new URL(t.page.url()).searchParams.get('app'), 'other', 'the address');
});

TEST('facets list regions, nodes, apps and routes with their requests under the other filters', async (t) => {
	t.mock.shapes = two();
	t.mock.nodes = [node({ name: 'a', region: 'eu-1' }), node({ name: 'b', region: null })];
	await t.open(`/red?${fixed}`, { timezoneId: 'UTC' });
	await t.page.waitForSelector('#server .plain');
	// The facet opened before this one may still be there for a moment.
	const lists = async (name, wanted) => {
		await t.page.click(`#facet-${name}`);
		await until(`${name} has ${wanted}`, async () => {
			const seen = await t.page.$$eval('.facet li', (all) => all.map((li) => `${li.querySelector('bdi')?.innerText} ${li.querySelector('.n')?.innerText}`));
			return JSON.stringify(seen) === JSON.stringify(wanted);
		});
	};
	await lists('node', ['b 101', 'a 100']);
	await lists('region', ['none 101', 'eu-1 100']);
	await lists('app', ['shop 201']);
	await lists('route', ['/pay 201']);
	await t.page.click('#facet-node');
	await t.page.click('.facet .only:has-text("b")');
	await until('one node is left', async () => (await cells(t, 'server'))[0]?.[4] === '101');
	const { searchParams } = new URL(t.page.url());
	CHECK_EQ([searchParams.get('from'), searchParams.get('node')], [FROM, 'b'], 'the address');
	await until('its own filter does not count', async () => JSON.stringify(await t.page.$$eval('.facet li', (all) => all.map((li) => li.querySelector('bdi').innerText))) === '["b","a"]');
});

TEST('a group and a request link to the durations of their route', async (t) => {
	t.mock.shapes = [{ node: 'a', app: 'shop', route: '/pay', role: 'client' }];
	t.mock.rows = some(1, { app: 'shop', route: '/pay' });
	await t.open('/requests?view=groups');
	await t.page.click('.g-links a:has-text("RED")');
	await t.page.waitForSelector('#client');
	CHECK_EQ(new URL(t.page.url()).searchParams.get('route'), '/pay', 'the address');
	await t.page.goto(t.mock.url + t.mock.rows[0].diagnosis);
	await t.page.click('#red');
	await t.page.waitForSelector('#client');
});

TEST('without counts the page of routes says so, and names the failed side', async (t) => {
	await t.open('/red');
	await until('it says so', async () => (await t.text('main')).includes('No requests were counted in this range.'));
	t.mock.away = true;
	await t.page.goto(`${t.mock.url}/red?app=x`);
	await t.page.waitForSelector('main .banner[data-kind=db]');
});
