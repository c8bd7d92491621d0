// SPDX-License-Identifier: Apache-2.0
// Where the time went: a bar that adds up, the normal one below it on the same scale, and the same in numbers.
import { timeParts } from './lib/timeparts.js';
import { isNumber, msFine, visible } from './lib/format.js';
import { t } from './lib/i18n.js';
import { Text } from './ui.jsx';

const SMALL = 0.002; /* of the scale: a part is never invisible */

const label = (part, req) => {
	if (part.kind === 'queue') return t('ev.part.queue');
	if (part.kind === 'whole') return t('ev.part.whole');
	if (part.kind === 'own') return t('ev.part.own', { app: visible(req.app ?? '') });
	return t('ev.part.up', { n: part.n, addr: visible(part.addr ?? '') });
};

const cls = (part) => `seg seg-${part.kind}${part.failed ? ' seg-failed' : ''}`;
const width = (ms, scale) => ({ width: `${Math.max(SMALL, ms / scale) * 100}%` });

const share = (part) => (part < 0.005 ? '<1 %' : `${Math.round(part * 100)} %`);

const Parts = ({ parts, total, req }) => (
	<table class="parts">
		<tbody>
			{parts.map((part) => (
				<tr key={`${part.kind}${part.from}`}>
					<td>
						<span class={`key ${cls(part)}`} aria-hidden="true" />
					</td>
					<th scope="row">
						<Text of={label(part, req)} />
					</th>
					<td class="n">{msFine(part.ms)} ms</td>
					<td class="n share">{share(part.ms / total)}</td>
				</tr>
			))}
		</tbody>
	</table>
);

const Normal = ({ req, scale }) => {
	if (!isNumber(req.normalTime)) return <span class="hint">{t('ev.time.none')}</span>;
	const notes = [`${msFine(req.normalTime)} ms`];
	if (isNumber(req.limitTime)) notes.push(t('ev.time.limit', { ms: msFine(req.limitTime) }));
	if (isNumber(req.timesNormal)) notes.push(t('ev.time.times', { n: req.timesNormal }));
	return (
		<>
			<span class="seg seg-normal" style={width(req.normalTime, scale)} />
			<span class="note">{notes.join(' · ')}</span>
		</>
	);
};

export const TimeBar = ({ req }) => {
	const { parts, total, overlap } = timeParts(req);
	const scale = Math.max(total, isNumber(req.normalTime) ? req.normalTime : 0, 0.001);
	return (
		<section class="card wide" id="times">
			<h2>{t('ev.time')}</h2>
			<p class="sum">{t('ev.time.sum', { total: msFine(total), queue: msFine(req.queueTime ?? 0), request: msFine(req.requestTime) })}</p>
			<div class="bars" aria-hidden="true">
				<span class="name">{t('ev.time.this')}</span>
				<div class="bar">
					{parts.map((part) => (
						<span key={`${part.kind}${part.from}`} class={cls(part)} style={width(part.ms, scale)} title={`${label(part, req)}: ${msFine(part.ms)} ms`} />
					))}
				</div>
				<span class="name">{t('ev.time.normal')}</span>
				<div class="bar bar-normal">
					<Normal req={req} scale={scale} />
				</div>
			</div>
			<p class="sr">
				{t('ev.time.normal')}: {isNumber(req.normalTime) ? `${msFine(req.normalTime)} ms` : t('ev.time.none')}
			</p>
			<Parts parts={parts} total={total} req={req} />
			{overlap && <p class="hint">{t('ev.overlap')}</p>}
		</section>
	);
};
