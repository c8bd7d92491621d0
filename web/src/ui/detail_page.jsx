// SPDX-License-Identifier: Apache-2.0
// Pieces of the pages of one request, event or incident: the way back, the not-found text, names with values, the raw JSON.
import { CopyButton, Text } from './elements.jsx';
import { timeText, visible } from '../text/format.js';
import { t } from '../text/i18n.js';
import { back } from '../base/router.js';

export const Back = ({ to = '/requests', label = t('back') }) => (
	<button type="button" class="quiet" id="back" onClick={() => back(to)}>
		← {label}
	</button>
);

// An id begins with its time, so a record that has aged out can still show when it was.
const timeOfId = (id) => {
	const us = /^([0-9a-f]{1,13})-/.exec(id)?.[1];
	return us ? new Date(parseInt(us, 16) / 1000).toISOString() : null;
};

// An address may hold anything; text that cannot be decoded is no id.
export const decode = (text) => {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
};

export const NotFound = ({ id, error, what = 'ev', back: way = <Back /> }) => {
	const gone = error.status === 410;
	return (
		<main class="page missing" id="content">
			<div class="tools">{way}</div>
			<h1>{t(`${what}.${gone ? 'gone' : 'notfound'}`)}</h1>
			{gone && <p>{t('ev.gone.was', { time: timeText(timeOfId(id)) })}</p>}
			<p>{t(gone ? 'ev.gone.do' : 'ev.notfound.do')}</p>
			{gone && (
				<p class="hint">
					<Text of={error.message} />
				</p>
			)}
		</main>
	);
};

export const Facts = ({ title, rows, id, class: cls = '' }) => (
	<section class={`card ${cls}`} id={id}>
		<h2>{title}</h2>
		<dl class="facts">
			{rows
				.filter(Boolean)
				.map(([name, value]) => (
					<div key={name}>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</div>
				))}
		</dl>
	</section>
);

const visibleLines = (text) => text.split('\n').map(visible).join('\n');

export const Json = ({ of }) => (
	<details class="card wide json">
		<summary>{t('ev.json')}</summary>
		<CopyButton label={t('copy')} text={() => JSON.stringify(of, null, 2)} />
		<pre>{visibleLines(JSON.stringify(of, null, 2))}</pre>
	</details>
);
