// SPDX-License-Identifier: Apache-2.0
// visible.mjs URL PORT N - fails N requests at the server on PORT and times their rows in an open page.
import http from 'node:http';
import net from 'node:net';
import { launch } from '../../web/browser.mjs';

const [url, port, n] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// Runs in the page before its own script: when did which path first appear, and what went wrong.
function watch() {
	window.seen = {};
	window.violations = 0;
	window.ran = false;
	document.addEventListener('securitypolicyviolation', () => window.violations++);
	const look = () => {
		for (const [path] of (document.body?.innerText ?? '').matchAll(/\/seen-\d+/g))
			window.seen[path] ??= Date.now();
	};
	new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}

function fail(path) {
	return new Promise((done, bad) => {
		http.get({ host: '127.0.0.1', port, path: `${path}?s=500` }, (res) => {
			res.resume();
			res.on('end', () => done(Date.now()));
		}).on('error', bad);
	});
}

function raw(path) {
	return new Promise((done) => {
		const s = net.connect(port, '127.0.0.1', () => s.end(Buffer.concat([Buffer.from('GET '), path, Buffer.from('?s=500 HTTP/1.1\r\nHost: x\r\n\r\n')])));
		s.on('close', done).on('error', done).resume();
	});
}

const browser = await launch();
const page = await browser.newPage();
let errors = 0;
page.on('pageerror', (e) => { errors++; console.error(e.message); });
page.on('console', (m) => { if (m.type() === 'error') { errors++; console.error(m.text()); } });
page.on('dialog', (d) => { errors++; d.dismiss(); });
await page.addInitScript(watch);
await page.goto(`${url}/?view=rows`);
await sleep(1500); // time: the page has done all that it does at first

const ended = {};
for (let i = 0; i < n; i++) {
	ended[`/seen-${i}`] = await fail(`/seen-${i}`);
	await sleep(20 + Math.random() * 100); // time: no two requests in step with the page
}
// What comes late has a time, too.
await page.waitForFunction((n) => Object.keys(window.seen).length >= n, n, { timeout: 30000 }).catch(() => {});
const seen = await page.evaluate(() => window.seen);
const late = Object.keys(ended).filter((p) => seen[p]).map((p) => seen[p] - ended[p]);
const first = late[0];
late.sort((a, b) => a - b);

await raw(Buffer.from('/<script>window.ran=true</script><img/onerror=window.ran=true/src=x>'));
await raw(Buffer.from('/control-\x1b[31m-\u202eevil'));
await page.waitForFunction(() => document.body.innerText.includes('/control-') && document.body.innerText.includes('<script>'), null, { timeout: 30000 }).catch(() => {});
await sleep(500); // time: what it could run has run
const text = await page.evaluate(() => document.body.innerText);
const ran = await page.evaluate(() => window.ran);
console.log(`sent ${n}`);
console.log(`seen ${late.length}`);
console.log(`first_ms ${first}`);
console.log(`p50_ms ${late[Math.floor(late.length / 2)]}`);
console.log(`p99_ms ${late[Math.ceil(late.length * 0.99) - 1]}`);
console.log(`max_ms ${late[late.length - 1]}`);
console.log(`violations ${await page.evaluate(() => window.violations)}`);
console.log(`errors ${errors}`);
console.log(`markup ${!ran && text.includes('<script>window.ran=true</script>') ? 'shown' : 'missing'}`);
console.log(`control ${text.includes('/control-\\x1b[31m-\\u{202E}evil') || text.includes('/control-\\x1b[31m-\\u{202e}evil') ? 'spelt' : 'not spelt'}`);
await browser.close();
