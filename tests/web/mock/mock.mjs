// SPDX-License-Identifier: Apache-2.0
// A small server with the collector's API: rows, one row, nodes, the stream. Tests set its fields
// (server.rows, .nodes, .away) and call .emit; started by hand it shows a busy fleet: node tests/web/mock/mock.mjs 8099.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { columns, names } from './columns.mjs';
import { fleet, loss, request, some, unread } from './data.mjs';
import { event as incident, explained, listEvents, oneEvent, parts, series } from './events.mjs';
import { decideCase, listCases, oneCase, whereOf } from './cases.mjs';
import { fleetValues, listFleet, scored } from './scores.mjs';
import { Refused, counts, fits, inRange, newestFirst, red, shapes } from './explore.mjs';

const dist = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../web/dist');
const CSP =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
const HOUR = 3600e3;
const ID = /^[0-9a-f]{1,13}-[0-9a-f]{16}$/;

const list = (server, q) => {
	const within = inRange(server.rows, q);
	const limit = Number(q.get('limit') ?? 100);
	let found = within.filter(fits(q)).sort(newestFirst);
	if (q.get('cursor')) {
		const at = found.findIndex((r) => r.id === q.get('cursor'));
		if (at < 0) throw new Refused(400, 'bad_parameter', 'cursor must be an id as the API gave it.');
		found = found.slice(at + 1);
	}
	const page = found.slice(0, limit);
	const coverage = { seen: server.seen, stored: within.length, withheld: server.withheld, lost: server.lost, lostBatches: 0 };
	return { requests: page, next: found.length > limit ? page[page.length - 1].id : null, coverage };
};

const cover = (server, q) => {
	const { coverage } = list(server, new URLSearchParams([...q].filter(([name]) => name !== 'limit')));
	const among = (name) => !q.get('node') || q.getAll('node').includes(name);
	const losses = server.losses.filter((l) => among(l.node));
	const stored = server.stored ?? coverage.stored;
	return { coverage: { ...coverage, stored, storedExact: stored <= 10_000, lostBatches: server.lostBatches, losses, unread: server.unread } };
};

const one = (server, id) => {
	if (!ID.test(id)) throw new Refused(400, 'bad_parameter', 'id must be an id as the API gave it.');
	if (parseInt(id, 16) / 1000 < Date.now() - 30 * 24 * HOUR) throw new Refused(410, 'aged_out', 'This request aged out on 2026-01-31, retention 30 days.');
	const row = server.rows.find((r) => r.id === id);
	if (!row) throw new Refused(404, 'not_found', `There is no request ${id}.`);
	return row;
};

const countOf = (server, q) => {
	const n = inRange(server.rows, q).filter(fits(q)).length;
	return { count: Math.min(n, server.most), more: n > server.most, source: 'rows' };
};

const status = (server) => ({
	database: server.away ? 'away' : 'ok',
	retention: server.retention,
	nodes: server.nodes.map(({ name, region, lastSeen, lag }) => ({ name, region, lastSeen, lag })),
	servers: server.servers,
	requestsPerSecond: server.servers.reduce((n, s) => n + s.rate, 0),
	incidents: server.openIncidents ?? { open: 0, since: null },
	silentNodes: server.silentNodes ?? 0,
	coverage: { seen: 1, stored: 0, withheld: 0, lost: 0 },
});

