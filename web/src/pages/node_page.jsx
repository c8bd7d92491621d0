// SPDX-License-Identifier: Apache-2.0
// The page of one node: all its measurements on one time axis. The range is in the address; without an end it is live.
// Groups of panels are loaded as they come into view.
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Coverage } from '../ui/coverage_footer.jsx';
import { PanelGroup } from '../features/node/panel_group.jsx';
import { EventLane, endOf } from '../features/node/event_lane.jsx';
import { TimeRange } from '../ui/time_range.jsx';
import { Clock, Source } from './nodes_page.jsx';
import { CopyButton, Icon, Text } from '../ui/elements.jsx';
import { get } from '../base/api.js';
import { useQuery } from '../base/use_query.js';
import { eventsAddress } from '../data/events.js';
import { isQueryable, writeFilters } from '../data/filters.js';
import { panelDataOf } from '../data/columns.js';
import { duration, isNumber, timeText, visible } from '../text/format.js';
import { localized, t, useSettings } from '../text/i18n.js';
import { onKey } from '../base/keyboard.js';
import { isOpenEnded, nodeAddress, rangeOf, readNode } from '../data/node.js';
import { clockOff, isSilent, useNodes } from '../data/nodes.js';
import { GROUPS, ownGroup, panelsFor } from '../data/panels.js';
import { profileAddress } from '../data/profile.js';
import { quantity } from '../text/quantity.js';
import { redAddress } from '../data/red.js';
import { go } from '../base/router.js';
import { useColumns, useInView } from '../features/node/use_columns.js';
import { topologyAddress } from '../data/topology.js';

const EVERY_MS = 10e3;
const RARELY_MS = 60e3;
const EVENTS = 1000;
const BINS = 120;
const LEAST_MS = 20e3;
const NONE = [];
const ALL = 64; /* sources; a probe has fewer */
const iso = (ms) => new Date(ms).toISOString();

// Long ranges have long steps and need no redraw every few seconds.
const everyOf = (range) => Math.min(RARELY_MS, Math.max(EVERY_MS, (range.to - range.from) / 360));

// The current time, updated every few seconds while the range is live and the page is visible.
const useNow = (view) => {
	const [now, set] = useState(Date.now());
	const open = isOpenEnded(view, now);
	const every = everyOf(rangeOf(view, now));
	useEffect(() => {
		set(Date.now());
		if (!open) return undefined;
		const look = () => !document.hidden && set(Date.now());
		const timer = setInterval(look, every);
		document.addEventListener('visibilitychange', look);
		return () => {
			clearInterval(timer);
			document.removeEventListener('visibilitychange', look);
		};
	}, [view.from, view.to, open, every]);
	return [now, open];
};

const binsOf = (answer) => answer.bins.map((b, i) => ({ from: Date.parse(b.time), to: i + 1 < answer.bins.length ? Date.parse(answer.bins[i + 1].time) : Date.parse(answer.to), counts: b.counts }));

// {events, cut, bins} of the range; a query that fails is left out, and the panels are shown without it.
const useRequestsAndEvents = (name, range) => {
	const [state, set] = useState({ events: [], cut: false, bins: [] });
	useEffect(() => {
		let gone = false;
		const ends = [['node', name], ['from', iso(range.from)], ['to', iso(range.to)]];
		if (isQueryable(name)) {
			get('/api/v1/events', [...ends, ['limit', EVENTS]]).then(({ events, next }) => !gone && set((was) => ({ ...was, events, cut: Boolean(next) })), () => null);
			get('/api/v1/requests/histogram', [...ends, ['bins', BINS]]).then((answer) => !gone && set((was) => ({ ...was, bins: binsOf(answer) })), () => null);
		}
		return () => {
			gone = true;
		};
	}, [name, range]);
	return state;
};

const useMarks = (view, happened, silent) => {
	const moment = useMemo(() => view.at && [Date.parse(view.at), Math.max(Date.parse(view.at), Date.parse(view.until ?? view.at))], [view.at, view.until]);
	const marks = useMemo(() => ({ silent, moment, events: happened.events.map((e) => ({ run: [Date.parse(e.time), endOf(e, Date.now())], severity: e.severity })) }), [silent, moment, happened.events]);
	return marks;
};

// A node cannot be silent before it was first seen.
const since = (runs, first) => (first ? runs.filter((r) => r[1] > first).map(([a, b]) => [Math.max(a, first), b]) : runs);

