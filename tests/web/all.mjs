// SPDX-License-Identifier: Apache-2.0
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runAll } from './browser.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
for (const file of (await readdir(here)).filter((f) => f.endsWith('.test.mjs') && (!process.env.FILES || process.env.FILES.includes(f))).sort()) await import(path.join(here, file));
process.exitCode = (await runAll(process.argv[2])) ? 0 : 1;