const answer = (server, url) => {
	if (server.away) throw new Refused(503, 'database_away', 'The database is away (connection refused); new requests are kept.');
	if (server.refuse.some((path) => url.pathname.startsWith(path))) throw new Refused(404, 'not_found', 'There is no such address.');
	if (url.pathname === '/api/v1/requests') return list(server, url.searchParams);
	const name = url.pathname.match(/^\/api\/v1\/requests\/(facets|histogram|groups)$/)?.[1];
	if (name) return counts[name](server.rows, url.searchParams);
	if (url.pathname === '/api/v1/requests/count') return countOf(server, url.searchParams);
	if (/^\/api\/v1\/requests\/[^/]+\/trace$/.test(url.pathname)) return server.trace ?? { hop: 0, caller: { silence: 'noProbe' }, hops: [], lookAt: null };
	if (url.pathname.startsWith('/api/v1/requests/')) return one(server, decodeURIComponent(url.pathname.slice(17)));
	if (url.pathname === '/api/v1/red') return red(server.shapes, url.searchParams);
	if (url.pathname === '/api/v1/profile') return server.profile(url.searchParams);
	if (url.pathname === '/api/v1/topology') return { edges: server.edges ?? [], total: (server.edges ?? []).length };
	if (url.pathname === '/api/v1/coverage') return cover(server, url.searchParams);
	if (url.pathname === '/api/v1/regions') return { regions: server.regions };
	if (url.pathname === '/api/v1/fleet') return listFleet(server.fleet, url.searchParams);
	if (url.pathname === '/api/v1/fleet/values') return fleetValues(server.fleet);
	if (url.pathname === '/api/v1/storage') return { storage: server.storage };
	if (url.pathname === '/api/v1/nodes') return { nodes: server.nodes };
	if (url.pathname === '/api/v1/tags') return { tagged: [{ kind: 'node', entity: '', tags: server.nodes.find((n) => n.name === url.searchParams.get('node'))?.tags ?? {} }] };
	if (url.pathname === '/api/v1/console') return { version: 'test', actions: server.actions ?? true };
	if (url.pathname === '/api/v1/parts') return { parts };
	if (url.pathname === '/api/v1/series/columns') return columns(server, url.searchParams);
	if (url.pathname === '/api/v1/series/names') return names(server, url.searchParams);
	if (url.pathname === '/api/v1/series') return series(server, url.searchParams);
	if (url.pathname === '/api/v1/events') return listEvents(server.incidents, url.searchParams);
	if (url.pathname.startsWith('/api/v1/events/')) return oneEvent(server.incidents, decodeURIComponent(url.pathname.slice(15)));
	if (url.pathname === '/api/v1/where') return whereOf(server.cases, url.searchParams);
	if (url.pathname === '/api/v1/incidents') return listCases(server.cases, url.searchParams);
	if (url.pathname.startsWith('/api/v1/incidents/')) return oneCase(server.cases, decodeURIComponent(url.pathname.slice(18)));
	throw new Refused(404, 'not_found', 'There is no such address.');
};

const event = (type, data, id) => `event: ${type}\n${id ? `id: ${id}\n` : ''}data: ${JSON.stringify(data)}\n\n`;

const stream = (server, req, res) => {
	const since = req.headers['last-event-id'];
	server.resumed.push(since ?? null);
	res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
	res.write(event('status', status(server)));
	if (since) for (const e of server.events.filter((e) => e.n > Number(since))) res.write(event('request', e.row, e.n));
	server.streams.add(res);
	res.on('close', () => server.streams.delete(res));
};

const file = async (server, url, res) => {
	const asset = /^\/assets\/[A-Za-z0-9._-]+$/.test(url.pathname) ? url.pathname : '/index.html';
	const bytes = await readFile(path.join(dist, asset)).catch(() => null);
	const kept = asset === '/index.html' ? 'no-cache' : 'public, max-age=31536000, immutable';
	res.writeHead(bytes ? 200 : 404, { 'Content-Type': TYPES[asset.split('.').pop()], 'Cache-Control': kept, 'Content-Security-Policy': CSP, 'X-Content-Type-Options': 'nosniff' });
	res.end(bytes);
};

const exported = (server, url, res) => {
	const { requests } = list(server, new URLSearchParams([...url.searchParams, ['limit', 10_000]]));
	const csv = url.pathname.endsWith('.csv');
	res.writeHead(200, { 'Content-Type': csv ? 'text/csv; charset=utf-8' : 'application/x-ndjson', 'Content-Disposition': `attachment; filename="seismo-requests.${csv ? 'csv' : 'ndjson'}"` });
	res.end(csv ? ['id,status', ...requests.map((r) => `${r.id},${r.status ?? ''}`), ''].join('\r\n') : requests.map((r) => `${JSON.stringify(r)}\n`).join(''));
};

