// SPDX-License-Identifier: Apache-2.0
// What a node did around a moment: its pressure, disks and lost segments, five minutes before and after. The
// series come one after another, so that a page does not take every connection of the database.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../base/api.js';
import { isNumber } from '../../text/format.js';

const AROUND_MS = 300e3;
const STEP_MS = 6e3; /* three ticks of a probe */
const POINTS = 150;
const AGAIN_MS = 10e3; /* while the five minutes after are still to come */
const DISKS = 3;
const MIB = 1024 * 1024;
const PERCENT = 100;

// Of a counter each point is what was added in a step: a rate per second, times the factor.
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

// {from, to, step}: whole steps around [begin, end], in ms.
export const windowOf = (begin, end) => {
	const step = Math.max(STEP_MS, Math.ceil((end - begin + 2 * AROUND_MS) / POINTS / 1e3) * 1e3);
	return { from: Math.floor((begin - AROUND_MS) / step) * step, to: Math.ceil((end + AROUND_MS) / step) * step, step };
};

export const timesOf = ({ from, to, step }) => Array.from({ length: Math.round((to - from) / step) }, (_, i) => from + i * step);

// Ticks do not fall on steps: one may have a tick more than its time, and a share of time would be above the whole.
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

// One line, or one for each of the disks that did the most.
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

// {found, error}: what load(node, window) gave, null until it has come; again while the five minutes after are to come.
export const useAround = (load, node, begin, end) => {
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

// Is it a step that the moment lies in?
export const isAt = (ms, win, begin, end) => ms < end + 1 && ms + win.step > begin;

// What a line says in words: the most of the steps that the moment lies in, and the median of those before.
export const saidOf = (values, win, begin, end) => {
	const times = timesOf(win);
	const at = values.filter((v, i) => v !== null && isAt(times[i], win, begin, end));
	const before = values.filter((v, i) => v !== null && times[i] + win.step <= begin).sort((a, b) => a - b);
	return { at: at.length ? Math.max(...at) : null, before: before.length ? before[Math.floor(before.length / 2)] : null };
};
