// SPDX-License-Identifier: Apache-2.0
// The latency histogram of a disk around a moment, in powers of two of a microsecond.
import { get } from '../../base/api.js';
import { isNumber } from '../../text/format.js';
import { isAt } from './node_series.js';

const OPS = ['read', 'write', 'flush'];

// Whole disks are measured: sda1 and nvme0n1p2 are partitions.
export const diskOf = (dev) =>
	String(dev ?? '')
		.replace(/^((?:nvme\d+n|mmcblk)\d+)p\d+$/, '$1')
		.replace(/^((?:[hsv]|xv)d[a-z]+)\d+$/, '$1');

// The bucket's upper edge in µs: the number at the end of its metric name; Infinity for the last.
const boundOf = (metric) => Number(metric.split('_').pop()) || Infinity;

// {op, all: [before, at], buckets: [{us, before, at}]}, from the fastest bucket in use to the slowest.
export const latencyOf = (op, series, win, begin, end) => {
	const buckets = series.map(({ metric, points }) => {
		const sums = { us: boundOf(metric), before: 0, at: 0 };
		for (const [time, n] of points ?? []) {
			const ms = Date.parse(time);
			if (isNumber(n) && isAt(ms, win, begin, end)) sums.at += n;
			else if (isNumber(n) && ms < begin) sums.before += n;
		}
		return sums;
	});
	buckets.sort((a, b) => a.us - b.us);
	const used = buckets.map((b) => b.before + b.at > 0);
	const all = ['before', 'at'].map((name) => buckets.reduce((sum, b) => sum + b[name], 0));
	return { op, all, buckets: buckets.slice(used.indexOf(true), used.lastIndexOf(true) + 1) };
};

export const loadLatency = (disk, begin, end) => async (node, win) => {
	const found = [];
	for (const op of OPS) {
		const { series } = await get('/api/v1/series', [['metric', `disk_${op}_latency_us_*`], ['node', node], ['entity', disk], ['from', new Date(win.from).toISOString()], ['to', new Date(win.to).toISOString()], ['step', win.step / 1e3]]);
		found.push(latencyOf(op, series, win, begin, end));
	}
	return found.filter((f) => f.all[0] + f.all[1] > 0);
};
