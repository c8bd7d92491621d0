// SPDX-License-Identifier: Apache-2.0
// One incident: the verdict, where it arose, the hosts on its path, its signals, and its history.
import { useState } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { CauseRanking, short } from '../features/incident/cause_ranking.jsx';
import { Back, Json, NotFound, decode } from '../ui/detail_page.jsx';
import { RegionOf } from '../ui/region_list.jsx';
import { HostGraph } from '../features/incident/host_graph.jsx';
import { CopyButton, TableHead, Text, Time } from '../ui/elements.jsx';
import { IncidentActions } from '../features/incident/incident_actions.jsx';
import { IncidentMerge } from '../features/incident/incident_merge.jsx';
import { useQuery } from '../base/use_query.js';
import { count, duration, isNumber, timeText, visible } from '../text/format.js';
import { NONE, isQueryable, writeFilters } from '../data/filters.js';
import { lang, t, useSettings, word } from '../text/i18n.js';
import { titleOf } from '../data/incidents.js';
import { messages } from '../text/messages.js';
import { IncidentState } from './incidents_page.jsx';

const EVERY_MS = 5000;
const MARGIN_MS = 60e3;
const LAST_STEPS = 4;

const around = (signal) => ({
	from: new Date(Date.parse(signal.first) - MARGIN_MS).toISOString(),
	to: new Date(Date.parse(signal.last) + MARGIN_MS).toISOString(),
});

const requestsOf = (signal) => {
	const f = around(signal);
	for (const name of ['node', 'app', 'route']) if (isQueryable(signal[name] ?? NONE)) f[name] = [signal[name] || NONE];
	return writeFilters(f);
};

const Signal = ({ of }) => (
	<tr>
		<td>
			<Text of={of.node} cut={60} />
		</td>
		<td>
			<Text of={of.app} cut={60} />
		</td>
		<td class="mono">
			<Text of={of.route} cut={120} />
		</td>
		<td class="mono">
			<Text of={of.reason} />
		</td>
		<td class="i-time mono">
			<Time of={of.began ?? of.first} />
		</td>
		<td class="i-time mono">
			<Time of={of.ended ?? of.last} />
		</td>
		<td class="n">{count(of.count)}</td>
		<td class="n">{String(of.class).startsWith('error') ? t('inc.sig.failed') : duration(of.excess)}</td>
		<td>
			<a href={requestsOf(of)}>{t('inc.sig.rows')}</a>
			{of.samples?.[0] && (
				<>
					{' · '}
					<a href={`/requests/${encodeURIComponent(of.samples[0])}`}>{t('inc.sig.worst')}</a>
				</>
			)}
		</td>
	</tr>
);

const Signals = ({ of }) => (
	<section class="card wide sideways" id="signals">
		<h2>{t('inc.signals')}</h2>
		{of.order && (
			<p class="hint" id="order">
				<Text of={of.order.text[lang.get()] ?? of.order.text.en} cut={400} />
			</p>
		)}
		<table class="plain">
			<TableHead at="inc.sig." of={['node', 'app', 'route', 'reason', 'first', 'last', 'count', 'excess', 'see']} n={['count', 'excess']} />
			<tbody>
				{(of.evidence ?? []).map((e, i) => (
					<Signal key={i} of={e} />
				))}
			</tbody>
		</table>
	</section>
);

