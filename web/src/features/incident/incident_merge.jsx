// SPDX-License-Identifier: Apache-2.0
// Merge and split of incidents. Both ask for confirmation and show the consequences first.
import { useState } from 'preact/hooks';
import { ActionError } from './incident_actions.jsx';
import { useQuery } from '../../base/use_query.js';
import { useIncidentAction } from './use_incident_action.js';
import { count, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { titleOf } from '../../data/incidents.js';

const NEAR_MS = 6 * 3600e3; /* offers incidents of about that time */
const MOST = 50;
const short = (text, cut = 60) => visible(String(text ?? '–')).slice(0, cut);

// A button that asks for confirmation in place before it acts.
const ConfirmButton = ({ id, label, question, able, busy, onYes }) => {
	const [confirming, setConfirming] = useState(false);
	const yes = () => {
		setConfirming(false);
		onYes();
	};
	if (!confirming || !able) {
		return (
			<p class="buttons">
				<button type="button" id={id} disabled={busy || !able} onClick={() => setConfirming(true)}>
					{label}
				</button>
			</p>
		);
	}
	return (
		<div class="sure" role="alertdialog" aria-label={question}>
			<p>{question}</p>
			<p class="buttons">
				<button type="button" id={`${id}-yes`} class="primary" onClick={yes}>
					{label}
				</button>{' '}
				<button type="button" id={`${id}-no`} onClick={() => setConfirming(false)}>
					{t('inc.no')}
				</button>
			</p>
		</div>
	);
};

const Merge = ({ of, by, busy, act }) => {
	const [into, setInto] = useState('');
	const around = [
		['from', new Date(Date.parse(of.onset) - NEAR_MS).toISOString()],
		['to', new Date(Date.parse(of.last) + NEAR_MS).toISOString()],
		['limit', String(MOST)],
	];
	const { data } = useQuery('/api/v1/incidents', around);
	const others = (data?.incidents ?? []).filter((i) => i.id !== of.id);
	const chosen = others.find((i) => i.id === into);
	if (data && !others.length) return <p class="hint">{t('inc.merge.none')}</p>;
	return (
		<>
			<label>
				{t('inc.merge.into')}
				<select id="merge-into" value={into} onChange={(e) => setInto(e.currentTarget.value)}>
					<option value="">–</option>
					{others.map((i) => (
						<option key={i.id} value={i.id}>
							{short(titleOf(i), 120)}
						</option>
					))}
				</select>
			</label>
			<ConfirmButton id="do-merge" label={t('inc.do.merge')} able={Boolean(chosen && by.trim())} busy={busy} onYes={() => act('merge', { into })} question={t('inc.merge.sure', { n: count(of.evidence?.length ?? 0), into: chosen ? short(titleOf(chosen), 200) : '' })} />
		</>
	);
};

const Split = ({ of, by, busy, act }) => {
	const [taken, setTaken] = useState([]);
	const [made, setMade] = useState(null);
	const all = of.evidence ?? [];
	const chosen = all.filter((e) => taken.includes(e.signal));
	const toggle = (signal) => setTaken(taken.includes(signal) ? taken.filter((s) => s !== signal) : [...taken, signal]);
	const onYes = async () => {
		const done = await act('split', { signals: chosen.map((e) => e.signal) });
		if (done) setTaken([]);
		if (done?.new) setMade(done.new);
	};
	return (
		<>
			{made && (
				<p id="split-made">
					{t('inc.split.made')} <a href={`/incidents/${encodeURIComponent(made)}`}>{visible(made)}</a>
				</p>
			)}
			{all.length < 2 && <p class="hint">{t('inc.split.none')}</p>}
			{all.length > 1 && (
				<ul class="choose">
					{all.map((e) => (
						<li key={e.signal}>
							<label>
								<input type="checkbox" data-signal={e.signal} checked={taken.includes(e.signal)} onChange={() => toggle(e.signal)} /> {t('inc.step.signal', { app: short(e.app), route: short(e.route), node: short(e.node), class: short(e.class), count: count(e.count) })}
							</label>
						</li>
					))}
				</ul>
			)}
			{all.length > 1 && <ConfirmButton id="do-split" label={t('inc.do.split')} able={Boolean(by.trim()) && chosen.length > 0 && chosen.length < all.length} busy={busy} onYes={onYes} question={t('inc.split.sure', { n: count(chosen.length), of: count(all.length) })} />}
		</>
	);
};

export const IncidentMerge = ({ of, onDone }) => {
	const { by, busy, failed, act } = useIncidentAction(of, onDone);
	if (of.state === 'merged') return null;
	return (
		<section class="card two" id="reshape">
			<h2>{t('inc.reshape')}</h2>
			{!by.trim() && <p class="hint">{t('inc.reshape.name')}</p>}
			<h3>{t('inc.merge')}</h3>
			<Merge of={of} by={by} busy={busy} act={act} />
			<h3>{t('inc.split')}</h3>
			<Split of={of} by={by} busy={busy} act={act} />
			<ActionError error={failed} />
		</section>
	);
};