const decided = async (server, url, req, res) => {
	let text = '';
	for await (const part of req) text += part;
	const [status, body] = decideCase(server.cases, url.pathname, JSON.parse(text));
	res.writeHead(status, { 'Content-Type': 'application/json' });
	res.end(JSON.stringify(body));
};

const handle = async (server, req, res) => {
	const url = new URL(req.url, 'http://localhost');
	if (!url.pathname.startsWith('/api/')) return file(server, url, res);
	if (url.pathname === '/api/v1/stream') return stream(server, req, res);
	server.asked.push(`${url.pathname}${url.search}`);
	if (req.method === 'POST') return decided(server, url, req, res);
	if (/^\/api\/v1\/requests\.(csv|ndjson)$/.test(url.pathname)) return exported(server, url, res);
	try {
		const body = JSON.stringify(answer(server, url));
		const ms = server.slow + Math.random() * server.jitter;
		if (ms) await new Promise((done) => setTimeout(done, ms));
		res.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
		res.end(body);
	} catch (e) {
		if (!(e instanceof Refused)) throw e;
		res.writeHead(e.status, { 'Content-Type': 'application/json' });
		res.end(JSON.stringify({ error: { code: e.code, message: e.message } }));
	}
};

export class Mock {
	constructor() {
		Object.assign(this, { rows: [], nodes: fleet(1), servers: [], shapes: [], seen: 0, withheld: 0, lost: 0, lostBatches: 0, losses: [], unread: [], away: false, slow: 0, jitter: 0 });
		Object.assign(this, { regions: [], storage: null, fleet: [1, 7, 11, 17].map((i) => scored(i)), cases: [], incidents: [], stall: Date.now() - 60e3, mute: [], refuse: [], most: 10_000 });
		Object.assign(this, { silent: [], without: [], entities: {} });
		Object.assign(this, { events: [], streams: new Set(), resumed: [], asked: [] });
	}
	async start(port = 0) {
		this.http = createServer((req, res) => handle(this, req, res));
		await new Promise((done, failed) => this.http.once('error', failed).listen(port, '127.0.0.1', done));
		this.port = this.http.address().port;
		this.url = `http://127.0.0.1:${this.port}`;
		this.beat = setInterval(() => this.publish('status', status(this)), 1000);
		return this;
	}
	publish(type, data, id) {
		for (const res of this.streams) res.write(event(type, data, id));
	}
	emit(row) {
		this.rows.push(row);
		this.events.push({ n: this.events.length + 1, row });
		this.publish('request', row, this.events.length);
		return row;
	}
	async stop() {
		clearInterval(this.beat);
		this.http.closeAllConnections();
		await new Promise((done) => this.http.close(done));
	}
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const server = await new Mock().start(Number(process.argv[2] ?? 8099));
	Object.assign(server, { nodes: fleet(3), shapes, rows: some(450), seen: 48213, withheld: 12, losses: [loss(), loss({ name: 'rows_withheld', count: 12, last: new Date().toISOString() }), loss({ name: 'late_bytes', unit: 'sends', count: 3 }), loss({ node: 'web-1', name: 'tomorrow', unit: 'things' })], unread });
	const explainedRow = explained();
	server.rows.push(explainedRow, ...[3, 5, 8].map((s) => explained({ time: Date.parse(explainedRow.time) - s * 1e3 })));
	server.incidents = Array.from({ length: 130 }, (_, i) => incident({ time: Date.parse(explainedRow.time) + 100 - i * 31e3, n: i, ms: 1204.3 + i, severity: ['warning', 'critical', 'info'][i % 3] }));
	Object.assign(server, { stall: Date.parse(explainedRow.time) - 300e3, silent: [[Date.now() - 1500e3, Date.now() - 1300e3]] });
	console.log(server.url + explainedRow.diagnosis, server.url + server.incidents[0].diagnosis);
	setInterval(() => server.emit(request({ time: Date.now() })), Number(process.argv[3] ?? 1500));
	console.log(server.url);
}
