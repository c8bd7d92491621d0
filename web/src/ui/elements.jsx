// SPDX-License-Identifier: Apache-2.0
// Small elements that every page uses. Untrusted text is shown by Text only.
import { useState } from 'preact/hooks';
import { timeParts, visible } from '../text/format.js';
import { t } from '../text/i18n.js';

const CUT = 256; /* characters in a cell; the title has more, the JSON has all */
const TITLE = 2000;

export const Text = ({ of, class: cls, cut = CUT }) => {
	if (of === null || of === undefined || of === '') return <span class="none">–</span>;
	const text = visible(of);
	const short = text.length > cut ? `${text.slice(0, cut)}…` : text;
	return (
		<bdi class={cls} title={text.slice(0, TITLE)}>
			{short}
		</bdi>
	);
};

// The head of a table by the keys of its columns; n: the columns of numbers, ms: those in ms.
export const TableHead = ({ at = '', of, n = [], ms = [] }) => (
	<thead>
		<tr>
			{of.map((name) => (
				<th key={name} scope="col" class={n.includes(name) || ms.includes(name) ? 'n' : undefined}>
					{t(at + name)}
					{ms.includes(name) && <span class="unit"> ms</span>}
				</th>
			))}
		</tr>
	</thead>
);

export const Time = ({ of }) => {
	const p = timeParts(of);
	if (!p) return <span class="none">–</span>;
	return (
		<time dateTime={of} title={new Date(of).toISOString()}>
			<span class="date">{p.date}</span> <span class="clock">{p.time}</span> <span class="zone">{p.zone}</span>
		</time>
	);
};

const shapes = {
	failed: <path d="M4 4l8 8M12 4l-8 8" />,
	left: <path d="M9 3H3v10h6M7 8h7M11.5 5.5L14 8l-2.5 2.5" />,
	none: <path d="M8 2a6 6 0 1 0 .01 0M4 12l8-8" />,
	slow: <path d="M8 2a6 6 0 1 0 .01 0M8 4.5V8l2.5 2" />,
	ok: <path d="M3 8.5l3.5 3.5L13 4.5" />,
	warn: <path d="M8 2.5l6 11H2zM8 7v3M8 11.8v.4" />,
	off: <path d="M3 8h10" />,
};

export const Icon = ({ name }) => (
	<svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
		{shapes[name]}
	</svg>
);

export const kindOf = (status, slow) => {
	if (status === null || status === undefined || status === 0) return 'none';
	if (status === 499) return 'left';
	if (status >= 500) return 'failed';
	return slow ? 'slow' : 'ok';
};

export const Status = ({ status, slow = true, words = false }) => {
	const kind = kindOf(status, slow);
	const word = t(`status.${kind}`);
	const code = kind === 'none' ? t('status.none.short') : String(status);
	return (
		<span class={`status is-${kind}`} title={kind === 'none' ? word : `${code} ${word}`}>
			<Icon name={kind} /> {words && kind !== 'none' ? `${code} ${word}` : words ? word : code}
			{!words && kind !== 'none' && <span class="sr"> {word}</span>}
		</span>
	);
};

export const CopyButton = ({ text, label, title, class: cls = '' }) => {
	const [said, say] = useState(null);
	const onCopy = async () => {
		say(await navigator.clipboard.writeText(text()).then(() => 'copied', () => 'copy.failed'));
		setTimeout(() => say(null), 1500);
	};
	return (
		<button type="button" class={cls} title={title} onClick={onCopy}>
			{said ? t(said) : label}
		</button>
	);
};
