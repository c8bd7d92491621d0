// SPDX-License-Identifier: Apache-2.0
// Made-up samples of every metric in schema/def/metrics.def, in the shape of /api/v1/series/columns: quiet except for a minute
// around server.stall, and silent in the ranges of server.silent.
import { readFileSync } from 'node:fs';
import { Refused, range } from './explore.mjs';

const def = readFileSync(new URL('../../../schema/def/metrics.def', import.meta.url), 'utf8');
const KINDS = Object.fromEntries([...def.matchAll(/^LAYOUT\((\w+), \w+, "([^"]+)"\)/gm)].map(([, layout, kind]) => [layout, kind]));
// {metric: {kind, unit, counter}}
export const METRICS = Object.fromEntries([...def.matchAll(/^METRIC\((\w+), \w+, "([^"]+)", "([^"]+)", (\w+)\)/gm)].map(([, layout, name, unit, kind]) => [name, { kind: KINDS[layout], unit, counter: kind === 'COUNTER' }]));

const NAMES = { disk: ['nvme0n1', 'sda'], net: ['eth0', 'lo', 'veth1'], drop: ['NO_SOCKET', 'SOCKET_RCVBUFF'], source: ['proc', 'request', 'block'], program: ['nginx', 'postgres'], vfs: ['mount=/,cgroup=/system.slice', 'mount=?,cgroup=/'], app: ['nginx', 'postgres'], cgroup: ['/', '/system.slice', '/system.slice/nginx.service', '/kubepods/burstable/pod1a/0f3c9ae1b7d24a6f8c5e90b1d2c3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b'] };
const GIB = 2 ** 30;
const LEVELS = {
	cpu_user_seconds_total: 0.5, cpu_system_seconds_total: 0.25, cpu_iowait_seconds_total: 0.06, cpu_idle_seconds_total: 3.1, cpu_softirq_seconds_total: 0.04, cpu_irq_seconds_total: 0.01, cpu_nice_seconds_total: 0, cpu_steal_seconds_total: 0,
	cpus_online: 4, load1: 1.1, load5: 0.9, load15: 0.8, memory_MemTotal_bytes: 16 * GIB, memory_AnonPages_bytes: 6 * GIB, memory_Cached_bytes: 5 * GIB, memory_MemFree_bytes: 3 * GIB, memory_Slab_bytes: 1.2 * GIB, memory_Buffers_bytes: 0.4 * GIB, memory_PageTables_bytes: 0.1 * GIB, memory_MemAvailable_bytes: 8.5 * GIB,
	memory_Dirty_bytes: 3e6, memory_SwapTotal_bytes: 2 * GIB, memory_SwapFree_bytes: 1.9 * GIB, context_switches_total: 8200, intr_total: 5100, netstat_Tcp_CurrEstab: 210, requests_seen: 320, client_calls: 190, disk_read_bytes_total: 4e5, disk_written_bytes_total: 3e6, disk_reads_completed_total: 22, disk_writes_completed_total: 90,
	process_cpu_seconds_total: 0.004, process_resident_memory_bytes: 9.1e6, source_cpu_seconds_total: 0.0012, source_program_seconds_total: 0.003, source_map_bytes: 3e6,
	disk_read_time_seconds_total: 0.01, disk_write_time_seconds_total: 0.09, disk_io_time_seconds_total: 0.05, network_receive_bytes_total: 2.1e6, network_transmit_bytes_total: 3.4e6,
};
const STALLED = { cpu_iowait_seconds_total: 30, disk_io_time_seconds_total: 18, disk_written_bytes_total: 60, disk_write_time_seconds_total: 900, pressure_io_waiting_seconds_total: 40, pressure_io_stalled_seconds_total: 20, load1: 6, memory_Dirty_bytes: 400, rows: 50, procs_blocked: 20 };
const STALL_MS = 60e3;

const steady = /MemTotal|SwapTotal|cpus_online/;
const levelOf = (metric) => LEVELS[metric] ?? (/ring_full|_lost$|withheld|refused|unsaved|oom|errs|_cut$|full$/.test(metric) ? 0 : metric.startsWith('pressure') ? 0.012 : metric.includes('bytes') ? 2e7 : 1.5);

const valueAt = (server, metric, ms, k) => {
	const wave = steady.test(metric) ? 1 : 1 + 0.25 * Math.sin(ms / 47e3 + metric.length) + 0.1 * Math.sin(ms / 7e3 + k);
	const times = Math.abs(ms - server.stall) < STALL_MS && k === 0 ? (STALLED[metric] ?? 1) : 1;
	return (levelOf(metric) * wave * times) / (k + 1);
};

const isSilent = (server, ms) => server.silent.some(([from, to]) => ms >= from && ms < to) || ms > Date.now();

const entitiesOf = (server, kind) => server.entities[kind] ?? NAMES[kind] ?? [''];

const line = (server, metric, entity, k, times) => {
	const { kind, unit, counter } = METRICS[metric];
	const values = times.map((ms) => (isSilent(server, ms) || (kind === 'drop' && Math.floor(ms / 30e3) % 7) ? null : valueAt(server, metric, ms, k)));
	const spread = (f) => values.map((v) => (v === null ? null : v * f));
	return { metric, entity, labels: { kind }, unit, kind: counter ? 'rate' : 'gauge', ...(kind === 'drop' ? { onlyChanges: true } : {}), values, min: spread(0.8), max: spread(1.3) };
};

const heat = (server, pattern, entity, times) => {
	const edges = Object.keys(METRICS).filter((m) => m.startsWith(pattern.slice(0, -1))).map((m) => m.slice(pattern.length - 1)).map((e) => (e === 'more' ? null : Number(e)));
	const centre = (ms) => (Math.abs(ms - server.stall) < STALL_MS ? Math.min(edges.length - 3, 13) : 3 + Math.round(Math.sin(ms / 90e3)));
	const buckets = times.map((ms) => (isSilent(server, ms) ? null : edges.map((_, i) => Math.max(0, 40 - 16 * Math.abs(i - centre(ms))))));
	return { metric: pattern, entity, labels: { kind: 'disk' }, unit: 'requests', kind: 'histogram', edgeUnit: 'us', edges, buckets };
};

const NICE = [2, 4, 6, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400];

export const columns = (server, q) => {
	const [from, to] = range(q);
	const step = NICE.find((s) => s * 600e3 >= to - from) * 1e3;
	const begin = Math.floor(from / step) * step;
	const times = Array.from({ length: Math.ceil((to - begin) / step) }, (_, i) => begin + i * step);
	const top = Number(q.get('top') ?? 8);
	const asked = q.get('metric').split(',');
	if (asked.length > 64) throw new Refused(400, 'bad_parameter', 'metric must be 1 to 64 names.');
	const cut = [];
	const series = asked.flatMap((metric) => {
		const kind = metric.endsWith('*') ? 'disk' : (METRICS[metric] && (q.get('kind') ?? METRICS[metric].kind));
		if (!kind || server.mute.includes(metric)) return [];
		const all = entitiesOf(server, kind).filter((e) => !q.get('entity') || e === q.get('entity'));
		if (all.length > top) cut.push({ metric, kind, shown: top, total: all.length });
		return all.slice(0, top).map((entity, k) => (metric.endsWith('*') ? heat(server, metric, entity, times) : line(server, metric, entity, k, times)));
	});
	return { from: new Date(begin).toISOString(), to: new Date(begin + times.length * step).toISOString(), step: step / 1e3, series: series.map((s) => ({ ...s, node: q.get('node') })), cut };
};

const LABELS = { '/system.slice/nginx.service': { unit: 'nginx.service', slice: 'system.slice' }, [NAMES.cgroup[3]]: { container: NAMES.cgroup[3].split('/').at(-1), runtime: 'containerd', qos: 'burstable' } };

export const names = (server, q) => {
	if (!server.nodes.some((n) => n.name === q.get('node'))) return { kinds: [] };
	const kinds = [...new Set(Object.values(METRICS).map((m) => m.kind))].filter((kind) => !server.without.includes(kind));
	return { kinds: kinds.map((kind) => ({ kind, metrics: Object.keys(METRICS).filter((m) => METRICS[m].kind === kind), entities: entitiesOf(server, kind), labels: kind === 'cgroup' ? LABELS : {}, total: entitiesOf(server, kind).length })) };
};
