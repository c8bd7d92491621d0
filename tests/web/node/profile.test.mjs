// SPDX-License-Identifier: Apache-2.0
// The profile: the flame graph, its search and keys, and the comparison of two ranges.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';

const require = createRequire(new URL('../../../web/package.json', import.meta.url));

const FROM = '2026-03-01T03:00:00.000Z';
const TO = '2026-03-01T04:00:00.000Z';
const fixed = `from=${FROM}&to=${TO}`;
const cell = (name) => `.flame .cell:has(bdi:text-is("${name}"))`;
const asked = (t) => new URL(t.mock.asked.filter((a) => a.startsWith('/api/v1/profile')).at(-1), 'http://x').searchParams;

const stack = (user, ms, over) => ({ user, kernel: [], cut: false, samples: ms / 50, ms, baseSamples: null, baseMs: null, ...over });
const whole = (stacks, over) => {
	const sum = (name) => stacks.reduce((n, s) => n + (s[name] ?? 0), 0);
	const base = stacks[0]?.baseMs === null || !stacks.length ? null : sum('baseMs');
	return { samples: sum('samples'), ms: sum('ms'), baseSamples: base === null ? null : sum('baseSamples'), baseMs: base, otherSamples: 0, otherMs: 0, otherBaseMs: base === null ? null : 0, stacks, ...over };
};

const one = () => whole([
	stack(['burn (app)', 'serve (app)', 'main (app)'], 6000),
	stack(['write (libc.so.6)', 'serve (app)', 'main (app)'], 3000, { kernel: ['copy_from_user', 'vfs_write'] }),
	stack([], 1000),
]);

const two = () => whole([
	stack(['burn (app)', 'main (app)'], 8000, { baseMs: 1000, baseSamples: 20 }),
	stack(['idle (app)', 'main (app)'], 2000, { baseMs: 2000, baseSamples: 40 }),
	stack(['gone (app)', 'main (app)'], 0, { baseMs: 1000, baseSamples: 20 }),
]);

TEST('the profile of a node and an app is a flame graph, the kernel below the program', async (t) => {
	t.mock.profile = one;
	await t.open(`/profile?node=web-1&app=shop&${fixed}`);
	await t.page.waitForSelector('#flame .cell');
	CHECK_EQ([...asked(t)], [['node', 'web-1'], ['app', 'shop'], ['from', FROM], ['to', TO]], 'what the API was asked');
	const rows = await t.page.$$eval('.flame .cell', (all) => all.map((c) => [c.textContent, Number(c.getAttribute('aria-level'))]));
	CHECK_EQ(rows, [['everything', 1], ['main (app)', 2], ['serve (app)', 3], ['burn (app)', 4], ['write (libc.so.6)', 4], ['vfs_write', 5], ['copy_from_user', 6], ['stack not known', 2]], 'its cells');
	CHECK_EQ(await t.page.getAttribute(cell('burn (app)'), 'title'), 'burn (app) · 60 % · 6.0 s', 'in words');
	CHECK((await t.page.getAttribute(cell('vfs_write'), 'class')).includes('cell-kernel'), 'the kernel looks different');
	const href = new URL(await t.page.getAttribute('#pf-folded', 'href'), 'http://x');
	CHECK_EQ([href.pathname, href.searchParams.get('app'), href.searchParams.get('to')], ['/api/v1/profile.folded', 'shop', TO], 'the same as text');
	await t.page.click('.chip[data-filter=app]');
	await until('all apps', async () => !asked(t).has('app') && asked(t).get('node') === 'web-1');
});

const functions = (t) => t.page.$$eval('#functions tbody tr', (all) => all.map((tr) => [...tr.cells].map((td) => td.innerText.trim())));

TEST('the functions with the most time are listed, by themselves or with what they called', async (t) => {
	t.mock.profile = one;
	await t.open(`/profile?${fixed}`);
	await t.page.waitForSelector('#functions tbody tr');
	CHECK_EQ((await functions(t)).slice(0, 2), [['60.0', '60.0', 'burn (app)'], ['30.0', '30.0', 'copy_from_user kernel']], 'by self time');
	await t.page.click('#functions-total');
	await until('sorted by total', async () => (await functions(t))[0][2] === 'serve (app)' || (await functions(t))[0][2] === 'main (app)');
	CHECK_EQ((await functions(t))[0].slice(0, 2), ['0.0', '90.0'], 'what called the rest');
});

