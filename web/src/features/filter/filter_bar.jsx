// SPDX-License-Identifier: Apache-2.0
// The filter bar. The address holds its state; typed text is applied a moment after the last key.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../../ui/elements.jsx';
import { Facet, valueText } from './facet_menu.jsx';
import { TimeRange } from '../../ui/time_range.jsx';
import { MANY, address, bare, fits, isFiltered, isLive, isNot, pairs, readFilters, withoutValue, writeFilters } from '../../data/filters.js';
import { t } from '../../text/i18n.js';
import { endsOf } from '../../data/time_bins.js';
import { onKey } from '../../base/keyboard.js';
import { link } from '../../base/live.js';
import { absolute } from '../../base/moment.js';
import { useStore } from '../../base/store.js';

const TYPED_MS = 350;

const Search = ({ value, onChange }) => {
	const [typed, setTyped] = useState(value ?? '');
	const timer = useRef(0);
	useEffect(() => setTyped(value ?? ''), [value]);
	useEffect(() => () => clearTimeout(timer.current), []); /* typed text must not apply after the page is left */
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
		<input
			id="q"
			type="search"
			value={typed}
			aria-label={t('filter.search')}
			placeholder={t('filter.search.hint')}
			title={t('filter.search')}
			class={value ? 'set' : ''}
			maxLength={200}
			spellcheck={false}
			autocomplete="off"
			onInput={onInput}
			onKeyDown={(event) => event.key === 'Enter' && send(event.currentTarget.value)}
		/>
	);
};

const Chip = ({ name, value, onDrop }) => (
	<button type="button" class={`chip set${isNot(value) ? ' not' : ''}`} data-filter={name} title={t('filter.drop')} onClick={onDrop}>
		{t(`filter.${name}`)} {isNot(value) ? `≠ ${t('facet.not.word')}` : '='} <bdi>{valueText(name, bare(value)).slice(0, 60)}</bdi> <span aria-hidden="true">×</span>
		<span class="sr">{t('filter.drop')}</span>
	</button>
);

export const FilterChips = ({ filters, onChange }) =>
	MANY.flatMap((name) => (filters[name] ?? []).map((value) => <Chip key={`${name} ${value}`} name={name} value={value} onDrop={() => onChange(withoutValue(filters, name, value))} />));

const Views = ({ filters }) => (
	<nav class="views" aria-label={t('view.label')}>
		{[undefined, 'groups'].map((view) => (
			<a key={view} href={writeFilters({ ...filters, view })} aria-current={filters.view === view ? 'true' : undefined}>
				{t(view ? 'view.groups' : 'view.rows')}
			</a>
		))}
	</nav>
);

const Export = ({ as, filters }) => {
	const addressNow = () => address(`/api/v1/requests.${as}`, absolute(pairs(filters)));
	return (
		<a class="export" href={addressNow()} onClick={(e) => (e.currentTarget.href = addressNow())} download data-plain title={t('export.title', { as: as.toUpperCase() })}>
			{as.toUpperCase()}
		</a>
	);
};

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

// The address of exactly what is shown.
const fixedAddress = (f) => {
	const [from, to] = endsOf(f, Date.now()).map((ms) => new Date(ms).toISOString());
	return `${location.origin}${writeFilters({ ...f, from, to })}`;
};

export const FilterBar = ({ filters, onChange }) => {
	/* the current address: typed text may apply after another filter has changed */
	const setText = (text) => onChange({ ...readFilters(location.search), q: text || undefined });
	useLayoutEffect(
		() =>
			onKey({
				'/': () => {
					document.getElementById('q').focus();
					document.getElementById('q').select();
				},
			}),
		[],
	);
	return (
		<section class="filters" aria-label={t('filter.label')}>
			<Search value={filters.q} onChange={setText} />
			<TimeRange filters={filters} onChange={onChange} />
			{MANY.map((name) => (
				<Facet key={name} name={name} filters={filters} onChange={onChange} />
			))}
			<div class="second">
				<Views filters={filters} />
				<FilterChips filters={filters} onChange={onChange} />
				{isFiltered(filters) && (
					<button type="button" class="quiet" id="clear" onClick={() => onChange({ from: filters.from, to: filters.to, view: filters.view, sort: filters.sort })}>
						{t('filter.clear')}
					</button>
				)}
				<span class="push" />
				<Export as="csv" filters={filters} />
				<Export as="ndjson" filters={filters} />
				<CopyButton class="quiet" label={t('filter.copy')} title={t('filter.copy.title')} text={() => fixedAddress(filters)} />
				<Live filters={filters} />
			</div>
		</section>
	);
};
