// SPDX-License-Identifier: Apache-2.0
// One abnormal request: the verdict first, then the evidence.
import { QueryError } from '../ui/banner.jsx';
import { CallTree } from '../features/request/call_tree.jsx';
import { CheckList } from '../features/request/check_list.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { diagnosisOf } from '../features/request/diagnosis.js';
import { DiskLatency } from '../features/request/disk_latency.jsx';
import { Evidence } from '../features/request/evidence_table.jsx';
import { Back, Facts, Json, NotFound, decode } from '../ui/detail_page.jsx';
import { Summary } from '../features/request/summary.jsx';
import { NearbyEvents, NearbyRequests, around } from '../features/request/nearby.jsx';
import { EvidenceIcicle } from '../chart/icicle_chart.jsx';
import { RegionOf } from '../ui/region_list.jsx';
import { Similar } from '../features/request/similar.jsx';
import { lazy } from '../ui/lazy.jsx';
import { TagsAtTime } from '../ui/node_tags.jsx';
import { TimeBar } from '../features/request/time_bar.jsx';
import { CopyButton, Status, Text, Time } from '../ui/elements.jsx';
import { Upstreams } from '../features/request/upstream_tries.jsx';
import { AddressOwner } from '../ui/address_owner.jsx';
import { useQuery } from '../base/use_query.js';
import { NONE, isQueryable, writeFilters } from '../data/filters.js';
import { bytes, count, duration, isNumber, msFine, reasonText, timeParts, visible } from '../text/format.js';
import { t, useSettings, word } from '../text/i18n.js';
import { isSlow } from '../data/limit.js';
import { nodeAround } from '../data/node.js';
import { redAddress } from '../data/red.js';
import { table } from '../data/rows.js';
import { sharesOf, totalOf } from '../features/request/time_shares.js';

const NodeContext = lazy(() => import('../features/request/node_context.jsx'), 'NodeContext');

const withMs = (n) => (isNumber(n) ? `${msFine(n)} ms` : '–');

const About = ({ req }) => (
	<Facts
		title={t('ev.request')}
		rows={[
			[t('ev.method'), <Text of={req.method} />],
			[t('ev.path'), <Text of={req.path} class="mono wrap" cut={4096} />],
			[
				t('ev.route'),
				<a href={writeFilters({ app: [req.app], route: [req.route] })}>
					<Text of={req.route} class="mono" />
				</a>,
			],
			[
				t('group.red'),
				<a id="red" href={redAddress({ app: [req.app ?? ''], route: [req.route ?? ''] })}>
					{t('red.of')}
				</a>,
			],
			req.ids?.trace && ['traceparent', <Text of={`${req.ids.trace}-${req.ids.parent}`} class="mono wrap" />],
			req.ids?.request && ['X-Request-Id', <Text of={req.ids.request} class="mono wrap" />],
			[t('ev.in'), bytes(req.bytesIn)],
			[t('ev.out'), bytes(req.bytesOut)],
			[t('ev.code'), <Text of={req.reason?.code} class="mono" />],
			[
				t('ev.flags'),
				req.flags?.length ? (
					<ul>
						{req.flags.map((f) => (
							<li key={f}>{word('flag.', f)}</li>
						))}
					</ul>
				) : (
					t('ev.noflags')
				),
			],
		]}
	/>
);

const Where = ({ req }) => (
	<Facts
		title={t('ev.who')}
		rows={[
			[
				t('col.node'),
				<a href={writeFilters({ node: [req.node] })}>
					<Text of={req.node} />
				</a>,
			],
			[t('ev.region'), <RegionOf name={req.region} path={`/requests/${req.id}`} />],
			[t('filter.tag'), <TagsAtTime node={req.node} time={req.time} />],
			[
				t('col.app'),
				<a href={writeFilters({ app: [req.app] })}>
					<Text of={req.app} />
				</a>,
			],
			[t('ev.pid'), <span class="mono">{req.pid ?? '–'}</span>],
			isNumber(req.tid) && [t('ev.tid'), <span class="mono">{req.tid}</span>],
			[t('ev.comm'), <Text of={req.comm} class="mono" />],
			[
				t('ev.remote'),
				<>
					<Text of={req.remoteAddr} class="mono" /> <AddressOwner of={req.remotePlace} class="hint" />
				</>,
			],
			[t('ev.local'), <Text of={req.local} class="mono" />],
		]}
	/>
);

const Socket = ({ req }) => (
	<Facts
		title={t('ev.socket')}
		rows={[
			[t('ev.retrans'), count(req.socket?.retransmits)],
			[t('ev.rtt'), withMs(req.socket?.rtt)],
			[t('ev.ooo'), count(req.socket?.outOfOrder)],
		]}
	/>
);

