// SPDX-License-Identifier: Apache-2.0
// The page that ranks the hosts of any time span.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { incident } from '../mock/cases.mjs';
import { fleet, request } from '../mock/data.mjs';

const textOf = async (t, selector) => (await t.text(selector)).replace(/\s+/g, ' ').trim();
const RANGE = '?from=2026-11-21T05:00:00Z&to=2026-11-21T05:10:00Z';

TEST('for any time span the page shows where the delay arose, and the time compared with', async (t) => {
	t.mock.cases = [incident()];
	await t.open(`/where${RANGE}`);
	await t.page.waitForSelector('#causes-time .cause');
	const causes = await t.page.$$eval('#causes-time .cause', (all) => all.map((li) => li.innerText.replace(/\s+/g, ' ')));
	CHECK(causes[0].includes('db-3 88 %'), causes[0]);
	CHECK_EQ(await t.page.$$eval('.through-host.first', (all) => all.map((g) => g.dataset.name)), ['db-3'], 'the first one is marked');
	CHECK(/Nodes: 10\. Compared with this time without an incident: .+ – .+/.test(await textOf(t, '#usual')), await textOf(t, '#usual'));
	CHECK_EQ(await t.page.$eval('nav a[aria-current]', (a) => a.pathname), '/incidents', 'the page in the header');
	await t.page.click('#lang');
	await until('it is said in Chinese', async () => (await textOf(t, 'h1')) === '出在哪台主机');
});

TEST('an ordinary time span says so, and so does one without an earlier time to compare with', async (t) => {
	await t.open(`/where${RANGE}`);
	await t.page.waitForSelector('#causes-time');
	CHECK((await textOf(t, '#causes-time')).includes('No host took longer than before'), 'nobody');
	CHECK((await textOf(t, '#usual')).includes('no earlier data to compare with'), 'nothing to compare with');
});

TEST('missing calls stand before longer durations', async (t) => {
	const calls = [{ ranking: 'calls', place: 1, node: 'shop-1', address: null, external: false, own: 192, edge: 0, share: 0.6, parts: [{ from: 'shop-1', to: 'cart-1', value: 192, net: 320 }] }];
	t.mock.cases = [incident({ detail: { candidates: [...incident().detail.candidates, ...calls] } })];
	await t.open(`/where${RANGE}`);
	await t.page.waitForSelector('#causes-calls .cause');
	CHECK((await textOf(t, '#causes-calls')).includes('shop-1 60 % from shop-1 to cart-1: 192 of 320'), await textOf(t, '#causes-calls'));
	CHECK_EQ(await t.page.$$eval('.cards > section', (all) => all.slice(0, 2).map((s) => s.id)), ['causes-calls', 'causes-time'], 'the order');
});

TEST('a span of more than an hour is refused with what to do', async (t) => {
	await t.open('/where?from=2026-11-21T05:00:00Z&to=2026-11-21T08:00:00Z');
	await until('it is said', async () => (await textOf(t, 'main')).includes('ask for the part in which it began'));
});

TEST('the histogram and the list of incidents link to the page with their range', async (t) => {
	t.mock.nodes = fleet(2);
	t.mock.rows = [request({ time: '2026-11-21T05:05:00.000Z' })];
	t.mock.cases = [incident()];
	for (const path of ['/', '/incidents', '/red']) {
		await t.open(path + RANGE);
		await t.page.click('a[href^="/where"]');
		await t.page.waitForSelector('#causes-time .cause');
		CHECK_EQ(decodeURIComponent(new URL(t.page.url()).search), RANGE, `the range, from ${path}`);
	}
	await t.page.keyboard.press('Escape');
	await until('Escape leads back', () => new URL(t.page.url()).pathname === '/red');
});
