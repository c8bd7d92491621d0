// SPDX-License-Identifier: Apache-2.0
// Made-up requests and nodes in the shape of the API. The same seed gives the same data.
let seed = 7;
let serial = 0;
const random = () => {
	seed = (seed * 1103515245 + 12345) % 2147483648;
	return seed / 2147483648;
};
const pick = (all) => all[Math.floor(random() * all.length)];

const REASONS = {
	'up.slow': ['Upstream 10.20.0.14:8080 took 1790 ms of 1842 ms', '上游 10.20.0.14:8080 耗时 1790 ms（总计 1842 ms）'],
	'up.connect': ['Upstream 10.20.0.15:8080 could not be reached: connection refused', '无法连接上游 10.20.0.15:8080：connection refused'],
	'up.error': ['Upstream 10.20.0.14:8080 failed: status 502', '上游 10.20.0.14:8080 出错：status 502'],
	'up.retry': ['2 upstream tries, 1001 ms lost on those that failed; first 10.20.0.15:8080: timed out', '尝试上游 2 次，失败的尝试耗时 1001 ms；首次 10.20.0.15:8080：timed out'],
	'client.abort': ['The client closed the connection after 903 ms, before an answer', '客户端在 903 ms 后、收到应答之前关闭了连接'],
	'app.error': ['orders failed by itself: status 500', 'orders 自身出错：status 500'],
	unknown: ['No measured cause reaches half of the delay', '没有任何已测得的原因能解释一半以上的延迟'],
};

export const upstream = (over = {}) => ({
	addr: '10.20.0.14:8080',
	startTime: 1.2,
	connectTime: 0.41,
	responseTime: 1790.2,
	status: 200,
	error: null,
	reused: false,
	retransmits: 0,
	rtt: 0.21,
	...over,
});

const shapes = [
	() => ({ reason: 'up.slow', status: 200, requestTime: 1838.4, upstreamResponseTime: 1790.2, upstreams: [upstream()] }),
	() => ({ reason: 'up.connect', status: 502, requestTime: 3.1, upstreamResponseTime: 1.1, upstreams: [upstream({ addr: '10.20.0.15:8080', status: null, connectTime: null, responseTime: null, error: 'connection refused' })] }),
	() => ({
		reason: 'up.retry',
		status: 200,
		requestTime: 1044.8,
		upstreamResponseTime: 1041.6,
		upstreams: [
			upstream({ addr: '10.20.0.15:8080', startTime: 0.9, connectTime: null, responseTime: 1001, status: null, error: 'timed out', retransmits: 2 }),
			upstream({ startTime: 1003.4, connectTime: null, reused: true, responseTime: 40.6 }),
		],
	}),
	() => ({ reason: 'client.abort', status: 499, requestTime: 903.2, upstreamResponseTime: null, upstreams: [], flags: ['clientClosed'] }),
	() => ({ reason: 'app.error', status: 500, requestTime: 12.9, upstreamResponseTime: null, upstreams: [] }),
	() => ({ reason: 'up.error', status: null, requestTime: 60012.4, upstreamResponseTime: null, upstreams: [], flags: ['noAnswer', 'upstreamUnknown'] }),
	() => ({ reason: 'unknown', status: 200, requestTime: 412.3, upstreamResponseTime: 21.4, upstreams: [upstream({ startTime: 2, responseTime: 21.4, reused: true, connectTime: null })] }),
];

export const idOf = (ms, number) => `${(ms * 1000).toString(16)}-${number.toString(16).padStart(16, '0')}`;

