// SPDX-License-Identifier: Apache-2.0
// Events: problems of a node other than requests, such as a slow write to a file. Newest first.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { TimeRange } from '../ui/time_range.jsx';
import { useRowKeys } from '../ui/row_keys.js';
import { Severity } from '../ui/severity.jsx';
import { Text, Time } from '../ui/elements.jsx';
import { SEVERITIES, eventHref, eventsAddress, endEvents, newestPage, loadEvents, loadOlderEvents, olderPages, readEventFilters, mergeEvents } from '../data/events.js';
import { foldEvents } from '../data/event_folds.js';
import { count, isNumber, msFine, reasonText, timeText, visible } from '../text/format.js';
import { t, useSettings, word } from '../text/i18n.js';
import { kernelKinds } from '../text/messages_kernel.js';
import { useNodes } from '../data/nodes.js';
import { go } from '../base/router.js';
import { useStore } from '../base/store.js';

const KINDS = ['io.slow', 'probe.budget', ...kernelKinds];
const columns = ['time', 'severity', 'node', 'process', 'what', 'ms', 'open'];

const Choice = ({ name, value, values, onChange }) => {
	const all = [...new Set([...values, ...(value ? [value] : [])])].sort();
	return (
		<label class="choice">
			{t(`events.${name}`)}{' '}
			<select id={`events-${name}`} class={value ? 'set' : ''} value={value ?? ''} onChange={(e) => onChange(e.currentTarget.value || undefined)}>
				<option value="">{t('facet.any')}</option>
				{all.map((v) => (
					<option key={v} value={v}>
						{visible(name === 'node' ? v : word(name === 'kind' ? 'kind.' : 'events.least.', v)).slice(0, 60)}
					</option>
				))}
			</select>
		</label>
	);
};

// Whether the event is ongoing, or its end was not seen; null if it is over, or comes from an older collector.
export const stateOf = (event) => (event.goingOn ? 'on' : event.endSeen === false ? 'unseen' : null);

export const State = ({ of }) => {
	const state = stateOf(of);
	return state && (
		<span class={`state ${state === 'on' ? 'warn' : 'hint'}`} data-state={state} title={t(`events.${state}.title`)}>
			{t(`events.${state}`)}
		</span>
	);
};

export const howLong = (event) => `${msFine(event.ms)}${isNumber(event.errorMs) && event.errorMs > 0 ? ` ± ${msFine(event.errorMs)}` : ''}`;

const Row = ({ event, children = null }) => (
	<tr data-id={event.id} tabIndex={-1}>
		<td class="e-time mono">
			<Time of={event.time} />
		</td>
		<td class="e-severity">
			<Severity of={event.severity} />
		</td>
		<td class="e-node">
			<Text of={event.node} cut={60} />
		</td>
		<td class="e-process mono">
			<Text of={event.comm} cut={40} />
			{isNumber(event.pid) && <span class="hint">[{event.pid}]</span>}
		</td>
		<td class="e-what">
			<Text of={reasonText(event.reason)} cut={400} />
			<span class="hint kind"> {visible(word('kind.', event.kind ?? '–')).slice(0, 60)}</span>
			{children}
		</td>
		<td class="e-ms n">
			{howLong(event)}
			<State of={event} />
		</td>
		<td class="e-open">
			<a class="open" href={eventHref(event)} tabIndex={-1} aria-label={t('events.open.title', { what: visible(reasonText(event.reason)).slice(0, 100) })}>
				{t('open')}
			</a>
		</td>
	</tr>
);

// The newest of events that repeat; the others are shown on demand.
const Fold = ({ of }) => {
	const [open, setOpen] = useState(false);
	const { event, older } = of;
	const onClick = (e) => {
		e.preventDefault(); /* the row does not open */
		setOpen(!open);
	};
	if (!older.length) return <Row event={event} />;
	return (
		<>
			<Row event={event}>
				<button type="button" class="quiet fold" aria-expanded={open} onClick={onClick}>
					{t(open ? 'events.fold' : 'events.unfold', { n: count(older.length), since: timeText(older.at(-1).time, false) })}
				</button>
			</Row>
			{open && older.map((one) => <Row key={one.id} event={one} />)}
		</>
	);
};

