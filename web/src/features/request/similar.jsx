// SPDX-License-Identifier: Apache-2.0
// How often the same happened within a day, and on which nodes.
import { useMemo } from 'preact/hooks';
import { Sparkline } from '../../chart/sparkline.jsx';
import { Failed, filtersOf } from './nearby.jsx';
import { TableHead, Text } from '../../ui/elements.jsx';
import { useQuery } from '../../base/use_query.js';
import { count, msFine, timeText } from '../../text/format.js';
import { NONE, isQueryable, pairs, writeFilters } from '../../data/filters.js';
import { t } from '../../text/i18n.js';

const DAY_MS = 24 * 3600e3;
const LEAST_MS = 1e3;
const BINS = 48;
const SHOWN = 20;

const NodeRow = ({ group, range }) => (
	<tr>
		<td class="wrap">
			<Text of={group.node} cut={60} />
		</td>
		<td class="n">{count(group.count)}</td>
		<td>{timeText(group.first, false)}</td>
		<td>{timeText(group.last, false)}</td>
		<td class="n">{msFine(group.totalTimeP50)}</td>
		<td class="n">{msFine(group.totalTimeMax)}</td>
		<td>
			<a href={writeFilters(filtersOf(group, range))}>{t('group.rows')}</a>{' '}
			<a href={`/requests/${encodeURIComponent(group.newest)}`}>{t('similar.newest')}</a>
		</td>
	</tr>
);

const NodeTable = ({ groups, range }) => (
	<div class="sideways" tabIndex={0} role="region" aria-label={t('similar.title')}>
		<table class="plain">
			<TableHead at="similar." of={['node', 'count', 'first', 'last', 'median', 'longest', 'see']} n={['count']} ms={['median', 'longest']} />
			<tbody>
				{groups.map((g) => (
					<NodeRow key={`${g.region}\n${g.node}`} group={g} range={range} />
				))}
			</tbody>
		</table>
	</div>
);

// The 24 hours that end with this request or event, or now if it is less than a day old: later ones count, too.
export const dayOf = (time) => {
	const at = Date.parse(time);
	const to = Math.max(at + LEAST_MS, Math.min(Date.now(), at + DAY_MS / 2));
	return { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString() };
};

export const Similar = ({ req }) => {
	const range = useMemo(() => dayOf(req.time), [req.id]);
	const filters = { ...range, app: [req.app || NONE], route: [req.route || NONE], reason: [req.reason?.code ?? 'unknown'] };
	const wanted = isQueryable(req.app ?? NONE) && isQueryable(req.route ?? NONE);
	const groups = useQuery(wanted ? '/api/v1/requests/groups' : null, [...pairs(filters), ['limit', SHOWN]]);
	const bins = useQuery(wanted ? '/api/v1/requests/histogram' : null, [...pairs(filters), ['bins', BINS]]);
	const values = (bins.data?.bins ?? []).map((bin) => Object.values(bin.counts).reduce((a, b) => a + b, 0));
	const n = values.reduce((a, b) => a + b, 0);
	return (
		<section class="card wide" id="similar">
			<h2>{t('similar.title')}</h2>
			{!wanted && <p>{t('similar.cannot')}</p>}
			<Failed error={groups.error ?? bins.error} />
			{wanted && !bins.data && !bins.error && <p>{t('table.loading')}</p>}
			{bins.data && (
				<>
					<p class="sum">{t(n > 1 ? 'similar.some' : 'similar.none', { n: count(n), from: timeText(range.from, false), to: timeText(range.to, false) })}</p>
					{n > 1 && <Sparkline values={values} label={t('group.spark.title', { n: count(n), most: count(Math.max(...values)) })} />}
				</>
			)}
			{n > 1 && groups.data && <NodeTable groups={groups.data.groups} range={range} />}
		</section>
	);
};
