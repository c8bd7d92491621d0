// SPDX-License-Identifier: Apache-2.0
// The time range. Without an end it is live; a preset is the time before now and moves with it.
import { useLayoutEffect, useState } from 'preact/hooks';
import { onKey } from '../base/keyboard.js';
import { momentOf, rollingOf } from '../base/moment.js';
import { count, fromInput, timeText, toInput, zoneName } from '../text/format.js';
import { shiftRange, widenRange } from '../data/time_bins.js';
import { t, zone } from '../text/i18n.js';

const PRESETS = ['-5m', '-15m', '-6h', '-24h', '-7d'];

const rollingLabel = ({ n, unit }) => t(`range.last.${unit}`, { n: count(n) });

const rangeText = (f) => {
	if (f.from && f.to) return t('range.fixed', { from: timeText(f.from, false), to: timeText(f.to, false) });
	if (f.to) return t('range.fixed', { from: '…', to: timeText(f.to, false) });
	if (rollingOf(f.from)) return rollingLabel(rollingOf(f.from));
	return f.from ? t('range.since', { from: timeText(f.from, false) }) : t('range.default');
};

const Custom = ({ filters, onChange, onClose }) => {
	const [from, setFrom] = useState(toInput(filters.from ? momentOf(filters.from) : Date.now() - 3600e3));
	const [to, setTo] = useState(toInput(filters.to));
	const [bad, setBad] = useState(false);
	const apply = () => {
		const f = { ...filters, from: fromInput(from) ?? undefined, to: (to && fromInput(to)) || undefined };
		if (f.from && f.to && f.from >= f.to) {
			setBad(true);
			return;
		}
		onChange(f);
		onClose();
	};
	const onKeyDown = (event) => {
		if (event.key === 'Enter' && event.target.tagName === 'INPUT') apply();
		if (event.key !== 'Escape') return;
		event.preventDefault(); /* it does not leave the page */
		onClose();
	};
	useLayoutEffect(() => onKey({ Escape: onClose }), []);
	return (
		<div class="popover" role="group" aria-label={t('range.label')} onKeyDown={onKeyDown}>
			<label>
				{t('range.from')}
				<input id="range-from" type="datetime-local" step="1" value={from} onInput={(e) => setFrom(e.currentTarget.value)} />
			</label>
			<label>
				{t('range.to')}
				<input id="range-to" type="datetime-local" step="1" value={to} onInput={(e) => setTo(e.currentTarget.value)} />
			</label>
			<p class="hint">
				{zoneName(zone.get())} · {t('range.to')}: {t('range.to.hint')}
			</p>
			{bad && <p role="alert">{t('range.bad')}</p>}
			<button type="button" id="range-apply" onClick={apply}>
				{t('range.apply')}
			</button>
			<button type="button" class="quiet" onClick={onClose}>
				{t('close')}
			</button>
		</div>
	);
};

const Step = ({ id, sign, disabled = false, onClick }) => (
	<button type="button" class="quiet step" id={`range-${id}`} disabled={disabled} aria-label={t(`range.${id}`)} title={t(`range.${id}`)} onClick={onClick}>
		{sign}
	</button>
);

export const TimeRange = ({ filters, onChange }) => {
	const [open, setOpen] = useState(false);
	const set = filters.from || filters.to;
	const onSelect = (event) => {
		const choice = event.currentTarget.value;
		event.currentTarget.value = 'now';
		if (choice === 'custom') setOpen(true);
		else if (choice === 'default') onChange({ ...filters, from: undefined, to: undefined });
		else if (rollingOf(choice)) onChange({ ...filters, from: choice, to: undefined });
	};
	return (
		<span class="range">
			<select id="range" aria-label={t('range.label')} class={set ? 'set' : ''} value="now" onChange={onSelect}>
				<option value="now">{rangeText(filters)}</option>
				{set && <option value="default">{t('range.default')}</option>}
				{PRESETS.map((p) => (
					<option key={p} value={p}>
						{rollingLabel(rollingOf(p))}
					</option>
				))}
				<option value="custom">{t('range.custom')}</option>
			</select>
			<Step id="earlier" sign="‹" onClick={() => onChange(shiftRange(filters, -1))} />
			<Step id="later" sign="›" disabled={!filters.to} onClick={() => onChange(shiftRange(filters, 1))} />
			<Step id="wider" sign="−" onClick={() => onChange(widenRange(filters))} />
			{open && <Custom filters={filters} onChange={onChange} onClose={() => setOpen(false)} />}
		</span>
	);
};
