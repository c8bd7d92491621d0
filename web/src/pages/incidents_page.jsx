// SPDX-License-Identifier: Apache-2.0
// Incidents: problems that belong together. Open ones first, then the newest.
import { whereAddress } from '../data/filters.js';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { percent } from '../features/incident/cause_ranking.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { TimeRange } from '../ui/time_range.jsx';
import { useRowKeys } from '../ui/row_keys.js';
import { TableHead, Icon, Text, Time } from '../ui/elements.jsx';
import { count, visible } from '../text/format.js';
import { t, useSettings, word } from '../text/i18n.js';
import { PAGE, STATES, endIncidents, incidentHref, incidents, incidentsAddress, loadIncidents, openFirst, readIncidentFilters, titleOf } from '../data/incidents.js';
import { useNodes } from '../data/nodes.js';
import { go } from '../base/router.js';
import { useStore } from '../base/store.js';

export const IncidentState = ({ of }) => (
	<span class={`state ${of.state === 'open' ? 'is-failed' : 'hint'}`} data-state={of.state}>
		<Icon name={of.state === 'open' ? 'failed' : 'ok'} /> {visible(word('inc.state.', of.state ?? '–'))}
		{of.acknowledged && <span class="hint"> {t('inc.acknowledged', { who: visible(of.acknowledged.by).slice(0, 60) })}</span>}
	</span>
);

const Row = ({ of }) => (
	<tr data-id={of.id} tabIndex={-1}>
		<td class="i-state">
			<IncidentState of={of} />
		</td>
		<td class="i-what">
			<Text of={titleOf(of)} cut={400} />
		</td>
		<td class="i-time mono">
			<Time of={of.onset} />
		</td>
		<td class="i-time mono">
			<Time of={of.last} />
		</td>
		<td class="n">{count(of.nodes?.length ?? 0)}</td>
		<td class="i-first">
			<Text of={of.first?.node ?? of.first?.address} cut={60} />
		</td>
		<td class="n">{of.first ? percent(of.first.share) : '–'}</td>
		<td>
			<a class="open" href={incidentHref(of)} tabIndex={-1} aria-label={t('inc.open.title', { what: titleOf(of).slice(0, 100) })}>
				{t('open')}
			</a>
		</td>
	</tr>
);

const List = ({ rows }) => {
	const body = useRef(null);
	const onClick = useRowKeys(body, 'a.open');
	return (
		<table class="plain events incidents">
			<caption class="sr">{t('inc.caption')}</caption>
			<TableHead at="inc.col." of={['state', 'what', 'onset', 'last', 'nodes', 'first', 'share', 'open']} n={['nodes', 'share']} />
			<tbody ref={body} onClick={onClick}>
				{rows.map((of) => (
					<Row key={of.id} of={of} />
				))}
			</tbody>
		</table>
	);
};

const Shown = ({ data }) => {
	const rows = openFirst(data.incidents);
	if (!rows.length) {
		return (
			<section class="empty" id="no-incidents">
				<h2>{t('inc.none')}</h2>
				<p>{t('inc.none.what')}</p>
			</section>
		);
	}
	return (
		<>
			<List rows={rows} />
			{data.next && <p class="more">{t('inc.shown', { n: count(PAGE) })}</p>}
		</>
	);
};

const Choice = ({ name, label, value, values, text = (v) => v, onChange }) => (
	<label class="choice">
		{label}{' '}
		<select id={`incidents-${name}`} class={value ? 'set' : ''} value={value ?? ''} onChange={(e) => onChange(e.currentTarget.value || undefined)}>
			<option value="">{t('facet.any')}</option>
			{[...new Set([...values, ...(value ? [value] : [])])].map((v) => (
				<option key={v} value={v}>
					{visible(text(v)).slice(0, 60)}
				</option>
			))}
		</select>
	</label>
);

export const IncidentsPage = ({ search }) => {
	useSettings();
	const filters = useMemo(() => readIncidentFilters(search), [search]);
	const { data, error } = useStore(incidents);
	const { list } = useNodes();
	const key = incidentsAddress(filters);
	useEffect(() => loadIncidents(filters), [key]);
	useEffect(() => endIncidents, []);
	const onChange = (f) => go(incidentsAddress(f));
	return (
		<>
			<main id="content" class="page page-table" tabIndex={-1}>
				<h1>{t('title.incidents')}</h1>
				<p class="hint about">{t('inc.about')}</p>
				<div class="second red-tools">
					<TimeRange filters={filters} onChange={onChange} />
					<Choice name="state" label={t('inc.state')} value={filters.state} values={STATES} text={(v) => t(`inc.state.${v}`)} onChange={(state) => onChange({ ...filters, state })} />
					<Choice name="node" label={t('events.node')} value={filters.node} values={(list ?? []).map((n) => n.name).sort()} onChange={(node) => onChange({ ...filters, node })} />
					<a href={whereAddress(filters)}>{t('where.ask')}</a>
				</div>
				{error && <QueryError error={error} since={error.since} />}
				{!data && !error && <p class="more">{t('table.loading')}</p>}
				{data && <Shown data={data} />}
			</main>
			<Coverage filters={{ from: filters.from, to: filters.to, node: filters.node ? [filters.node] : undefined }} />
		</>
	);
};
