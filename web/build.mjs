// SPDX-License-Identifier: Apache-2.0
// Builds web/dist, or the named directory: index.html, and assets with their hash in the name. The same sources give the
// same bytes, so dist can be committed, and a build of Seismo needs no Node.js.
import { build } from 'esbuild';
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

// The texts of each language are modules of their own, texts:en and texts:zh, and messages.js begins empty (load_texts.js).
const { messages } = await import('./src/text/messages.js');
const { kernelKinds } = await import('./src/text/messages_kernel.js');
const texts = (at) => JSON.stringify(Object.fromEntries(Object.entries(messages).map(([key, both]) => [key, both[at]])));
const made = {
	'texts:en': `export default ${texts(0)}`,
	'texts:zh': `export default ${texts(1)}`,
	'messages.js': 'export const messages = {}',
	'messages_kernel.js': `export const kernelKinds = ${JSON.stringify(kernelKinds)}`,
};
const splitTexts = {
	name: 'split-texts',
	setup: (of) => {
		of.onResolve({ filter: /^texts:/ }, ({ path: name }) => ({ path: name, namespace: 'texts' }));
		of.onLoad({ filter: /./, namespace: 'texts' }, ({ path: name }) => ({ contents: made[name] }));
		of.onLoad({ filter: /[/]text[/]messages(_kernel)?[.]js$/ }, ({ path: name }) => ({ contents: made[path.basename(name)] }));
	},
};

const bundle = async (entry, options) => {
	const built = await build({
		absWorkingDir: here,
		entryPoints: [entry],
		bundle: true,
		minify: true,
		write: false,
		format: 'esm',
		outdir: path.join(out, 'assets'),
		...options,
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
	for (const file of built.outputFiles) await writeFile(file.path, file.contents);
	return `assets/${path.basename(built.outputFiles[0].path)}`; /* that of the entry */
};

await rm(out, { recursive: true, force: true });
await mkdir(path.join(out, 'assets'), { recursive: true });
const app = await bundle('src/app/main.jsx', { entryNames: 'app-[hash]', chunkNames: '[name]-[hash]', splitting: true, plugins: [splitTexts] });
const style = await bundle('src/style/main.css', { entryNames: 'style-[hash]' });
const page = await readFile(path.join(here, 'src/index.html'), 'utf8');
await writeFile(path.join(out, 'index.html'), page.replace('@APP@', `/${app}`).replace('@STYLE@', `/${style}`));
