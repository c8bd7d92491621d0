// SPDX-License-Identifier: Apache-2.0
// The first page: what is wrong now, worst first; the health of each application; and what is watched if nothing is wrong.
import { useEffect, useMemo } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { Icon } from '../ui/elements.jsx';
import { AppHealth } from '../features/now/app_health.jsx';
import { HarmedGroup, OpenIncident, SilentNode } from '../features/now/now_wrong.jsx';
import { status } from '../base/live.js';
import { liveQuery } from '../base/live_query.js';
import { useStore } from '../base/store.js';
import { count, rate } from '../text/format.js';
import { t, useSettings } from '../text/i18n.js';
import { keyOf } from '../data/groups.js';
import { openFirst } from '../data/incidents.js';
import { isSilent, useNodes } from '../data/nodes.js';
import { appsOf, healthQuestion } from '../data/now.js';

const EVERY_MS = 5000;
const HEALTH_EVERY_MS = 15_000;
const RECENT = '-15m';
const INCIDENTS = 20;
const GROUPS = 5;
const SILENT = 10;

const incidents = liveQuery(EVERY_MS);
const groups = liveQuery(EVERY_MS);
const health = liveQuery(HEALTH_EVERY_MS);

const begin = () => {
	incidents.begin(() => ({ path: '/api/v1/incidents', params: [['state', 'open'], ['limit', INCIDENTS]], live: true }));
	groups.begin(() => ({ path: '/api/v1/requests/groups', params: [['from', RECENT], ['sort', 'harm'], ['limit', GROUPS]], live: true }));
	health.begin(healthQuestion);
	return () => [incidents, groups, health].forEach((query) => query.end());
};

// "Nothing" is worth something only beside what was watched.
const Watched = ({ list, data }) => {
	const of = { nodes: count(list.length), servers: count(data.servers?.length ?? 0), rate: rate(Number(data.requestsPerSecond ?? 0)) };
	return <p class="hint">{t('now.watched', of)}</p>;
};

const NoNodes = () => (
	<p class="warn">
		<Icon name="warn" /> {t('empty.nonodes')} {t('empty.nonodes.do')}
	</p>
);

const Wrong = ({ open, list }) => {
	const silent = list.filter(isSilent);
	if (!list.length && !open.length) return <NoNodes />;
	if (!open.length && !silent.length) {
		return (
			<p class="calm">
				<Icon name="ok" /> {t('now.nothing')}
			</p>
		);
	}
	return (
		<ul class="wrong">
			{openFirst(open).map((of) => (
				<OpenIncident key={of.id} of={of} />
			))}
			{silent.slice(0, SILENT).map((of) => (
				<SilentNode key={of.name} of={of} />
			))}
			{silent.length > SILENT && (
				<li>
					<a class="what" href="/nodes">
						<Icon name="warn" /> {t('now.silent.more', { n: count(silent.length - SILENT) })}
					</a>
				</li>
			)}
		</ul>
	);
};

const Harmed = ({ list }) => (
	<section class="card" id="harmed">
		<h2>{t('now.harmed.head')}</h2>
		{list.length ? (
			<ul class="wrong">
				{list.map((of) => (
					<HarmedGroup key={keyOf(of)} of={of} from={RECENT} />
				))}
			</ul>
		) : (
			<p class="calm">
				<Icon name="ok" /> {t('now.harmed.none')}
			</p>
		)}
		<p>
			<a href="/requests">{t('now.requests')}</a>
		</p>
	</section>
);

const Health = ({ data, hour }) => {
	const apps = useMemo(() => appsOf(data.series, hour), [data]);
	return apps.length ? <AppHealth apps={apps} cut={data.total > data.series.length} /> : null;
};

export const NowPage = () => {
	useSettings();
	const open = useStore(incidents.state);
	const harmed = useStore(groups.state);
	const apps = useStore(health.state);
	const { data } = useStore(status);
	const { list } = useNodes();
	useEffect(begin, []);
	const error = open.error ?? harmed.error ?? apps.error;
	return (
		<>
			<main id="content" class="page page-table now" tabIndex={-1}>
				<h1>{t('title.now')}</h1>
				{error && <QueryError error={error} since={error.since} />}
				<section class="card" id="wrong">
					<h2>{t('now.wrong')}</h2>
					{open.data && list ? <Wrong open={open.data.incidents} list={list} /> : <p class="more">{t('table.loading')}</p>}
					{data && list?.length > 0 && <Watched list={list} data={data} />}
				</section>
				{harmed.data && <Harmed list={harmed.data.groups} />}
				{apps.data && <Health data={apps.data} hour={apps.question.hour} />}
			</main>
			<Coverage filters={{}} />
		</>
	);
};
