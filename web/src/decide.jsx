// SPDX-License-Identifier: Apache-2.0
// What a person decides of an incident: that somebody looks after it, a comment, that it is over.
import { useState } from 'preact/hooks';
import { post } from './lib/api.js';
import { visible } from './lib/format.js';
import { t } from './lib/i18n.js';
import { remembered, useStore } from './lib/store.js';

const name = remembered('seismo.name', '');
const CUT = { by: 80, text: 4000 };

export const Decide = ({ of, onDone }) => {
	const by = useStore(name);
	const [text, setText] = useState('');
	const [busy, setBusy] = useState(false);
	const [failed, setFailed] = useState(null);
	if (of.state === 'merged') return null;
	const act = async (verb) => {
		setBusy(true);
		const error = await post(`/api/v1/incidents/${encodeURIComponent(of.id)}/${verb}`, verb === 'comment' ? { by, text } : { by }).then(
			() => null,
			(e) => e,
		);
		setBusy(false);
		setFailed(error);
		if (error) return;
		if (verb === 'comment') setText('');
		onDone();
	};
	const button = (verb, able) => (
		<button type="button" id={`do-${verb}`} disabled={busy || !by.trim() || !able} onClick={() => act(verb)}>
			{t(`inc.do.${verb}`)}
		</button>
	);
	return (
		<section class="card" id="decide">
			<h2>{t('inc.decide')}</h2>
			<label>
				{t('inc.by')} <input id="decide-by" type="text" maxLength={CUT.by} value={by} onInput={(e) => name.set(e.currentTarget.value)} />
			</label>
			<label>
				{t('inc.text')} <textarea id="decide-text" rows="2" maxLength={CUT.text} value={text} onInput={(e) => setText(e.currentTarget.value)} />
			</label>
			<p class="buttons">
				{button('acknowledge', !of.acknowledged)} {button('comment', Boolean(text.trim()))} {button('close', of.state === 'open')}
			</p>
			{failed && (
				<p class="warn" role="alert">
					{visible(failed.message).slice(0, 300)}
				</p>
			)}
		</section>
	);
};
