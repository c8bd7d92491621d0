// SPDX-License-Identifier: Apache-2.0
// Ranks the hosts of any time span like those of an incident, even if none was opened.
import { useMemo } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { CauseRanking } from '../features/incident/cause_ranking.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { Facet } from '../features/filter/facet_menu.jsx';
import { FilterChips } from '../features/filter/filter_bar.jsx';
import { TimeRange } from '../ui/time_range.jsx';
import { HostGraph } from '../features/incident/host_graph.jsx';
import { Time } from '../ui/elements.jsx';
import { useQuery } from '../base/use_query.js';
import { ofRed } from '../data/facets.js';
import { readFilters, whereAddress, whereParams } from '../data/filters.js';
import { count } from '../text/format.js';
import { t, useSettings } from '../text/i18n.js';
import { incidentsAddress } from '../data/incidents.js';
import { go } from '../base/router.js';

const EVERY_MS = 20_000;
const FACETS = ['region', 'node'];

const Usual = ({ of }) => (
	<p class="hint" id="usual">
		{t('where.nodes', { n: count(of.nodes) })}{' '}
		{of.usual?.from ? (
			<>
				{t('where.usual')} <Time of={of.usual.from} /> – <Time of={of.usual.to} />
			</>
		) : (
			t('where.nothing')
		)}
	</p>
);

export const WherePage = ({ search }) => {
	useSettings();
	const filters = useMemo(() => readFilters(search), [search]);
	const { from, to, region, node } = filters;
	const used = { from, to, region, node };
	const { data, error } = useQuery('/api/v1/where', whereParams(filters), { again: () => (to ? 0 : EVERY_MS) });
	const onChange = (f) => go(whereAddress(f));
	const first = data?.candidates.find((c) => c.ranking === 'time');
	return (
		<>
			<main id="content" class="page page-table" tabIndex={-1}>
				<h1>{t('title.where')}</h1>
				<p class="hint about">{t('where.about')}</p>
				<div class="second red-tools">
					<TimeRange filters={filters} onChange={onChange} />
					{FACETS.map((name) => (
						<Facet key={name} name={name} filters={used} source={ofRed} onChange={(f) => onChange({ ...f, [name]: [f[name] ?? []].flat().slice(-1) })} />
					))}
					<FilterChips filters={used} onChange={onChange} />
					<a href={incidentsAddress({ from, to })}>{t('title.incidents')}</a>
				</div>
				{error && <QueryError error={error} />}
				{!data && !error && <p class="more">{t('table.loading')}</p>}
				{data && (
					<>
						<Usual of={data} />
						{data.missed?.length > 0 && <p class="hint">{t('where.missed')}</p>}
						<div class="cards">
							<CauseRanking of={data} ranking="calls" />
							<CauseRanking of={data} ranking="time" none={t('where.none')} />
							<CauseRanking of={data} ranking="errors" />
							<HostGraph of={{ ...data, first }} />
						</div>
					</>
				)}
			</main>
			<Coverage filters={used} />
		</>
	);
};
