// SPDX-License-Identifier: Apache-2.0
// One event: the verdict first, then its evidence, the requests affected, and the node around it.
import { useMemo } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { DiskLatency } from '../features/request/disk_latency.jsx';
import { Evidence } from '../features/request/evidence_table.jsx';
import { Back, Facts, Json, NotFound, decode } from '../ui/detail_page.jsx';
import { Summary } from '../features/request/summary.jsx';
import { culpritOf } from '../features/request/time_shares.js';
import { NearbyEvents, Failed, NearbyRequests, around } from '../features/request/nearby.jsx';
import { EvidenceIcicle } from '../chart/icicle_chart.jsx';
import { Severity } from '../ui/severity.jsx';
import { dayOf } from '../features/request/similar.jsx';
import { lazy } from '../ui/lazy.jsx';
import { TagsAtTime } from '../ui/node_tags.jsx';
import { EventBar } from '../features/request/time_bar.jsx';
import { CopyButton, Text, Time } from '../ui/elements.jsx';
import { useQuery } from '../base/use_query.js';
import { eventHref, eventsAddress } from '../data/events.js';
import { bytes, count, duration, isNumber, msFine, reasonText, timeParts, timeText, visible } from '../text/format.js';
import { NONE, isQueryable, writeFilters } from '../data/filters.js';
import { t, useSettings, word } from '../text/i18n.js';
import { messages } from '../text/messages.js';
import { State, howLong } from './events_page.jsx';

const NodeContext = lazy(() => import('../features/request/node_context.jsx'), 'NodeContext');

const SIMILAR = 200;
const LISTED = 8;
/* known parameters come first, in this order */
const ORDER = ['comm', 'call', 'file', 'dev', 'bytes', 'offset', 'blocked_ms', 'cpu_ms'];
const place = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
const IN_BYTES = new Set(['bytes', 'offset', 'size']);

const paramText = (name, value) => {
	if (!isNumber(value)) return String(value);
	if (IN_BYTES.has(name)) return `${bytes(value)} (${count(value)})`;
	return /(^|_)ms$/.test(name) ? `${msFine(value)} ms` : String(value);
};

const What = ({ event }) => (
	<Facts
		title={t('event.what')}
		id="params"
		class="two"
		rows={[
			[t('event.ms'), `${howLong(event)} ms`],
			...Object.entries(event.params ?? {})
				.filter(([name]) => name !== 'ms')
				.sort(([a], [b]) => place(a) - place(b))
				.map(([name, value]) => [`param.${name}` in messages ? t(`param.${name}`) : visible(name).slice(0, 40), <Text of={paramText(name, value)} class="mono wrap" />]),
			[t('ev.code'), <Text of={event.reason?.code} class="mono" />],
			[t('event.kind'), <Text of={event.kind} class="mono" />],
		]}
	/>
);

const Where = ({ event }) => (
	<Facts
		title={t('ev.who')}
		rows={[
			[
				t('col.node'),
				<a href={eventsAddress({ node: event.node })}>
					<Text of={event.node} />
				</a>,
			],
			[t('ev.region'), <Text of={event.region} />],
			[t('filter.tag'), <TagsAtTime node={event.node} time={event.time} />],
			[t('ev.pid'), <span class="mono">{event.pid ?? '–'}</span>],
			isNumber(event.tid) && [t('ev.tid'), <span class="mono">{event.tid}</span>],
			[t('ev.comm'), <Text of={event.comm} class="mono" />],
		]}
	/>
);

