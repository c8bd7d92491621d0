// SPDX-License-Identifier: Apache-2.0
// One abnormal request: the verdict first, then what it rests on.
import { useEffect, useState } from 'preact/hooks';
import { Trouble } from '../banner.jsx';
import { Coverage } from '../coverage.jsx';
import { TimeBar } from '../timebar.jsx';
import { CopyButton, Status, Text, Time } from '../ui.jsx';
import { get } from '../lib/api.js';
import { NONE, canWant, writeFilters } from '../lib/filters.js';
import { redAddress } from '../lib/red.js';
import { bytes, count, duration, errorText, isNumber, isSlow, msFine, reasonText, timeText, visible } from '../lib/format.js';
import { t, word } from '../lib/i18n.js';
import { back } from '../lib/router.js';
import { table } from '../lib/rows.js';

const RETRY_MS = 3000;

const useRequest = (id) => {
	const known = table.get().rows.find((r) => r.id === id) ?? null;
	const [state, set] = useState({ id, req: known, error: null });
	useEffect(() => {
		let gone = false;
		let timer = 0;
		const ask = async () => {
			try {
				const req = await get(`/api/v1/requests/${encodeURIComponent(id)}`);
				if (!gone) set({ id, req, error: null });
			} catch (error) {
				if (gone) return;
				set((was) => ({ id, req: was.id === id ? was.req : null, error }));
				if (error.kind !== 'api') timer = setTimeout(ask, RETRY_MS);
			}
		};
		ask();
		return () => {
			gone = true;
			clearTimeout(timer);
		};
	}, [id]);
	return state.id === id ? state : { id, req: known, error: null };
};

const Back = () => (
	<button type="button" class="quiet" id="back" onClick={back}>
		← {t('back')}
	</button>
);

// An id begins with its time: what has aged out can at least say when it was.
const timeOfId = (id) => {
	const us = /^([0-9a-f]{1,13})-/.exec(id)?.[1];
	return us ? new Date(parseInt(us, 16) / 1000).toISOString() : null;
};

const Missing = ({ id, error }) => {
	const gone = error.status === 410;
	return (
		<main class="page missing" id="content">
			<div class="tools">
				<Back />
			</div>
			<h1>{t(gone ? 'ev.gone' : 'ev.notfound')}</h1>
			{gone && <p>{t('ev.gone.was', { time: timeText(timeOfId(id)) })}</p>}
			<p>{t(gone ? 'ev.gone.do' : 'ev.notfound.do')}</p>
			{gone && (
				<p class="hint">
					<Text of={error.message} />
				</p>
			)}
		</main>
	);
};

const Facts = ({ title, rows }) => (
	<section class="card">
		<h2>{title}</h2>
		<dl class="facts">
			{rows
				.filter(Boolean)
				.map(([name, value]) => (
					<div key={name}>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</div>
				))}
		</dl>
	</section>
);

const UpsHead = () => (
	<thead>
		<tr>
			<th scope="col">{t('ev.ups.n')}</th>
			<th scope="col">{t('ev.ups.addr')}</th>
			{['start', 'connect', 'response'].map((name) => (
				<th key={name} scope="col" class="n">
					{t(`ev.ups.${name}`)} <span class="unit">ms</span>
				</th>
			))}
			<th scope="col">{t('ev.ups.status')}</th>
			<th scope="col">{t('ev.ups.error')}</th>
			<th scope="col">{t('ev.ups.reused')}</th>
			<th scope="col" class="n">
				{t('ev.ups.retrans')}
			</th>
			<th scope="col" class="n">
				{t('ev.ups.rtt')} <span class="unit">ms</span>
			</th>
		</tr>
	</thead>
);

