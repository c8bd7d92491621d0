// SPDX-License-Identifier: Apache-2.0
// The page of one node: its queries, drawings and marks; its range, keys and links.
import { readFile } from 'node:fs/promises';
import { CHECK, CHECK_EQ, TEST, require, until } from '../browser.mjs';
import { fleet, node, some } from '../mock/data.mjs';
import { event, explained } from '../mock/events.mjs';

const asked = (t, path) => t.mock.asked.filter((a) => a.startsWith(`/api/v1/${path}?`)).map((a) => new URLSearchParams(a.split('?')[1]));
const drawnPanels = (t) => t.page.$$eval('.np-panel:has(.uplot)', (all) => all.map((el) => el.dataset.panel));
const openNode = async (t, where = '/nodes/web-1', options = {}) => {
	await t.open(where, options);
	await t.page.waitForSelector('[data-panel="cpu"] .uplot');
};
const AN_HOUR_AGO = Date.now() - 3600e3;
const FIXED = `from=${new Date(AN_HOUR_AGO).toISOString()}&to=${new Date(AN_HOUR_AGO + 1800e3).toISOString()}`;

TEST('a node is drawn in groups, each loaded once and only when it comes into view; every panel has its unit and lists its lines', async (t) => {
	await openNode(t);
	const first = asked(t, 'series/columns');
	CHECK(first.length > 0 && first.length < 8, `${first.length} groups are asked for at first`);
	CHECK(first.every((q) => q.get('node') === 'web-1' && q.get('top') === '8'), 'of this node');
	CHECK_EQ(new Set(first.map((q) => q.get('metric'))).size, first.length, 'questions that differ');
	CHECK(!first.some((q) => q.get('metric').includes('ring_full')), 'the last group is not asked for');
	await t.page.$eval('#group-probe', (el) => el.scrollIntoView());
	await until('then it is', async () => asked(t, 'series/columns').some((q) => q.get('metric').includes('ring_full')));
	await until('and drawn', async () => (await drawnPanels(t)).includes('lost'));
	CHECK(/Zero throughout: .*Not delivered/.test(await t.text('#group-probe .quiet-panels')), await t.text('#group-probe .quiet-panels'));
	CHECK_EQ(await t.page.$('[data-panel="undelivered"]'), null, 'a panel of noughts');
	await t.page.click('#group-probe .quiet-panels button');
	await t.page.waitForSelector('[data-panel="undelivered"] .uplot');
	const cpu = await t.text('[data-panel="cpu"]');
	CHECK(/CPU time %/.test(cpu) && /programs \d+(\.\d)? %/.test(cpu) && /max \d/.test(cpu), cpu);
	await t.page.$eval('#group-memory', (el) => el.scrollIntoView());
	await t.page.waitForSelector('[data-panel="memory"] .uplot');
	CHECK(/total 16 GiB/.test(await t.text('[data-panel="memory"]')), await t.text('[data-panel="memory"]'));
	CHECK_EQ(await t.page.$$eval('.np-panel h3', (all) => all.filter((el) => !el.querySelector('.unit').innerText.trim()).length), 0, 'panels without a unit');
});

TEST('dragging zooms all panels, the address has absolute times, and nothing is redrawn by itself', async (t) => {
	await openNode(t);
	CHECK((await t.text('.np-state')).startsWith('Live'), 'live at first');
	const box = await t.page.$eval('[data-panel="load"] .u-over', (el) => el.getBoundingClientRect().toJSON());
	await t.page.mouse.move(box.x + box.width * 0.25, box.y + 40);
	await t.page.mouse.down();
	await t.page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 4 });
	await t.page.mouse.up();
	await until('the address has the range', async () => new URL(t.page.url()).searchParams.has('to'));
	const q = new URL(t.page.url()).searchParams;
	const length = (Date.parse(q.get('to')) - Date.parse(q.get('from'))) / 60e3;
	CHECK(length > 14.5 && length < 15.5, `a quarter of an hour is shown (${length} min)`);
	await until('fixed now', async () => (await t.text('.np-state')).startsWith('Fixed'));
	await until('all groups in view follow', async () => {
		const last = asked(t, 'series/columns').at(-1);
		return last.get('from') === q.get('from') && last.get('to') === q.get('to');
	});
	await t.page.click('#np-out');
	await until('and out again', async () => Date.parse(new URL(t.page.url()).searchParams.get('to')) - Date.parse(new URL(t.page.url()).searchParams.get('from')) > 40 * 60e3);
	await t.page.goBack();
	await until('back is the range before', async () => new URL(t.page.url()).searchParams.get('from') === q.get('from'));
	await t.page.click('#np-live');
	await until('live again', async () => new URL(t.page.url()).search === '' && (await t.text('.np-state')).startsWith('Live'));
});

