// SPDX-License-Identifier: Apache-2.0
// Which host it was, of any time: as an incident is ranked, also where none was opened.
import { useMemo } from 'preact/hooks';
import { Trouble } from '../banner.jsx';
import { Causes } from '../causes.jsx';
import { Coverage } from '../coverage.jsx';
import { Facet } from '../facets.jsx';
import { Chips } from '../filters.jsx';
import { Range } from '../range.jsx';
import { Through } from '../through.jsx';
import { Time } from '../ui.jsx';
import { useAnswer } from '../lib/answer.js';
import { ofRed } from '../lib/facets.js';
import { readFilters } from '../lib/filters.js';
import { count } from '../lib/format.js';
import { t, useSettings } from '../lib/i18n.js';
import { incidentsAddress } from '../lib/incidents.js';
import { go } from '../lib/router.js';
import { whereAddress, whereParams } from '../lib/where.js';

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
	const { data, error } = useAnswer('/api/v1/where', whereParams(filters), { again: () => (to ? 0 : EVERY_MS) });
	const onChange = (f) => go(whereAddress(f));
	const first = data?.candidates.find((c) => c.ranking === 'time');
	return (
		<>
			<main id="content" class="page page-table" tabIndex={-1}>
				<h1>{t('title.where')}</h1>
				<p class="hint about">{t('where.about')}</p>
				<div class="second red-tools">
					<Range filters={filters} onChange={onChange} />
					{FACETS.map((name) => (
						<Facet key={name} name={name} filters={used} source={ofRed} onChange={(f) => onChange({ ...f, [name]: [f[name] ?? []].flat().slice(-1) })} />
					))}
					<Chips filters={used} onChange={onChange} />
					<a href={incidentsAddress({ from, to })}>{t('title.incidents')}</a>
				</div>
				{error && <Trouble error={error} />}
				{!data && !error && <p class="more">{t('table.loading')}</p>}
				{data && (
					<>
						<Usual of={data} />
						{data.missed?.length > 0 && <p class="hint">{t('where.missed')}</p>}
						<div class="cards">
							<Causes of={data} ranking="calls" />
							<Causes of={data} ranking="time" none={t('where.none')} />
							<Causes of={data} ranking="errors" />
							<Through of={{ ...data, first }} />
						</div>
					</>
				)}
			</main>
			<Coverage filters={used} />
		</>
	);
};
