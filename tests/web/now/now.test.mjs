// SPDX-License-Identifier: Apache-2.0
// The first page: what is wrong, worst first, with a link; each application beside its usual; and what is watched if nothing is wrong.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { incident } from '../mock/cases.mjs';
import { fleet, request } from '../mock/data.mjs';
import { shapes } from '../mock/explore.mjs';
import { appsOf, hourUntil, worseBy } from '../../../web/src/data/now.js';

const items = (t, of) => t.page.$$eval(`#${of} li`, (all) => all.map((li) => [li.dataset.kind, li.innerText.replace(/\s+/g, ' ').trim()]));

TEST('the first page names open incidents, then silent nodes, each with a link and what to do', async (t) => {
	t.mock.nodes = fleet(3);
	t.mock.cases = [incident(), incident({ n: 2, state: 'closed', closed: new Date().toISOString() })];
	await t.open('/');
	await until('both', async () => (await items(t, 'wrong')).length === 2);
	const [[first, what], [second, silent]] = await items(t, 'wrong');
	CHECK_EQ([first, second], ['incident', 'silent'], 'the order');
	CHECK(what.startsWith('checkout slow: 1.4 s of 1.6 s arose in db-3') && what.includes('Start with db-3.') && what.includes('180 abnormal requests'), what);
	CHECK(/^db-edge-03 has sent nothing for 1 min/.test(silent), silent);
	await t.page.click('#wrong li a');
	await t.page.waitForSelector('#causes-time');
	await t.page.keyboard.press('Escape');
	await t.page.waitForSelector('#wrong');
});

TEST('it says what was watched if nothing is wrong', async (t) => {
	t.mock.nodes = fleet(2);
	await t.open('/');
	await until('it says so', async () => (await t.text('#wrong')).includes('No incident is open and every node reports.'));
	CHECK(/Watched: nodes 2 · servers \d+ · requests a second [\d.,<]+/.test(await t.text('#wrong')), await t.text('#wrong'));
	await until('no request either', async () => (await t.text('#harmed')).includes('No abnormal request in the last 15 minutes.'));
});

TEST('the requests that harm most are sentences with their rows and a diagnosis one click away', async (t) => {
	t.mock.rows = [
		...[1, 2, 3].map((i) => request({ node: 'web-1', app: 'shop', path: '/buy', method: 'GET', reason: 'app.error', status: 500, time: Date.now() - 1000 * i })),
		request({ node: 'web-1', app: 'shop', path: '/slow', method: 'GET', reason: 'up.slow', status: 200, requestTime: 30_000, time: Date.now() - 500 }),
		request({ node: 'web-1', app: 'old', path: '/old', reason: 'app.error', status: 500, time: Date.now() - 20 * 60e3 }),
	];
	await t.open('/');
	await until('two groups', async () => (await items(t, 'harmed')).length === 2);
	const [[, failed], [, slow]] = await items(t, 'harmed');
	CHECK(failed.startsWith('shop: 3 of 3 abnormal requests of GET /buy failed') && failed.includes('Most recent:'), failed);
	CHECK(slow.startsWith('shop: an abnormal request of GET /slow took 30,0'), slow);
	CHECK_EQ(await t.page.getAttribute('#harmed li:first-child p a', 'href'), `/requests/${t.mock.rows[0].id}`, 'the newest');
	CHECK(/[?&]from=-15m/.test(await t.page.getAttribute('#harmed li a.what', 'href')), 'the rows that were counted');
	await t.page.click('#harmed li a.what');
	await t.shows(3);
	await t.page.goBack();
	await t.page.waitForSelector('#harmed');
});

const hour = hourUntil(Date.now());
const minute = (k, counts) => ({ time: new Date(hour.from + k * 60e3).toISOString(), ...counts });
const usual = (n = 60) => Array.from({ length: n }, (_, k) => minute(k, { count: 50, errors: 0, slots: { lo: 12, b: [50] } }));
const series = (app, points, of = { node: 'web-1', nodes: 1 }) => ({ ...of, app, route: null, peer: null, role: 'server', count: 1, points });

