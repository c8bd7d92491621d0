// SPDX-License-Identifier: Apache-2.0
// One filter as a button with a menu: every value with its count under the other filters. A click selects only that
// value; beside it are "or this" and "not this".
import { useEffect, useRef, useState } from 'preact/hooks';
import { liveQuery } from '../../base/live_query.js';
import { count, visible } from '../../text/format.js';
import { ofRequests } from '../../data/facets.js';
import { NONE, bare, isQueryable, fits, isNot, pairs, withValue, withoutValue } from '../../data/filters.js';
import { t, word } from '../../text/i18n.js';
import { useStore } from '../../base/store.js';
import { Text } from '../../ui/elements.jsx';

const facets = liveQuery();
const CUT = 60;

export const valueText = (name, value) => {
	if (value === NONE) return t('facet.none');
	if (name === 'status' && value === '0') return t('filter.none');
	if (name === 'reason') return word('reason.', value);
	return visible(value);
};

const useFacets = (source, filters, name) => {
	const key = JSON.stringify([name, ...pairs(filters)]);
	useEffect(() => facets.turn(() => source.question(filters, name)), [key]);
	useEffect(() => facets.end, []);
	return useStore(facets.state);
};

// An open menu keeps its order: counts change, places do not.
const useOrder = (values) => {
	const order = useRef(new Map());
	for (const { value } of values) if (!order.current.has(value)) order.current.set(value, order.current.size);
	return [...values].sort((a, b) => order.current.get(a.value) - order.current.get(b.value));
};

const Value = ({ name, value, n, most, chosen, onWant, onOr, onNot }) => {
	const said = valueText(name, value);
	const wanted = chosen.includes(value);
	const excluded = chosen.includes(`!${value}`);
	const other = chosen.some((v) => !isNot(v) && v !== value);
	return (
		<li class={wanted ? 'wanted' : excluded ? 'excluded' : ''}>
			<button type="button" class="only" aria-pressed={wanted} disabled={!isQueryable(value)} title={t('facet.only', { value: said.slice(0, CUT) })} onClick={onWant}>
				<svg class="share" viewBox={`0 0 ${most} 1`} preserveAspectRatio="none" aria-hidden="true">
					<rect width={n ?? 0} height="1" />
				</svg>
				<Text of={said} cut={CUT} />
				<span class="n">{count(n)}</span>
			</button>
			{other && !wanted && (
				<button type="button" class="side" disabled={!isQueryable(value)} title={t('facet.or', { value: said.slice(0, CUT) })} aria-label={t('facet.or', { value: said.slice(0, CUT) })} onClick={onOr}>
					+
				</button>
			)}
			<button type="button" class="side" aria-pressed={excluded} disabled={!fits(value)} title={t('facet.not', { value: said.slice(0, CUT) })} aria-label={t('facet.not', { value: said.slice(0, CUT) })} onClick={onNot}>
				≠
			</button>
		</li>
	);
};

// The values found, then the chosen values that were not found.
const listOf = (found, chosen, loaded) => {
	const lost = new Set(chosen.map(bare));
	for (const { value } of found) lost.delete(value);
	return [...found, ...[...lost].map((value) => ({ value, count: loaded ? 0 : null }))];
};

const Values = ({ source, name, filters, onChange }) => {
	const { data, error } = useFacets(source, filters, name);
	const chosen = filters[name] ?? [];
	const values = data && source.values(data, name);
	const note = data && source.note(data);
	const found = useOrder(values ?? []);
	const all = listOf(found, chosen, Boolean(data));
	const most = Math.max(1, ...found.map((f) => f.count));
	const toggle = (value, other) => onChange(chosen.includes(value) ? withoutValue(filters, name, value) : other);
	if (!data && !all.length) return <p class="hint">{error ? visible(error.message).slice(0, 200) : t('table.loading')}</p>;
	return (
		<>
			<ul>
				{all.map(({ value, count: n }) => (
					<Value
						key={value}
						{...{ name, value, n, most, chosen }}
						onWant={() => toggle(value, { ...filters, [name]: [value] })}
						onOr={() => onChange(withValue(filters, name, value))}
						onNot={() => toggle(`!${value}`, withValue(filters, name, `!${value}`))}
					/>
				))}
			</ul>
			{values && !all.length && <p class="hint">{t('facet.nothing')}</p>}
			{note && <p class="hint">{t(note)}</p>}
		</>
	);
};

// A value that is not listed: typed, and taken with Enter; a leading ! excludes it.
const Typed = ({ name, filters, onChange }) => {
	const onKeyDown = (event) => {
		const text = event.currentTarget.value.trim();
		if (event.key !== 'Enter' || !text || !fits(text)) return;
		event.preventDefault();
		event.currentTarget.value = '';
		onChange(isNot(text) ? withValue(filters, name, text) : { ...filters, [name]: [text] });
	};
	const hint = t(`facet.typed.${name === 'remote' || name === 'upstream' ? 'addr' : name === 'status' ? 'status' : 'text'}`);
	return <input id={name} type="text" aria-label={`${t(`filter.${name}`)}: ${hint}`} placeholder={hint} spellcheck={false} autocomplete="off" onKeyDown={onKeyDown} />;
};

const useAway = (box, onAway) => {
	useEffect(() => {
		const look = (event) => box.current?.contains(event.target) || onAway();
		document.addEventListener('pointerdown', look);
		document.addEventListener('focusin', look);
		return () => {
			document.removeEventListener('pointerdown', look);
			document.removeEventListener('focusin', look);
		};
	}, []);
};

const Panel = ({ box, source, name, filters, onChange, onClose }) => {
	useAway(box, onClose);
	return (
		<div class="popover facet" role="group" aria-label={t(`filter.${name}`)}>
			<Typed name={name} filters={filters} onChange={onChange} />
			<Values source={source} name={name} filters={filters} onChange={onChange} />
			<p class="foot">
				{filters[name] && (
					<button type="button" class="quiet" onClick={() => onChange({ ...filters, [name]: undefined })}>
						{t('facet.any')}
					</button>
				)}
				<button type="button" class="quiet" onClick={onClose}>
					{t('close')}
				</button>
			</p>
		</div>
	);
};

export const Facet = ({ name, filters, onChange, source = ofRequests }) => {
	const [open, setOpen] = useState(false);
	const box = useRef(null);
	const button = useRef(null);
	const onKeyDown = (event) => {
		if (event.key !== 'Escape' || !open) return;
		event.preventDefault();
		setOpen(false);
		button.current.focus();
	};
	const n = filters[name]?.length ?? 0;
	return (
		<span class="range" ref={box} onKeyDown={onKeyDown}>
			<button type="button" ref={button} id={`facet-${name}`} class={`facet-open${n ? ' set' : ''}`} aria-expanded={open} onClick={() => setOpen(!open)}>
				{t(`filter.${name}`)} {n > 0 && <b>{n}</b>} <span aria-hidden="true">▾</span>
			</button>
			{open && <Panel {...{ box, source, name, filters, onChange }} onClose={() => setOpen(false)} />}
		</span>
	);
};
