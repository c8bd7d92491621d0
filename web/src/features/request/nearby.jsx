// SPDX-License-Identifier: Apache-2.0
// Other abnormal requests and other events of the node at the moment of the request or event.
import { Patterns, Swatch } from '../../ui/reasons.jsx';
import { Severity } from '../../ui/severity.jsx';
import { TableHead, Text } from '../../ui/elements.jsx';
import { useQuery } from '../../base/use_query.js';
import { count, ms, reasonText, timeParts, timeText, visible } from '../../text/format.js';
import { NONE, isQueryable, pairs, writeFilters } from '../../data/filters.js';
import { eventHref, eventsAddress } from '../../data/events.js';
import { t, word } from '../../text/i18n.js';

const AROUND_MS = 10e3;
const SHOWN = 20;
const ASKED = 100;
const LISTED = 10;

// From ten seconds before the beginning to ten seconds after the end.
export const around = (of) => {
	const begin = Date.parse(of.time);
	const end = Math.max(begin, Date.parse(of.end) || begin);
	return { from: new Date(begin - AROUND_MS).toISOString(), to: new Date(end + AROUND_MS).toISOString() };
};

export const Failed = ({ error }) => error && <p class="warn">{t('part.failed', { message: visible(error.message) })}</p>;

const same = (group, req) => req && group.app === req.app && group.route === req.route && group.reason?.code === req.reason?.code;
export const filtersOf = (group, range) => {
	const f = { ...range };
	for (const [name, value] of [['node', group.node], ['app', group.app], ['route', group.route], ['reason', group.reason?.code]]) if (isQueryable(value ?? NONE)) f[name] = [value || NONE];
	return f;
};

const NearbyRow = ({ group, range }) => (
	<tr>
		<td class="wrap">
			<Text of={group.app} cut={60} />
		</td>
		<td class="wrap mono">
			<Text of={group.route} cut={120} />
		</td>
		<td>
			<Swatch code={group.reason?.code} /> <Text of={word('reason.', group.reason?.code ?? 'unknown')} />
		</td>
		<td class="n">{count(group.count)}</td>
		<td class="n">{ms(group.totalTimeP50)}</td>
		<td class="n">{ms(group.totalTimeMax)}</td>
		<td>
			<a href={writeFilters(filtersOf(group, range))} aria-label={t('group.rows.title', { what: visible(`${group.app} ${group.route}`).slice(0, 80) })}>
				{t('group.rows')}
			</a>
		</td>
	</tr>
);

const NearbyTable = ({ groups, range }) => (
	<div class="sideways" tabIndex={0} role="region" aria-label={t('nearby.title')}>
		<table class="plain">
			<TableHead of={['col.app', 'group.route', 'col.reason', 'group.count', 'nearby.median', 'nearby.longest', 'group.links']} n={['group.count']} ms={['nearby.median', 'nearby.longest']} />
			<tbody>
				{groups.slice(0, SHOWN).map((g) => (
					<NearbyRow key={[g.region, g.app, g.route, g.reason?.code].join('\n')} group={g} range={range} />
				))}
			</tbody>
		</table>
	</div>
);

const OtherNodes = ({ node, range }) => {
	const { data } = useQuery('/api/v1/requests/count', pairs({ ...range, node: [`!${node}`] }));
	if (!data) return null;
	if (!data.count) return <p class="hint">{t('nearby.elsewhere.none')}</p>;
	return (
		<p>
			<a href={writeFilters({ ...range, node: [`!${node}`] })}>{t('nearby.elsewhere', { n: `${data.more ? '> ' : ''}${count(data.count)}` })}</a>
		</p>
	);
};

// req: the request of the page, which is left out; an event page has none.
export const NearbyRequests = ({ of, req }) => {
	const range = around(of);
	const wanted = isQueryable(of.node ?? NONE);
	const { data, error } = useQuery(wanted ? '/api/v1/requests/groups' : null, [...pairs({ ...range, node: [of.node || NONE] }), ['limit', 100]]);
	const groups = (data?.groups ?? []).map((g) => (same(g, req) ? { ...g, count: g.count - 1 } : g)).filter((g) => g.count > 0).sort((a, b) => b.count - a.count);
	const n = groups.reduce((sum, g) => sum + g.count, 0);
	return (
		<section class="card wide" id="nearby">
			<Patterns />
			<h2>{t('nearby.title')}</h2>
			<p class="sum">
				{!data && !error && t('table.loading')}
				{data && t(n ? 'nearby.some' : 'nearby.none', { n: count(n), node: visible(of.node ?? '–').slice(0, 60) })}{' '}
				{n > 0 && <a href={writeFilters({ ...range, node: [of.node || NONE] })}>{t('nearby.all')}</a>}
			</p>
			<Failed error={error} />
			{n > 0 && <NearbyTable groups={groups} range={range} />}
			{wanted && of.node && <OtherNodes node={of.node} range={range} />}
		</section>
	);
};

// Events of the node around that moment, longest first, without the one of the page.
export const NearbyEvents = ({ of, less = null }) => {
	const range = around(of);
	const params = [['from', range.from], ['to', range.to], ['node', of.node ?? ''], ['limit', ASKED]];
	const { data, error } = useQuery(of.node ? '/api/v1/events' : null, params);
	const events = (data?.events ?? []).filter((e) => e.id !== less).sort((a, b) => b.ms - a.ms);
	return (
		<section class="card wide" id="events-then">
			<h2>{t('nearby.events.title')}</h2>
			<Failed error={error} />
			{!data && !error && <p>{t('table.loading')}</p>}
			{data && !events.length && <p>{t('nearby.events.none')}</p>}
			{events.length > LISTED && <p>{t('nearby.events.cut', { n: `${data.next ? '≥ ' : ''}${count(events.length)}`, listed: LISTED })}</p>}
			{events.length > 0 && (
				<ul class="then">
					{events.slice(0, LISTED).map((e) => (
						<li key={e.id}>
							<Severity of={e.severity} /> <span class="mono">{timeParts(e.time)?.time}</span>{' '}
							<a href={eventHref(e)}>
								<Text of={reasonText(e.reason)} cut={300} />
							</a>
						</li>
					))}
				</ul>
			)}
			{data && (
				<p class="hint">
					<a href={eventsAddress({ node: of.node, ...range })}>{t('nearby.events.all')}</a> · {timeText(range.from, false)} – {timeText(range.to, false)}
				</p>
			)}
		</section>
	);
};
