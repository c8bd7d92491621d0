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

TEST('script and style are below 155 kB as they are sent, and name no other host', async () => {
	const all = await listing(path.join(top, 'web/dist'));
	const bytes = Object.values(all).reduce((n, s) => n + gzipSync(Buffer.from(s, 'latin1'), { level: 9 }).length, 0);
	CHECK(bytes < 155_000, `${bytes} bytes`);
	const hosts = Object.values(all).flatMap((s) => [...s.matchAll(/https?:\/\/([a-z0-9.-]+)/g)].map((m) => m[1]));
	CHECK_EQ([...new Set(hosts)].filter((h) => h !== 'www.w3.org' && h !== '127.0.0.1'), [], 'hosts that are named');
});

TEST('the lock file names no download address', async () => {
	const lock = await readFile(path.join(top, 'web/package-lock.json'), 'utf8');
	CHECK(!/"resolved"|https?:/.test(lock.replace(/"url": "[^"]*"/g, '')), 'no address');
});