const NodeEvents = ({ of }) => {
	if (!of.events?.length) return null;
	return (
		<section class="card wide sideways" id="node-events">
			<h2>{t('inc.events')}</h2>
			<table class="plain">
				<TableHead at="inc.ev." of={['node', 'kind', 'reason', 'count', 'see']} n={['count']} />
				<tbody>
					{of.events.map((e) => (
						<tr key={`${e.node}\n${e.kind}`}>
							<td>
								<Text of={e.node} cut={60} />
							</td>
							<td>{visible(word('kind.', e.kind ?? '–')).slice(0, 60)}</td>
							<td class="mono">
								<Text of={e.reason} />
							</td>
							<td class="n">{count(e.count)}</td>
							<td>{String(e.worst).startsWith('/events/') && <a href={e.worst}>{t('inc.ev.see')}</a>}</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
};

const stepText = ({ kind, detail = {} }) => {
	const what = detail.app === undefined ? '' : t('inc.step.signal', { app: short(detail.app), route: short(detail.route), node: short(detail.node), class: short(detail.class), count: count(detail.count) });
	if (!(`inc.step.${kind}` in messages)) return visible(word('inc.step.', kind)).slice(0, 60);
	return t(`inc.step.${kind}`, { what, first: short(detail.first), percent: isNumber(detail.share) ? Math.round(100 * detail.share) : '–', signals: isNumber(detail.signals) ? count(detail.signals) : '–' });
};

const Step = ({ of }) => (
	<li>
		<span class="mono hint">{timeText(of.time, false)}</span> {stepText(of)}
		{of.detail?.text && (
			<blockquote>
				<Text of={of.detail.text} cut={1000} />
			</blockquote>
		)}
		{of.who && <span class="hint"> {t('inc.step.by', { who: short(of.who) })}</span>}
	</li>
);

// The first step, the last ones and what people did are shown; the rest on demand.
const Steps = ({ of }) => {
	const [open, setOpen] = useState(false);
	const steps = of.steps ?? [];
	const shown = steps.filter((s, i) => open || i === 0 || i >= steps.length - LAST_STEPS || s.who);
	return (
		<section class="card" id="steps">
			<h2>{t('inc.steps')}</h2>
			<ol class="steps">
				{shown.map((s, i) => (
					<Step key={i} of={s} />
				))}
			</ol>
			{(open || shown.length < steps.length) && (
				<button type="button" class="quiet" id="steps-all" aria-expanded={open} onClick={() => setOpen(!open)}>
					{t(open ? 'inc.steps.few' : 'inc.steps.all', { n: count(steps.length) })}
				</button>
			)}
		</section>
	);
};

// The incident in each region that relays to this collector.
const Parts = ({ of }) =>
	of.parts?.length > 0 && (
		<section class="card" id="parts">
			<h2>{t('inc.parts')}</h2>
			<ul class="steps">
				{of.parts.map((p) => (
					<li key={p.id}>
						<IncidentState of={p} /> <RegionOf name={p.region} path={`/incidents/${encodeURIComponent(p.id)}`} />: <Text of={p.title} cut={400} />
					</li>
				))}
			</ul>
		</section>
	);

const toAction = () => {
	const action = document.getElementById('action');
	action?.scrollIntoView({ block: 'center' });
	action?.querySelector('input')?.focus({ preventScroll: true });
};

const Head = ({ of, id }) => (
	<>
		<div class="tools">
			<Back to="/incidents" label={t('inc.back')} />
			<CopyButton class="quiet" label={t('ev.permalink')} text={() => `${location.origin}/incidents/${id}`} />
			<button type="button" class="quiet" id="to-action" onClick={toAction}>
				{t('inc.to.action')}
			</button>
		</div>
		<h1 class="verdict">
			<Text of={titleOf(of)} cut={1000} />
		</h1>
		<p class="line">
			<IncidentState of={of} />
			<span class="hint">
				<Time of={of.onset} /> – <Time of={of.closed ?? of.last} />
			</span>
		</p>
		{of.mergedInto && (
			<p class="line">
				{t('inc.into')} <a href={`/incidents/${encodeURIComponent(of.mergedInto)}`}>{of.mergedInto}</a>
			</p>
		)}
	</>
);

const ReadOnly = () => (
	<section class="card" id="action">
		<h2>{t('inc.actions')}</h2>
		<p class="hint">{t('inc.readonly')}</p>
	</section>
);

const Actions = ({ of, onDone }) => (
	<>
		<IncidentActions of={of} onDone={onDone} />
		<IncidentMerge key={of.id} of={of} onDone={onDone} />
	</>
);

export const IncidentPage = ({ id }) => {
	useSettings();
	const decoded = decode(id);
	const [turn, setTurn] = useState(0); /* an action repeats the query */
	const { data: of, error } = useQuery(`/api/v1/incidents/${encodeURIComponent(decoded)}`, [], { turn, again: (data) => (data.state === 'open' ? EVERY_MS : 0) });
	const { data: self } = useQuery('/api/v1/console', [], { first: { actions: true } });
	if (error?.kind === 'api') return <NotFound id={decoded} error={error} what="inc" back={<Back to="/incidents" label={t('inc.back')} />} />;
	if (!of) return <main class="page">{error ? <QueryError error={error} /> : <p class="more">{t('table.loading')}</p>}</main>;
	return (
		<main class="page" id="content">
			<Head of={of} id={decoded} />
			<div class="cards">
				<CauseRanking of={of} ranking="time" />
				<CauseRanking of={of} ranking="errors" />
				<HostGraph of={of} />
				<Signals of={of} />
				<NodeEvents of={of} />
				<Parts of={of} />
				<Steps of={of} />
				{self.actions === false ? <ReadOnly /> : <Actions of={of} onDone={() => setTurn(turn + 1)} />}
				<Json of={of} />
			</div>
		</main>
	);
};
