// SPDX-License-Identifier: Apache-2.0
// node.mjs ADDRESS:PORT LOG DIR UPSTREAM BACKLOG - the event-loop server of the fault bench: it takes
// the same requests as server.c, and writes the same lines.
import fs from 'node:fs';
import http from 'node:http';
import {Worker} from 'node:worker_threads';

const [on, log, dir, upstream, backlog] = process.argv.slice(2);
const [host, port] = on.split(':');
const logFd = fs.openSync(log, 'a', 0o600);
const now = () => process.hrtime.bigint();
const wall = Number(process.hrtime.bigint());
const origin = BigInt(Date.now()) * 1000000n - BigInt(wall);
const wallNs = () => (origin + now()).toString();

// Somebody else's lock: a worker takes it for so long when it is asked to, and reports its pid.
const lock = new Int32Array(new SharedArrayBuffer(20)); // taken, ms wanted, thread id, nothing, how often taken
const holder = new Worker(`
	const {workerData: lock} = require('node:worker_threads');
	const fs = require('node:fs');
	lock[2] = Number(fs.readlinkSync('/proc/thread-self').split('/').pop());
	for (;;) {
		Atomics.wait(lock, 1, 0);
		const ms = lock[1];
		Atomics.store(lock, 1, 0);
		Atomics.store(lock, 0, 1);
		Atomics.add(lock, 4, 1);
		Atomics.notify(lock, 4);
		Atomics.wait(lock, 3, 0, ms);
		Atomics.store(lock, 0, 0);
		Atomics.notify(lock, 0);
	}`, {eval: true, workerData: lock});
holder.unref();

function account() {
	const [cpu, delay] = fs.readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
	return {wall: now(), cpu, delay};
}

function block(kb) {
	return Buffer.alloc(kb * 1024, 'n');
}

const acts = {
	sleep: (a, done) => setTimeout(done, a.ms),
	burn: (a, done) => {
		const from = process.cpuUsage();
		for (let spent = 0; spent < a.ms * 1000;) {
			for (let i = 0; i < 20000; i++);
			const c = process.cpuUsage(from);
			spent = c.user + c.system;
		}
		done();
	},
	later: (a, done) => acts.burn(a, () => setImmediate(() => setImmediate(done))), // its loop has been round once more
	held: (a, done) => acts.burn(a, () => { // so, and had to wait for a lock before
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
		setImmediate(() => setImmediate(done));
	}),
	fsync: (a, done) => {
		a.what = `${dir}/ledger.dat`;
		const fd = fs.openSync(a.what, fs.constants.O_RDWR | fs.constants.O_CREAT);
		fs.writeSync(fd, block(a.kb), 0, a.kb * 1024, 0);
		a.start = wallNs();
		a.from = now();
		fs.fsyncSync(fd);
		a.us = Number(now() - a.from) / 1e3;
		fs.closeSync(fd);
		done();
	},
	read: (a, done) => {
		a.what = `${dir}/catalog.dat`;
		const fd = fs.openSync(a.what, 'r'), b = Buffer.alloc(16384);
		for (let at = 0; at < a.kb * 1024; at += b.length)
			if (fs.readSync(fd, b, 0, b.length, at) <= 0)
				break;
		fs.closeSync(fd);
		done();
	},
	memory: (a, done) => {
		a.what = `${dir}/spill.dat`;
		const fd = fs.openSync(a.what, fs.constants.O_RDWR | fs.constants.O_CREAT), b = block(1024);
		for (let kb = 0; kb < a.kb; kb += 1024)
			fs.writeSync(fd, b, 0, b.length, kb * 1024);
		fs.closeSync(fd);
		done();
	},
	lock: (a, done) => {
		const taken = Atomics.load(lock, 4);
		Atomics.store(lock, 1, a.ms);
		Atomics.notify(lock, 1);
		Atomics.wait(lock, 4, taken);
		a.start = wallNs();
		a.from = now();
		Atomics.wait(lock, 0, 1);
		a.us = Number(now() - a.from) / 1e3;
		a.who = `[${lock[2]}]`;
		done();
	},
	up: (a, done) => {
		const [h, p] = upstream.split(':'), to = a.port || Number(p);
		a.what = `${h}:${to}`;
		const q = http.get({host: h, port: to, agent: false, path: `/up${a.path}?f=${a.uf}&ms=${a.ms}&n=${a.un}`}, r => {
			a.status = r.statusCode;
			r.resume().on('end', done);
		});
		q.on('socket', s => s.on('connect', () => { a.upPort = s.localPort; }));
		q.on('error', () => { a.status = 502; done(); });
	},
	'': (a, done) => done(),
};

function logAct(a, from, client) {
	const to = account(), us = n => Number(n) / 1e3;
	fs.writeSync(logFd, JSON.stringify({path: a.path, read: Number(a.read), f: a.f, pid: process.pid, tid: process.pid, client,
		start: Number(a.start || a.read), us: a.us ?? us(to.wall - from.wall), wall: us(to.wall - from.wall),
		cpu: us(to.cpu - from.cpu), runq: us(to.delay - from.delay), blkio: 0, reclaim: 0,
		what: a.what || '', who: a.who || '', upPort: a.upPort || 0}) + '\n');
}

function serve(req, res) {
	const read = wallNs(), u = new URL(req.url, 'http://x'), q = u.searchParams;
	const a = {path: u.pathname, read, f: q.get('f') || '', ms: Number(q.get('ms') || 0), kb: Number(q.get('kb') || 0),
		port: Number(q.get('port') || 0), uf: q.get('uf') || '', un: Number(q.get('un') || 512),
		n: Number(q.get('n') || 512), status: 200};
	req.on('data', () => {}).on('end', () => {
		const from = account();
		acts[a.f](a, () => {
			const client = req.socket.remotePort;
			logAct(a, from, client);
			res.writeHead(a.status, {'Content-Length': a.n});
			res.end(Buffer.alloc(a.n, 'x'));
		});
	});
}

http.createServer({keepAliveTimeout: 60000}, serve).listen({host, port: Number(port), backlog: Number(backlog)});
