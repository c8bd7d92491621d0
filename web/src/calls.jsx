// SPDX-License-Identifier: Apache-2.0
// One request across hosts: who called it, and whom it called, hop by hop, as far as probes saw it.
import { Status, Text } from './ui.jsx';
import { useAnswer } from './lib/answer.js';
import { isNumber, msFine, visible } from './lib/format.js';
import { t } from './lib/i18n.js';
import { partClass, partName, useParts } from './lib/parts.js';

const DEEP = 4; /* hops that are asked for below the first */
const SMALL = 0.004;

const Split = ({ shares }) => {
	useParts();
	const parts = (shares ?? []).filter((s) => s.ms > 0);
	const all = parts.reduce((sum, s) => sum + s.ms, 0);
	if (!all) return null;
	const words = parts.map((s) => `${visible(partName(s.code))} ${msFine(s.ms)} ms`).join(', ');
	return (
		<span class="bar hop-split" role="img" aria-label={words} title={words}>
			{parts.map((s) => (
				<span key={s.code} class={`seg ${partClass(s.code)}`} style={{ width: `${Math.max(SMALL, s.ms / all) * 100}%` }} />
			))}
		</span>
	);
};

const Hop = ({ of, here }) => (
	<p class="hop">
		<b>
			<Text of={of.app ?? of.addr} cut={60} />
		</b>{' '}
		{of.node && (
			<span class="hint">
				<Text of={of.node} cut={60} />
			</span>
		)}{' '}
		{here ? <span>{t('hop.here')}</span> : of.id && <a href={`/requests/${encodeURIComponent(of.id)}`}>{t('hop.open')}</a>} {of.id && <Status status={of.status} slow={false} />} {of.request && <Text of={of.request} class="mono" cut={120} />}{' '}
		{isNumber(of.totalTime) && <span>{t('hop.total', { ms: msFine(of.totalTime) })}</span>}
	</p>
);

const Call = ({ call, deep }) => {
	const below = useAnswer(call.id && deep < DEEP ? `/api/v1/requests/${encodeURIComponent(call.id)}` : null);
	return (
		<li>
			<p class="hint edge">
				{t('hop.call', { n: call.try, addr: visible(call.addr ?? '–'), ms: msFine(call.responseTime) })}
				{isNumber(call.networkTime) && ` · ${t('hop.network', { ms: msFine(call.networkTime) })}`}
			</p>
			<Hop of={call} />
			{call.id ? <Split shares={call.shares} /> : <p class="hint silence">{t(`hop.${call.silence}`, { addr: visible(call.addr ?? '–'), node: visible(call.node ?? '–') })}</p>}
			<Calls calls={below.data?.calls} deep={deep + 1} />
		</li>
	);
};

const Calls = ({ calls, deep }) =>
	calls?.length > 0 && (
		<ol class="hops">
			{calls.map((call) => (
				<Call key={call.try} call={call} deep={deep} />
			))}
		</ol>
	);

export const CallTree = ({ req }) => {
	if (!req.calledBy && !req.calls?.length) return null;
	const here = { ...req, addr: null };
	return (
		<section class="card wide" id="calls">
			<h2>{t('hop.title')}</h2>
			{req.calledBy && (
				<>
					<Hop of={req.calledBy} />
					<p class="hint edge">{t('hop.calls')}</p>
				</>
			)}
			<Hop of={here} here />
			<Split shares={req.shares} />
			<Calls calls={req.calls} deep={1} />
		</section>
	);
};
