// SPDX-License-Identifier: Apache-2.0
// The topology: the drawing and its table, owners of addresses, and one request across hosts.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { request } from '../mock/data.mjs';

const calls = (over) => ({ count: 200, rate: 12, errors: 20, errorRatio: 0.1, mean: 3, p50: 2.5, p99: 40, max: 65.5, ...over });
const edge = (from, to, over = {}) => ({ from: { node: `${from}-1`, app: from }, to: { node: `${to}-1`, app: to, addr: '10.0.0.2:8000', how: 'listener' }, protocol: 'http', calls: calls(), served: calls({ errors: 0, errorRatio: 0, p99: 30 }), ...over });
const outside = (from) => edge(from, 'x', { to: { node: null, app: null, addr: '198.51.100.9:443', how: 'external' }, served: null, calls: calls({ errors: 0, errorRatio: 0 }) });
const cells = (t) => t.page.$$eval('#edges tbody tr', (all) => all.map((tr) => [...tr.cells].map((td) => td.innerText.trim())));

TEST('each edge is drawn from caller to callee and is in the table with both sides', async (t) => {
	t.mock.edges = [edge('nginx', 'shop'), edge('shop', 'db'), outside('shop')];
	await t.open('/topology?app=shop');
	await t.page.waitForSelector('.graph svg');
	CHECK_EQ(await t.page.$$eval('.graph .box', (all) => all.map((g) => g.querySelector('text').textContent)), ['shop', 'nginx', 'db', '198.51.100.9:443'], 'the boxes');
	const x = await t.page.$$eval('.graph .box', (all) => all.map((g) => Math.round(Number(g.getAttribute('transform').match(/[0-9.]+/)[0]))));
	CHECK(x[1] < x[0] && x[0] < x[2] && x[2] === x[3], `callers are left of the called: ${x}`);
	CHECK_EQ((await t.page.$$eval('.graph .link text', (all) => all.map((g) => g.textContent)))[0], '12/s · 10 % · p99 40.0 ms', 'the figures of an edge');
	CHECK_EQ(await t.page.$$eval('.graph .is-failing', (all) => all.length), 2, 'edges that fail');
	const rows = await cells(t);
	CHECK_EQ([rows[0].slice(0, 3), rows[0].slice(10)], [['nginx nginx-1', 'shop shop-1', '10.0.0.2:8000'], ['0.0 %', '2.50', '30.00']], 'a row');
	CHECK_EQ(rows[2].slice(1, 3), ['external', '198.51.100.9:443'], 'what is nobody\'s');
	CHECK_EQ(new URL(t.mock.asked.find((a) => a.startsWith('/api/v1/topology')), 'http://x').search, '?app=shop', 'what the API was asked');
	await t.page.click('#edges a:has-text("db")');
	await until('the other app', async () => new URL(t.page.url()).search === '?app=db');
});

TEST('calls in a circle end, and surplus applications are folded and counted', async (t) => {
	t.mock.edges = [edge('a', 'b'), edge('b', 'a'), ...Array.from({ length: 60 }, (_, i) => edge('a', `c${i}`, { calls: calls({ count: i }) }))];
	await t.open('/topology');
	await t.page.waitForSelector('.graph svg');
	CHECK_EQ(await t.page.$$eval('.graph .box', (all) => all.length), 40, 'boxes');
	CHECK((await t.text('.card .hint')).includes('23'), await t.text('.card .hint'));
	CHECK_EQ((await cells(t)).length, 62, 'rows of the table');
});

TEST('boxes are folded by application, unfolded, and found by name or host', async (t) => {
	t.mock.edges = Array.from({ length: 50 }, (_, i) => edge('nginx', `app${i}`, { calls: calls({ count: 100 - i }) }));
	t.mock.edges.push(edge('nginx', 'app0', { to: { node: 'far', app: 'app0', addr: '10.0.0.3:8000', how: 'listener' } }));
	await t.open('/topology');
	const boxes = () => t.page.$$eval('.graph .box', (all) => all.length);
	await until('the busiest are drawn', async () => (await boxes()) === 40);
	await t.page.click('#fold');
	await until('all are drawn', async () => (await boxes()) === 52);
	await t.page.fill('#find-box', 'FAR');
	await until('one is found by its host', async () => (await t.page.$$eval('.graph .is-found', (all) => all.map((g) => g.textContent))).join() === 'app0 · farapp0far');
	CHECK_EQ(await t.page.$$eval('.graph .box.is-dim', (all) => all.length), 51, 'the others are dimmed');
	const seen = await t.page.$eval('.graph .is-found', (g) => [g, g.closest('.graph')].map((e) => e.getBoundingClientRect()).map((r) => [r.top, r.bottom]));
	CHECK(seen[0][0] >= seen[1][0] && seen[0][1] <= seen[1][1], `it is scrolled to: ${seen}`);
	await t.page.click('.views a:has-text("By application")');
	await until('one box is both hosts', async () => (await boxes()) === 51);
	CHECK_EQ(new URL(t.page.url()).search, '?by=app', 'the address keeps it');
	CHECK((await t.text('.graph')).includes('2 hosts'), 'how many hosts');
});

