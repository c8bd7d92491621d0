// SPDX-License-Identifier: Apache-2.0
// One drawing by uPlot on the time axis that all panels of a page share: lines, a stack, or the cells of a histogram. The
// user drags to choose a range, and selects a point by pointer or arrow keys; `at` gets the number of its step.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { timeParts } from '../text/format.js';
import { joined, mostOf } from '../data/columns.js';
import { edgeText, tick } from '../text/quantity.js';
import { t, zone } from '../text/i18n.js';

const HEIGHT = 150;
const LEFT = 56;
const DAY_S = 86400;
const CLOSE_S = 150; /* ranges below this show seconds */
const HEADROOM = 1.08;
const FIELD_PX = 5;
const ROW_NAMES = 7;
export const LEVELS = 6;
const LEAST = { '%': 2, '/s': 1, 'B/s': 1024, 'pages/s': 1, bytes: 1024, ms: 0.1 }; /* least end of a scale, so that a quiet node looks quiet */
const COLOURS = ['--own', '--up', '--wait', '--net', '--mem', '--client', '--io', '--queue'];
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3]];
const MARK_PX = 2;
const EVENT_PX = 5;
const INFO_PX = 3;
const SEVERITY = { critical: '--bad', warning: '--warn' };
const SHADE_PX = 6;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const faint = (hex, alpha) => `${hex.length === 4 ? `#${[...hex.slice(1)].map((c) => c + c).join('')}` : hex}${alpha}`;
export const lookOf = ({ look }, i, form) => ({ name: COLOURS[(look ?? i) % COLOURS.length], dash: form === 'stack' ? [] : DASHES[i % DASHES.length] });

const clockOf = (span) => (s) => {
	const p = timeParts(s * 1e3);
	return span > DAY_S ? `${p.date.slice(5)} ${p.time.slice(0, 5)}` : p.time.slice(0, span > CLOSE_S ? 5 : 8);
};

const spaceOf = (span) => (span > DAY_S ? 90 : span > CLOSE_S ? 44 : 60);

const axis = (more) => ({ stroke: colour('--soft'), font: `10px ${colour('--sans')}`, grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, gap: 4, ...more });

const band = (u, [from, to], least, height = u.bbox.height) => {
	const x = u.valToPos(from / 1e3, 'x', true);
	const end = Math.max(u.valToPos(to / 1e3, 'x', true), x + least);
	const left = Math.max(x, u.bbox.left);
	const right = Math.min(end, u.bbox.left + u.bbox.width);
	if (right > left) u.ctx.fillRect(left, u.bbox.top + u.bbox.height - height, right - left, height);
};

// Many short events would hide the lines: events are marks at the bottom, and long ones are shaded besides.
const drawEvents = (u, events) => {
	const px = devicePixelRatio;
	for (const { run, severity } of events) {
		const lasts = u.valToPos(run[1] / 1e3, 'x', true) - u.valToPos(run[0] / 1e3, 'x', true) > SHADE_PX * px;
		u.ctx.fillStyle = colour(SEVERITY[severity] ?? '--soft');
		u.ctx.globalAlpha = 0.12;
		if (lasts) band(u, run, 0);
		u.ctx.globalAlpha = severity === 'info' ? 0.5 : 0.9;
		band(u, run, MARK_PX * px, (severity === 'info' ? INFO_PX : EVENT_PX) * px);
	}
};

// Marks of the node, not of this panel: silence, events, the marked moment.
const drawMarks = (u, { silent, events, moment }) => {
	u.ctx.save();
	u.ctx.fillStyle = colour('--line');
	for (const run of silent) band(u, run, 0);
	drawEvents(u, events);
	u.ctx.fillStyle = colour('--bad');
	u.ctx.globalAlpha = 0.6;
	if (moment) band(u, moment, MARK_PX * devicePixelRatio);
	u.ctx.restore();
};

// Adds the values of the lines below; a step without any value stays empty.
const stacked = (lines) => {
	const sums = [];
	for (const { values } of lines) {
		const below = sums.at(-1);
		sums.push(values.map((v, i) => (lines.every((l) => l.values[i] === null) ? null : (v ?? 0) + (below?.[i] ?? 0))));
	}
	return sums;
};

// A value without neighbours is drawn as a point, as no line goes through it.
const alone = (u, si) => {
	const values = u.data[si];
	const at = values.flatMap((v, i) => (typeof v === 'number' && (i === 0 || values[i - 1] === null) && (i === values.length - 1 || values[i + 1] === null) ? [i] : []));
	return at.length ? at : null;
};

