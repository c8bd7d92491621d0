// SPDX-License-Identifier: Apache-2.0
// The list of incidents and the page of an incident.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { incident } from '../mock/cases.mjs';
import { fleet, request } from '../mock/data.mjs';

const ids = (t) => t.page.$$eval('.incidents tbody tr', (all) => all.map((tr) => tr.dataset.id));
const shows = (t, n) => until(`${n} incidents are shown`, async () => (await ids(t)).length === n);
const textOf = async (t, selector) => (await t.text(selector)).replace(/\s+/g, ' ').trim();

TEST('the open incidents come first, each in one sentence', async (t) => {
	t.mock.cases = [incident({ n: 1, state: 'closed', time: Date.now() - 60e3 }), incident({ n: 2, acknowledged: { time: new Date().toISOString(), by: 'ada' } })];
	await t.open('/incidents');
	await shows(t, 2);
	CHECK_EQ((await ids(t))[0], t.mock.cases[1].brief.id, 'the first');
	const row = await textOf(t, '.incidents tbody tr');
	CHECK(/checkout slow: 1\.4 s of 1\.6 s arose in db-3 \(io\.block\), since \d\d:\d\d \+08:00, 3 nodes, 2 apps/.test(row), row);
	for (const part of ['open', 'seen by ada', 'db-3', '88 %']) CHECK(row.includes(part), `${part} in ${row}`);
	await t.page.click('#lang');
	await until('it is said in Chinese', async () => (await textOf(t, '.incidents tbody tr')).includes('checkout 变慢：1.6 s 中的 1.4 s 发生在 db-3（io.block），自 '));
});

TEST('state and node filter the list, and are in the address', async (t) => {
	t.mock.nodes = fleet(2);
	t.mock.cases = [incident({ n: 1, state: 'closed' }), incident({ n: 2 }), incident({ n: 3, nodes: [t.mock.nodes[0].name] }), incident({ n: 4, state: 'merged' })];
	await t.open('/incidents');
	await shows(t, 3);
	await t.page.selectOption('#incidents-state', 'open');
	await shows(t, 2);
	await t.page.selectOption('#incidents-node', t.mock.nodes[0].name);
	await shows(t, 1);
	CHECK_EQ(new URL(t.page.url()).search, `?node=${t.mock.nodes[0].name}&state=open`, 'the address');
	await t.page.reload();
	await shows(t, 1);
});

TEST('an empty list of incidents says what would be one', async (t) => {
	await t.open('/incidents');
	CHECK((await textOf(t, '#no-incidents')).includes('five abnormal requests'), 'what would be one');
	CHECK_EQ(await t.page.$eval('nav a[aria-current]', (a) => a.pathname), '/incidents', 'the page in the header');
});

TEST('the keyboard leads from the list to an incident and back', async (t) => {
	t.mock.cases = [incident({ n: 1 }), incident({ n: 2, time: Date.now() - 900e3 })];
	await t.open('/nodes');
	await t.page.keyboard.press('5');
	await shows(t, 2);
	await t.page.keyboard.press('j');
	await t.page.keyboard.press('j');
	await t.page.keyboard.press('Enter');
	await t.page.waitForSelector('.verdict');
	CHECK_EQ(new URL(t.page.url()).pathname, t.mock.cases[1].brief.diagnosis, 'the second');
	await t.page.keyboard.press('Escape');
	await shows(t, 2);
});

