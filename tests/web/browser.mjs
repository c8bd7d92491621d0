// SPDX-License-Identifier: Apache-2.0
// What every test uses: TEST(sentence, async (t) => ...) with a mock, a page, and checks. A page that breaks
// the content security policy, throws, or complains on its console fails its test.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Mock } from './mock/mock.mjs';

export const top = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const require = createRequire(path.join(top, 'web/package.json'));
const { chromium } = require('playwright-core');

/* A page lives for seconds, so what compiles ahead, optimizes or draws in parallel costs more than it brings. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
	'--disable-field-trial-config', '--disable-threaded-animation', '--disable-checker-imaging', '--num-raster-threads=1', '--js-flags=--max-lazy,--no-opt'];
/* The shell draws no window and takes a quarter less of the processor. */
const browserPath = () => process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
/* SLOW=10: each page has a tenth of a processor, and answers come late and in any order, for tests that guess. */
const SLOW = Number(process.env.SLOW ?? 0);
const SIZE = { width: 1440, height: 800 };

const tests = [];
/* By a context's options: the page that is free for a test with those. A new one costs more than what most do in it. */
const pages = new Map();
let port = 0; /* of the last mock */
export const TEST = (name, run, options = {}) => tests.push({ name, run, options });

export const CHECK = (value, what) => {
	if (!value) throw new Error(`not so: ${what}`);
};
export const CHECK_EQ = (a, b, what = '') => {
	const [x, y] = [JSON.stringify(a), JSON.stringify(b)];
	if (x !== y) throw new Error(`${what} is ${x}, not ${y}`);
};
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
/* How long is no promise: a busy machine takes longer. */
const LIMIT = 20000;
export const until = async (what, ask, limit = LIMIT) => {
	const end = Date.now() + limit;
	let pause = 10;
	for (;;) {
		const value = await ask();
		if (value) return value;
		if (Date.now() > end) throw new Error(`not so within ${limit} ms: ${what}`);
		await sleep((pause = Math.min(2 * pause, 160)));
	}
};

/* The browser says on its console that an answer was an error, which is what some tests are about. */
const expected = /Failed to load resource/;

const watch = (page, faults) => {
	page.on('console', (m) => m.type() === 'error' && !expected.test(m.text()) && faults.push(m.text()));
	page.on('pageerror', (e) => faults.push(`thrown: ${e.message}`));
	page.on('dialog', (d) => {
		faults.push(`dialog: ${d.message()}`);
		d.dismiss();
	});
};

const newPage = async (browser, options) => {
	const context = await browser.newContext(options);
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	await context.addInitScript(() => {
		document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.sample}`));
	});
	const page = await context.newPage();
	if (SLOW) await context.newCDPSession(page).then((cdp) => cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOW }));
	return page;
};

// As the next test wants it: nobody listens, nothing is stored, no page of ours.
const emptied = async (page, { viewport }) => {
	page.removeAllListeners();
	await page.evaluate(() => {
		localStorage.clear();
		sessionStorage.clear();
	});
	await page.goto('about:blank');
	await page.setViewportSize(viewport);
};

class Test {
	constructor(browser) {
		Object.assign(this, { browser, faults: [] });
		this.mock = new Mock();
		this.mock.jitter = SLOW * 30;
	}
	async open(where = '/?view=rows', options = {}) {
		if (!this.mock.http) await this.begin();
		await this.leave();
		this.options = { viewport: SIZE, locale: 'en-US', timezoneId: 'Asia/Shanghai', ...options };
		const key = JSON.stringify(this.options);
		this.page = pages.get(key) ?? (await newPage(this.browser, this.options));
		pages.delete(key);
		watch(this.page, this.faults);
		await this.page.goto(this.mock.url + where);
		await this.page.waitForSelector('header.top');
		return this.page;
	}
	rows() {
		return this.page.$$eval('table.requests tbody tr', (all) => all.map((tr) => tr.dataset.id));
	}
	async shows(n, limit) {
		await until(`${n} rows are shown`, () => this.page.$$eval('table.requests tbody tr', (all, n) => all.length === n, n), limit);
	}
	async live() {
		await this.page.waitForSelector('.live-on');
	}
	async text(selector) {
		await this.page.waitForSelector(selector, { state: 'attached', timeout: LIMIT });
		return this.page.$eval(selector, (el) => el.innerText);
	}
	// Opens the filter's panel and has the value typed there; ! before it excludes.
	async choose(name, value) {
		if (!(await this.page.$(`#${name}`))) await this.page.click(`#facet-${name}`);
		await this.page.fill(`#${name}`, value);
		await this.page.press(`#${name}`, 'Enter');
	}
	// On one port, if nobody has taken it since: what the browser has compiled it need not compile again.
	async begin() {
		await this.mock.start(port).catch(() => this.mock.start());
		port = this.mock.port;
	}
	// A page that cannot be emptied is given up.
	async leave() {
		if (!this.page) return;
		const { page, options } = this;
		this.page = null;
		await emptied(page, options).then(
			() => pages.set(JSON.stringify(options), page),
			() => page.context().close(),
		);
	}
	async close() {
		await this.leave();
		if (this.mock.http) await this.mock.stop();
	}
}

const one = async (browser, test) => {
	const t = new Test(browser);
	try {
		await test.run(t);
		if (!test.options.faults && t.faults.length) throw new Error(`the page complained: ${t.faults.join('; ').slice(0, 400)}`);
		return null;
	} catch (e) {
		return e;
	} finally {
		await t.close().catch(() => null);
	}
};

export const launch = () => chromium.launch({ executablePath: browserPath(), args: FLAGS });

// Runs all tests named so far; the last line says how many passed and failed.
export const runAll = async (only) => {
	const browser = await launch();
	const count = { passed: 0, failed: 0 };
	for (const test of tests) {
		if (only && !test.name.includes(only)) continue;
		const start = Date.now();
		const error = await one(browser, test);
		if (process.env.V) console.log(`${Date.now() - start} ms  ${test.name}`);
		count[error ? 'failed' : 'passed'] += 1;
		if (error) console.log(`FAILED ${test.name}\n       ${error.message.split('\n').slice(0, 5).join('\n       ')}`);
	}
	await browser.close();
	console.log(`${count.passed} passed, ${count.failed} failed`);
	return count.failed === 0 && count.passed > 0;
};
