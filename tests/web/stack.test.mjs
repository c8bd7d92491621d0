// SPDX-License-Identifier: Apache-2.0
// With SEISMO_URL: the pages of a running console, and the time from the end of a failed request on this machine to its
// row in an open page.
import { createServer, get } from 'node:http';
import { CHECK, TEST, sleep, until } from './browser.mjs';

const { SEISMO_URL } = process.env;
const REQUESTS = 100;
const EVERY_MS = 50;

const failing = () => {
	const server = createServer((req, res) => {
		res.writeHead(500, { 'Content-Length': 0 });
		res.end();
	});
	return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
};

const ask = (port, path) => new Promise((done, fail) => get({ port, path, host: '127.0.0.1', agent: false }, (res) => res.resume().on('end', () => done(Date.now()))).on('error', fail));

// The time at which each path was first in the table, by the page's own clock.
const note = (page) =>
	page.evaluate(() => {
		window.noted = {};
		const look = () => {
			for (const td of document.querySelectorAll('tbody .c-request bdi:last-child')) window.noted[td.textContent] ??= Date.now();
		};
		new MutationObserver(look).observe(document.querySelector('table.requests'), { childList: true, subtree: true });
		look();
	});

const watchUrl = async (t, where) => {
	t.mock.url = SEISMO_URL.replace(/\/$/, '');
	t.mock.http ??= { closeAllConnections: () => null, close: (done) => done() };
	return t.open(where);
};

if (SEISMO_URL) {
	TEST('every page of the running console keeps its policy', async (t) => {
		for (const where of ['/', '/requests', '/?view=rows', '/red', '/nodes', '/requests/1-0000000000000001']) {
			await watchUrl(t, where);
			await t.page.waitForSelector('main');
			await sleep(500);
		}
	});

	TEST('a failed request is a visible row within a second (p99 of 100)', async (t) => {
		const server = await failing();
		const { port } = server.address();
		const mark = `/seismo-${Date.now().toString(36)}`;
		await watchUrl(t, '/?view=rows');
		await t.live();
		await note(t.page);
		const ended = {};
		try {
			for (let i = 0; i < REQUESTS; i += 1) {
				ended[`${mark}/${i}`] = await ask(port, `${mark}/${i}`);
				await sleep(EVERY_MS);
			}
			const noted = await until('every row is there', async () => {
				const all = await t.page.evaluate(() => window.noted);
				return Object.keys(ended).every((p) => all[p]) && all;
			}, 10_000);
			const took = Object.entries(ended).map(([p, end]) => noted[p] - end).sort((a, b) => a - b);
			console.log(`request end to visible row: p50 ${took[REQUESTS / 2]} ms, p99 ${took[REQUESTS - 2]} ms, most ${took[REQUESTS - 1]} ms`);
			CHECK(took[REQUESTS - 2] <= 1000, `p99 is ${took[REQUESTS - 2]} ms`);
		} finally {
			server.close();
		}
	});
}
