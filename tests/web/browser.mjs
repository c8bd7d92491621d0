// SPDX-License-Identifier: Apache-2.0
// The harness: TEST(sentence, async (t) => ...) with a mock, a page, and checks. A page that breaks the content
// security policy, throws, or logs an error on its console fails its test.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Mock } from './mock/mock.mjs';

export const top = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const require = createRequire(path.join(top, 'web/package.json'));
const { chromium } = require('playwright-core');

/* A page lives for seconds: compiling ahead, optimizing or drawing in parallel costs more than it gains. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
	'--disable-field-trial-config', '--disable-threaded-animation', '--disable-checker-imaging', '--num-raster-threads=1', '--js-flags=--max-lazy,--no-opt'];
/* The headless shell draws no window and uses a quarter less CPU. */
const browserPath = () => process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
/* SLOW=10 finds tests that depend on timing: each page gets a tenth of a CPU, and answers come late and in any order. */
const SLOW = Number(process.env.SLOW ?? 0);
const SIZE = { width: 1440, height: 800 };

const tests = [];
/* Free pages by context options. Opening a new page costs more than most tests do in it. */
const pages = new Map();
let port = 0; /* port of the last mock */
export const TEST = (name, run, options = {}) => tests.push({ name, run, options });

export const CHECK = (value, what) => {
	if (!value) throw new Error(`not so: ${what}`);
};
export const CHECK_EQ = (a, b, what = '') => {
	const [x, y] = [JSON.stringify(a), JSON.stringify(b)];
	if (x !== y) throw new Error(`${what} is ${x}, not ${y}`);
};
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
/* A generous limit, not a promise: a busy machine takes longer. */
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

/* The browser logs error answers on its console; some tests cause them on purpose. */
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

// Resets a page for the next test: no listeners, no storage, no console page.
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
	// Opens the facet and types the value there; a leading ! excludes it.
	async choose(name, value) {
		if (!(await this.page.$(`#${name}`))) await this.page.click(`#facet-${name}`);
		await this.page.fill(`#${name}`, value);
		await this.page.press(`#${name}`, 'Enter');
	}
	// The same port if it is still free: the browser then reuses its compiled script.
	async begin() {
		await this.mock.start(port).catch(() => this.mock.start());
		port = this.mock.port;
	}
	// A page that cannot be reset is closed.
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

// Runs all registered tests; the last line is the number passed and failed.
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