// The API filters by node and kind; process and file are counted here, over its answer. The most similar come first.
const Similar = ({ event }) => {
	const range = useMemo(() => dayOf(event.time), [event.id]);
	const wanted = isQueryable(event.node ?? NONE) && isQueryable(event.kind ?? NONE);
	const { data, error } = useQuery(wanted ? '/api/v1/events' : null, [['from', range.from], ['to', range.to], ['node', event.node ?? NONE], ['kind', event.kind ?? NONE], ['limit', SIMILAR]]);
	const others = (data?.events ?? []).filter((e) => e.id !== event.id);
	const mate = (e) => e.comm === event.comm;
	const file = (e) => Boolean(e.params?.file) && e.params.file === event.params?.file;
	const alike = [...others].sort((a, b) => 2 * file(b) + mate(b) - 2 * file(a) - mate(a));
	const said = !others.length ? 'none' : data.next ? 'cut' : 'some';
	return (
		<section class="card wide" id="similar">
			<h2>{t('similar.events')}</h2>
			<Failed error={error} />
			{!data && !error && <p>{t('table.loading')}</p>}
			{data && <p class="sum">{t(`similar.events.${said}`, { n: count(others.length), mates: count(others.filter(mate).length), files: count(others.filter(file).length), from: timeText(range.from, false), to: timeText(range.to, false) })}</p>}
			<ul class="then">
				{alike.slice(0, LISTED).map((e) => (
					<li key={e.id}>
						<span class="mono">{timeText(e.time)}</span>{' '}
						<a href={eventHref(e)}>
							<Text of={reasonText(e.reason)} cut={300} />
						</a>
					</li>
				))}
			</ul>
			{others.length > LISTED && <a href={eventsAddress({ ...range, node: event.node, kind: event.kind })}>{t('nearby.events.all')}</a>}
		</section>
	);
};

const MINUTE_MS = 60e3;

const Around = ({ event }) => {
	const ends = [Date.parse(event.time) - MINUTE_MS, (Date.parse(event.end) || Date.parse(event.time)) + MINUTE_MS].map((ms) => new Date(ms).toISOString());
	const filters = { from: ends[0], to: ends[1], node: isQueryable(event.node ?? NONE) ? [event.node || NONE] : undefined };
	return <Coverage filters={filters} of={t('cov.around', { node: visible(event.node ?? '–').slice(0, 60) })} />;
};

const linksOf = (event) => [
	{ href: '#nearby', text: t('nearby.title') },
	{ href: writeFilters({ ...around(event), node: [event.node || NONE] }), text: t('link.node') },
];

const Head = ({ event, id }) => (
	<>
		<div class="tools">
			<Back to="/events" label={t('event.back')} />
			<CopyButton class="quiet" label={t('ev.permalink')} text={() => `${location.origin}/events/${id}`} />
		</div>
		<h1 class="verdict">
			<Text of={reasonText(event.reason)} cut={1000} />
		</h1>
		<p class="line">
			<Severity of={event.severity} /> <span>{visible(word('kind.', event.kind ?? '–')).slice(0, 60)}</span>
			<span class="mono">
				<Text of={event.node} cut={60} /> · <Text of={event.comm} cut={40} />[{event.pid ?? '–'}]
			</span>
		</p>
		<p class="line hint">
			<Time of={event.time} />
			<span>{t('ev.ago', { time: duration(Date.now() - Date.parse(event.time)) })}</span>
			<State of={event} />
		</p>
	</>
);

export const EventPage = ({ id }) => {
	const { zone } = useSettings();
	const decoded = decode(id);
	const { data: event, error } = useQuery(`/api/v1/events/${encodeURIComponent(decoded)}`);
	if (error?.kind === 'api') return <NotFound id={decoded} error={error} what="event" back={<Back to="/events" label={t('event.back')} />} />;
	if (!event) return <main class="page">{error ? <QueryError error={error} /> : <p class="more">{t('table.loading')}</p>}</main>;
	const offset = timeParts(event.time)?.zone ?? zone;
	return (
		<>
			<main class="page" id="content">
				<Head event={event} id={decoded} />
				<Summary of={event} ms={event.ms} error={event.errorMs} found={{ main: null, who: culpritOf(event) }} process links={linksOf(event)} />
				<div class="cards">
					<EventBar event={event} />
					<What event={event} />
					<Where event={event} />
					<EvidenceIcicle of={event} />
					<Evidence of={event} kind="event" zone={offset} />
					<DiskLatency of={event} />
					<NodeContext node={event.node} time={event.time} end={event.end} />
					<NearbyRequests of={event} />
					<NearbyEvents of={event} less={event.id} />
					<Similar event={event} />
					<Json of={event} />
				</div>
			</main>
			<Around event={event} />
		</>
	);
};
