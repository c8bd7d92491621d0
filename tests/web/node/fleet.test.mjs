// SPDX-License-Identifier: Apache-2.0
// The fleet: the worst nodes first with their causes, and ten thousand nodes page by page.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { scored } from '../mock/scores.mjs';

const made = (n) => Array.from({ length: n }, (_, i) => scored(i + 1));
const names = (t) => t.page.$$eval('.fleet tbody tr', (all) => all.map((tr) => tr.dataset.node));
const first = (t, name) => until(`${name} is first`, async () => (await names(t))[0] === name);
const row = (t, name) => t.page.$eval(`.fleet tr[data-node="${name}"]`, (tr) => tr.innerText.replace(/\s+/g, ' ').trim());
const address = (t) => new URL(t.page.url());

TEST('the worst nodes come first, each with its cause', async (t) => {
	t.mock.fleet = made(40);
	await t.open('/fleet');
	await first(t, 'node-00007');
	CHECK_EQ((await names(t)).slice(0, 4), ['node-00007', 'node-00019', 'node-00011', 'node-00013'], 'the order');
	for (const [name, parts] of [
		['node-00007', ['100', '93', 'tasks waited for a disk 93 % of the time', 'nvme0n1 100 % busy']],
		['node-00011', ['<b>pay</b>: 430 ms over normal per request', 'pay: 8.3 % of requests failed']],
		['node-00013', ['2.9 % of memory available']],
		['node-00019', ['silent', 'no data received']],
		['node-00017', ['– no requests', '– the probe sees no requests']],
	]) for (const part of parts) CHECK((await row(t, name)).includes(part), `${part} in ${await row(t, name)}`);
	CHECK_EQ(await t.page.$$eval('.fleet tr[data-node="node-00007"] .grave', (all) => all.length), 3, 'what is grave looks so');
	CHECK((await t.page.$eval('.fleet tr[data-node="node-00017"] .f-score', (td) => td.title)).includes('Not known here: cpu.pressure, io.pressure'), 'what could not be looked at');
	CHECK((await t.text('#fleet-bad')).replace(/\s+/g, ' ').includes('4 of 40 nodes at 50 or more saturation 2 load 1 latency 1 errors 3 1 silent'), await t.text('#fleet-bad'));
});

TEST('a cause links to the page of the node at that minute', async (t) => {
	t.mock.fleet = made(20);
	await t.open('/fleet');
	await first(t, 'node-00007');
	const at = Date.parse(t.mock.fleet[6].at);
	await t.page.click('.fleet tbody tr:first-child .f-score a');
	await until('the page of the node', () => address(t).pathname === '/nodes/node-00007');
	const q = address(t).searchParams;
	CHECK(Date.parse(q.get('from')) < at - 120e3 && Date.parse(q.get('to')) > at && Date.parse(q.get('at')) === at - 60e3, q.toString());
});

TEST('the list can be ordered by each class, and the address keeps the order', async (t) => {
	t.mock.fleet = made(40);
	await t.open('/fleet');
	await first(t, 'node-00007');
	await t.page.click('.fleet thead th:nth-child(5) a');
	await first(t, 'node-00011');
	CHECK_EQ(address(t).search, '?by=latency', 'the address');
	CHECK_EQ(await t.page.$eval('.fleet thead th:nth-child(5)', (th) => th.getAttribute('aria-sort')), 'descending', 'and said');
	await t.page.reload();
	await first(t, 'node-00011');
	await t.page.click('.fleet thead th:first-child a');
	await first(t, 'node-00001');
});

TEST('region, tag and part of the name filter the fleet', async (t) => {
	t.mock.fleet = made(60);
	await t.open('/fleet');
	await first(t, 'node-00007');
	await t.page.click('#facet-region');
	await t.page.click('.facet li:has-text("r-2") .only');
	await until('only those of a region', async () => (await names(t)).length === 20);
	await t.page.click('#facet-tag');
	await t.page.click('.facet li:has-text("role=web") .only');
	await until('and of a role', async () => (await names(t)).length === 10);
	await t.page.fill('#fleet-q', '00011');
	await until('and a name', async () => (await names(t)).length === 1);
	CHECK_EQ(address(t).search, '?q=00011&region=r-2&tag=role%3Dweb'.replaceAll('%3A', ':'), 'the address');
	await t.page.fill('#fleet-q', 'nobody');
	await until('nothing fits', async () => (await t.text('main')).includes('No node matches.'));
});

TEST('ten thousand nodes are shown a hundred to a page', async (t) => {
	t.mock.fleet = made(10_000);
	await t.open('/fleet');
	await first(t, 'node-00007');
	CHECK_EQ((await names(t)).length, 100, 'on a page');
	CHECK((await t.text('.f-pages')).includes('1 to 100 of 10,000'), await t.text('.f-pages'));
	const shown = await names(t);
	await t.page.click('#fleet-next');
	await until('the next page', async () => (await t.text('.f-pages')).includes('101 to 200 of 10,000'));
	CHECK_EQ((await names(t)).filter((n) => shown.includes(n)), [], 'of both pages');
	await t.page.click('#fleet-previous');
	await first(t, 'node-00007');
	await t.page.goto(`${t.mock.url}/fleet?skip=9900`);
	await until('the last page', async () => (await t.text('.f-pages')).includes('9,901 to 10,000 of 10,000'));
	CHECK_EQ((await t.page.$$('#fleet-next')).length, 0, 'behind the last');
});

TEST('the fleet refreshes by itself, in the language of the page', async (t) => {
	t.mock.fleet = made(20);
	await t.open('/nodes');
	await t.page.keyboard.press('6');
	await first(t, 'node-00007');
	t.mock.fleet[2] = scored(3, { error: [99, { code: 'failed', what: 'shop', value: 90, unknown: [] }], load: [100, { code: 'cpu.busy', what: null, value: 100, unknown: [] }], latency: [100, { code: 'later', what: null, value: 1, unknown: [] }] });
	await first(t, 'node-00003');
	await t.page.click('#lang');
	await until('in Chinese', async () => (await row(t, 'node-00003')).includes('shop：90 % 的请求失败'));
	CHECK((await row(t, 'node-00003')).includes('later'), 'a cause of a later version is said as it came');
});

TEST('other regions show how far they are behind and link to their consoles', async (t) => {
	t.mock.fleet = made(3);
	t.mock.regions = [
		{ name: 'eu', relay: true, console: 'http://eu.example:8080/', lag: 1500, nodes: 12 },
		{ name: 'home', relay: false, console: null, lag: null, nodes: 3 },
		{ name: 'us', relay: true, console: 'javascript:alert(1)', lag: 3600e3, nodes: 4 },
	];
	await t.open('/fleet');
	await until('the regions', async () => (await t.page.$$('.f-regions li')).length === 3);
	const region = (name) => t.page.$eval(`.f-regions li[data-region="${name}"]`, (li) => [li.className, li.innerText.replace(/\s+/g, ' ').trim(), li.querySelector('a')?.href ?? '']);
	CHECK_EQ((await region('eu'))[2], 'http://eu.example:8080/', 'the console of eu');
	CHECK((await region('eu'))[1].includes('12 nodes') && (await region('eu'))[1].includes('behind'), (await region('eu'))[1]);
	CHECK_EQ(await region('home'), ['', 'home 3 nodes', ''], 'the own one');
	CHECK((await region('us'))[0] === 'warn' && (await region('us'))[2] === '', (await region('us')).join(' | '));
});