TEST('an incident shows where it arose, its path, its signals and its history', async (t) => {
	t.mock.cases = [incident()];
	await t.open(t.mock.cases[0].brief.diagnosis);
	await t.page.waitForSelector('#through');
	CHECK((await textOf(t, '.verdict')).startsWith('checkout slow: 1.4 s of 1.6 s arose in db-3 (io.block)'), 'the verdict');
	const causes = await t.page.$$eval('#causes-time .cause', (all) => all.map((li) => li.innerText.replace(/\s+/g, ' ')));
	CHECK(causes[0].includes('db-3 88 % in db-3 itself: 1 min'), causes[0]);
	CHECK(causes[1].includes('cart-1 8 % on the way from shop-1 to cart-1: 6.0 s in cart-1 itself: 2.0 s'), causes[1]);
	CHECK(causes[2].includes('10.9.9.9:443 no probe there 4 %'), causes[2]);
	CHECK_EQ(await t.page.$$('#causes-errors').then((all) => all.length), 0, 'no ranking by errors');
	const place = await t.page.$$eval('.through-host', (all) => Object.fromEntries(all.map((g) => [g.dataset.name, Number(g.querySelector('rect').getAttribute('x'))])));
	CHECK(place['shop-1'] < place['cart-1'] && place['cart-1'] < place['db-3'], 'callers stand left of whom they ask');
	CHECK_EQ(await t.page.$$eval('.through-host.first', (all) => all.map((g) => g.dataset.name)), ['db-3'], 'the first one is marked');
	CHECK_EQ(await t.page.$$eval('#signals tbody tr', (all) => all.length), 3, 'the signals');
	CHECK_EQ(await textOf(t, '#order'), 'db-3 went wrong first, 12 ms before cart-1.', 'who was first');
	const began = await t.page.$$eval('#signals tbody tr', (all) => all.map((tr) => tr.querySelector('.i-time').innerText));
	CHECK(began[2] < began[1], `times are by one clock: ${began}`);
	const see = await t.page.$eval('#signals tbody tr:last-child a', (a) => a.search);
	CHECK(see.includes('node=db-3') && see.includes('app=postgres'), see);
	CHECK((await textOf(t, '#node-events tbody')).includes('db-3 slow file operation io.slow 4'), await textOf(t, '#node-events tbody'));
	const steps = await textOf(t, '#steps');
	for (const part of ['Opened: postgres /q on db-3 (io), 12 requests', 'Joined: checkout /buy on shop-1', 'db-3 is now first, with 88 %']) CHECK(steps.includes(part), `${part} in ${steps}`);
});

TEST('what helps stands first: long lists of steps are folded, actions are one click away', async (t) => {
	const one = incident();
	const joined = { ...one.detail.steps[1] };
	one.detail.steps.splice(1, 0, { ...joined, kind: 'acknowledged', who: 'ada', detail: {} }, ...Array.from({ length: 40 }, () => joined));
	t.mock.cases = [one];
	await t.open(one.brief.diagnosis);
	await t.page.waitForSelector('#steps');
	const steps = () => t.page.$$eval('#steps li', (all) => all.length);
	CHECK_EQ(await steps(), 6, 'the first, the last four and what ada did');
	CHECK((await textOf(t, '#steps')).includes('ada'), 'what people did');
	const place = await t.page.evaluate(() => ['#causes-time', '#signals', '#steps', '#action'].map((s) => document.querySelector(s).getBoundingClientRect().top));
	CHECK(place[0] < place[1] && place[1] < place[2] && place[1] < place[3], `the signals come before the steps: ${place}`);
	await t.page.click('#steps-all');
	await until('all of them', async () => (await steps()) === one.detail.steps.length);
	await t.page.click('#to-action');
	await until('the field has the focus', () => t.page.evaluate(() => document.activeElement.id === 'action-by'));
});

TEST('an incident over several regions shows and links its part in each', async (t) => {
	t.mock.regions = [
		{ name: 'global', relay: null, console: null, lag: 0, nodes: 1 },
		{ name: 'eu', relay: 'relay-eu', console: 'http://127.0.0.1:9/', lag: 900, nodes: 2 },
	];
	const part = (region, n, over) => ({ region, id: `1-00000000000000${n}`, state: 'open', onset: new Date().toISOString(), last: new Date().toISOString(), closed: null, first: 'db-3', title: `<b>${region}</b> slow`, ...over });
	t.mock.cases = [incident({ detail: { parts: [part('eu', 11), part('us', 12, { state: 'closed' })] } }), incident({ n: 2 })];
	await t.open(t.mock.cases[0].brief.diagnosis);
	await t.page.waitForSelector('#parts a');
	const parts = await t.page.$$eval('#parts li', (all) => all.map((li) => li.innerText.replace(/\s+/g, ' ').trim()));
	CHECK(/^open eu .*: <b>eu<\/b> slow$/.test(parts[0]) && /^closed us: <b>us<\/b> slow$/.test(parts[1]), parts.join(' | '));
	CHECK_EQ(await t.page.$$eval('#parts a', (all) => all.map((a) => a.href)), ['http://127.0.0.1:9/incidents/1-0000000000000011'], 'the way there');
	await t.open(t.mock.cases[1].brief.diagnosis);
	await t.page.waitForSelector('#steps');
	CHECK_EQ((await t.page.$$('#parts')).length, 0, 'an incident of this collector has none');
});