export const request = (over = {}) => {
	const ms = typeof over.time === 'number' ? over.time : Date.parse(over.time ?? new Date().toISOString());
	const id = idOf(ms, (serial += 1));
	const made = { ...pick(shapes)(), queueTime: random() < 0.3 ? 3.6 : 0.02, normalTime: 34, limitTime: 300, ...over };
	const [en, zh] = REASONS[made.reason] ?? REASONS.unknown;
	const path = made.path ?? pick(['/api/orders/8123', '/api/cart', '/static/js/app.7f3a.js', '/api/users/42/profile', '/checkout']);
	const method = made.method ?? pick(['GET', 'GET', 'POST']);
	const totalTime = made.requestTime + made.queueTime;
	return {
		region: 'eu-1',
		node: pick(['web-1', 'web-2', 'db-edge-03']),
		app: pick(['nginx', 'orders', 'gunicorn']),
		pid: 8121,
		tid: 8124,
		comm: 'nginx',
		remoteAddr: `192.0.2.${Math.floor(random() * 250)}:${40000 + Math.floor(random() * 9999)}`,
		local: '10.20.0.11:443',
		upstreamAddr: made.upstreams.at(-1)?.addr ?? null,
		route: `${method} ${path.replace(/\d+/g, ':id')}`,
		request: `${method} ${path}`,
		bytesIn: 812,
		bytesOut: 15230,
		flags: [],
		socket: { retransmits: 0, rtt: 12.4, outOfOrder: 0 },
		shares: [],
		checked: [],
		unchecked: [],
		...made,
		id,
		time: new Date(ms).toISOString(),
		end: new Date(ms + made.requestTime).toISOString(),
		method,
		path,
		totalTime,
		timesNormal: made.timesNormal === undefined ? Math.round((totalTime / made.normalTime) * 10) / 10 : made.timesNormal,
		reason: { code: made.reason, params: {}, text: made.text ?? { en, zh } },
		diagnosis: `/requests/${id}`,
	};
};

// n requests that end now, a second apart.
export const some = (n, over = {}) => Array.from({ length: n }, (_, i) => request({ ...over, time: Date.now() - 1000 - i * 1000 }));

const sources = [
	{ name: 'request', state: 'attached', why: '', since: new Date(Date.now() - 86400e3).toISOString() },
	{ name: 'proc', state: 'attached', why: '', since: new Date(Date.now() - 86400e3).toISOString() },
];

export const node = (over = {}) => ({
	id: '8c1f00aa12345678',
	name: 'web-1',
	region: 'eu-1',
	tags: { rack: 'r12', role: 'web' },
	version: '0.1.0',
	firstSeen: new Date(Date.now() - 9 * 86400e3).toISOString(),
	lastSeen: new Date(Date.now() - 800).toISOString(),
	lag: 800,
	lostBatches: 0,
	sources,
	coverage: { requests_seen: 48213, rows: 451, rows_withheld: 12, upstream_unknown: 3, pipelined: 0, head_missed: 0, user_fault: 0, ring_full: 0, conn_full: 0, calls_full: 0, unread: 217, client_calls: 31022 },
	unread: [
		{ app: 'nginx', kind: 'tls', count: 204 },
		{ app: 'envoy', kind: 'http2', count: 13 },
	],
	...over,
});

export const loss = (over = {}) => ({
	node: 'web-2',
	name: 'ring_full',
	unit: 'requests',
	count: 7,
	first: new Date(Date.now() - 600e3).toISOString(),
	last: new Date(Date.now() - 540e3).toISOString(),
	...over,
});

export const unread = [
	{ app: 'nginx', kind: 'tls', count: 312, nodes: ['web-1'], last: new Date().toISOString() },
	{ app: 'envoy', kind: 'http2', count: 13, nodes: ['web-1'], last: new Date().toISOString() },
	{ app: 'chat', kind: 'upgraded', count: 2, nodes: ['web-2'], last: new Date().toISOString() },
	{ app: 'orders', kind: 'pipelined', count: 40, nodes: ['web-2'], last: new Date().toISOString() },
];

export const fleet = (n) =>
	[
		node(),
		node({ name: 'web-2', tags: {}, unread: [], coverage: { requests_seen: 1200, rows: 2, ring_full: 7 }, sources: [{ name: 'request', state: 'off', why: 'no tracepoint sock_send_length: the kernel is older than 6.3', since: sources[0].since }, sources[1]] }),
		node({ name: 'db-edge-03', region: null, tags: { role: 'db' }, lag: 93_000, lastSeen: new Date(Date.now() - 93_000).toISOString(), unread: [], sources: [{ ...sources[0], state: 'throttled', why: 'over its budget of 2 % CPU' }, sources[1]] }),
	].slice(0, n);
