// SPDX-License-Identifier: Apache-2.0
// Nodes, keys, languages, zones, hostile text, accessibility.
import { readFile } from 'node:fs/promises';
import { CHECK, CHECK_EQ, TEST, require, until } from './browser.mjs';
import { fleet, node, request, some } from './mock/data.mjs';
import { shapes } from './mock/explore.mjs';

const HOSTILE = [
	'/<script>window.hurt=1</script>',
	'/"><img src=x onerror="window.hurt=1">',
	"/'onmouseover='window.hurt=1",
	'/a\u202egnp.exe',
	'/\u001b[31mred\u001b]0;title\u0007',
	'/\u0000nul\u200bzero\ufeff',
	'/{{constructor.constructor("window.hurt=1")()}}',
	'javascript:window.hurt=1',
	`/${'x'.repeat(10_000)}`,
	'/\ud800lone',
];

const hostileRow = (text, i) => ({
	...request({ time: Date.now() - i * 1000, path: text, method: text.slice(0, 40), text: { en: `failed: ${text}`, zh: text } }),
	node: text,
	app: text,
	comm: text,
	region: text,
	remoteAddr: text,
	local: text,
	upstreamAddr: text,
	route: text,
	flags: [text],
	upstreams: [{ addr: text, startTime: 1, connectTime: 1, responseTime: 1, status: 200, error: text, reused: false, retransmits: 0 }],
});

const unhurt = async (t) => {
	CHECK_EQ(await t.page.evaluate(() => window.hurt), undefined, 'what an injected script would set');
	CHECK_EQ(await t.page.$$eval('main script, main img, main iframe', (all) => all.length), 0, 'elements made of text');
	const wide = await t.page.evaluate(() => [...document.querySelectorAll('main, main *')].filter((el) => el.scrollWidth > el.clientWidth + 1 && getComputedStyle(el).overflowX === 'auto' && !el.matches('.sideways')).map((el) => el.outerHTML.slice(0, 80)));
	CHECK_EQ([await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), wide], [true, []], 'the page keeps its width, and what is wider');
};

TEST('hostile text in every field of a row is text', async (t) => {
	t.mock.rows = HOSTILE.map(hostileRow);
	await t.open();
	await t.shows(HOSTILE.length);
	await unhurt(t);
	const shown = await t.page.$$eval('.c-request', (all) => all.map((td) => td.textContent));
	CHECK(shown.some((s) => s.includes('<script>window.hurt=1</script>')), 'the script is readable');
	CHECK(shown.some((s) => s.includes('a\\u202egnp.exe')), 'the override is a sign and turns nothing');
	CHECK(shown.some((s) => s.includes('\\x1b[31mred')), 'the escape is a sign');
	CHECK(!shown.some((s) => /[\u0000-\u0008\u000e-\u001f\u202a-\u202e\u200b]/.test(s)), 'no control byte is left');
	CHECK(Math.max(...shown.map((s) => s.length)) < 1000, 'a long one is cut');
	const height = await t.page.$$eval('tbody tr', (all) => Math.max(...all.map((tr) => tr.getBoundingClientRect().height)));
	CHECK(height < 60, `a row stays a row (${height} px)`);
	CHECK((await t.page.$$eval('tbody a', (all) => all.map((a) => a.protocol))).every((p) => p === 'http:'), 'links lead into the console');
});

TEST('hostile text in groups is text, and their links lead into the console', async (t) => {
	t.mock.rows = HOSTILE.map(hostileRow);
	await t.open('/requests?view=groups');
	await until('all are shown', async () => (await t.rows()).length === HOSTILE.length);
	await unhurt(t);
	const shown = await t.page.$$eval('.g-route', (all) => all.map((td) => td.textContent));
	CHECK(shown.some((s) => s.includes('<script>window.hurt=1</script>')) && shown.some((s) => s.includes('a\\u202egnp.exe')), 'readable');
	CHECK(!shown.some((s) => /[\u0000-\u0008\u000e-\u001f\u202a-\u202e\u200b]/.test(s)), 'no control byte is left');
	const links = await t.page.$$eval('tbody a', (all) => all.map((a) => [a.protocol, a.pathname]));
	CHECK(links.every(([protocol, path]) => protocol === 'http:' && (/^\/requests(\/[0-9a-f-]+)?$/.test(path) || path === '/red')), 'links lead into the console');
	CHECK((await t.page.$$eval('tbody tr', (all) => Math.max(...all.map((tr) => tr.getBoundingClientRect().height)))) < 60, 'a row stays a row');
});

