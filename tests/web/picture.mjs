// SPDX-License-Identifier: Apache-2.0
// Takes the README's screenshot of a running console, after make demo has run for a few minutes, with a Chinese font installed:
// node tests/web/picture.mjs http://127.0.0.1:8080 web/console.png
import { launch } from './browser.mjs';

const [url = 'http://127.0.0.1:8080', file = 'web/console.png', minutes = '10'] = process.argv.slice(2);
const SIZE = { width: 1280, height: 600 };
const SETTLE_MS = 3000;

const browser = await launch();
const page = await browser.newPage({ viewport: SIZE, locale: 'en-US', timezoneId: 'UTC', colorScheme: 'light' });
await page.goto(`${url}/requests?view=groups&from=${new Date(Date.now() - minutes * 60e3).toISOString()}`);
await page.waitForSelector('.groups tbody tr');
await page.waitForTimeout(SETTLE_MS);
await page.screenshot({ path: file });
await browser.close();
