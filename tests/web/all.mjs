// SPDX-License-Identifier: Apache-2.0
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runAll } from './browser.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const isWanted = (file) => file.endsWith('.test.mjs') && (!process.env.FILES || process.env.FILES.includes(path.basename(file)));
for (const file of (await readdir(here, { recursive: true })).filter(isWanted).sort()) await import(path.join(here, file));
process.exitCode = (await runAll(process.argv[2])) ? 0 : 1;
const LEFT_MS = 10_000;
setTimeout(() => {
	console.log(`FAILED nothing keeps the tests running\n       ${process.getActiveResourcesInfo().join(', ')}: does a test import a module with a timer?`);
	process.exit(1);
}, LEFT_MS).unref();