TEST('addresses in the list have the names of their owners', async (t) => {
	t.mock.rows = [request({ remotePlace: { node: null, app: null, how: 'external' }, upstreamPlace: { node: 'shop-1', app: 'shop', how: 'listener' } })];
	await t.open('/?view=rows');
	await t.shows(1);
	CHECK_EQ([await t.text('.c-remoteAddr .owner'), await t.text('.c-upstreamAddr .owner')], ['external', 'shop-1 · shop'], 'names');
});

TEST('a request across hosts is a tree on one time axis, with where to look, and where it ends and why', async (t) => {
	const [top, below] = [request({ app: 'nginx' }), request({ app: 'shop', node: 'shop-1' })];
	const hop = (n, parent, over) => ({ hop: n, parent, try: 1, addr: '10.0.0.2:8000', how: 'listener', node: null, app: null, callTime: null, responseTime: null, id: null, time: null, startTime: null, request: null, status: null, totalTime: null, networkTime: null, shares: null, silence: null, ends: null, ...over });
	const first = hop(0, null, { try: null, addr: null, node: 'web-1', app: 'nginx', id: top.id, time: top.time, startTime: 0, request: 'GET /a', status: 502, totalTime: 100, shares: [{ code: 'upstream', ms: 90, normal: null }, { code: 'cpu', ms: 10, normal: null }] });
	const second = hop(2, 0, { try: 2, node: 'shop-1', app: 'shop', callTime: 20, responseTime: 70, id: below.id, time: below.time, startTime: 24.5, request: 'GET /a', status: 500, totalTime: 61, networkTime: 9, shares: [{ code: 'io', ms: 61, normal: null }], ends: 'unknownCalls' });
	t.mock.rows = [top, below];
	t.mock.trace = {
		hop: 0, caller: { addr: '192.0.2.50:999', node: 'edge-1', silence: 'several' },
		hops: [first, hop(1, 0, { addr: '198.51.100.9:443', callTime: 5, responseTime: 5, silence: 'noProbe' }), second, hop(3, 2, { addr: '10.0.0.3:5432', node: 'db-1', app: 'db', callTime: 30, responseTime: 20, silence: 'withheld' })],
		lookAt: { kind: 'node', hop: 2, node: 'shop-1', app: 'shop', addr: '10.0.0.2:8000', from: 'web-1', ms: 61, share: 0.61 },
	};
	await t.open(`/requests/${top.id}`);
	await until('three levels', async () => (await t.page.$$('#calls .hops .hops .hops')).length === 1);
	const said = await t.text('#calls');
	for (const words of ['Look at shop-1: 61.00 ms of 100.0 ms arose there, in shop.', 'No probe at 198.51.100.9:443', '9.00 ms of it on the way', 'The probe of db-1 withheld or lost rows', 'Its own calls could not be identified']) CHECK(said.includes(words), `${words}: ${said}`);
	CHECK((await t.text('#before')).includes('Several requests'), 'why nothing is known before it');
	CHECK_EQ(await t.page.$$eval('#calls .hop-split', (all) => all.map((e) => [e.getAttribute('aria-label').includes('ms'), e.style.left, e.style.width])), [[true, '0%', '100%'], [true, '24.5%', '61%']], 'when each was');
	CHECK_EQ(await t.page.$$eval('#calls .hop-call', (all) => all.map((e) => [e.style.left, e.style.width])), [['5%', '5%'], ['20%', '70%'], ['30%', '20%']], 'when each was called');
	CHECK((await t.page.$$eval('#calls .hop a', (all) => all.map((a) => new URL(a.href).pathname))).join(' ') === `/nodes/web-1 /nodes/shop-1 /requests/${below.id} /nodes/db-1`, 'links');
	await t.page.click('#calls .hop a:has-text("open")');
	await until('the callee\'s page', async () => t.page.url().endsWith(below.id));
});

TEST('a request known on one host only is no tree', async (t) => {
	t.mock.rows = [request({})];
	await t.open(`/requests/${t.mock.rows[0].id}`);
	await until('it was asked', async () => t.mock.asked.some((a) => a.endsWith('/trace')));
	CHECK_EQ((await t.page.$$('#calls')).length, 0, 'trees');
});
