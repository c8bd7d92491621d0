// SPDX-License-Identifier: Apache-2.0
// Durations over time: one column per time step, rows of doubling duration, darker where there were more requests, with
// lines for p50 and p99. The pointer or the arrow keys describe a cell in text.
import { useState } from 'preact/hooks';
import { count, duration, msFine, timeText } from '../text/format.js';
import { t } from '../text/i18n.js';
import { percentile } from '../data/red.js';
import { useWidth } from '../base/use_width.js';

const LEVELS = 6;
const ROW_H = 13;
const LEFT = 56; /* px for the row labels */
const LEAST_ROWS = 6;
const NAMED = 3; /* every third row has a label */

const edge = (slot) => (slot < 10 ? `${2 ** slot} µs` : duration(2 ** slot / 1000));
const lowEdge = (slot) => (slot > 0 ? edge(slot - 1) : '0');

// From the lowest to the highest count, each level spans the same factor.
const levelOf = (n, most) => 1 + Math.floor(((LEVELS - 1) * Math.log(n)) / Math.max(Math.log(most), 1e-9) + 1e-9);
const leastOf = (level, most) => Math.ceil(most ** ((level - 1) / (LEVELS - 1)) - 1e-9);

const slotsOf = (all) => {
	const used = Object.keys(all.slots).map(Number);
	const low = Math.min(...used);
	return { low, n: Math.max(LEAST_ROWS, Math.max(...used) - low + 1) };
};

const Legend = ({ most }) => {
	const levels = Array.from({ length: LEVELS }, (_, i) => i + 1).filter((level) => level === LEVELS || leastOf(level, most) < leastOf(level + 1, most));
	return (
		<p class="heat-legend">
			{t('heat.legend')}{' '}
			{levels.map((level) => (
				<span key={level}>
					<svg class="swatch" width="14" height="12" aria-hidden="true">
						<rect width="14" height="12" rx="2" class={`heat-${level}`} />
					</svg>{' '}
					{count(leastOf(level, most))}
					{level < LEVELS ? '+' : ''}
				</span>
			))}
			<span class="mark-p50">p50</span>
			<span class="mark-p99">p99</span>
		</p>
	);
};

const Line = ({ of, all, yOf, w }) => {
	let path = '';
	let pen = 'M';
	for (const [i, column] of all.columns.entries()) {
		const value = percentile(column.slots, of);
		if (value === null) pen = 'M';
		else {
			path += `${pen}${(LEFT + (i + 0.5) * w).toFixed(1)} ${yOf(value).toFixed(1)}`;
			pen = 'L';
		}
	}
	return <path class={of === 0.5 ? 'line-p50' : 'line-p99'} d={path} />;
};

const inWords = (all, cols, [x, slot]) => {
	const column = all.columns[x];
	const time = timeText(cols.begin + x * cols.step, false);
	const cell = t('heat.cell', { time, low: lowEdge(slot), high: edge(slot), n: count(column.slots[slot] ?? 0), all: count(column.count) });
	const marks = t('heat.marks', { p50: msFine(percentile(column.slots, 0.5)), p99: msFine(percentile(column.slots, 0.99)), errors: count(column.errors) });
	return column.count ? `${cell} · ${marks}` : cell;
};

const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const Fields = ({ all, cols, w, yOf, most }) =>
	all.columns.flatMap((column, x) =>
		Object.entries(column.slots)
			.filter(([, n]) => n > 0)
			.map(([slot, n]) => <rect key={`${cols.begin + x * cols.step} ${slot}`} class={`heat-${levelOf(n, most)}`} x={LEFT + x * w} y={yOf(2 ** slot / 1000)} width={Math.max(1, w - 1)} height={ROW_H - 1} />),
	);

export const DurationHeatmap = ({ all, cols, label }) => {
	const [ref, width] = useWidth();
	const [at, setAt] = useState(null);
	const { low, n } = slotsOf(all);
	const w = Math.max(0, width - LEFT) / cols.n;
	const height = n * ROW_H;
	/* the upper edge of slot i is at the top of its row */
	const yOf = (ms) => Math.min(height, (low + n - 1 - Math.max(low - 1, Math.log2(ms * 1000))) * ROW_H);
	const most = Math.max(1, ...all.columns.flatMap((column) => Object.values(column.slots)));
	const clamp = (x, slot) => [Math.max(0, Math.min(cols.n - 1, x)), Math.max(low, Math.min(low + n - 1, slot))];
	const onPointerMove = (event) => {
		const box = ref.current.getBoundingClientRect();
		setAt(clamp(Math.floor((event.clientX - box.left - LEFT) / w), low + n - 1 - Math.floor((event.clientY - box.top) / ROW_H)));
	};
	const onKeyDown = (event) => {
		const step = steps[event.key];
		if (!step && event.key !== 'Escape') return;
		if (!step && !at) return;
		event.preventDefault();
		event.stopPropagation();
		setAt(step ? (at ? clamp(at[0] + step[0], at[1] + step[1]) : clamp(cols.n - 1, low)) : null);
	};
	const shown = at && clamp(...at);
	return (
		<div class="heat">
			<div class="over" role="status">
				{shown ? inWords(all, cols, shown) : ''}
			</div>
			<div class="field" ref={ref} role="application" tabIndex={0} aria-label={`${label}: ${t('heat.label')}`} onKeyDown={onKeyDown} onBlur={() => setAt(null)} onPointerMove={onPointerMove} onPointerLeave={() => setAt(null)}>
				<svg width={width} height={height} aria-hidden="true">
					{Array.from({ length: n }, (_, i) => low + i)
						.filter((slot) => (slot - low) % NAMED === 0)
						.map((slot) => (
							<text key={slot} x={LEFT - 6} y={(low + n - 1 - slot) * ROW_H + 4}>
								{edge(slot)}
							</text>
						))}
					<Fields {...{ all, cols, w, yOf, most }} />
					<Line of={0.5} {...{ all, yOf, w }} />
					<Line of={0.99} {...{ all, yOf, w }} />
					<path class="ground" d={`M${LEFT} 0v${height - 0.5}h${Math.max(0, width - LEFT)}`} />
					{shown && <rect class="at" x={LEFT + shown[0] * w} y={(low + n - 1 - shown[1]) * ROW_H} width={w} height={ROW_H} />}
				</svg>
			</div>
			<div class="ends" aria-hidden="true">
				<span>{timeText(cols.begin, false)}</span>
				<Legend most={most} />
				<span>{timeText(cols.to, false)}</span>
			</div>
		</div>
	);
};