const State = ({ node }) => {
	if (!node) return null;
	const silent = isSilent(node);
	return (
		<span class={silent ? 'warn' : ''}>
			<Icon name={silent ? 'warn' : 'ok'} /> {t(silent ? 'nodes.silent' : 'nodes.reporting')} · {duration(node.lag)}
		</span>
	);
};

// A range moved or extended, but not beyond now.
const moved = ({ from, to }, by, factor) => {
	const middle = (from + to) / 2 + by * (to - from);
	const half = Math.max(LEAST_MS, (to - from) * factor) / 2;
	const end = Math.min(middle + half, Date.now() + LEAST_MS);
	return [end - 2 * half, end];
};

const Tools = ({ name, view, range, open, onZoom, onView }) => {
	const move = (by, factor) => () => onZoom(...moved(range, by, factor));
	return (
		<div class="np-tools">
			<TimeRange filters={view} onChange={(f) => onView({ ...view, from: f.from, to: f.to })} />
			<button type="button" id="np-earlier" onClick={move(-0.5, 1)}>
				← {t('np.earlier')}
			</button>
			<button type="button" id="np-later" disabled={open && !view.to} onClick={move(0.5, 1)}>
				{t('np.later')} →
			</button>
			<button type="button" id="np-in" title={t('np.in.title')} onClick={move(0, 1 / 3)}>
				{t('np.in')}
			</button>
			<button type="button" id="np-out" title={t('np.out.title')} onClick={move(0, 3)}>
				{t('np.out')}
			</button>
			{(view.from || view.to) && (
				<button type="button" id="np-live" title={t('np.live.title')} onClick={() => onView({ only: view.only })}>
					{t('np.live')}
				</button>
			)}
			<CopyButton class="quiet" label={t('np.link')} title={t('np.link.title')} text={() => `${location.origin}${nodeAddress(name, { ...view, from: iso(range.from), to: iso(range.to) })}`} />
			<span class="hint np-state">{open ? t('np.live.on', { time: duration(everyOf(range)) }) : t('np.live.off')}</span>
		</div>
	);
};

const Head = ({ name, node, range }) => {
	const filters = { node: [name], from: iso(range.from), to: iso(range.to) };
	return (
		<>
			<p class="crumb">
				<a href="/nodes">← {t('np.back')}</a>
			</p>
			<h1 class="np-name">
				<Text of={name} cut={120} /> {node?.region && <span class="hint">{visible(node.region)}</span>}
			</h1>
			<p class="line">
				<State node={node} />
				{isQueryable(name) && (
					<span class="sees">
						<a href={writeFilters(filters)}>{t('np.sees')}</a> · <a href={eventsAddress({ ...filters, node: name })}>{t('np.events')}</a> · <a href={redAddress(filters)}>{t('np.reds')}</a> · <a href={profileAddress({ ...filters, node: name })}>{t('np.profile')}</a> · <a href={topologyAddress(filters)}>{t('topo.of')}</a>
					</span>
				)}
				<span class="hint">{t('np.how')}</span>
			</p>
			{clockOff(node) !== 0 && (
				<p class="line">
					<Clock node={node} todo />
				</p>
			)}
		</>
	);
};

const COSTS = ['source-cpu', 'source-kernel', 'source-maps'].map((name) => GROUPS.flatMap((g) => g.panels).find((p) => p.name === name));
const mean = (values) => {
	const all = values.filter(isNumber);
	return all.length ? all.reduce((a, b) => a + b, 0) / all.length : null;
};

// "0.12 % CPU, 0.4 % in the kernel, 1.2 MiB of maps", as far as these are known.
const costOf = (found, name) => COSTS.flatMap((panel, i) => {
	const line = found[i]?.lines.find((l) => l.name === name);
	const value = line ? mean(line.values) : null;
	return value === null ? [] : [t(`np.cost.${panel.name}`, { value: quantity(value, panel.unit) })];
}).join(', ');

