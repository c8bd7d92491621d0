// SPDX-License-Identifier: Apache-2.0
// Rate, errors and durations of every app and route: requests answered, and separately calls made.
import { useEffect, useMemo } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { Coverage, Unread } from '../ui/coverage_footer.jsx';
import { FilterChips } from '../features/filter/filter_bar.jsx';
import { Sparkline } from '../chart/sparkline.jsx';
import { Facet } from '../features/filter/facet_menu.jsx';
import { DurationHeatmap } from '../chart/duration_heatmap.jsx';
import { TimeRange } from '../ui/time_range.jsx';
import { Icon, Text } from '../ui/elements.jsx';
import { liveQuery } from '../base/live_query.js';
import { notRead, useCovered } from '../data/coverage.js';
import { count, msFine, rate, visible } from '../text/format.js';
import { ofRed } from '../data/facets.js';
import { NONE, isQueryable, readFilters, whereAddress, writeFilters } from '../data/filters.js';
import { t, useSettings } from '../text/i18n.js';
import { profileAddress } from '../data/profile.js';
import { SORTS, columnsOf, percentile, readSort, redAddress, redQuestion, rowsOf, sortRows } from '../data/red.js';
import { go } from '../base/router.js';
import { useStore } from '../base/store.js';
import { topologyAddress } from '../data/topology.js';

const EVERY_MS = 10_000;
const SHOWN = 200;

const red = liveQuery(EVERY_MS);

const FACETS = ['region', 'node', 'app', 'route'];
const onlyUsed = ({ from, to, region, node, app, route, sort }) => ({ from, to, region, node, app, route, sort });

const columns = (role) => ['app', 'route', ...(role === 'client' ? ['peer'] : []), 'nodes', 'rate', 'count', 'errors', 'p50', 'p99', 'spark', 'see'];
const numbers = new Set(['nodes', 'rate', 'count', 'errors', 'p50', 'p99']);

const Errors = ({ row }) => {
	const part = (100 * row.errors) / row.count;
	const said = part > 0 && part < 0.1 ? '<0.1' : part.toFixed(part < 10 ? 1 : 0);
	return (
		<td class={`n${row.errors ? ' is-failed' : ''}`} title={t('red.errors.title', { n: count(row.errors) })}>
			{row.errors > 0 && <Icon name="failed" />} {said} %
		</td>
	);
};

const narrowed = (filters, row, names) => {
	const f = { ...filters };
	for (const name of names) if (isQueryable(row[name] ?? NONE)) f[name] = [row[name] || NONE];
	return f;
};

const Row = ({ row, filters, seconds }) => {
	const what = visible(`${row.app} ${row.route}`).slice(0, 80);
	const counts = row.columns.map((column) => column.count);
	return (
		<tr>
			<td class="wrap">
				<a href={redAddress(narrowed(filters, row, ['app']))}>
					<Text of={row.app} />
				</a>
			</td>
			<td class="wrap">
				<a class="route" href={redAddress(narrowed(filters, row, ['app', 'route']))} title={t('red.only', { what })}>
					<Text of={row.route} class="mono" />
				</a>
			</td>
			{row.peer !== null && (
				<td class="wrap">
					<Text of={row.peer} class="mono" />
				</td>
			)}
			<td class="n">{count(row.nodes.size)}</td>
			<td class="n">{rate(row.count / seconds)}</td>
			<td class="n">{count(row.count)}</td>
			<Errors row={row} />
			<td class="n">{msFine(percentile(row.slots, 0.5))}</td>
			<td class="n">{msFine(percentile(row.slots, 0.99))}</td>
			<td class="spark-cell">
				<Sparkline values={counts} label={t('red.spark.title', { n: count(row.count), most: count(Math.max(...counts)) })} />
			</td>
			<td>
				<a href={writeFilters(narrowed({ from: filters.from, to: filters.to, node: filters.node }, row, ['app', 'route']))} aria-label={t('red.rows.title', { what })}>
					{t('red.rows')}
				</a>
				{row.app && isQueryable(row.app) && (
					<>
						{' · '}
						<a href={profileAddress({ from: filters.from, to: filters.to, app: row.app, node: row.nodes.size === 1 ? [...row.nodes][0] : undefined })} aria-label={t('red.profile.title', { what: visible(row.app).slice(0, 80) })}>
							{t('red.profile')}
						</a>
					</>
				)}
			</td>
		</tr>
	);
};