const lineOf = (look, more) => ({ stroke: colour(look.name), dash: look.dash, width: 1.5, points: { show: false, size: 4, fill: colour(look.name), filter: alone }, ...more });

// {data, series, bands, top} of lines, with the minimum and maximum of the samples behind them if there is room.
const linesOf = ({ lines, limit, panel, step }) => {
	const whole = (values) => joined(values, step);
	const stack = panel.form === 'stack';
	const values = stack ? stacked(lines) : lines.map((l) => l.values);
	const data = values.map(whole);
	const looks = lines.map((l, i) => lookOf(l, i, panel.form));
	const series = looks.map((look, i) => lineOf(look, stack ? { width: lines[i].rest ? 0 : 1, fill: lines[i].rest ? undefined : faint(colour(look.name), 'b8') } : {}));
	const bands = stack ? lines.slice(1).map((_, i) => ({ series: [i + 2, i + 1] })) : [];
	const spread = stack || lines.length > 3 ? [] : lines.filter((l) => l.low && l.high);
	for (const l of spread) {
		bands.push({ series: [data.length + 1, data.length + 2], fill: faint(colour(looks[lines.indexOf(l)].name), '30') });
		data.push(whole(l.high), whole(l.low));
		series.push({ width: 0, points: { show: false } }, { width: 0, points: { show: false } });
	}
	if (limit) {
		data.push(whole(limit.values));
		series.push({ stroke: colour('--soft'), dash: [3, 4], width: 1, points: { show: false } });
	}
	const high = stack ? Math.max(0, ...values.at(-1).map((v) => v ?? 0)) : Math.max(0, ...lines.map((l) => mostOf(l) ?? 0));
	const edge = limit ? Math.max(0, ...limit.values.map((v) => v ?? 0)) : 0;
	return { data, series, bands, top: panel.share ? 100 : Math.max(LEAST[panel.unit] ?? 1, high * HEADROOM, edge * 1.02) };
};

// From the lowest to the highest count, each level spans the same factor.
export const levelOf = (n, most) => (n > 0 ? 1 + Math.floor(((LEVELS - 1) * Math.log(n)) / Math.max(Math.log(most), 1e-9) + 1e-9) : 0);

// Several steps share a column where each would be narrower than a cell.
const drawFields = (u, fields, step) => {
	const wide = u.bbox.width / devicePixelRatio / fields.counts.length;
	const k = Math.max(1, Math.ceil(FIELD_PX / wide));
	const columns = [];
	for (let i = 0; i < fields.counts.length; i += k) {
		const here = fields.counts.slice(i, i + k).filter(Boolean);
		if (here.length) columns.push([i, Array.from({ length: fields.n }, (_, row) => here.reduce((n, c) => n + c[fields.low + row], 0))]);
	}
	const most = Math.max(1, ...columns.flatMap(([, counts]) => counts));
	const height = u.bbox.height / fields.n;
	const begin = u.data[0][0] - step / 2e3;
	u.ctx.save();
	u.ctx.beginPath();
	u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
	u.ctx.clip();
	u.ctx.fillStyle = colour('--own');
	for (const [i, counts] of columns) {
		const x = Math.round(u.valToPos(begin + (i * step) / 1e3, 'x', true));
		const end = Math.round(u.valToPos(begin + ((i + k) * step) / 1e3, 'x', true));
		for (const [row, n] of counts.entries()) {
			u.ctx.globalAlpha = [0, 0.14, 0.3, 0.48, 0.66, 0.84, 1][levelOf(n, most)];
			if (n > 0) u.ctx.fillRect(x, u.bbox.top + (fields.n - 1 - row) * height, Math.max(1, end - x - 1), Math.max(1, height - 1));
		}
	}
	u.ctx.restore();
};

const heatOf = ({ fields, panel, step }) => {
	const every = Math.max(1, Math.ceil(fields.n / ROW_NAMES));
	const splits = Array.from({ length: fields.n + 1 }, (_, i) => i).filter((i) => i % every === 0 && i > 0);
	return {
		data: [fields.counts.map(() => null)],
		series: [{ points: { show: false } }],
		bands: [],
		top: fields.n,
		splits: () => splits,
		values: (u, all) => all.map((row) => edgeText(fields.edges[fields.low + row - 1], panel.unit === 'bytes' ? 'bytes' : 'us')),
		paint: (u) => drawFields(u, fields, step),
	};
};