TEST('silence of a node is shaded and no line crosses it; the arrow keys move one cursor on all panels', async (t) => {
	t.mock.silent = [[AN_HOUR_AGO + 600e3, AN_HOUR_AGO + 900e3]];
	await openNode(t, `/nodes/web-1?${FIXED}`);
	await t.page.waitForSelector('.lane rect.silent');
	const [x, width, whole] = await t.page.$eval('.lane rect.silent', (el) => [el.getAttribute('x'), el.getAttribute('width'), el.ownerSVGElement.getAttribute('width')].map(Number));
	CHECK(Math.abs(x / whole - 1 / 3) < 0.01 && Math.abs(width / whole - 1 / 6) < 0.01, `it is where it was (${x} ${width} of ${whole})`);
	const inside = await t.page.$eval('[data-panel="switches"] canvas', (el) => {
		const { data } = el.getContext('2d').getImageData(Math.round(el.width * (0.17 + 0.8 * 0.42)), 4, 1, el.height - 40);
		const colours = new Set();
		for (let i = 0; i < data.length; i += 4) colours.add([data[i], data[i + 1], data[i + 2]].join());
		return colours.size;
	});
	CHECK(inside <= 8, `within it nothing but the shade and the grid is drawn (${inside} colours)`);
	await t.page.focus('[data-panel="cpu"] .drawing');
	await t.page.keyboard.press('ArrowLeft');
	await t.page.keyboard.press('PageUp');
	await until('others say the same time', async () => {
		const said = await t.page.$$eval('.np-panel:has(.uplot) .at', (all) => all.map((el) => el.innerText));
		return said.length > 3 && said[0] && said.every((s) => s === said[0]);
	});
	await t.page.keyboard.press('Escape');
	await until('Escape leaves', async () => (await t.page.$eval('[data-panel="cpu"] .at', (el) => el.innerText)) === '');
	CHECK(t.page.url().includes('/nodes/web-1'), 'and not the page');
	await t.page.keyboard.press('Home');
	await t.page.keyboard.press('Enter');
	await until('Enter zooms in', async () => Date.parse(new URL(t.page.url()).searchParams.get('to')) < AN_HOUR_AGO + 1000e3);
});

TEST('requests and events are marked on the axis and linked', async (t) => {
	const time = AN_HOUR_AGO + 600e3;
	t.mock.incidents = [event({ time, ms: 120e3 }), event({ time: time + 900e3, n: 2, severity: 'critical' }), event({ time: time + 901e3, n: 3 }), event({ time, n: 4, node: 'web-2' })];
	t.mock.rows = some(3, { node: 'web-1' }).map((r, i) => ({ ...r, time: new Date(time + i * 1000).toISOString() }));
	await openNode(t, `/nodes/web-1?${FIXED}`);
	await t.page.waitForSelector('.lane a[href^="/events/"]');
	const hrefs = await t.page.$$eval('.lane a', (all) => all.map((a) => a.getAttribute('href')));
	CHECK_EQ([hrefs.filter((h) => h.startsWith('/events/')).length, hrefs.filter((h) => h.startsWith('/events?')).length, hrefs.filter((h) => h.startsWith('/requests?')).length], [1, 1, 1], 'one alone, two as one, the requests');
	const width = await t.page.$eval('.lane a[href^="/events/"] rect', (el) => Number(el.getAttribute('width')));
	const whole = await t.page.$eval('.lane svg[role]', (el) => Number(el.getAttribute('width')));
	CHECK(Math.abs(width / whole - 120 / 1800) < 0.01, `an event lasts as long as it did (${width} of ${whole})`);
	CHECK(/3 abnormal requests · 3 events/.test((await t.text('.lane-says')).replace(/\s+/g, ' ')), await t.text('.lane-says'));
	await t.page.click('.lane a[href^="/events/"]');
	await t.page.waitForSelector('.verdict');
});

