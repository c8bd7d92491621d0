// SPDX-License-Identifier: Apache-2.0
// The committed build matches the sources; the lock file names no download address.
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { CHECK, CHECK_EQ, TEST, top } from './browser.mjs';

const listing = async (dir) => {
	const all = {};
	for (const sub of ['', 'assets']) {
		for (const file of await readdir(path.join(dir, sub), { withFileTypes: true })) {
			if (file.isFile()) all[path.join(sub, file.name)] = await readFile(path.join(dir, sub, file.name), 'latin1');
		}
	}
	return all;
};

TEST('web/dist is the build of web/src (if not: cd web && npm run build)', async () => {
	const made = await mkdtemp(path.join(tmpdir(), 'seismo-web-'));
	try {
		execFileSync(process.execPath, [path.join(top, 'web/build.mjs'), made], { stdio: 'pipe' });
		const [a, b] = [await listing(made), await listing(path.join(top, 'web/dist'))];
		CHECK_EQ(Object.keys(b).sort(), Object.keys(a).sort(), 'the files of dist');
		for (const name of Object.keys(a)) CHECK(a[name] === b[name], `${name} is the same`);
	} finally {
		await rm(made, { recursive: true });
	}
});

const packed = (text) => gzipSync(Buffer.from(text, 'latin1'), { level: 9 }).length;

// A script with all that it imports before it runs.
const imported = (all, name, found = new Set()) => {
	if (found.has(name)) return found;
	found.add(name);
	for (const [, file] of all[name].matchAll(/(?:from|import)"\.\/([^"]+)"/g)) imported(all, `assets/${file}`, found);
	return found;
};

TEST('the first page takes less than 110 kB as it is sent, and no file names another host', async () => {
	const all = await listing(path.join(top, 'web/dist'));
	const one = (begin) => Object.keys(all).find((name) => name.startsWith(`assets/${begin}-`));
	for (const language of ['en', 'zh']) {
		const files = ['index.html', one('style'), one(`texts_${language}`), ...imported(all, one('app'))];
		const bytes = files.reduce((n, name) => n + packed(all[name]), 0);
		CHECK(bytes < 110_000, `${bytes} bytes in ${language}: ${files.map((name) => `${name} ${packed(all[name])}`)}`);
	}
	const bytes = Object.values(all).reduce((n, s) => n + packed(s), 0);
	CHECK(bytes < 195_000, `${bytes} bytes in all`);
	const hosts = Object.values(all).flatMap((s) => [...s.matchAll(/https?:\/\/([a-z0-9.-]+)/g)].map((m) => m[1]));
	CHECK_EQ([...new Set(hosts)].filter((h) => h !== 'www.w3.org' && h !== '127.0.0.1'), [], 'hosts that are named');
});

TEST('the lock file names no download address', async () => {
	const lock = await readFile(path.join(top, 'web/package-lock.json'), 'utf8');
	CHECK(!/"resolved"|https?:/.test(lock.replace(/"url": "[^"]*"/g, '')), 'no address');
});
