// SPDX-License-Identifier: Apache-2.0
// The lane of a node's events, on the time axis of its panels: abnormal requests as bars, events as marks as long as they
// lasted, the marked moment, and the node's silence. Each bar and mark links to its requests or event.
import { useMemo } from 'preact/hooks';
import { Patterns, fillOf } from '../../ui/reasons.jsx';
import { eventHref, eventsAddress } from '../../data/events.js';
import { isQueryable, writeFilters } from '../../data/filters.js';
import { count, reasonText, timeText, visible } from '../../text/format.js';
import { t, word } from '../../text/i18n.js';
import { useWidth } from '../../base/use_width.js';

const BAR_H = 30;
const EVENT_H = 14;
const LEAST_PX = 4;
const EVENTS = 1000;

const iso = (ms) => new Date(ms).toISOString();
const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
export const endOf = (e, now) => (e.goingOn ? now : Math.max(Date.parse(e.time), Date.parse(e.end) || 0));

const Bars = ({ bins, name, xOf }) => {
	const most = Math.max(1, ...bins.map((b) => sum(b.counts)));
	return bins
		.filter((b) => sum(b.counts) > 0)
		.map((b) => {
			const n = sum(b.counts);
			const reason = Object.entries(b.counts).sort((p, q) => q[1] - p[1])[0][0];
			const height = Math.max(LEAST_PX, (n / most) * BAR_H);
			const said = t('np.lane.request.one', { time: timeText(b.from, false), n: count(n), reason: word('reason.', reason) });
			return (
				<a key={b.from} href={writeFilters({ node: [name], from: iso(b.from), to: iso(b.to) })} aria-label={said}>
					<title>{said}</title>
					<rect class="reach" x={xOf(b.from)} width={Math.max(1, xOf(b.to) - xOf(b.from))} height={BAR_H} />
					<rect x={xOf(b.from)} y={BAR_H - height} width={Math.max(LEAST_PX - 1, xOf(b.to) - xOf(b.from) - 1)} height={height} fill={fillOf(reason)} />
				</a>
			);
		});
};

// Events that would overlap are one mark, which links to their list.
const bundled = (events, xOf, now) => {
	const out = [];
	for (const e of [...events].sort((a, b) => (a.time < b.time ? -1 : 1))) {
		const begin = Date.parse(e.time);
		const end = endOf(e, now);
		const last = out.at(-1);
		if (last && xOf(begin) < xOf(last.begin) + 2 * LEAST_PX) {
			last.events.push(e);
			last.end = Math.max(last.end, end);
		} else out.push({ begin, end, events: [e] });
	}
	return out;
};

const WORST = ['critical', 'warning', 'info'];

const Marks = ({ events, name, xOf, now }) =>
	bundled(events, xOf, now).map((b) => {
		const one = b.events.length === 1 ? b.events[0] : null;
		const worst = WORST.find((s) => b.events.some((e) => e.severity === s)) ?? 'info';
		const said = one ? `${timeText(one.time, false)} · ${visible(reasonText(one.reason)).slice(0, 200)}${one.goingOn ? ` · ${t('np.lane.goingon')}` : ''}` : t('np.lane.event.many', { time: timeText(b.begin, false), n: count(b.events.length) });
		const href = one ? eventHref(one) : eventsAddress({ node: name, from: iso(b.begin), to: iso(Date.parse(b.events.at(-1).time) + 1000) });
		return (
			<a key={b.events[0].id} href={href} aria-label={said}>
				<title>{said}</title>
				<rect class={`event-${worst}`} x={xOf(b.begin)} y={BAR_H + 3} width={Math.max(LEAST_PX, xOf(b.end) - xOf(b.begin))} height={EVENT_H - 4} rx="1.5" />
			</a>
		);
	});

export const EventLane = ({ name, range, events, cut, bins, silent, moment }) => {
	const [ref, width] = useWidth();
	const now = Date.now();
	const xOf = useMemo(() => (ms) => (Math.max(range.from, Math.min(range.to, ms)) - range.from) * (width / (range.to - range.from)), [range, width]);
	const link = isQueryable(name);
	const oldest = cut ? Math.min(...events.map((e) => Date.parse(e.time))) : range.from; /* older events are not loaded */
	return (
		<section class="lane" aria-label={t('np.lane')}>
			<Patterns />
			<div ref={ref}>
				<svg width={width} height={BAR_H + EVENT_H} role="group" aria-label={t('np.lane')}>
					{silent.map(([a, b]) => (
						<rect key={a} class="silent" x={xOf(a)} width={Math.max(1, xOf(b) - xOf(a))} height={BAR_H + EVENT_H}>
							<title>{t('np.lane.silent')}</title>
						</rect>
					))}
					<path class="ground" d={`M0 ${BAR_H + 0.5}h${width}`} />
					{link && <Bars {...{ bins, name, xOf }} />}
					{moment && <rect class="moment" x={xOf(moment[0])} width={Math.max(2, xOf(moment[1]) - xOf(moment[0]))} height={BAR_H + EVENT_H} />}
					{cut && <path class="beyond" d={`M0 ${BAR_H + EVENT_H / 2 + 1}H${xOf(oldest)}`} />}
					{link && <Marks {...{ events, name, xOf, now }} />}
				</svg>
			</div>
			<div class="lane-ends">
				<span>{timeText(range.from, false)}</span>
				<span class="lane-says">
					<b>{count(bins.reduce((n, b) => n + sum(b.counts), 0))}</b> {t('np.lane.requests')} · <b>{count(events.length)}</b> {t('np.lane.events')}
					{cut && ` (${t('np.lane.cut', { n: count(EVENTS) })})`}
					{silent.length > 0 && (
						<>
							{' '}
							· <i class="swatch silent" /> {t('np.lane.silent')}
						</>
					)}
					{moment && (
						<>
							{' '}
							· <i class="swatch moment" /> {t('np.lane.moment')}
						</>
					)}
				</span>
				<span>{timeText(range.to, false)}</span>
			</div>
		</section>
	);
};