const MINUTE_MS = 60e3;

// The losses of its node around it: missing data may have been lost.
const Around = ({ req }) => {
	const ends = { from: Date.parse(req.time) - MINUTE_MS, to: (Date.parse(req.end) || Date.parse(req.time)) + MINUTE_MS };
	const filters = { from: new Date(ends.from).toISOString(), to: new Date(ends.to).toISOString() };
	if (isQueryable(req.node ?? NONE)) filters.node = [req.node || NONE];
	return <Coverage filters={filters} of={t('cov.around', { node: visible(req.node ?? '–').slice(0, 60) })} />;
};

// Links that follow from the verdict: other requests of that upstream or client, other data of the node.
const linksOf = (req) => {
	const range = around(req);
	const code = req.reason?.code ?? 'unknown';
	const links = [];
	const follow = (name, value) => typeof value === 'string' && value && isQueryable(value) && links.push({ href: writeFilters({ ...range, [name]: [value] }), text: t(`link.${name}`) });
	const { addr, peer } = req.reason?.params ?? {};
	const upstream = code.startsWith('up.') ? (addr ?? req.upstreamAddr) : (req.upstreams ?? []).find((up) => up.addr === peer)?.addr;
	follow('upstream', upstream);
	if (!upstream && /^(client|net)\./.test(code)) follow('remote', req.remoteAddr?.replace(/:\d+$/, ''));
	links.push(req.node ? { href: nodeAround(req.node, Date.parse(req.time), Date.parse(req.end) || Date.parse(req.time)), text: t('np.same') } : { href: '#node-context', text: t('link.context') }, { href: '#nearby', text: t('nearby.title') });
	return links;
};

const Head = ({ req, id }) => (
	<>
		<div class="tools">
			<Back />
			<CopyButton class="quiet" label={t('ev.permalink')} text={() => `${location.origin}/requests/${id}`} />
		</div>
		<h1 class="verdict">
			<Text of={reasonText(req.reason)} cut={1000} />
		</h1>
		<p class="line">
			<Status status={req.status} slow={isSlow(req)} words />
			<span class="mono">
				<bdi class="method">{visible(req.method ?? '')}</bdi> <Text of={req.path} cut={512} />
			</span>
		</p>
		<p class="line hint">
			<Time of={req.time} />
			<span>{t('ev.ago', { time: duration(Date.now() - Date.parse(req.time)) })}</span>
			{req.incident && <a href={`/incidents/${encodeURIComponent(req.incident)}`}>{t('inc.of')}</a>}
		</p>
	</>
);

const Cards = ({ req, zone, trace, look }) => {
	const split = sharesOf(req).length > 0;
	return (
		<div class="cards">
			<TimeBar req={req} />
			<Upstreams req={req} order={split} />
			<CallTree req={req} trace={trace} look={look} />
			<EvidenceIcicle of={req} total={totalOf(req)} />
			<Evidence of={req} kind="request" zone={timeParts(req.time)?.zone ?? zone} />
			<CheckList req={req} split={split} />
			<DiskLatency of={req} />
			<NodeContext node={req.node} time={req.time} end={req.end} />
			<NearbyRequests of={req} req={req} />
			<NearbyEvents of={req} />
			<Similar req={req} />
			<About req={req} />
			<Where req={req} />
			<Socket req={req} />
			<Json of={req} />
		</div>
	);
};

export const RequestPage = ({ id }) => {
	const { zone } = useSettings();
	const decoded = decode(id);
	const known = table.get().rows.find((r) => r.id === decoded) ?? null;
	const { data: req, error } = useQuery(`/api/v1/requests/${encodeURIComponent(decoded)}`, [], { first: known });
	const { data: trace } = useQuery(req && `/api/v1/requests/${encodeURIComponent(req.id)}/trace`);
	if (error?.kind === 'api') return <NotFound id={decoded} error={error} />;
	if (!req) return <main class="page">{error ? <QueryError error={error} /> : <p class="more">{t('table.loading')}</p>}</main>;
	const found = diagnosisOf(req, trace);
	return (
		<>
			<main class="page" id="content">
				<Head req={req} id={decoded} />
				<Summary of={req} ms={totalOf(req)} normal={req.normalTime} times={req.timesNormal} found={found} links={linksOf(req)} />
				<Cards key={req.id} req={req} zone={zone} trace={trace} look={found.look} />
			</main>
			<Around req={req} />
		</>
	);
};
