// SPDX-License-Identifier: Apache-2.0
// Builds web/dist, or the named directory: index.html, and assets with their hash in the name. The same sources give the
// same bytes, so dist can be committed, and a build of Seismo needs no Node.js.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, 'dist'));

// The codes of reasons and parts come from schema/def, their only definition.
const names = async (file, pattern) => {
	const text = await readFile(path.join(here, '../schema/def', file), 'utf8');
	const found = [...text.matchAll(pattern)].map((m) => m[1]);
	if (!found.length) throw new Error(`schema/def/${file}: no line matches ${pattern}`);
	return JSON.stringify(found);
};

const bundle = async (entry) => {
	const made = await build({
		absWorkingDir: here,
		entryPoints: [entry],
		bundle: true,
		minify: true,
		write: false,
		format: 'esm',
		target: ['es2021', 'chrome100', 'firefox100', 'safari15'],
		charset: 'utf8',
		legalComments: 'none',
		jsx: 'transform',
		jsxFactory: 'jsxElement',
		jsxFragment: 'jsxFragment',
		inject: ['src/base/jsx.js'],
		define: {
			REASON_CODES: await names('reasons.def', /^REASON\(\d+, \w+, "([^"]+)"/gm),
			PART_CODES: await names('parts.def', /^PART\(\d+, \w+, "([^"]+)"/gm),
		},
		logLevel: 'warning',
	});
	return made.outputFiles[0].contents;
};

const asset = async (entry, base, ext) => {
	const bytes = await bundle(entry);
	const name = `assets/${base}-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.${ext}`;
	await writeFile(path.join(out, name), bytes);
	return name;
};

await rm(out, { recursive: true, force: true });
await mkdir(path.join(out, 'assets'), { recursive: true });
const app = await asset('src/app/main.jsx', 'app', 'js');
const style = await asset('src/style/main.css', 'style', 'css');
const page = await readFile(path.join(here, 'src/index.html'), 'utf8');
await writeFile(path.join(out, 'index.html'), page.replace('@APP@', `/${app}`).replace('@STYLE@', `/${style}`));