const Upstreams = ({ req }) => {
	const unknown = (req.flags ?? []).includes('upstreamUnknown');
	const ups = req.upstreams ?? [];
	return (
		<section class="card wide" id="upstreams">
			<h2>{t('ev.ups')}</h2>
			{!ups.length && <p>{t(unknown ? 'ev.ups.unknown' : 'ev.ups.none')}</p>}
			{ups.length > 0 && (
				<div class="sideways" tabIndex={0} role="region" aria-label={t('ev.ups')}>
					<table class="plain">
						<UpsHead />
						<tbody>
							{ups.map((up, i) => (
								<tr key={i}>
									<td>{i + 1}</td>
									<td class="mono">
										<Text of={up.addr} />
									</td>
									<td class="n">{msFine(up.startTime)}</td>
									<td class="n">{msFine(up.connectTime)}</td>
									<td class="n">{msFine(up.responseTime)}</td>
									<td>{up.status ? <Status status={up.status} slow={false} /> : <Status status={null} />}</td>
									<td>
										<Text of={errorText(up.error)} />
									</td>
									<td>{t(up.reused ? 'ev.ups.kept' : 'ev.ups.fresh')}</td>
									<td class="n">{count(up.retransmits)}</td>
									<td class="n">{msFine(up.rtt)}</td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
			)}
		</section>
	);
};

const withMs = (n) => (isNumber(n) ? `${msFine(n)} ms` : '–');

const About = ({ req }) => (
	<Facts
		title={t('ev.request')}
		rows={[
			[t('ev.method'), <Text of={req.method} />],
			[t('ev.path'), <Text of={req.path} class="mono wrap" cut={4096} />],
			[
				t('ev.route'),
				<a href={writeFilters({ app: [req.app], route: [req.route], view: 'rows' })}>
					<Text of={req.route} class="mono" />
				</a>,
			],
			[
				t('group.red'),
				<a id="red" href={redAddress({ app: [req.app ?? ''], route: [req.route ?? ''] })}>
					{t('red.of')}
				</a>,
			],
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
				<a href={writeFilters({ node: [req.node], view: 'rows' })}>
					<Text of={req.node} />
				</a>,
			],
			[t('ev.region'), <Text of={req.region} />],
			[
				t('col.app'),
				<a href={writeFilters({ app: [req.app], view: 'rows' })}>
					<Text of={req.app} />
				</a>,
			],
			[t('ev.pid'), <span class="mono">{req.pid ?? '–'}</span>],
			isNumber(req.tid) && [t('ev.tid'), <span class="mono">{req.tid}</span>],
			[t('ev.comm'), <Text of={req.comm} class="mono" />],
			[t('ev.remote'), <Text of={req.remoteAddr} class="mono" />],
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

const Json = ({ req }) => (
	<details class="card wide json">
		<summary>{t('ev.json')}</summary>
		<CopyButton label={t('copy')} text={() => JSON.stringify(req, null, 2)} />
		<pre>{visibleLines(JSON.stringify(req, null, 2))}</pre>
	</details>
);
const visibleLines = (text) => text.split('\n').map(visible).join('\n');

// An address may hold anything; what cannot be decoded is no id.
const decode = (text) => {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
};

const MINUTE_MS = 60e3;

// What its node may have missed around it: then what is not here may have been there.
const Around = ({ req }) => {
	const ends = { from: Date.parse(req.time) - MINUTE_MS, to: (Date.parse(req.end) || Date.parse(req.time)) + MINUTE_MS };
	const filters = { from: new Date(ends.from).toISOString(), to: new Date(ends.to).toISOString() };
	if (canWant(req.node ?? NONE)) filters.node = [req.node || NONE];
	return <Coverage filters={filters} of={t('cov.around', { node: visible(req.node ?? '–').slice(0, 60) })} />;
};

export const RequestPage = ({ id }) => {
	const decoded = decode(id);
	const { req, error } = useRequest(decoded);
	if (error?.kind === 'api') return <Missing id={decoded} error={error} />;
	if (!req) return <main class="page">{error ? <Trouble error={error} /> : <p class="more">{t('table.loading')}</p>}</main>;
	return (
		<>
			<main class="page" id="content">
				<div class="tools">
					<Back />
					<CopyButton class="quiet" label={t('ev.permalink')} text={() => `${location.origin}/requests/${decoded}`} />
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
				</p>
				<div class="cards">
					<TimeBar req={req} />
					<Upstreams req={req} />
					<About req={req} />
					<Where req={req} />
					<Socket req={req} />
					<Json req={req} />
				</div>
			</main>
			<Around req={req} />
		</>
	);
};
