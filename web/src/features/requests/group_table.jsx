// SPDX-License-Identifier: Apache-2.0
// One row per group of requests of the same node, app, route and reason; a link leads to the rows of the group.
import { Sparkline } from '../../chart/sparkline.jsx';
import { useRef } from 'preact/hooks';
import { Swatch, Patterns } from '../../ui/reasons.jsx';
import { Status, Text } from '../../ui/elements.jsx';
import { count, duration, ms, reasonText, timeText, visible } from '../../text/format.js';
import { ORDERS, writeFilters } from '../../data/filters.js';
import { keyOf, rowsOfGroup } from '../../data/groups.js';
import { t, useSettings, word } from '../../text/i18n.js';
import { redAddress } from '../../data/red.js';
import { memo } from '../../base/memo.js';
import { useRowKeys } from '../../ui/row_keys.js';

const STATUSES = 3;

/* pairs of values stand one above the other: the sentence needs the width */
const columns = ['last', 'where', 'route', 'why', 'count', 'spark', 'times', 'statuses', 'links'];

/* the values of a column by which the API sorts */
const orders = { last: ['last'], count: ['harm', 'count'], times: ['slowest'] };

const Order = ({ name, filters }) => {
	if (name === (filters.sort ?? ORDERS[0])) return <>{`${t(`group.by.${name}`)}\u00a0↓`}</>;
	return (
		<a class="sort" data-sort={name} href={writeFilters({ ...filters, sort: name === ORDERS[0] ? undefined : name })} title={t(`group.sort.${name}`)}>
			{t(`group.by.${name}`)}
		</a>
	);
};

const HeadCell = ({ name, filters }) => {
	const sorted = orders[name]?.includes(filters.sort ?? ORDERS[0]);
	return (
		<th scope="col" class={`g-${name}`} aria-sort={sorted ? 'descending' : undefined}>
			{orders[name] ? orders[name].map((order, i) => [i > 0 && ', ', <Order key={order} name={order} filters={filters} />]) : t(`group.${name}`)}
			{name === 'times' && <span class="unit"> {t('col.ms')}</span>}
		</th>
	);
};

const Head = ({ filters }) => (
	<thead>
		<tr>
			{columns.map((name) => (
				<HeadCell key={name} name={name} filters={filters} />
			))}
		</tr>
	</thead>
);

// How many failed, or else by how much all of them together were longer than usual.
const harmOf = ({ failed, excess }) => {
	if (failed > 0) return t('group.failed', { n: count(failed) });
	return excess > 0 ? `+${duration(excess)}` : '';
};

// The limits of a group's requests are not known here; these reasons mean that a call failed, not that it was slow.
const FAILED_CALL = new Set(['up.retry', 'up.connect', 'up.error']);

const Statuses = ({ of, reason }) => {
	const all = Object.entries(of ?? {}).sort((a, b) => b[1] - a[1]);
	return (
		<>
			{all.slice(0, STATUSES).map(([status, n]) => (
				<span class="times" key={status}>
					<Status status={Number(status)} slow={!FAILED_CALL.has(reason)} /> <span class="hint">×{count(n)}</span>
				</span>
			))}
			{all.length > STATUSES && <span class="hint">…</span>}
		</>
	);
};

const GroupRow = memo(({ group, filters, id }) => {
	const what = visible(`${group.app} ${group.route}`).slice(0, 80);
	return (
		<tr data-id={id} tabIndex={-1}>
			<td class="g-last">
				<time dateTime={group.last}>{timeText(group.last, false)}</time>
				<time class="hint" dateTime={group.first}>
					{timeText(group.first, false)}
				</time>
			</td>
			<td class="g-where">
				<div class="g-node">
					<Text of={group.node} />
				</div>
				<div class="g-app">
					<Text of={group.app} />
				</div>
			</td>
			<td class="g-route">
				<div class="clamp">
					<Text of={group.route} />
				</div>
			</td>
			<td class="g-why">
				<div class="clamp">
					<Swatch code={group.reason?.code} /> <b class="short">{visible(word('reason.', group.reason?.code ?? 'unknown'))}</b> <Text class="hint" of={reasonText(group.reason)} />
				</div>
			</td>
			<td class="g-count">
				<div class="g-n">{count(group.count)}</div>
				<div class="g-harm hint">{harmOf(group)}</div>
			</td>
			<td class="g-spark">
				<Sparkline values={group.spark ?? []} label={t('group.spark.title', { n: count(group.count), most: count(Math.max(0, ...(group.spark ?? []))) })} />
			</td>
			<td class="g-times">
				<div class="g-p50">{ms(group.totalTimeP50)}</div>
				<div class="g-max hint">{ms(group.totalTimeMax)}</div>
			</td>
			<td class="g-statuses">
				<Statuses of={group.statuses} reason={group.reason?.code} />
			</td>
			<td class="g-links">
				<a class="rows" href={writeFilters(rowsOfGroup(filters, group))} tabIndex={-1} aria-label={t('group.rows.title', { what })}>
					{t('group.rows')}
				</a>
				{group.newest && (
					<a href={`/requests/${encodeURIComponent(group.newest)}`} aria-label={t('group.newest.title', { what })} title={t('group.newest.title', { what })}>
						{t('group.newest')}
					</a>
				)}
				<a href={redAddress({ from: filters.from, to: filters.to, app: [group.app ?? ''], route: [group.route ?? ''] })} aria-label={t('group.red.title', { what })} title={t('group.red.title', { what })}>
					{t('group.red')}
				</a>
			</td>
		</tr>
	);
});

export const GroupTable = ({ list, filters, onPointer }) => {
	const settings = useSettings();
	const body = useRef(null);
	const onClick = useRowKeys(body, 'a.rows');
	return (
		<>
			<Patterns />
			<table class="requests groups">
				<caption class="sr">{t('group.caption')}</caption>
				<Head filters={filters} />
				<tbody ref={body} onClick={onClick} onPointerEnter={() => onPointer(true)} onPointerLeave={() => onPointer(false)}>
					{list.map((g) => (
						<GroupRow key={keyOf(g)} id={keyOf(g)} group={g} filters={filters} lang={settings.lang} zone={settings.zone} />
					))}
				</tbody>
			</table>
		</>
	);
};
