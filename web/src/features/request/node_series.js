// SPDX-License-Identifier: Apache-2.0
// The series of a node around a moment: pressure, disks and retransmits, five minutes before and after. They are loaded
// one after another, so that a page does not use every database connection.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../base/api.js';
import { isNumber } from '../../text/format.js';

const AROUND_MS = 300e3;
const STEP_MS = 6e3; /* three ticks of a probe */
const POINTS = 150;
const AGAIN_MS = 10e3; /* repeated until the five minutes after are over */
const DISKS = 3;
const MIB = 1024 * 1024;
const PERCENT = 100;

// Each point of a counter is the increase in a step, as a rate per second, times the factor.
export const PANELS = [
	{
		name: 'pressure',
		unit: '%',
		lines: [
			{ name: 'cpu', metric: 'pressure_cpu_waiting_seconds_total', factor: PERCENT },
			{ name: 'memory', metric: 'pressure_memory_waiting_seconds_total', factor: PERCENT },
			{ name: 'io', metric: 'pressure_io_waiting_seconds_total', factor: PERCENT },
		],
	},
	{ name: 'busy', unit: '%', lines: [{ name: null, metric: 'disk_io_time_seconds_total', factor: PERCENT }] },
	{
		name: 'bytes',
		unit: 'MiB/s',
		lines: [
			{ name: 'read', metric: 'disk_read_bytes_total', factor: 1 / MIB },
			{ name: 'written', metric: 'disk_written_bytes_total', factor: 1 / MIB },
		],
	},
	{ name: 'retrans', unit: '/s', lines: [{ name: 'retrans', metric: 'netstat_Tcp_RetransSegs', factor: 1 }] },
];

// {from, to, step} in ms: whole steps around [begin, end].
export const windowOf = (begin, end) => {
	const step = Math.max(STEP_MS, Math.ceil((end - begin + 2 * AROUND_MS) / POINTS / 1e3) * 1e3);
	return { from: Math.floor((begin - AROUND_MS) / step) * step, to: Math.ceil((end + AROUND_MS) / step) * step, step };
};

export const timesOf = ({ from, to, step }) => Array.from({ length: Math.round((to - from) / step) }, (_, i) => from + i * step);

// Ticks are not aligned with steps: a step may hold one tick too many, and a share of time would exceed 100 %.
const valuesOf = (points, win, factor) => {
	const values = timesOf(win).map(() => null);
	for (const [time, value] of points ?? []) {
		const i = Math.round((Date.parse(time) - win.from) / win.step);
		if (isNumber(value) && i >= 0 && i < values.length) values[i] = Math.min((value * factor * 1e3) / win.step, factor === PERCENT ? PERCENT : Infinity);
	}
	return values;
};

const sumOf = (all) => all[0]?.map((_, i) => all.reduce((sum, v) => (v[i] === null ? sum : (sum ?? 0) + v[i]), null)) ?? null;
const most = (values) => Math.max(...values.map((v) => v ?? 0));

// One line, or one for each of the busiest disks.
const linesOf = (line, series, win) => {
	const each = series.map((s) => ({ name: s.entity, values: valuesOf(s.points, win, line.factor) }));
	if (line.name === null) return each.sort((a, b) => most(b.values) - most(a.values)).slice(0, DISKS);
	const values = sumOf(each.map((one) => one.values));
	return values ? [{ name: line.name, known: true, values }] : [];
};

export const loadPanels = async (node, win) => {
	const range = [['node', node], ['from', new Date(win.from).toISOString()], ['to', new Date(win.to).toISOString()], ['step', win.step / 1e3]];
	const panels = [];
	for (const panel of PANELS) {
		const lines = [];
		for (const line of panel.lines) {
			const { series } = await get('/api/v1/series', [['metric', line.metric], ...range]);
			lines.push(...linesOf(line, series, win));
		}
		panels.push({ ...panel, lines });
	}
	return panels;
};

// {found, error} of load(node, window), null until it is there; repeated until the five minutes after are over.
export const useAroundMoment = (load, node, begin, end) => {
	const [state, set] = useState({ found: null, error: null });
	useEffect(() => {
		let gone = false;
		let timer = 0;
		const win = windowOf(begin, end);
		const ask = async () => {
			const next = await load(node, win).then(
				(found) => ({ found, error: null }),
				(error) => ({ found: null, error }),
			);
			if (gone) return;
			set((was) => (next.error ? { ...was, error: next.error } : next));
			const lasting = next.error?.kind === 'api' || (!next.error && Date.now() > win.to + AGAIN_MS);
			if (!lasting) timer = setTimeout(ask, AGAIN_MS);
		};
		set({ found: null, error: null });
		if (node) ask();
		return () => {
			gone = true;
			clearTimeout(timer);
		};
	}, [load, node, begin, end]);
	return state;
};

// True if the moment lies in this step.
export const isAt = (ms, win, begin, end) => ms < end + 1 && ms + win.step > begin;

// A line's figures: the maximum over the steps of the moment, and the median of the steps before.
export const lineFigures = (values, win, begin, end) => {
	const times = timesOf(win);
	const at = values.filter((v, i) => v !== null && isAt(times[i], win, begin, end));
	const before = values.filter((v, i) => v !== null && times[i] + win.step <= begin).sort((a, b) => a - b);
	return { at: at.length ? Math.max(...at) : null, before: before.length ? before[Math.floor(before.length / 2)] : null };
};