TEST('an incident without a clear cause says so, a merged one links to its target', async (t) => {
	const into = incident({ n: 2 });
	const unclear = incident({ n: 1, code: 'slow.unclear', clear: false, state: 'merged', mergedInto: into.brief.id });
	unclear.detail.candidates[0].share = 0.4;
	t.mock.cases = [unclear, into];
	await t.open(unclear.brief.diagnosis);
	await t.page.waitForSelector('#causes-time');
	CHECK((await textOf(t, '.verdict')).includes('slow by 1.6 s: no clear cause, most of it (1.4 s) in db-3'), await textOf(t, '.verdict'));
	CHECK((await textOf(t, '#causes-time')).includes('No host has half of it'), 'beside the bars');
	await t.page.click(`a[href="/incidents/${into.brief.id}"]`);
	await until('the other one is there', async () => (await textOf(t, '.verdict')).includes('arose in db-3'));
});

TEST('a merged incident that kept no signal has a title without gaps', async (t) => {
	const into = incident({ n: 2 });
	const params = { app: '?', host: '?', took: null, of: null, count: null, percent: null };
	t.mock.cases = [incident({ n: 1, code: 'slow.unknown', state: 'merged', mergedInto: into.brief.id, headline: null, first: null, params, nodes: [], apps: [], signals: 0 }), into];
	await t.open(t.mock.cases[0].brief.diagnosis);
	const verdict = await textOf(t, '.verdict');
	CHECK(verdict.startsWith('incident without signals, since') && !/null|undefined|[{}]/.test(verdict), verdict);
});

TEST('errors have a ranking of their own; a missing incident has a message', async (t) => {
	t.mock.cases = [incident({ code: 'failed', params: { app: 'cart', host: 'cart-1', count: 30, percent: 100 }, first: { node: 'cart-1', share: 1, reason: 'app.error' }, detail: { candidates: [{ ranking: 'errors', place: 1, node: 'cart-1', external: false, own: 30, edge: 0, share: 1, parts: [{ from: 'cart-1', to: null, value: 30, net: 30 }] }], graph: [] } })];
	await t.open(t.mock.cases[0].brief.diagnosis);
	CHECK((await textOf(t, '.verdict')).startsWith('cart fails: 100 % of 30 failed requests began in cart-1 (app.error)'), await textOf(t, '.verdict'));
	CHECK((await textOf(t, '#causes-errors')).includes('cart-1 100 % in cart-1 itself: 30 failed'), await textOf(t, '#causes-errors'));
	await t.page.goto(`${t.mock.url}/incidents/1-0000000000000001`);
	CHECK((await textOf(t, '.missing')).includes('There is no such incident.'), 'what is missing');
});

TEST('a read-only console shows an incident without its actions', async (t) => {
	t.mock.cases = [incident()];
	t.mock.actions = false;
	await t.open(t.mock.cases[0].brief.diagnosis);
	await until('it says why', async () => (await textOf(t, '#action')).includes('web_actions = off'));
	CHECK_EQ(await t.page.$$eval('#do-acknowledge, #do-close, #do-merge, #do-split', (all) => all.length), 0, 'no button is there');
});

TEST('an operator acknowledges an incident, comments, and closes it', async (t) => {
	t.mock.cases = [incident()];
	await t.open(t.mock.cases[0].brief.diagnosis);
	await t.page.waitForSelector('#action');
	CHECK(await t.page.$eval('#do-acknowledge', (b) => b.disabled), 'nobody decides without a name');
	await t.page.fill('#action-by', 'ada');
	await t.page.click('#do-acknowledge');
	await until('it is seen by ada', async () => (await textOf(t, '.line .state')).includes('seen by ada'));
	await t.page.fill('#action-text', '<b>the disk</b>');
	await t.page.click('#do-comment');
	await until('the comment is a step', async () => (await textOf(t, '#steps')).includes('Comment <b>the disk</b> by ada'));
	t.mock.cases[0].brief.state = 'closed';
	await t.page.click('#do-close');
	CHECK((await textOf(t, '#action [role=alert]')).includes('closed already'), 'what is refused is said');
	await t.page.reload();
	await t.page.waitForSelector('#action');
	CHECK_EQ(await t.page.inputValue('#action-by'), 'ada', 'the name is remembered');
});