TEST('an application is compared with its own hour before', async () => {
	const failing = [...usual(57), ...[57, 58, 59].map((k) => minute(k, { count: 50, errors: 10, slots: { lo: 12, b: [50] } }))];
	const slow = [...usual(55), ...[55, 56, 57, 58, 59].map((k) => minute(k, { count: 50, errors: 0, slots: { lo: 17, b: [50] } }))];
	const few = [...usual(55).map((p) => ({ ...p, count: 1, slots: { lo: 12, b: [1] } })), minute(58, { count: 2, errors: 2, slots: { lo: 20, b: [2] } })];
	const found = appsOf([series('slow', slow), series('failing', failing), series('few', few), series('calm', usual(), { node: null, nodes: 2 })], hour);
	CHECK_EQ(found.map((a) => [a.app, a.worse, a.nodes]), [['failing', 'errors', 1], ['slow', 'slow', 1], ['few', null, 1], ['calm', null, 2]], 'worse ones first');
	CHECK_EQ([found[3].now.count, found[3].usual.count], [250, 2750], 'what is counted');
	CHECK_EQ(worseBy({ count: 100, errorPart: 0.02, p99: 5 }, { count: 0, errorPart: null, p99: null }), 'errors', 'a new one that fails');
	CHECK_EQ(worseBy({ count: 100, errorPart: 0.05, p99: 5 }, { count: 100, errorPart: 0.05, p99: 5 }), null, 'as always');
});

TEST('the page shows the applications with links to their routes and requests', async (t) => {
	t.mock.shapes = shapes;
	await t.open('/');
	await t.page.waitForSelector('#apps tbody tr');
	CHECK_EQ((await t.page.$$eval('#apps tbody tr', (all) => all.map((tr) => tr.dataset.app))).sort(), ['nginx', 'orders'], 'those of the routes');
	CHECK_EQ(await t.page.getAttribute('#apps tr[data-app=orders] td:last-child a', 'href'), '/requests?app=orders', 'its requests');
	CHECK((await t.text('#apps tr[data-app=nginx]')).includes('2 nodes'), 'an application of several nodes is one line');
	CHECK_EQ(await t.page.$('#apps-cut'), null, 'all are there');
	await t.page.click('#apps tr[data-app=orders] a');
	await until('its routes', async () => new URL(t.page.url()).pathname === '/red');
});

TEST('the page says when it does not show all applications', async (t) => {
	t.mock.shapes = Array.from({ length: 40 }, (_, i) => ({ node: 'web-1', app: `app-${i}`, route: 'GET /', weight: 2, lo: 9 }));
	await t.open('/');
	await t.page.waitForSelector('#apps-cut');
	CHECK((await t.text('#apps-cut')).startsWith('The first 30 of 40.'), await t.text('#apps-cut'));
	t.mock.shapes = Array.from({ length: 120 }, (_, i) => ({ node: 'web-1', app: `app-${i}`, route: 'GET /', weight: 2, lo: 9 }));
	await t.open('/');
	await until('it says so', async () => (await t.text('#apps-cut')).includes('Quieter ones are not compared.'));
});

TEST('without a node the page says how to begin, not that all is well', async (t) => {
	t.mock.nodes = [];
	await t.open('/');
	await until('it says so', async () => (await t.text('#wrong')).includes('No probe has reported yet.'));
	CHECK(!(await t.text('#wrong')).includes('every node reports'), await t.text('#wrong'));
});

TEST('many silent nodes are counted, not listed', async (t) => {
	t.mock.nodes = Array.from({ length: 40 }, (_, i) => ({ ...fleet(1)[0], id: `n${i}`, name: `quiet-${i}`, lag: 60_000 }));
	await t.open('/');
	await until('ten and a sentence', async () => (await items(t, 'wrong')).length === 11);
	CHECK((await items(t, 'wrong'))[10][1].includes('30 more nodes have sent nothing'), 'the rest');
});

TEST('Escape closes the dates and stays on the page', async (t) => {
	await t.open('/red');
	await t.page.selectOption('#range', 'custom');
	await t.page.focus('#range-apply');
	await t.page.keyboard.press('Escape');
	await until('closed', async () => !(await t.page.$('.popover')));
	CHECK_EQ(new URL(t.page.url()).pathname, '/red', 'the page');
});

TEST('an address of an older version with filters still shows the requests', async (t) => {
	t.mock.rows = [request({ app: 'nginx' }), request({ app: 'shop' })];
	await t.open('/?app=nginx&view=rows');
	await t.shows(1);
});
