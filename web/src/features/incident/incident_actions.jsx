// SPDX-License-Identifier: Apache-2.0
// Actions on an incident: acknowledge, comment, close.
import { useState } from 'preact/hooks';
import { useIncidentAction, operator } from './use_incident_action.js';
import { visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';

const CUT = { by: 80, text: 4000 };

export const ActionError = ({ error }) =>
	error && (
		<p class="warn" role="alert">
			{visible(error.message).slice(0, 300)}
		</p>
	);

export const IncidentActions = ({ of, onDone }) => {
	const [text, setText] = useState('');
	const { by, busy, failed, act } = useIncidentAction(of, onDone);
	if (of.state === 'merged') return null;
	const onAct = async (verb) => {
		const done = await act(verb, verb === 'comment' ? { text } : {});
		if (done && verb === 'comment') setText('');
	};
	const button = (verb, able) => (
		<button type="button" id={`do-${verb}`} disabled={busy || !by.trim() || !able} onClick={() => onAct(verb)}>
			{t(`inc.do.${verb}`)}
		</button>
	);
	return (
		<section class="card" id="action">
			<h2>{t('inc.actions')}</h2>
			<label>
				{t('inc.by')} <input id="action-by" type="text" maxLength={CUT.by} value={by} onInput={(e) => operator.set(e.currentTarget.value)} />
			</label>
			<label>
				{t('inc.text')} <textarea id="action-text" rows="2" maxLength={CUT.text} value={text} onInput={(e) => setText(e.currentTarget.value)} />
			</label>
			<p class="buttons">
				{button('acknowledge', !of.acknowledged)} {button('comment', Boolean(text.trim()))} {button('close', of.state === 'open')}
			</p>
			<ActionError error={failed} />
		</section>
	);
};
