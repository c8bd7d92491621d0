// SPDX-License-Identifier: Apache-2.0
// Ctrl K goes anywhere: to a page, a node, an app, a route, an incident, an id or an address.
import { CHECK, CHECK_EQ, TEST, until } from './browser.mjs';
import { incident } from './mock/cases.mjs';
import { fleet, request } from './mock/data.mjs';
import { placesFor } from '../../web/src/data/find.js';

const known = { pages: [['Nodes', '/nodes'], ['Fleet', '/fleet']], nodes: ['web-1', 'db-web'], apps: ['web', '!odd'], routes: ['GET /web'], incidents: [{ id: 'a-1', title: 'web slow' }] };
const kinds = (text) => placesFor(text, known).map((of) => [of.kind, of.href]);

TEST('a text finds what has it in its name, and at last the requests with it', async () => {
	CHECK_EQ(kinds(''), [['page', '/nodes'], ['page', '/fleet']], 'nothing typed: the pages');
	CHECK_EQ(kinds('WEB'), [['node', '/nodes/web-1'], ['node', '/nodes/db-web'], ['app', '/red?app=web'], ['route', '/red?route=GET+%2Fweb'], ['incident', '/incidents/a-1'], ['text', '/requests?q=WEB']], 'the order');
	CHECK_EQ(kinds('odd').map(([kind]) => kind), ['text'], 'a name that no address can hold');
	CHECK_EQ(kinds('10.0.0.1:80'), [['remote', '/requests?remote=10.0.0.1:80'], ['upstream', '/requests?upstream=10.0.0.1:80'], ['text', '/requests?q=10.0.0.1:80']], 'an address');
	CHECK_EQ(kinds('660c2fec26271-00000000000f4241').slice(0, 3).map(([, href]) => href), ['request', 'event', 'incident'].map((kind) => `/${kind}s/660c2fec26271-00000000000f4241`), 'an id');
	CHECK_EQ(kinds('!x'), [], 'no text that the API refuses');
});

TEST('Ctrl K, a few letters and Enter open the node; Escape stays where one was', async (t) => {
	Object.assign(t.mock, { nodes: fleet(3), rows: [request({ app: 'shop' })], cases: [incident()] });
	await t.open('/red');
	await t.page.keyboard.press('Control+k');
	await t.page.keyboard.type('db-edge');
	await until('it is found', async () => (await t.text('#find-list [aria-selected=true]')).includes('db-edge-03'));
	await t.page.keyboard.press('Escape');
	await until('closed', async () => !(await t.page.$('dialog')));
	CHECK_EQ(new URL(t.page.url()).pathname, '/red', 'the page');
	await t.page.click('#find');
	await t.page.keyboard.type('checkout');
	await until('an incident too', async () => (await t.text('#find-list')).includes('checkout slow'));
	await t.page.keyboard.press('Control+a');
	await t.page.keyboard.type('db-edge');
	await until('the node', async () => (await t.text('#find-list [aria-selected=true]')).includes('db-edge-03'));
	await t.page.keyboard.press('Enter');
	await until('its page', async () => new URL(t.page.url()).pathname === '/nodes/db-edge-03');
	CHECK_EQ(await t.page.$('dialog'), null, 'the dialog');
});

TEST('the arrows choose, and a click opens', async (t) => {
	await t.open('/red');
	await t.page.keyboard.press('Control+k');
	await t.page.waitForSelector('#find-list li');
	const chosen = () => t.text('#find-list [aria-selected=true]');
	const first = await chosen();
	await t.page.keyboard.press('ArrowDown');
	await until('another', async () => (await chosen()) !== first);
	await t.page.keyboard.press('ArrowUp');
	await until('the first again', async () => (await chosen()) === first);
	await t.page.click('#find-list a:has-text("Storage")');
	await until('its page', async () => new URL(t.page.url()).pathname === '/storage');
	CHECK(!(await t.page.$('dialog')), 'the dialog is closed');
});