const List = ({ rows, each }) => {
	const body = useRef(null);
	const onClick = useRowKeys(body, 'a.open');
	return (
		<table class="plain events">
			<caption class="sr">{t('events.caption')}</caption>
			<thead>
				<tr>
					{columns.map((name) => (
						<th key={name} scope="col" class={`e-${name}${name === 'ms' ? ' n' : ''}`} aria-sort={name === 'time' ? 'descending' : undefined}>
							{t(`events.col.${name}`)}
							{name === 'ms' && <span class="unit"> ms</span>}
						</th>
					))}
				</tr>
			</thead>
			<tbody ref={body} onClick={onClick}>
				{each ? rows.map((event) => <Row key={event.id} event={event} />) : foldEvents(rows).map((of) => <Fold key={of.key} of={of} />)}
			</tbody>
		</table>
	);
};

const More = ({ rows, next, busy }) => (
	<p class="more">
		{!next && t('events.end', { n: count(rows.length) })}
		{next && (
			<>
				<span>{t('events.shown', { n: count(rows.length) })}</span>{' '}
				<button type="button" disabled={busy} onClick={loadOlderEvents}>
					{busy ? t('table.loading') : t('table.older')}
				</button>
			</>
		)}
	</p>
);

const Shown = ({ data, below, each }) => {
	const rows = mergeEvents(data, below.rows);
	if (!rows.length) {
		return (
			<section class="empty" id="no-events">
				<h2>{t('events.none')}</h2>
				<p>{t('events.none.what')}</p>
			</section>
		);
	}
	return (
		<>
			<List rows={rows} each={each} />
			<More rows={rows} next={below.next === undefined ? data.next : below.next} busy={below.busy} />
		</>
	);
};

export const EventsPage = ({ search }) => {
	useSettings();
	const filters = useMemo(() => readEventFilters(search), [search]);
	const { data, error } = useStore(newestPage);
	const below = useStore(olderPages);
	const { list } = useNodes();
	const key = eventsAddress(filters);
	useEffect(() => loadEvents(filters), [key]);
	useEffect(() => endEvents, []);
	const onChange = (f) => go(eventsAddress(f));
	const kinds = [...KINDS, ...mergeEvents(data, below.rows).map((e) => e.kind).filter(Boolean)];
	const covered = { from: filters.from, to: filters.to, node: filters.node ? [filters.node] : undefined };
	const trouble = error ?? below.error;
	return (
		<>
			<main id="content" class="page page-table" tabIndex={-1}>
				<h1>{t('title.events')}</h1>
				<p class="hint about">{t('events.about')}</p>
				<div class="second red-tools">
					<TimeRange filters={filters} onChange={onChange} />
					<Choice name="node" value={filters.node} values={(list ?? []).map((n) => n.name)} onChange={(node) => onChange({ ...filters, node })} />
					<Choice name="kind" value={filters.kind} values={kinds} onChange={(kind) => onChange({ ...filters, kind })} />
					<Choice name="severity" value={filters.severity} values={SEVERITIES} onChange={(severity) => onChange({ ...filters, severity })} />
					<label class="choice">
						<input type="checkbox" id="events-each" checked={filters.each} onChange={(e) => onChange({ ...filters, each: e.currentTarget.checked })} /> {t('events.each')}
					</label>
				</div>
				{trouble && <QueryError error={trouble} since={trouble.since} />}
				{!data && !error && <p class="more">{t('table.loading')}</p>}
				{data && <Shown data={data} below={below} each={filters.each} />}
			</main>
			<Coverage filters={covered} />
		</>
	);
};