TEST('a request links to the incident that it is part of', async (t) => {
	t.mock.cases = [incident()];
	t.mock.rows = [{ ...request({ time: Date.now() - 60e3 }), incident: t.mock.cases[0].brief.id }];
	await t.open(`/requests/${t.mock.rows[0].id}`);
	await t.page.click('.line a[href^="/incidents/"]');
	await until('the incident is there', async () => (await textOf(t, '.verdict')).includes('arose in db-3'));
});

TEST('a merge of incidents shows the consequences before it is confirmed', async (t) => {
	const other = incident({ n: 2, time: Date.now() - 600e3, params: { app: 'other', host: 'db-9', took: '1 s', of: '2 s', count: 9, percent: 50 } });
	t.mock.cases = [incident({ n: 1 }), other];
	await t.open(t.mock.cases[0].brief.diagnosis);
	await t.page.waitForSelector('#merge-into option:nth-child(2)', { state: 'attached' });
	await t.page.selectOption('#merge-into', other.brief.id);
	CHECK(await t.page.$eval('#do-merge', (b) => b.disabled), 'nobody merges without a name');
	await t.page.fill('#action-by', 'ada');
	await t.page.click('#do-merge');
	const question = await textOf(t, '#reshape .sure');
	CHECK(question.includes('All signals (3) will count in the other incident') && question.includes('other slow'), question);
	await t.page.click('#do-merge-no');
	CHECK_EQ(t.mock.cases[0].brief.state, 'open', 'no is no');
	await t.page.click('#do-merge');
	other.brief.state = 'merged';
	await t.page.click('#do-merge-yes');
	await until('what is refused is said', async () => (await textOf(t, '#reshape')).includes('into must be another incident'));
	other.brief.state = 'open';
	await t.page.click('#do-merge');
	await t.page.click('#do-merge-yes');
	await until('the page says where it is now', async () => (await t.page.$$(`.line a[href="/incidents/${other.brief.id}"]`)).length === 1);
	CHECK_EQ((await t.page.$$('#reshape')).length, 0, 'what is merged is not merged again');
});

TEST('some signals can be split off an incident, but not all of them', async (t) => {
	t.mock.cases = [incident()];
	await t.open(t.mock.cases[0].brief.diagnosis);
	await t.page.fill('#action-by', 'ada');
	await t.page.waitForSelector('#reshape .choose input');
	const boxes = await t.page.$$('#reshape .choose input');
	CHECK_EQ(boxes.length, 3, 'signals to choose from');
	for (const box of boxes) await box.click();
	CHECK(await t.page.$eval('#do-split', (b) => b.disabled), 'not all');
	await boxes[0].click();
	await t.page.click('#do-split');
	CHECK((await textOf(t, '#reshape .sure')).includes('2 of 3 signals will become a separate incident'), 'what follows');
	await t.page.click('#do-split-yes');
	await until('the new one is linked', async () => (await t.page.$$('#split-made a[href^="/incidents/"]')).length === 1);
	await until('one signal is left', async () => (await t.page.$$('#signals tbody tr')).length === 1);
	await t.page.click('#split-made a');
	await until('it has the two', async () => (await t.page.$$('#signals tbody tr')).length === 2);
});

TEST('a row of the table links to the incident that it is part of', async (t) => {
	t.mock.cases = [incident()];
	const { id, onset } = t.mock.cases[0].brief;
	t.mock.rows = [{ ...request({ time: Date.now() - 60e3 }), incident: id }, { ...request({ time: Date.now() - 61e3 }), incident: null }];
	for (const viewport of [{ width: 1800, height: 700 }, { width: 1024, height: 700 }]) {
		await (t.page ? t.page.setViewportSize(viewport).then(() => t.page.goto(`${t.mock.url}/?view=rows`)) : t.open('/?view=rows', { viewport }));
		await t.shows(2);
		CHECK_EQ(await t.page.$$eval('tbody tr .part', (all) => all.map((a) => a.getAttribute('href'))), [`/incidents/${id}`], 'one is part of an incident');
		const at = new Date(Date.parse(onset) + 8 * 3600e3).toISOString();
		CHECK((await t.page.$eval('tbody .part', (a) => a.title)).includes(`${at.slice(0, 10)} ${at.slice(11, 19)}`), 'since when');
		await t.page.click('tbody .part');
		await until('the incident is there', async () => (await textOf(t, '.verdict')).includes('arose in db-3'));
	}
});