TEST('where events are left out, the axis is dashed', async (t) => {
	t.mock.incidents = Array.from({ length: 1001 }, (_, i) => event({ time: AN_HOUR_AGO + 1750e3 - i * 1000, n: i, evidence: [] }));
	await openNode(t, `/nodes/web-1?${FIXED}`);
	const ends = await t.page.waitForSelector('.lane .beyond', { state: 'attached' }).then((el) => el.getAttribute('d'));
	const whole = await t.page.$eval('.lane svg[role]', (el) => Number(el.getAttribute('width')));
	CHECK(Math.abs(Number(ends.split('H')[1]) / whole - 751 / 1800) < 0.01, `up to the oldest that is here (${ends} of ${whole})`);
	CHECK((await t.text('.lane-says')).includes('there are more where the line is dashed'), 'it is said');
});

TEST('a request links to its node five minutes around the moment, with the moment marked', async (t) => {
	const row = explained({ time: AN_HOUR_AGO });
	t.mock.rows = [row];
	await t.open(row.diagnosis);
	await t.page.click('.tile-next a[href^="/nodes/web-1"]');
	await t.page.waitForSelector('.lane rect.moment');
	const q = new URL(t.page.url()).searchParams;
	CHECK_EQ([Date.parse(q.get('from')), q.get('at')], [Date.parse(row.time) - 300e3, row.time], 'range and moment');
	CHECK((await t.text('.lane-says')).includes('the moment'), 'it is said');
});

TEST('only panels with data are drawn; of many disks eight are drawn with the total, and one can be chosen', async (t) => {
	t.mock.without = ['drop', 'coverage'];
	t.mock.entities = { disk: Array.from({ length: 12 }, (_, i) => `sd${'abcdefghijkl'[i]}`) };
	await openNode(t, `/nodes/web-1?${FIXED}`);
	const names = await t.page.$$eval('.np-panel', (all) => all.map((el) => el.dataset.panel));
	CHECK(names.includes('disk-busy') && names.includes('tcp-again'), 'those it has');
	CHECK(!names.some((n) => ['kernel-drops', 'requests', 'lost'].includes(n)), `not those it has not: ${names}`);
	CHECK_EQ(await t.page.$('#group-requests'), null, 'a group without panels');
	await t.page.$eval('#group-disks', (el) => el.scrollIntoView());
	await t.page.waitForSelector('[data-panel="disk-busy"] .uplot');
	CHECK((await t.text('[data-panel="disk-busy"] h3')).includes('the 8 highest of 12'), await t.text('[data-panel="disk-busy"] h3'));
	CHECK_EQ(await t.page.$$eval('[data-panel="disk-busy"] .says li', (all) => all.length), 8, 'lines');
	await t.page.$eval('#group-cgroups', (el) => el.scrollIntoView());
	await t.page.waitForSelector('[data-panel="cgroup-cpu"] .uplot');
	const called = await t.page.$$eval('[data-panel="cgroup-cpu"] .says bdi', (all) => all.map((el) => el.innerText));
	CHECK_EQ(called.sort(), ['/', '/system.slice', 'containerd 0f3c9ae1b7d2', 'nginx.service'], 'cgroups by what they are');
	await t.page.fill('#only-disks', 'sdk');
	await t.page.press('#only-disks', 'Enter');
	await until('the address has it', async () => new URL(t.page.url()).searchParams.get('disks') === 'sdk');
	await until('it alone is drawn', async () => (await t.page.$$eval('[data-panel="disk-busy"] .says li', (all) => all.map((el) => el.innerText.trim().slice(0, 4)))).join() === 'sdk ');
});

