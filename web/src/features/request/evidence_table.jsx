// SPDX-License-Identifier: Apache-2.0
// The evidence of that moment: each long wait with its thread and its stack.
import { useState } from 'preact/hooks';
import { CopyButton, TableHead, Text } from '../../ui/elements.jsx';
import { isNumber, msFine, timeParts, timeText } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { partClass, partName, useParts } from '../../data/parts.js';

const COLUMNS = 8;

const threadOf = (e) => {
	const ids = [e.pid, e.tid].filter(isNumber);
	return `${e.comm ?? ''}[${ids[0] === ids[1] ? ids[0] : ids.join('/')}]`;
};

// Time after the first byte was read; negative for a wait that delayed that read.
const offset = (e) => (isNumber(e.startTime) ? `${e.startTime < 0 ? '−' : '+'}${msFine(Math.abs(e.startTime))} ms` : '');

const Stack = ({ id, e }) => (
	<tr class="stack-row" id={id}>
		<td colSpan={COLUMNS}>
			<p class="hint">
				{t('evi.innermost')}
				{e.stackFlags?.includes('user') && ` · ${t('evi.user')}`}
				{e.stackFlags?.includes('cut') && ` · ${t('evi.cut')}`}{' '}
				<CopyButton class="quiet" label={t('copy')} text={() => e.stack.join('\n')} />
			</p>
			<ol class="frames">
				{e.stack.map((frame, i) => (
					<li key={i}>
						<Text of={frame} class="mono" />
					</li>
				))}
			</ol>
		</td>
	</tr>
);

const Line = ({ e, n }) => {
	const [open, setOpen] = useState(false);
	const id = `stack-${n}`;
	const has = e.stack?.length > 0;
	return (
		<>
			<tr data-part={e.part}>
				<td class="when" title={timeText(e.time)}>
					<span class="mono">{timeParts(e.time)?.time ?? '–'}</span>
					<span class="hint">{offset(e)}</span>
				</td>
				<td class="n">
					<b>{msFine(e.ms)}</b>
				</td>
				<td>
					<span class={`key ${partClass(e.part)}`} aria-hidden="true" /> <Text of={partName(e.part)} cut={60} />
				</td>
				<td class="mono">
					<Text of={threadOf(e)} />
				</td>
				<td class="mono">
					<Text of={e.call} />
				</td>
				<td class="mono">
					<Text of={e.what} />
				</td>
				<td class="mono">
					<Text of={e.who} />
				</td>
				<td>
					{!has && <span class="none">{t('evi.nostack')}</span>}
					{has && (
						<button type="button" class="quiet expand" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}>
							<span aria-hidden="true">{open ? '▾' : '▸'}</span> {t('evi.frames', { n: e.stack.length })}
						</button>
					)}
				</td>
			</tr>
			{open && <Stack id={id} e={e} />}
		</>
	);
};

// Evidence is kept for a shorter time than its record: then it is null. It is undefined until the whole answer has come.
const none = (of, kind) => (of.evidence === undefined ? 'table.loading' : of.evidence === null ? 'evi.gone' : `evi.none.${kind}`);

export const Evidence = ({ of, kind, zone }) => {
	useParts();
	const all = [...(of.evidence ?? [])].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
	return (
		<section class="card wide" id="evidence">
			<h2>
				{t('evi.title')} <span class="unit">{zone}</span>
			</h2>
			{!all.length && <p>{t(none(of, kind))}</p>}
			{all.length > 0 && (
				<div class="sideways" tabIndex={0} role="region" aria-label={t('evi.title')}>
					<table class="plain evidence">
						<TableHead at="evi." of={['time', 'ms', 'part', 'thread', 'call', 'what', 'who', 'stack']} n={['ms']} />
						<tbody>
							{all.map((e, i) => (
								<Line key={i} e={e} n={i} />
							))}
						</tbody>
					</table>
				</div>
			)}
		</section>
	);
};
