// SPDX-License-Identifier: Apache-2.0
// The histogram above the table: requests over time, by reason. The pointer or the arrow keys show the counts of a bin in
// text; dragging, or Shift with the arrow keys and Enter, chooses a range.
import { useEffect, useState } from 'preact/hooks';
import { liveQuery } from '../../base/live_query.js';
import { count, timeParts, timeText } from '../../text/format.js';
import { isLive, pairs, whereAddress } from '../../data/filters.js';
import { t, useSettings, word } from '../../text/i18n.js';
import { useStore } from '../../base/store.js';
import { timeBins } from '../../data/time_bins.js';
import { useWidth } from '../../base/use_width.js';
import { Patterns, Swatch, fillOf } from '../../ui/reasons.jsx';

const HEIGHT = 52;
const GAP = 1;
const LEAST = 2; /* px: least height, so that one request is visible */
const NAMED = 7; /* reasons in the legend */

const histogram = liveQuery();

const question = (filters) => () => {
	const { from, to, n } = timeBins(filters);
	const range = { ...filters, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
	return { path: '/api/v1/requests/histogram', params: [...pairs(range), ['bins', n]], live: isLive(filters) };
};

const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

const binEnds = (data, i) => {
	const from = Date.parse(data.bins[i].time);
	return [from, i + 1 < data.bins.length ? Date.parse(data.bins[i + 1].time) : Date.parse(data.to)];
};

// "TIME: requests: 12 (Slow upstream 9, Client left 3)".
const inWords = (data, [a, b]) => {
	const sums = {};
	for (const bin of data.bins.slice(a, b + 1)) for (const [code, n] of Object.entries(bin.counts)) sums[code] = (sums[code] ?? 0) + n;
	const parts = data.reasons.filter((code) => sums[code]).map((code) => `${word('reason.', code)} ${count(sums[code])}`);
	const time = `${timeText(binEnds(data, a)[0], false)} – ${timeText(binEnds(data, b)[1], false)}`;
	return `${time} · ${t('hist.requests', { n: count(sum(sums)) })}${parts.length ? ` (${parts.join(', ')})` : ''}`;
};

const Bin = ({ counts, reasons, x, width, scale }) => {
	let y = HEIGHT;
	return reasons
		.filter((code) => counts[code])
		.map((code) => {
			const height = Math.max(LEAST, counts[code] * scale);
			y -= height;
			return <rect key={code} x={x} y={y} width={Math.max(1, width - GAP)} height={height} fill={fillOf(code)} />;
		});
};

// Labels at the beginning of each third, and at the end.
const Axis = ({ data }) => {
	const at = [0, Math.floor(data.bins.length / 3), Math.floor((2 * data.bins.length) / 3)];
	return (
		<div class="axis" aria-hidden="true">
			{[...new Set(at)].map((i) => {
				const p = timeParts(data.bins[i].time);
				return <span key={i}>{`${p.date} ${p.time.slice(0, 8)} ${p.zone}`}</span>;
			})}
			<span>{timeText(data.to, false)}</span>
		</div>
	);
};

const useChoice = (data, onRange) => {
	const [at, setAt] = useState(null); /* the bin under the pointer or the keys */
	const [anchor, setAnchor] = useState(null); /* the bin where a selection began */
	const last = (data?.bins.length ?? 1) - 1;
	const chosen = at === null ? null : [Math.min(at, anchor ?? at, last), Math.min(last, Math.max(at, anchor ?? at))];
	const take = () => {
		if (chosen) onRange(binEnds(data, chosen[0])[0], binEnds(data, chosen[1])[1]);
		setAnchor(null);
	};
	const move = (to, extend) => {
		setAnchor(extend ? (anchor ?? at ?? to) : null);
		setAt(Math.max(0, Math.min(last, to)));
	};
	const drop = () => {
		setAt(null);
		setAnchor(null);
	};
	return { at, anchor, chosen, take, move, drop, setAt, setAnchor, last };
};

const keysOf = (c) => (event) => {
	const from = c.at ?? c.last;
	const to = { ArrowLeft: from - 1, ArrowRight: c.at === null ? from : from + 1, Home: 0, End: c.last }[event.key];
	if (to !== undefined) c.move(to, event.shiftKey);
	else if (event.key === 'Enter' && c.chosen) c.take();
	else if (event.key === 'Escape' && c.at !== null) c.drop();
	else return;
	event.preventDefault();
	event.stopPropagation();
};

const Strip = ({ data, onRange, onSay }) => {
	const [ref, width] = useWidth();
	const c = useChoice(data, onRange);
	const w = width / data.bins.length;
	const scale = HEIGHT / Math.max(1, ...data.bins.map((bin) => sum(bin.counts)));
	const words = c.chosen ? inWords(data, c.chosen) : null;
	useEffect(() => onSay(words), [words]);
	const binAt = (event) => Math.max(0, Math.min(c.last, Math.floor((event.clientX - ref.current.getBoundingClientRect().left) / w)));
	const onPointerDown = (event) => {
		if (event.button) return;
		event.currentTarget.setPointerCapture(event.pointerId);
		c.setAt(binAt(event));
		c.setAnchor(binAt(event));
	};
	return (
		<div
			class="strip"
			ref={ref}
			role="slider"
			tabIndex={0}
			aria-label={t('hist.label')}
			aria-valuemin={0}
			aria-valuemax={c.last}
			aria-valuenow={c.at ?? c.last}
			aria-valuetext={words ?? t('hist.how')}
			onKeyDown={keysOf(c)}
			onBlur={c.drop}
			onPointerDown={onPointerDown}
			onPointerMove={(event) => c.setAt(binAt(event))}
			onPointerUp={() => c.anchor !== null && c.take()}
			onPointerLeave={() => c.anchor === null && document.activeElement !== ref.current && c.drop()}
			onPointerCancel={c.drop}
		>
			<svg width={width} height={HEIGHT} aria-hidden="true">
				{c.chosen && <rect class={c.anchor === null ? 'at' : 'at choosing'} x={c.chosen[0] * w} width={(c.chosen[1] - c.chosen[0] + 1) * w} height={HEIGHT} />}
				{data.bins.map((bin, i) => (
					<Bin key={bin.time} counts={bin.counts} reasons={data.reasons} x={i * w} width={w} scale={scale} />
				))}
				<path class="ground" d={`M0 ${HEIGHT - 0.5}h${width}`} />
			</svg>
		</div>
	);
};

// The most frequent reasons by name; the others are one item, named in its title.
const Legend = ({ data }) => {
	const total = (code) => data.bins.reduce((n, bin) => n + (bin.counts[code] ?? 0), 0);
	const others = data.reasons.slice(NAMED);
	return (
		<ul class="legend" aria-label={t('hist.legend')}>
			{data.reasons.slice(0, NAMED).map((code) => (
				<li key={code}>
					<Swatch code={code} /> {word('reason.', code)} <b>{count(total(code))}</b>
				</li>
			))}
			{others.length > 0 && (
				<li key="+" title={others.map((code) => `${word('reason.', code)} ${count(total(code))}`).join(', ')}>
					{t('hist.others', { n: count(others.length) })} <b>{count(others.reduce((n, code) => n + total(code), 0))}</b>
				</li>
			)}
		</ul>
	);
};

export const Histogram = ({ filters, onChange }) => {
	useSettings();
	const [said, say] = useState(null);
	const { data } = useStore(histogram.state);
	const key = JSON.stringify(pairs(filters));
	useEffect(() => histogram.turn(question(filters)), [key]);
	useEffect(() => histogram.end, []);
	if (!data?.bins?.length) return <section class="histogram" aria-label={t('hist.label')} />;
	const onRange = (from, to) => onChange({ ...filters, from: new Date(from).toISOString(), to: new Date(to).toISOString() });
	return (
		<section class="histogram" aria-label={t('hist.label')}>
			<Patterns />
			<div class="over">
				{said ? (
					<p class="said">
						{said} <span class="hint">{t('hist.do')}</span>
					</p>
				) : (
					<Legend data={data} />
				)}
				<a class="where" href={whereAddress(filters)}>
					{t('where.ask')}
				</a>
			</div>
			<Strip data={data} onRange={onRange} onSay={say} />
			<Axis data={data} />
		</section>
	);
};