const Column = ({ name, filters }) => {
	const sorted = name === filters.sort;
	return (
		<th scope="col" class={numbers.has(name) ? 'n' : name === 'spark' ? 'spark-cell' : undefined} aria-sort={sorted ? 'descending' : undefined}>
			{SORTS.includes(name) && !sorted ? (
				<a class="sort" data-sort={name} href={redAddress({ ...filters, sort: name })} title={t('red.sort.title', { what: t(`red.${name}`) })}>
					{t(`red.${name}`)}
				</a>
			) : (
				t(`red.${name}`)
			)}
			{sorted && <span aria-hidden="true">{'\u00a0↓'}</span>}
			{(name === 'p50' || name === 'p99') && <span class="unit"> {t('col.ms')}</span>}
		</th>
	);
};

const Section = ({ role, data, cols, filters }) => {
	const { all, rows } = useMemo(() => rowsOf(data.series, role, cols), [data, role]);
	const sorted = useMemo(() => sortRows(rows, filters.sort), [rows, filters.sort]);
	if (!rows.length) return null;
	const label = t(`red.${role}`);
	return (
		<section class="card red" id={role}>
			<h2>{label}</h2>
			{Object.keys(all.slots).length > 0 && <DurationHeatmap all={all} cols={cols} label={label} />}
			<table class="plain">
				<caption class="sr">{label}</caption>
				<thead>
					<tr>
						{columns(role).map((name) => (
							<Column key={name} name={name} filters={filters} />
						))}
					</tr>
				</thead>
				<tbody>
					{sorted.slice(0, SHOWN).map((row) => (
						<Row key={row.key} row={row} filters={filters} seconds={(cols.to - cols.from) / 1000} />
					))}
				</tbody>
			</table>
		</section>
	);
};

// Encrypted connections have no row above.
const NotRead = ({ filters }) => {
	const unread = notRead(useCovered(), filters.app);
	if (!unread.length) return null;
	return (
		<section class="card" id="notread">
			<h2>{t('cov.unread.head')}</h2>
			<Unread of={unread} />
			<p class="hint">{t('cov.unread.do')}</p>
		</section>
	);
};

export const RedPage = ({ search }) => {
	useSettings();
	const filters = useMemo(() => ({ ...readFilters(search), sort: readSort(search) }), [search]);
	const key = redAddress({ ...filters, sort: undefined });
	const { data, error } = useStore(red.state);
	const cols = useMemo(() => columnsOf(filters), [key, data]);
	useEffect(() => red.begin(redQuestion(filters)), [key]);
	useEffect(() => red.end, []);
	const onChange = (f) => go(redAddress(f));
	const used = onlyUsed(filters);
	return (
		<>
			<main id="content" class="page page-table" tabIndex={-1}>
				<h1>{t('red.title')}</h1>
				<div class="second red-tools">
					<TimeRange filters={filters} onChange={onChange} />
					{FACETS.map((name) => (
						<Facet key={name} name={name} filters={used} source={ofRed} onChange={onChange} />
					))}
					<FilterChips filters={used} onChange={onChange} />
					<a href={topologyAddress(used)}>{t('topo.of')}</a>
					<a href={whereAddress(used)}>{t('where.ask')}</a>
				</div>
				{error && <QueryError error={error} since={error.since} />}
				{!data && !error && <p class="more">{t('table.loading')}</p>}
				{data && !data.series.length && <p class="more">{t('red.none')}</p>}
				{data?.total > data?.series.length && <p class="hint">{t('red.cut', { total: count(data.total) })}</p>}
				{data && ['server', 'client'].map((role) => <Section key={role} {...{ role, data, cols, filters }} />)}
				<NotRead filters={filters} />
			</main>
			<Coverage filters={filters} />
		</>
	);
};
