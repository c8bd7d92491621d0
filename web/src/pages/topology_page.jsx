// SPDX-License-Identifier: Apache-2.0
// The topology: applications and the calls between them as the callers measured them, beside the figures of the callees.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { Facet } from '../features/filter/facet_menu.jsx';
import { FilterChips } from '../features/filter/filter_bar.jsx';
import { TopologyGraph } from '../chart/topology_graph.jsx';
import { TimeRange } from '../ui/time_range.jsx';
import { Icon, Text } from '../ui/elements.jsx';
import { AddressOwner } from '../ui/address_owner.jsx';
import { liveQuery } from '../base/live_query.js';
import { ofRed } from '../data/facets.js';
import { isQueryable, readFilters } from '../data/filters.js';
import { count, msFine, rate } from '../text/format.js';
import { t, useSettings } from '../text/i18n.js';
import { redAddress } from '../data/red.js';
import { go } from '../base/router.js';
import { useStore } from '../base/store.js';
import { SHOWN, graphOf, topologyAddress, topologyQuestion } from '../data/topology.js';

const EVERY_MS = 10_000;
const topology = liveQuery(EVERY_MS);
const FACETS = ['region', 'node', 'app'];
const NUMBERS = ['rate', 'count', 'errors', 'mean', 'p50', 'p99', 'max', 'served.errors', 'served.p50', 'served.p99'];

const Percent = ({ figures }) => {
	if (!figures) return <td class="n">–</td>;
	const part = 100 * (figures.errorRatio ?? 0);
	return (
		<td class={`n${figures.errors ? ' is-failed' : ''}`} title={t('red.errors.title', { n: count(figures.errors) })}>
			{figures.errors > 0 && <Icon name="failed" />} {part > 0 && part < 0.1 ? '<0.1' : part.toFixed(part < 10 ? 1 : 0)} %
		</td>
	);
};

const AppLink = ({ app, filters }) =>
	isQueryable(app ?? '!') ? (
		<a href={topologyAddress({ ...filters, app: [app] })}>
			<Text of={app} />
		</a>
	) : (
		<Text of={app} />
	);

const Row = ({ edge, filters }) => (
	<tr>
		<td class="wrap">
			<AppLink app={edge.from.app} filters={filters} /> <span class="hint">{edge.from.node}</span>
		</td>
		<td class="wrap">
			{edge.to.app ? <AppLink app={edge.to.app} filters={filters} /> : <AddressOwner of={edge.to} class="hint" />} {edge.to.app && <span class="hint">{edge.to.node}</span>}
		</td>
		<td class="wrap">
			<Text of={edge.to.addr} class="mono" />
		</td>
		<td class="n">{rate(edge.calls.rate)}</td>
		<td class="n">{count(edge.calls.count)}</td>
		<Percent figures={edge.calls} />
		<td class="n">{msFine(edge.calls.mean)}</td>
		<td class="n">{msFine(edge.calls.p50)}</td>
		<td class="n">{msFine(edge.calls.p99)}</td>
		<td class="n">{msFine(edge.calls.max)}</td>
		<Percent figures={edge.served} />
		<td class="n">{msFine(edge.served?.p50)}</td>
		<td class="n">{msFine(edge.served?.p99)}</td>
	</tr>
);

const Table = ({ edges, filters }) => (
	<div class="sideways" tabIndex={0} role="region" aria-label={t('topo.table')}>
		<table class="plain" id="edges">
			<caption class="sr">{t('topo.table')}</caption>
			<thead>
				<tr>
					{['from', 'to', 'addr', ...NUMBERS].map((name) => (
						<th key={name} scope="col" class={NUMBERS.includes(name) ? 'n' : undefined}>
							{t(`topo.${name}`)}
							{/mean|p50|p99|max/.test(name) && <span class="unit"> {t('col.ms')}</span>}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{edges.map((edge) => (
					<Row key={JSON.stringify([edge.from, edge.to.addr])} edge={edge} filters={filters} />
				))}
			</tbody>
		</table>
	</div>
);

// The drawing, with what folds and finds its boxes.
const Drawing = ({ edges, filters, byApp }) => {
	const [find, setFind] = useState('');
	const [whole, setWhole] = useState(false);
	const graph = useMemo(() => graphOf(edges, { byApp, most: whole ? Infinity : SHOWN }), [edges, byApp, whole]);
	const { total } = graph;
	return (
		<>
			<div class="second">
				<nav class="views" aria-label={t('topo.by')}>
					{[false, true].map((app) => (
						<a key={app} href={topologyAddress(filters, app)} aria-current={app === byApp ? 'true' : undefined}>
							{t(app ? 'topo.by.app' : 'topo.by.host')}
						</a>
					))}
				</nav>
				<input type="search" id="find-box" value={find} placeholder={t('topo.find')} aria-label={t('topo.find')} onInput={(e) => setFind(e.currentTarget.value.trim())} />
				{total > SHOWN && (
					<button type="button" id="fold" onClick={() => setWhole(!whole)}>
						{whole ? t('topo.fold', { n: count(SHOWN - 1) }) : t('topo.unfold', { n: count(total) })}
					</button>
				)}
			</div>
			{graph.folded > 0 && <p class="hint">{t('topo.folded', { n: count(graph.folded) })}</p>}
			<TopologyGraph graph={graph} find={find} />
		</>
	);
};

export const TopologyPage = ({ search }) => {
	useSettings();
	const byApp = new URLSearchParams(search).get('by') === 'app';
	const filters = useMemo(() => readFilters(search), [search]);
	const key = topologyAddress(filters);
	const { data, error } = useStore(topology.state);
	useEffect(() => topology.begin(topologyQuestion(filters)), [key]);
	useEffect(() => topology.end, []);
	const onChange = (f) => go(topologyAddress(f, byApp));
	const { from, to, region, node, app } = filters;
	const used = { from, to, region, node, app };
	return (
		<>
			<main id="content" class="page page-table" tabIndex={-1}>
				<h1>{t('topo.title')}</h1>
				<div class="second red-tools">
					<TimeRange filters={filters} onChange={onChange} />
					{FACETS.map((name) => (
						<Facet key={name} name={name} filters={used} source={ofRed} onChange={(f) => onChange({ ...f, [name]: [f[name] ?? []].flat().slice(-1) })} />
					))}
					<FilterChips filters={used} onChange={onChange} />
					<a href={redAddress(used)}>{t('title.red')}</a>
				</div>
				{error && <QueryError error={error} since={error.since} />}
				{!data && !error && <p class="more">{t('table.loading')}</p>}
				{data && !data.edges.length && <p class="more">{t('topo.none')}</p>}
				{data?.edges.length > 0 && (
					<section class="card">
						<Drawing edges={data.edges} filters={used} byApp={byApp} />
						{data.total > data.edges.length && <p class="hint">{t('topo.cut', { shown: count(data.edges.length), total: count(data.total) })}</p>}
						<Table edges={data.edges} filters={{ from, to, region }} />
					</section>
				)}
			</main>
			<Coverage filters={used} />
		</>
	);
};