TEST('hostile names of apps, routes and peers on the page of routes are text', async (t) => {
	t.mock.shapes = HOSTILE.flatMap((text) => ['server', 'client'].map((role) => ({ node: text, app: text, route: text, peer: text, role })));
	await t.open('/red');
	await t.page.waitForSelector('.red .plain');
	await unhurt(t);
	const shown = await t.page.$$eval('.red td', (all) => all.map((td) => td.textContent));
	CHECK(shown.includes('/<script>window.hurt=1</script>') && shown.some((s) => s.includes('a\\u202egnp.exe')), 'readable');
	CHECK(!shown.some((s) => /[\u0000-\u0008\u000e-\u001f\u202a-\u202e\u200b]/.test(s)), 'no control byte is left');
	CHECK((await t.page.$$eval('main a', (all) => all.map((a) => a.protocol))).every((p) => p === 'http:'), 'links lead into the console');
});

TEST('hostile text on the page of a request is text', async (t) => {
	t.mock.rows = HOSTILE.map(hostileRow);
	await t.open();
	for (const row of t.mock.rows) {
		await t.page.goto(`${t.mock.url}/requests/${row.id}`);
		await t.page.waitForSelector('.verdict');
		await t.page.click('.json summary');
		await unhurt(t);
	}
});

TEST('hostile text in nodes, tags and reasons of sources is text', async (t) => {
	t.mock.nodes = HOSTILE.map((text, i) => node({ id: `${i}`, name: `${i}${text}`, region: text, version: text, tags: { [text]: text }, sources: [{ name: text, state: 'off', why: text }], unread: [{ app: text, kind: text, count: 1 }], coverage: { [text]: 1 } }));
	await t.open('/nodes');
	await t.page.waitForSelector('.nodes');
	await t.page.click('.nodes tbody tr .expand');
	CHECK_EQ(await t.page.evaluate(() => window.hurt), undefined, 'what an injected script would set');
	CHECK_EQ(await t.page.$$eval('main script, main img', (all) => all.length), 0, 'elements made of text');
});

TEST('these tests see a breach of the security policy', async (t) => {
	await t.open();
	await t.page.evaluate(() => {
		try {
			document.body.innerHTML = '<b>x</b>';
		} catch {
			/* trusted types refuse it */
		}
	});
	await until('the breach is noticed', () => t.faults.some((f) => f.includes('policy:')));
}, { faults: true });

TEST('the node list shows tags, silence, sources with their reason, and described counters', async (t) => {
	t.mock.nodes = fleet(3);
	await t.open('/nodes');
	await t.page.waitForSelector('.details');
	const said = await t.text('main');
	for (const part of ['rack=r12', 'untagged', 'silent · 1 min', 'request off: no tracepoint sock_send_length', 'request throttled: over its budget', 'abnormal requests withheld: over the row budget', 'nginx · TLS', 'envoy · HTTP/2', '0.1.0', 'no region']) CHECK(said.includes(part), `it says: ${part}`);
	CHECK(!said.includes('c.'), 'no key of a message is shown');
	await t.page.click('[data-node=web-1] .expand');
	CHECK_EQ(await t.page.$$eval('.details', (all) => all.length), 2, 'open details');
});