TEST('functions of two ranges show how their shares changed; an empty range is nothing to compare with', async (t) => {
	t.mock.profile = two;
	const base = 'base_from=2026-03-01T02:00:00.000Z&base_to=2026-03-01T03:00:00.000Z';
	await t.open(`/profile?${fixed}&${base}`);
	await t.page.waitForSelector('#functions tbody tr');
	CHECK_EQ((await functions(t))[0], ['80.0', '+55.0', '80.0', '+55.0', 'burn (app)'], 'the one that grew');
	t.mock.profile = () => whole([stack(['burn (app)', 'main (app)'], 8000, { baseMs: 0, baseSamples: 0 })]);
	await t.open(`/profile?${fixed}&${base}`);
	await t.page.waitForSelector('#pf-base-none');
	CHECK((await t.text('#pf-base-none')).includes('nothing to compare with'), 'it says so');
	CHECK_EQ(await t.page.$$eval('.flame .cell[class*="more-"]', (all) => all.length), 0, 'nothing is red');
});

TEST('matches are marked and summed up, a click zooms, and the keyboard moves through the graph', async (t) => {
	t.mock.profile = one;
	await t.open(`/profile?${fixed}`);
	await t.page.waitForSelector('#flame .cell');
	await t.page.fill('#ice-search', 'serve');
	await until('its share', async () => (await t.text('#ice-found')) === 'found in 90 % of what is shown, 9.0 s');
	await t.page.fill('#ice-search', '');
	await t.page.click(cell('write (libc.so.6)'));
	await until('zoomed', async () => !(await t.page.$(cell('burn (app)'))));
	await t.page.keyboard.press('ArrowDown');
	await until('a function further in', async () => (await t.text('.ice-at')).startsWith('vfs_write · 30 %'));
	await t.page.keyboard.press('Escape');
	await until('all again', async () => Boolean(await t.page.$(cell('burn (app)'))));
});

TEST('two ranges are compared by shares: more is red, less is blue, and functions that are gone are shown', async (t) => {
	t.mock.profile = (query) => (query.has('base_from') ? two() : one());
	await t.open(`/profile?app=shop&${fixed}`);
	await t.page.waitForSelector('#flame .cell');
	await t.page.selectOption('#pf-compare', 'before');
	await t.page.waitForSelector('.flame .more-5');
	const query = new URL(t.page.url()).searchParams;
	CHECK_EQ(['from', 'to', 'base_from', 'base_to'].map((name) => query.get(name)), [FROM, TO, '2026-03-01T02:00:00.000Z', FROM], 'both ranges are in the address');
	CHECK_EQ(asked(t).get('base_to'), FROM, 'and asked for');
	const look = async (name) => [...(await t.page.getAttribute(cell(name), 'class')).matchAll(/\b(more|less)-\d|\bsame\b/g)].map((m) => m[0]).join();
	CHECK_EQ([await look('burn (app)'), await look('idle (app)'), await look('gone (app)'), await look('main (app)')], ['more-5', 'less-5', 'less-5', 'same'], 'their colours');
	CHECK_EQ(await t.page.getAttribute(cell('burn (app)'), 'title'), 'burn (app) · 80 %, before 25 %: +55.0 points · 8.0 s', 'in words');
	await t.page.selectOption('#pf-compare', 'none');
	await until('one range', async () => !(await t.page.$('.flame .more-5')) && !new URL(t.page.url()).searchParams.has('base_from'));
});

TEST('a profile without samples says so, and where to look', async (t) => {
	t.mock.profile = () => whole([]);
	await t.open('/profile?app=quiet');
	await until('the sentence', async () => (await t.text('#pf-none')).startsWith('Nothing was seen'));
});

TEST('hostile names of functions are text', async (t) => {
	t.mock.profile = () => whole([stack(['<img src=x onerror=alert(1)>', 'a'.repeat(3000)], 50)]);
	await t.open(`/profile?${fixed}`);
	await t.page.waitForSelector('#flame .cell');
	CHECK_EQ(await t.page.$$eval('.flame img', (all) => all.length), 0, 'no element');
});

for (const colorScheme of ['light', 'dark'])
	TEST(`axe finds nothing in a profile that is compared, ${colorScheme}`, async (t) => {
		t.mock.profile = two;
		await t.open(`/profile?node=web-1&app=shop&${fixed}&base_from=2026-03-01T02:00:00.000Z&base_to=${FROM}`, { colorScheme });
		await t.page.waitForSelector('.flame .more-5');
		await t.page.evaluate(`${await readFile(require.resolve('axe-core/axe.min.js'), 'utf8')}; 0`);
		const found = await t.page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'], resultTypes: ['violations'], preload: false }));
		CHECK_EQ(found.violations.map((v) => `${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary.slice(0, 160)}`), [], 'what axe found');
	});
