// SPDX-License-Identifier: Apache-2.0
// Where the time went: a bar of the whole time, the normal one below it on the same scale, and the numbers. The bar is
// divided by part; for a request without shares only the queue and the upstream tries are known.
import { timeSegments } from './time_segments.js';
import { isNumber, msFine, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { partClass, partName, useParts } from '../../data/parts.js';
import { addsUp, hasNormal, mainOf, normalOf, sharesOf, sumOf, totalOf } from './time_shares.js';
import { Text } from '../../ui/elements.jsx';

const SMALL = 0.002; /* of the scale: least width, so that every part stays visible */
const NAMED = 0.1; /* of the scale: a part of this width has its name in the bar */

const width = (ms, scale) => ({ width: `${Math.max(SMALL, ms / scale) * 100}%` });
const percent = (part) => (part === 0 ? '–' : part < 0.005 ? '<1 %' : `${Math.round(part * 100)} %`);

const Sum = ({ req, total }) => <p class="sum">{t('ev.time.sum', { total: msFine(total), queue: msFine(req.queueTime ?? 0), request: msFine(req.requestTime) })}</p>;

// A bar consists of {class, name, ms}.
const Bar = ({ segments, scale }) => (
	<div class="bar">
		{segments.map((s, i) => (
			<span key={i} class={`seg ${s.class}`} style={width(s.ms, scale)} title={`${visible(s.name)}: ${msFine(s.ms)} ms`}>
				{s.ms / scale > NAMED && <bdi class="seg-name">{visible(s.name)}</bdi>}
			</span>
		))}
	</div>
);

const NormalBar = ({ segments, scale, children }) => (
	<div class="bar bar-normal">
		<span class="segs" style={width(sumOf(segments), scale)}>
			{segments.map((s, i) => (
				<span key={i} class={`seg ${s.class}`} style={width(s.ms, sumOf(segments))} title={`${visible(s.name)}: ${msFine(s.ms)} ms`} />
			))}
		</span>
		{children}
	</div>
);

const normalNotes = (req) => {
	if (!hasNormal(req)) return t('ev.time.none');
	const notes = [`${msFine(req.normalTime)} ms`];
	if (isNumber(req.limitTime)) notes.push(t('ev.time.limit', { ms: msFine(req.limitTime) }));
	if (isNumber(req.timesNormal)) notes.push(t('ev.time.times', { n: req.timesNormal }));
	return notes.join(' · ');
};

const Bars = ({ req, segments, normal, scale }) => (
	<>
		<div class="bars" aria-hidden="true">
			<span class="name">{t('ev.time.this')}</span>
			<Bar segments={segments} scale={scale} />
			<span class="name">{t('ev.time.normal')}</span>
			<NormalBar segments={normal} scale={scale}>
				<span class={hasNormal(req) ? 'note' : 'hint'}>{normalNotes(req)}</span>
			</NormalBar>
		</div>
		<p class="sr">
			{t('ev.time.normal')}: {normalNotes(req)}
		</p>
	</>
);

const scaleOf = (req, total) => Math.max(total, hasNormal(req) ? req.normalTime : 0, 0.001);

// By part, each with its normal time.
const difference = (ms) => (Math.abs(ms) < 0.005 ? '±0' : `${ms > 0 ? '+' : '−'}${msFine(Math.abs(ms))}`);

const Share = ({ req, share, total, top }) => {
	const normal = normalOf(req, share);
	return (
		<tr class={top ? 'most' : undefined} data-part={share.code}>
			<td>
				<span class={`key ${partClass(share.code)}`} aria-hidden="true" />
			</td>
			<th scope="row">
				<Text of={partName(share.code)} />
			</th>
			<td class="n">{msFine(share.ms)}</td>
			<td class="n share">{percent(share.ms / total)}</td>
			<td class="n soft">{normal === null ? '–' : msFine(normal)}</td>
			<td class="n">{normal === null ? '–' : difference(share.ms - normal)}</td>
		</tr>
	);
};

const Shares = ({ req, total }) => {
	const top = mainOf(req)?.share;
	return (
		<table class="parts shares">
			<caption class="sr">{t('ev.time')}</caption>
			<thead>
				<tr>
					<td />
					<th scope="col">{t('split.part')}</th>
					{['ms', 'share', 'normal', 'over'].map((name) => (
						<th key={name} scope="col" class={`n ${name}`}>
							{t(`split.${name}`)}
							{name !== 'share' && name !== 'ms' && <span class="unit"> ms</span>}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{sharesOf(req).map((share) => (
					<Share key={share.code} {...{ req, share, total }} top={share === top} />
				))}
			</tbody>
		</table>
	);
};

const Split = ({ req }) => {
	useParts();
	const total = totalOf(req);
	const shares = sharesOf(req);
	const segments = shares.filter((s) => s.ms > 0).map((s) => ({ class: partClass(s.code), name: partName(s.code), ms: s.ms }));
	const normal = shares.filter((s) => normalOf(req, s) > 0).map((s) => ({ class: partClass(s.code), name: partName(s.code), ms: normalOf(req, s) }));
	if (!normal.length && hasNormal(req)) normal.push({ class: 'seg-normal', name: t('ev.time.normal'), ms: req.normalTime });
	return (
		<>
			<Bars req={req} segments={segments} normal={normal} scale={scaleOf(req, Math.max(total, sumOf(shares)))} />
			<Shares req={req} total={total} />
			{!addsUp(req) && (
				<p class="warn" role="note">
					{t('split.wrong', { sum: msFine(sumOf(shares)), total: msFine(total) })}
				</p>
			)}
			{hasNormal(req) && <p class="hint">{t('split.median')}</p>}
		</>
	);
};

// In order of time: the pieces known without shares.
const label = (part, req) => {
	if (part.kind === 'queue') return t('ev.part.queue');
	if (part.kind === 'whole') return t('ev.part.whole');
	if (part.kind === 'own') return t('ev.part.own', { app: visible(req.app ?? '') });
	return t('ev.part.up', { n: part.n, addr: visible(part.addr ?? '') });
};
const segClass = (part) => `seg-${part.kind}${part.failed ? ' seg-failed' : ''}`;
const ordered = (req, parts) => parts.map((part) => ({ class: segClass(part), name: label(part, req), ms: part.ms }));

export const OrderBar = ({ req }) => {
	const { parts, total } = timeSegments(req);
	return (
		<div class="bars order" aria-hidden="true">
			<span class="name">{t('split.order')}</span>
			<Bar segments={ordered(req, parts)} scale={Math.max(total, 0.001)} />
		</div>
	);
};

const Unsplit = ({ req }) => {
	const { parts, total, overlap } = timeSegments(req);
	const normal = hasNormal(req) ? [{ class: 'seg-normal', name: t('ev.time.normal'), ms: req.normalTime }] : [];
	return (
		<>
			<Bars req={req} segments={ordered(req, parts)} normal={normal} scale={scaleOf(req, total)} />
			<table class="parts">
				<tbody>
					{parts.map((part) => (
						<tr key={`${part.kind}${part.from}`}>
							<td>
								<span class={`key seg ${segClass(part)}`} aria-hidden="true" />
							</td>
							<th scope="row">
								<Text of={label(part, req)} />
							</th>
							<td class="n">{msFine(part.ms)} ms</td>
							<td class="n share">{percent(part.ms / total)}</td>
						</tr>
					))}
				</tbody>
			</table>
			{overlap && <p class="hint">{t('ev.overlap')}</p>}
			<p class="hint" id="unsplit">
				{t('split.none')}
			</p>
		</>
	);
};

export const TimeBar = ({ req }) => {
	const split = sharesOf(req).length > 0;
	return (
		<section class="card wide" id="times">
			<h2>{t('ev.time')}</h2>
			<Sum req={req} total={totalOf(req)} />
			{split ? <Split req={req} /> : <Unsplit req={req} />}
		</section>
	);
};

// An event has no shares; its evidence is the split if it covers the whole event.
export const EventBar = ({ event }) => {
	useParts();
	const sums = new Map();
	for (const e of event.evidence ?? []) sums.set(e.part, (sums.get(e.part) ?? 0) + (e.ms > 0 ? e.ms : 0));
	const shares = [...sums].map(([code, ms]) => ({ code, ms })).filter((s) => s.ms > 0);
	const whole = { totalTime: event.ms, shares };
	if (!shares.length || !addsUp(whole)) return null;
	const segments = shares.map((s) => ({ class: partClass(s.code), name: partName(s.code), ms: s.ms }));
	return (
		<section class="card wide" id="times">
			<h2>{t('ev.time')}</h2>
			<div class="bars" aria-hidden="true">
				<span class="name">{t('ev.time.this')}</span>
				<Bar segments={segments} scale={Math.max(event.ms, 0.001)} />
			</div>
			<table class="parts">
				<tbody>
					{shares.map((share) => (
						<tr key={share.code} data-part={share.code}>
							<td>
								<span class={`key ${partClass(share.code)}`} aria-hidden="true" />
							</td>
							<th scope="row">
								<Text of={partName(share.code)} cut={60} />
							</th>
							<td class="n">{msFine(share.ms)} ms</td>
							<td class="n share">{percent(share.ms / event.ms)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
};
