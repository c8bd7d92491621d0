// SPDX-License-Identifier: Apache-2.0
// A chosen range beside the time before it: which values its requests have more often or more rarely.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../base/api.js';
import { Text } from '../../ui/elements.jsx';
import { beforeRange, differences } from '../../data/compare.js';
import { isQueryable, pairs, writeFilters } from '../../data/filters.js';
import { count, timeText, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { valueText } from '../filter/facet_menu.jsx';

const CUT = 80;
const PERCENT = 100;

const percentText = (share, isMost) => `${isMost ? '≤ ' : ''}${Math.round(PERCENT * share)} %`;
const ask = (filters) => get('/api/v1/requests/facets', pairs(filters));

// {here, before} or {error}; null while it is asked.
const useBoth = (filters) => {
	const [state, set] = useState(null);
	const key = JSON.stringify(pairs(filters));
	useEffect(() => {
		let gone = false;
		set(null);
		Promise.all([ask(filters), ask(beforeRange(filters))]).then(
			([here, before]) => gone || set({ here, before }),
			(error) => gone || set({ error }),
		);
		return () => {
			gone = true;
		};
	}, [key]);
	return state;
};

const Bars = ({ of }) => (
	<svg class="both" viewBox="0 0 100 12" width="100" height="12" preserveAspectRatio="none" aria-hidden="true">
		<rect class="here" width={PERCENT * of.here} height="6" />
		<rect class="before" y="7" width={PERCENT * of.before} height="4" />
	</svg>
);

const Row = ({ of, filters }) => {
	const said = valueText(of.name, of.value);
	return (
		<tr>
			<td>{t(`filter.${of.name}`)}</td>
			<td class="wrap">{isQueryable(of.value) ? <a href={writeFilters({ ...filters, [of.name]: [of.value] })}>{visible(said).slice(0, CUT)}</a> : <Text of={said} cut={CUT} />}</td>
			<td>
				<Bars of={of} />
			</td>
			<td class="n">{percentText(of.here, of.hereMost)}</td>
			<td class="n hint">{percentText(of.before, of.beforeMost)}</td>
		</tr>
	);
};

const Found = ({ filters }) => {
	const both = useBoth(filters);
	if (!both) return <p class="hint">{t('table.loading')}</p>;
	if (both.error) return <p role="alert">{visible(both.error.message).slice(0, 300)}</p>;
	const list = differences(both.here, both.before, filters);
	const before = beforeRange(filters);
	return (
		<>
			<p class="hint">{t('compare.what', { n: count(both.here.total), from: timeText(before.from, false), to: timeText(before.to, false), m: count(both.before.total) })}</p>
			{!list.length && <p>{t('compare.same')}</p>}
			{list.length > 0 && (
				<table class="plain">
					<caption class="sr">{t('compare.title')}</caption>
					<thead>
						<tr>
							{['name', 'value', 'bars', 'here', 'before'].map((name) => (
								<th key={name} scope="col" class={name === 'here' || name === 'before' ? 'n' : undefined}>
									{t(`compare.${name}`)}
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						{list.map((of) => (
							<Row key={`${of.name} ${of.value}`} of={of} filters={filters} />
						))}
					</tbody>
				</table>
			)}
		</>
	);
};

export const CompareRange = ({ filters }) => {
	const [open, setOpen] = useState(false);
	if (!filters.from || !filters.to) return null;
	return (
		<details class="compare" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
			<summary>{t('compare.title')}</summary>
			{open && <Found filters={filters} />}
		</details>
	);
};