const Sources = ({ name, node, range, known }) => {
	const [ref, seen] = useInView();
	const { data } = useColumns(name, range, known ? COSTS : NONE, null, seen, ALL);
	const found = useMemo(() => (data ? COSTS.map((panel) => panelDataOf(panel, data.answer, data.alive, Infinity)) : []), [data]);
	return (
		<section class="np-group" id="group-sources" ref={ref}>
			<h2>{t('nodes.sources')}</h2>
			{!node?.sources?.length && <p>{t('src.none')}</p>}
			<ul class="np-sources">
				{(node?.sources ?? []).map((s) => (
					<li key={s.name}>
						<Source source={s} why /> {costOf(found, s.name) && <span class="cost">{costOf(found, s.name)}</span>} {s.since && <span class="hint">{t('src.since', { time: timeText(s.since, false) })}</span>}
					</li>
				))}
			</ul>
		</section>
	);
};

const Missing = ({ name }) => (
	<main class="page" id="content">
		<h1>{t('np.none', { node: visible(name).slice(0, 200) })}</h1>
		<p>
			{t('np.none.do')} <a href="/nodes">{t('title.nodes')}</a>
		</p>
	</main>
);

const decode = (text) => {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
};

const PanelGroups = ({ name, kinds, view, range, marks, onView, onZoom, onSilent, look }) => {
	const metrics = useMemo(() => kinds.flatMap((k) => k.metrics), [kinds]);
	const groups = useMemo(() => [...GROUPS, ownGroup(metrics)].map((group) => ({ group, panels: panelsFor(group, metrics) })).filter((g) => g.panels.length), [metrics]);
	return (
		<>
			<nav class="np-nav" aria-label={t('np.groups')}>
				{[...groups.map(({ group }) => [group.name, localized(group.title)]), ['sources', t('nodes.sources')]].map(([id, title]) => (
					<a key={id} href={`#group-${id}`} data-plain>
						{title}
					</a>
				))}
			</nav>
			{groups.map(({ group, panels }, i) => (
				<PanelGroup key={group.name} {...{ name, group, panels, kinds, range, marks, onZoom, look }} only={view.only[group.name]} onOnly={(value) => onView({ ...view, only: { ...view.only, [group.name]: value || undefined } })} onSilent={i === 0 ? onSilent : undefined} />
			))}
		</>
	);
};

export const NodePage = ({ path, search }) => {
	const name = decode(path);
	const { lang, zone } = useSettings();
	const view = useMemo(() => readNode(search, GROUPS), [search]);
	const [now, open] = useNow(view);
	const range = useMemo(() => rangeOf(view, now), [view.from, view.to, open ? now : 0]);
	const { list } = useNodes();
	const node = list?.find((n) => n.name === name);
	const { data, error } = useQuery('/api/v1/series/names', [['node', name]]);
	const happened = useRequestsAndEvents(name, range);
	const [runs, onSilent] = useState([]);
	const silent = useMemo(() => since(runs, Date.parse(node?.firstSeen)), [runs, node?.firstSeen]);
	const marks = useMarks(view, happened, silent);
	const onView = (next, options) => go(nodeAddress(name, next), options);
	const onZoom = (from, to) => onView({ ...view, from: iso(from), to: iso(Math.max(to, from + LEAST_MS)) });
	const kinds = data?.kinds;
	useLayoutEffect(() => onKey({ '+': () => onZoom(...moved(range, 0, 1 / 3)), '-': () => onZoom(...moved(range, 0, 3)), '[': () => onZoom(...moved(range, -0.5, 1)), ']': () => onZoom(...moved(range, 0.5, 1)) }), [search, range]);
	if (kinds && !kinds.length && list && !node) return <Missing name={name} />;
	return (
		<>
			<main class="page np" id="content">
				<Head name={name} node={node} range={range} />
				<div class="np-top">
					<Tools {...{ name, view, range, open, onZoom, onView }} />
					<EventLane {...{ name, range, silent, ...happened }} moment={marks.moment} />
				</div>
				{error && <p class="warn">{t('np.failed', { message: visible(error.message).slice(0, 200) })}</p>}
				{!kinds && !error && <p class="more">{t('table.loading')}</p>}
				{kinds && <PanelGroups {...{ name, kinds, view, range, marks, onView, onZoom, onSilent }} look={`${lang} ${zone}`} />}
				{(kinds || error) && <Sources {...{ name, node, range }} known={kinds?.some((k) => k.kind === 'source')} />}
			</main>
			<Coverage filters={isQueryable(name) ? { node: [name], from: view.from, to: view.to } : { from: view.from, to: view.to }} />
		</>
	);
};
