// SPDX-License-Identifier: Apache-2.0
// Made-up details in the shape of the API: requests with shares and evidence, events, parts, series of a node.
import { readFileSync } from 'node:fs';
import { idOf, request, upstream } from './data.mjs';
import { Refused, newestFirst, range } from './explore.mjs';

const def = readFileSync(new URL('../../../schema/def/parts.def', import.meta.url), 'utf8');
export const parts = [...def.matchAll(/^PART\(\d+, \w+, "([^"]+)", "([^"]+)", "([^"]+)"\)/gm)].map(([, code, en, zh]) => ({ code, en, zh }));

export const KERNEL = ['io_schedule+0x42', 'folio_wait_bit_common+0x131', 'folio_wait_writeback+0x28', '__filemap_fdatawait_range+0x7c', 'file_write_and_wait_range+0x8f', 'ext4_sync_file+0xd5', 'vfs_fsync_range+0x3f', 'do_fsync+0x38', '__x64_sys_fsync+0x14', 'do_syscall_64+0x5e', 'entry_SYSCALL_64_after_hwframe+0x76'];

const at = (time, ms) => new Date(Date.parse(time) + ms).toISOString();

export const evidence = (time, over = {}) => ({ time, ms: 760.4, part: 'io', pid: 8121, tid: 8124, comm: 'orders', call: 'fsync', what: 'data/orders.wal (nvme0n1)', who: null, stack: KERNEL, stackFlags: [], ...over });

// A request that waited for a file on a busy disk, with all its fields.
export const explained = ({ time = Date.now() - 60e3, ...over } = {}) => {
	const req = request({ time, node: 'web-1', app: 'orders', method: 'POST', path: '/api/orders/8123', route: 'POST /api/orders/:id', status: 200, queueTime: 12.4, requestTime: 1029.6, normalTime: 34, limitTime: 300, flags: [], upstreamResponseTime: 98, upstreams: [upstream({ startTime: 20, responseTime: 98, reused: true, connectTime: null })] });
	const shares = [['queue', 12.4, 0.1], ['cpu', 21.3, 15], ['runqueue', 88.2, 0.4], ['io', 800.9, 3.2], ['lock', 11.2, 0], ['sleep', 0, 0.3], ['upstream', 98, 14.1], ['unattributed', 10, 1.2]];
	return {
		...req,
		reason: { code: 'io.block', params: { call: 'fsync', file: 'data/orders.wal', dev: 'nvme0n1', ms: 800.9, total_ms: 1042 }, text: { en: 'fsync of data/orders.wal on nvme0n1 took 800.9 ms of 1042 ms', zh: '对 nvme0n1 上 data/orders.wal 的 fsync 耗时 800.9 ms（总计 1042 ms）' } },
		shares: shares.map(([code, ms, normal]) => ({ code, ms, normal })),
		checked: ['net.loss', 'net.peer_window', 'net.sndbuf', 'mem.reclaim', 'cpu.throttled', 'client.slow'],
		unchecked: [{ code: 'mem.fault', why: 'the kernel has no tracepoint exceptions:page_fault_user' }],
		losses: [],
		evidence: [
			evidence(at(req.time, 130), { startTime: 130 }),
			evidence(at(req.time, 905), { startTime: 905, ms: 40.5, stack: KERNEL.slice(0, 7), stackFlags: ['cut'] }),
			evidence(at(req.time, -4.2), { startTime: -4.2, ms: 61.2, part: 'runqueue', call: null, what: null, who: 'stress-ng[4711]', stack: null }),
			evidence(at(req.time, 8), { startTime: 8, ms: 11.2, part: 'lock', call: 'futex', what: '0x7f31a0c04e80', who: 'orders[8121/8130]', stack: ['8f3a11c2+0x1f0a', '8f3a11c2+0x99c', 'libc.so.6+0x8b044'], stackFlags: ['user'] }),
		],
		...over,
	};
};

export const event = (over = {}) => {
	const ms = typeof over.time === 'number' ? over.time : Date.parse(over.time ?? new Date(Date.now() - 60e3).toISOString());
	const id = idOf(ms, 0xe000 + (over.n ?? 1));
	const time = new Date(ms).toISOString();
	const lasted = over.ms ?? 1204.3;
	const params = { comm: 'trainer', call: 'write', bytes: 52428800, offset: 0, file: 'ckpt/model.pt', dev: 'nvme0n1', ms: lasted };
	return {
		region: 'eu-1',
		node: 'web-1',
		kind: 'io.slow',
		severity: 'warning',
		pid: 20011,
		comm: 'trainer',
		ms: lasted,
		errorMs: 0.4,
		goingOn: false,
		endSeen: true,
		told: null,
		params,
		reason: { code: 'io.slow', params, text: { en: `trainer: write of 52428800 bytes at ckpt/model.pt on nvme0n1 took ${lasted} ms`, zh: `trainer：对 nvme0n1 上 ckpt/model.pt 的 write（52428800 字节）耗时 ${lasted} ms` } },
		evidence: [evidence(time, { ms: lasted - 20, pid: 20011, tid: 20011, comm: 'trainer', call: 'write', what: 'ckpt/model.pt (nvme0n1)' })],
		...over,
		id,
		time,
		end: at(time, lasted),
		diagnosis: `/events/${id}`,
	};
};

// Filters and pages like the API; the list includes the evidence.
export const listEvents = (events, q) => {
	const [from, to] = range(q);
	const limit = Number(q.get('limit') ?? 100);
	const fits = (e) => Date.parse(e.time) >= from && Date.parse(e.time) < to && ['node', 'kind', 'severity'].every((name) => q.getAll(name).every((v) => (v.startsWith('!') ? e[name] !== v.slice(1) : e[name] === v)));
	let found = events.filter(fits).sort(newestFirst);
	if (q.get('cursor')) found = found.slice(found.findIndex((e) => e.id === q.get('cursor')) + 1);
	return { events: found.slice(0, limit), next: found.length > limit ? found[limit - 1].id : null };
};

export const oneEvent = (events, id) => {
	const found = events.find((e) => e.id === id);
	if (!found) throw new Refused(404, 'not_found', `There is no event ${id}.`);
	return found;
};

// A node that is quiet except for 12 s around a moment.
const LEVELS = { pressure_cpu_waiting_seconds_total: [0.02, 0.11], pressure_memory_waiting_seconds_total: [0, 0], pressure_io_waiting_seconds_total: [0.01, 0.86], disk_io_time_seconds_total: [0.04, 0.99], disk_read_bytes_total: [4e5, 9e5], disk_written_bytes_total: [2e6, 2.1e8], netstat_Tcp_RetransSegs: [0.2, 0.4] };

// Forty writes of 100 µs per step, and at the moment ninety of one second.
const latencies = (metric, q, from, to, step, server) => {
	if (metric !== 'disk_write_latency_us_*' || q.get('entity') !== 'nvme0n1' || server.mute.includes(metric)) return [];
	const points = (low, high) => Array.from({ length: (to - from) / step }, (_, i) => [new Date(from + i * step).toISOString(), Math.abs(from + i * step - server.stall) < step ? high : low]);
	const of = (us, low, high) => ({ metric: metric.replace('*', us), node: q.get('node'), entity: 'nvme0n1', labels: { kind: 'diskio' }, unit: 'requests', kind: 'counter', points: points(low, high) });
	return [of('128', 40, 1), of('more', 0, 0), of('1048576', 0, 90), of('16', 0, 0)];
};

export const series = (server, q) => {
	const [from, to] = range(q);
	const step = Number(q.get('step')) * 1e3;
	const metric = q.get('metric');
	if (metric.endsWith('*')) return { series: latencies(metric, q, from, to, step, server) };
	if (!LEVELS[metric] || server.mute.includes(metric)) return { series: [] };
	const [low, high] = LEVELS[metric];
	const points = [];
	for (let ms = Math.ceil(from / step) * step; ms < Math.min(to, Date.now()); ms += step) {
		const wave = 1 + 0.3 * Math.sin(ms / 17e3);
		points.push([new Date(ms).toISOString(), (Math.abs(ms - server.stall) < 6e3 ? high : low * wave) * (step / 1e3)]);
	}
	const disk = metric.startsWith('disk_');
	const entity = disk ? 'nvme0n1' : '';
	return { series: [{ metric, node: q.get('node'), entity, labels: { kind: disk ? 'disk' : 'node' }, unit: 's', kind: 'counter', points }] };
};