TEST('the storage page shows the limit, the tables, the forecast and what was dropped; the fleet page warns', async (t) => {
	const [at, from, to] = ['2026-11-28T10:00:00.000Z', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'];
	t.mock.storage = { at, state: 'ok', hint: null, used: 3 * 2 ** 30, allowed: 8 * 2 ** 30, total: 10 * 2 ** 30, free: 5 * 2 ** 30, fullSeconds: 3 * 86400 + 60, tables: [{ name: 'request', bytes: 2 * 2 ** 30 }, { name: 'red', bytes: 4096 }], drops: [{ at, step: 4, table: 'request', from, to, rows: 12000, exact: false, bytes: 2 ** 20, group: 'shop /<b>' }] };
	await t.open('/storage');
	await t.page.waitForSelector('#disk-drops');
	CHECK((await t.text('#disk-sum')).includes('full in 3 d'), 'forecast');
	CHECK_EQ(await t.page.$$eval('#disk-tables tbody td', (all) => all.map((c) => c.textContent).slice(0, 2)), ['request', '2 GiB'], 'the largest table');
	for (const part of ['commonest group', 'request: shop /<b>', '≈ 12,000', '1 MiB']) CHECK((await t.text('#disk-drops')).includes(part), `it says: ${part}`);
	CHECK(!(await t.text('main')).includes('disk.'), 'no key of a message is shown');
	await t.open('/fleet');
	await t.page.waitForSelector('a[href="/storage"] .warn');
	CHECK((await t.text('a[href="/storage"]')).includes('full in 3 d'), 'on the fleet page');
});

TEST('a source that is not enabled is in the details of its node, not in its row', async (t) => {
	t.mock.nodes = [node({ name: 'web-1', sources: [{ name: 'vfs', state: 'off', why: 'not asked for: on_demand = vfs in probe.conf' }, { name: 'locks', state: 'off', why: 'no tracepoint contention_begin in this kernel' }] })];
	await t.open('/nodes');
	await t.page.waitForSelector('.details');
	CHECK_EQ(await t.page.$$eval('td.sources .source', (all) => all.map((s) => s.className.includes('state-off') && s.textContent.includes('locks'))), [true], 'in the row');
	CHECK((await t.text('.details')).includes('not asked for: on_demand = vfs'), 'in the details');
});

TEST('every counter of the probe has a text in both languages', async () => {
	const def = await readFile(new URL('../../schema/def/metrics.def', import.meta.url), 'utf8');
	const { messages } = await import('../../web/src/text/messages.js');
	const names = [...def.matchAll(/^METRIC\((?:COVERAGE|DELIVERY|[A-Z]+LOSS), \w+, "([^"]+)"/gm)].map((m) => m[1]);
	CHECK(names.length > 10, 'the names were found');
	CHECK_EQ(names.filter((n) => !messages[`c.${n}`]), [], 'counters without words');
});

TEST('every reason has a short name, and every text has the same parameters in both languages', async () => {
	const def = await readFile(new URL('../../schema/def/reasons.def', import.meta.url), 'utf8');
	const { messages } = await import('../../web/src/text/messages.js');
	const codes = [...def.matchAll(/^REASON\(\d+, \w+, "([^"]+)"/gm)].map((m) => m[1]);
	CHECK_EQ(codes.filter((c) => !messages[`reason.${c}`]), [], 'reasons without a name');
	const params = (text) => [...text.matchAll(/\{\w+\}/g)].map((m) => m[0]).sort().join();
	CHECK_EQ(Object.entries(messages).filter(([, m]) => m.length !== 2 || !m[0] || !m[1] || params(m[0]) !== params(m[1])).map(([k]) => k), [], 'messages that differ');
});

TEST('the keyboard alone leads from the table to a request and back', async (t) => {
	t.mock.rows = some(5);
	await t.open();
	await t.shows(5);
	const ids = await t.rows();
	const focused = () => t.page.evaluate(() => document.activeElement.dataset?.id);
	await t.page.keyboard.press('j');
	CHECK_EQ(await focused(), ids[0], 'the first j');
	await t.page.keyboard.press('j');
	await t.page.keyboard.press('j');
	await t.page.keyboard.press('k');
	CHECK_EQ(await focused(), ids[1], 'j j k');
	t.mock.emit(request({ time: Date.now() }));
	await until('the new row waits', async () => (await t.text('.fresh')).includes('1 new'));
	CHECK_EQ(await focused(), ids[1], 'the row stays');
	await t.page.keyboard.press('Enter');
	await t.page.waitForSelector('.verdict');
	CHECK(t.page.url().endsWith(ids[1]), 'the request');
	await t.page.keyboard.press('Escape');
	await t.page.waitForSelector('table.requests');
	await until('back on the row', async () => (await focused()) === ids[1]);
	await t.page.keyboard.press('/');
	CHECK_EQ(await t.page.evaluate(() => document.activeElement.id), 'q', 'the field');
	await t.page.keyboard.type('jk?/');
	CHECK_EQ(await t.page.inputValue('#q'), 'jk?/', 'keys that are typed');
	await t.page.keyboard.press('Escape');
	await t.page.keyboard.press('?');
	await t.page.waitForSelector('dialog[open]');
	await t.page.keyboard.press('Escape');
	await until('the help is gone', async () => (await t.page.$('dialog')) === null);
	await t.page.keyboard.press('2');
	await until('the page of routes', async () => new URL(t.page.url()).pathname === '/red');
	await t.page.keyboard.press('3');
	await t.page.waitForSelector('.nodes');
});

TEST('the language switches everywhere, is remembered, and is declared by the page', async (t) => {
	t.mock.rows = [request({ time: Date.now() - 1000, reason: 'client.abort', status: 499 })];
	await t.open();
	await t.shows(1);
	await t.page.click('#lang');
	await until('the reason is Chinese', async () => (await t.text('.c-reason .clamp')).includes('客户端在'));
	CHECK_EQ(await t.page.evaluate(() => document.documentElement.lang), 'zh-CN', 'lang');
	for (const where of ['/?view=rows', '/', '/requests?view=groups', '/nodes', '/red', t.mock.rows[0].diagnosis]) {
		await t.page.goto(t.mock.url + where);
		await t.page.waitForSelector('.top');
		await until(`${where} is Chinese`, async () => /[\u4e00-\u9fff]{2}/.test(await t.text('main, h1')));
		CHECK(!/\b(ev|col|nodes|cov|filter|group|facet|hist|view|export|red|heat)\.\w+/.test(await t.text('body')), `${where} shows no key of a message`);
	}
});

TEST('a browser that prefers Chinese gets Chinese', async (t) => {
	t.mock.rows = some(1);
	await t.open('/?view=rows', { locale: 'zh-CN' });
	CHECK_EQ(await t.text('nav a[aria-current]'), '异常请求', 'the page');
});

TEST('every time has its zone, local or UTC, and the choice is remembered', async (t) => {
	const row = request({ time: Date.now() - 60e3 });
	Object.assign(t.mock, { rows: [row], shapes });
	await t.open();
	await t.shows(1);
	CHECK((await t.text('tbody time')).includes('+08:00'), 'local time has its offset');
	await t.page.click('#zone');
	await t.page.reload();
	await t.shows(1);
	const said = (await t.text('tbody time')).replace(/\s+/g, ' ');
	CHECK(said.includes('UTC') && said.includes(row.time.slice(11, 23)), 'UTC');
	for (const where of ['/?view=rows', '/', '/requests?view=groups', '/nodes', '/red', row.diagnosis]) {
		await t.page.goto(t.mock.url + where);
		await t.page.waitForSelector('main time, .heat .ends, #harmed li');
		const bare = await t.page.evaluate(() => [...document.body.innerText.replace(/\s+/g, ' ').matchAll(/\d\d:\d\d:\d\d(?:\.\d+)?(?![\d.])(?! ?(?:\d{4}-\d\d-\d\d )?(?:UTC|[+-]\d\d:\d\d))/g)].map((m) => m[0]));
		CHECK_EQ(bare, [], `times without a zone on ${where}`);
	}
});

for (const [scheme, locale] of [['light', 'zh-CN'], ['dark', 'en-US']]) {
	TEST(`the pages are accessible: ${scheme}, ${locale}`, async (t) => {
		t.mock.rows = some(20);
		Object.assign(t.mock, { nodes: fleet(3), shapes });
		await t.open('/?view=rows', { colorScheme: scheme, locale });
		await t.shows(20);
		const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
		for (const where of ['/?view=rows', '/', '/requests?view=groups', '/nodes', '/red', t.mock.rows[2].diagnosis, '/?q=nothing&view=rows']) {
			await t.page.goto(t.mock.url + where);
			if (where === '/?view=rows') await t.live();
			await t.page.waitForSelector('.coverage, .verdict, .heat rect, .nodes');
			for (const part of where === '/' ? ['#harmed li', '#apps tbody tr'] : []) await t.page.waitForSelector(part);
			await t.page.evaluate(`${axe}; 0`);
			const found = await t.page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'], resultTypes: ['violations'], preload: false }));
			CHECK_EQ(found.violations.map((v) => `${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary.slice(0, 160)}`), [], `what axe found on ${where}`);
		}
	});
}

TEST('a page that is older than the collector says to reload it when a part of it is gone', async (t) => {
	t.mock.nodes = fleet(1);
	for (const [part, show] of [['node_page', () => t.page.click('.nodes tbody a')], ['texts_zh', () => t.page.click('#lang')]]) {
		await t.open('/nodes');
		await t.page.waitForSelector('.nodes tbody a');
		const gone = `**/assets/${part}-*.js`;
		await t.page.route(gone, (route) => route.fulfill({ status: 404, body: '' }));
		await show();
		CHECK((await t.text('.banner')).includes('reload'), `${part}: the words`);
		CHECK(!(await t.text('body')).includes('Loading'), `${part}: nothing is called loading`);
		await t.page.unroute(gone);
		await t.page.click('.banner button');
		await until(`${part}: the page is whole again`, async () => !(await t.page.$('.banner')));
		if (part === 'node_page') await t.page.waitForSelector('main h1');
	}
});

TEST('an unknown address has a message', async (t) => {
	await t.open('/nowhere');
	CHECK((await t.text('main')).includes('There is no such page'), 'the words');
});
