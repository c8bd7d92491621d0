// SPDX-License-Identifier: Apache-2.0
// The filter bar. What it says is in the address; text is taken over a moment after the last key.
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from './ui.jsx';
import { Range } from './range.jsx';
import { isFiltered, isLive, readFilters, writeFilters } from './lib/filters.js';
import { visible } from './lib/format.js';
import { t, word } from './lib/i18n.js';
import { onKey } from './lib/keys.js';
import { link } from './lib/live.js';
import { nodes } from './lib/nodes.js';
import { table } from './lib/rows.js';
import { useStore } from './lib/store.js';

/* global REASON_CODES */
const STATUSES = ['5xx', '500', '502', '503', '504', '499', '4xx', '2xx', '0'];
const TYPED_MS = 350;
const TEXT_BYTES = 200; /* what the API takes */

const fits = (text) => new TextEncoder().encode(text).length <= TEXT_BYTES;

const TextField = ({ id, label, hint = label, value, list, type = 'text', onChange }) => {
	const [typed, setTyped] = useState(value ?? '');
	const timer = useRef(0);
	useEffect(() => setTyped(value ?? ''), [value]);
	const send = (text) => {
		clearTimeout(timer.current);
		if (fits(text) && text.trim() !== (value ?? '')) onChange(text.trim());
	};
	const onInput = (event) => {
		const text = event.currentTarget.value;
		setTyped(text);
		clearTimeout(timer.current);
		timer.current = setTimeout(() => send(text), TYPED_MS);
	};
	return (
		<>
			<input
				id={id}
				type={type}
				value={typed}
				aria-label={label}
				placeholder={hint}
				title={label}
				list={list ? `${id}-list` : undefined}
				class={value ? 'set' : ''}
				maxLength={TEXT_BYTES}
				spellcheck={false}
				autocomplete="off"
				onInput={onInput}
				onKeyDown={(event) => event.key === 'Enter' && send(event.currentTarget.value)}
			/>
			{list && (
				<datalist id={`${id}-list`}>
					{list.map((v) => (
						<option key={v} value={v} />
					))}
				</datalist>
			)}
		</>
	);
};

const Choice = ({ id, label, value, options, onChange }) => {
	const all = !value || options.some(([v]) => v === value) ? options : [...options, [value, visible(value)]];
	return (
		<select id={id} aria-label={label} class={value ? 'set' : ''} value={value ?? ''} onChange={(event) => onChange(event.currentTarget.value)}>
			<option value="">
				{label}: {t('filter.any')}
			</option>
			{all.map(([v, text]) => (
				<option key={v} value={v}>
					{text}
				</option>
			))}
		</select>
	);
};

const Chip = ({ name, value, onDrop }) => (
	<button type="button" class="chip set" title={t('filter.drop')} onClick={onDrop}>
		{t(`filter.${name}`)}: <bdi>{visible(value).slice(0, 60)}</bdi> <span aria-hidden="true">×</span>
		<span class="sr">{t('filter.drop')}</span>
	</button>
);

const Live = ({ filters }) => {
	const { state } = useStore(link);
	const how = !isLive(filters) ? 'off' : state === 'open' ? 'on' : state === 'lost' ? 'lost' : 'wait';
	const title = how === 'on' || how === 'off' ? t(`live.${how}.title`) : undefined;
	return (
		<span class={`live live-${how}`} role="status" title={title}>
			<span class="dot" aria-hidden="true" /> {t(`live.${how}`)}
		</span>
	);
};

const absolute = (f) => {
	const to = f.to ?? new Date().toISOString();
	const from = f.from ?? new Date(Date.parse(to) - 3600e3).toISOString();
	return `${location.origin}${writeFilters({ ...f, from, to })}`;
};

const distinct = (values) => [...new Set(values.filter(Boolean))].sort();

export const Filters = ({ filters, onChange }) => {
	const { list } = useStore(nodes);
	const { rows } = useStore(table);
	/* what the address says now: a typed text may come a moment after another filter */
	const set = (name) => (value) => onChange({ ...readFilters(location.search), [name]: value || undefined });
	useEffect(
		() =>
			onKey({
				'/': () => {
					document.getElementById('q').focus();
					document.getElementById('q').select();
				},
			}),
		[],
	);
	const reasons = REASON_CODES.map((code) => [code, word('reason.', code)]);
	const statuses = STATUSES.map((s) => [s, s === '0' ? t('filter.none') : s]);
	return (
		<section class="filters" aria-label={t('filter.label')}>
			<TextField id="q" type="search" label={t('filter.search')} hint={t('filter.search.hint')} value={filters.q} onChange={set('q')} />
			<TextField id="node" label={t('filter.node')} value={filters.node} list={distinct((list ?? []).map((n) => n.name))} onChange={set('node')} />
			<TextField id="app" label={t('filter.app')} value={filters.app} list={distinct(rows.map((r) => r.app))} onChange={set('app')} />
			<Choice id="status" label={t('filter.status')} value={filters.status} options={statuses} onChange={set('status')} />
			<Choice id="reason" label={t('filter.reason')} value={filters.reason} options={reasons} onChange={set('reason')} />
			<Range filters={filters} onChange={onChange} />
			{['region', 'route'].map((name) => filters[name] && <Chip key={name} name={name} value={filters[name]} onDrop={() => set(name)('')} />)}
			{isFiltered(filters) && (
				<button type="button" class="quiet" id="clear" onClick={() => onChange({ from: filters.from, to: filters.to })}>
					{t('filter.clear')}
				</button>
			)}
			<span class="push" />
			<CopyButton class="quiet" label={t('filter.copy')} title={t('filter.copy.title')} text={() => absolute(filters)} />
			<Live filters={filters} />
		</section>
	);
};