TEST('a group whose query fails says so; an unknown node has a message', async (t) => {
	t.mock.refuse = ['/api/v1/series/columns'];
	await t.open('/nodes/web-1');
	await until('it is said', async () => (await t.text('#group-cpu')).includes('could not be loaded'));
	t.mock.refuse = [];
	await t.page.goto(`${t.mock.url}/nodes/nobody`);
	await until('none', async () => (await t.text('main')).includes('There is no node nobody'));
});

TEST('a clock that is off by a second or more is reported on the page of its node and in the list', async (t) => {
	const clock = (ahead, uncertainty) => ({ ahead, uncertainty, told: new Date().toISOString() });
	t.mock.nodes = [node({ clock: clock(65012.3, 0.42) }), node({ name: 'late', clock: clock(-5000, 3) }), node({ name: 'right', clock: clock(999, 0.4) }), node({ name: 'vague', clock: clock(3000, 2500) }), node({ name: 'none', clock: null })];
	await t.open('/nodes');
	await t.page.waitForSelector('.nodes .clock-off');
	CHECK_EQ(await t.page.$$eval('.nodes tr[data-node]', (all) => all.map((el) => el.querySelector('.clock-off')?.innerText.trim() ?? '')), ['clock 65 s ahead', 'clock 5 s behind', '', '', ''], 'in the list');
	await openNode(t);
	const said = await t.text('.clock-off');
	CHECK(said.includes('clock 65 s ahead, to within 0.42 ms.') && said.includes('NTP'), said);
});

TEST('hostile names of a node and its disks are text', async (t) => {
	const evil = '<img src=x onerror="window.hurt=1">/%2F \u202egnp';
	t.mock.nodes = [node({ name: evil, sources: [{ name: evil, state: 'off', why: evil }] })];
	t.mock.entities = { disk: [evil, 'sda'], net: [evil] };
	await t.open('/nodes');
	await t.page.click('.nodes tbody a[href^="/nodes/"]');
	await t.page.waitForSelector('[data-panel="cpu"] .uplot');
	await t.page.$eval('#group-network', (el) => el.scrollIntoView());
	await t.page.waitForSelector('[data-panel="net-rx"] .uplot');
	CHECK((await t.text('h1')).includes('<img src=x') && (await t.text('[data-panel="net-rx"]')).includes('onerror='), 'both are shown');
	CHECK_EQ([await t.page.evaluate(() => window.hurt), await t.page.$$eval('main img', (all) => all.length)], [undefined, 0], 'and are nothing else');
	CHECK_EQ(asked(t, 'series/columns')[0].get('node'), evil, 'it is asked for by its name');
});

for (const [scheme, lang, width] of [['dark', 'en', 1440], ['light', 'zh', 390]]) {
	TEST(`the page of a node is accessible and as wide as the window: ${scheme}, ${lang}, ${width} px`, async (t) => {
		Object.assign(t.mock, { nodes: fleet(3), rows: some(40, { node: 'web-1' }), incidents: Array.from({ length: 30 }, (_, i) => event({ time: Date.now() - i * 60e3, n: i })) });
		await openNode(t, '/nodes/web-1', { viewport: { width, height: 800 }, colorScheme: scheme, locale: lang === 'zh' ? 'zh-CN' : 'en-US' });
		await t.page.waitForSelector('.lane a');
		CHECK(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth), 'no wider than the window');
		CHECK(!/\b(np|nodes|src)\.\w+/.test(await t.text('main')), 'no key of a message is shown');
		await t.page.evaluate(`${await readFile(require.resolve('axe-core/axe.min.js'), 'utf8')}; 0`);
		const found = await t.page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] }));
		CHECK_EQ(found.violations.map((v) => `${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary.slice(0, 160)}`), [], 'what axe found');
	});
}