const POWERS = Array.from({ length: 60 }, (_, i) => 2 ** i);

const optionsOf = (props, made, width, on) => {
	const { range, panel } = props;
	const bytes = panel.unit === 'bytes' || panel.unit === 'B/s';
	const values = made.values ?? ((u, all) => all.map((v) => tick(v, panel.unit)));
	return {
		width,
		height: HEIGHT,
		padding: [8, 18, 0, 0],
		legend: { show: false },
		...(zone.get() === 'utc' ? { tzDate: (s) => uPlot.tzDate(new Date(s * 1e3), 'Etc/UTC') } : {}),
		cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: 5 }, sync: { key: 'node', setSeries: false, scales: ['x', null] }, points: { show: panel.form === 'lines' } },
		scales: { x: { time: true, range: () => [range.from / 1e3, range.to / 1e3] }, y: { range: () => [0, made.top] } },
		axes: [axis({ values: (u, all) => all.map(clockOf((range.to - range.from) / 1e3)), size: 22, space: spaceOf((range.to - range.from) / 1e3) }), axis({ values, size: LEFT, ...(made.splits ? { splits: made.splits } : {}), ...(bytes && !made.splits ? { incrs: POWERS } : {}) })],
		series: [{}, ...made.series],
		bands: made.bands,
		hooks: { drawAxes: [(u) => drawMarks(u, props.marks), ...(made.paint ? [made.paint] : [])], setCursor: [on.cursor], setSelect: [on.select] },
	};
};

const darkness = matchMedia('(prefers-color-scheme: dark)');

// The dragged range in ms.
const chosen = (u) => {
	const { left, width } = u.select;
	return [u.posToVal(left, 'x') * 1e3, u.posToVal(left + width, 'x') * 1e3];
};

const stepKeys = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

const onKeys = (plot, times, range, onZoom) => (event) => {
	const u = plot.current;
	if (!u) return;
	const idx = u.cursor.idx ?? times.length;
	if (event.key in stepKeys) {
		const to = Math.max(0, Math.min(times.length - 1, idx + stepKeys[event.key]));
		u.setCursor({ left: Math.max(0, u.valToPos(times[to], 'x')), top: 10 }, true, true); /* the first step may begin before the range */
	} else if (event.key === 'Enter' && u.cursor.idx !== null) {
		const part = (range.to - range.from) / 6;
		onZoom(times[idx] * 1e3 - part, times[idx] * 1e3 + part);
	} else if (event.key === 'Escape' && u.cursor.idx !== null) {
		u.setCursor({ left: -10, top: -10 }, true, true);
	} else return;
	event.preventDefault();
	event.stopPropagation();
};

export const TimePlot = (props) => {
	const { range, from, step, n, lines, fields, marks, label, at, onZoom, look } = props;
	const ref = useRef(null);
	const plot = useRef(null);
	const times = Array.from({ length: n }, (_, i) => (from + (i + 0.5) * step) / 1e3);
	useEffect(() => {
		const made = fields ? heatOf(props) : linesOf(props);
		const on = {
			cursor: (u) => at.set(u.cursor.left < 0 ? null : u.cursor.idx),
			select: (u) => {
				if (u.select.width < 5) return;
				onZoom(...chosen(u));
				u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
			},
		};
		const draw = () => {
			const left = plot.current?.cursor.left ?? -10;
			plot.current?.destroy();
			const width = ref.current.clientWidth;
			plot.current = width ? new uPlot(optionsOf(props, made, width, on), [times, ...made.data], ref.current) : null;
			if (left >= 0) plot.current?.setCursor({ left, top: 10 }, true, false);
		};
		const watcher = new ResizeObserver(([entry]) => {
			const width = Math.floor(entry.contentRect.width);
			if (plot.current && width && plot.current.width !== width) plot.current.setSize({ width, height: HEIGHT });
			else if (!plot.current) draw();
		});
		draw();
		watcher.observe(ref.current);
		darkness.addEventListener('change', draw);
		return () => {
			darkness.removeEventListener('change', draw);
			watcher.disconnect();
		};
	}, [range, lines, fields, marks, look]);
	useEffect(
		() => () => {
			plot.current?.destroy();
			plot.current = null;
		},
		[],
	);
	return <div class="drawing" ref={ref} role="application" tabIndex={0} aria-label={`${label}. ${t('np.keys')}`} onKeyDown={onKeys(plot, times, range, onZoom)} />;
};
