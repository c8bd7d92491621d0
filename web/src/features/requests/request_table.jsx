// SPDX-License-Identifier: Apache-2.0
import { memo } from '../../base/memo.js';
import { useRef } from 'preact/hooks';
import { Icon, Status, Text, Time } from '../../ui/elements.jsx';
import { AddressOwner } from '../../ui/address_owner.jsx';
import { isSlow } from '../../data/limit.js';
import { isNumber, ms, reasonText, timeParts, times, visible } from '../../text/format.js';
import { t, useSettings } from '../../text/i18n.js';
import { useRowKeys } from '../../ui/row_keys.js';
import { useRowWindow } from '../../ui/row_window.js';

const columns = [
	['time', null],
	['node', null],
	['app', null],
	['remoteAddr', null],
	['upstreamAddr', null],
	['request', null],
	['requestTime', 'col.ms'],
	['upstreamResponseTime', 'col.ms'],
	['timesNormal', null],
	['status', null],
	['reason', null],
	['diagnosis', null],
];

/* on a narrow page the second goes below the first */
const under = { node: 'app', requestTime: 'timesNormal' };

const Head = () => (
	<thead>
		<tr>
			{columns.map(([name, unit]) => (
				<th key={name} scope="col" class={`c-${name}`} aria-sort={name === 'time' ? 'descending' : undefined} title={t(`col.${name}.title`) === `col.${name}.title` ? undefined : t(`col.${name}.title`)}>
					<span class="word">{t(`col.${name}`)}</span>
					{name === 'time' && <span aria-hidden="true">{'\u00a0↓'}</span>}
					{unit && <span class="unit"> {t(unit)}</span>}
					{name === 'diagnosis' && <span class="unit word"> {t('col.incident')}</span>}
					{under[name] && <span class="under hint">{t(`col.${under[name]}`)}</span>}
				</th>
			))}
		</tr>
	</thead>
);

const Request = ({ row }) => (
	<div class="clamp">
		<bdi class="method">{visible(row.method ?? '')}</bdi> <Text of={row.path ?? row.request} />
	</div>
);

// An address may wrap before its port, nowhere else.
const Addr = ({ of }) => {
	const at = typeof of === 'string' ? of.lastIndexOf(':') : -1;
	if (at < 1) return <Text of={of} />;
	return (
		<bdi class="addr" title={visible(of)}>
			{visible(of.slice(0, at))}
			<wbr />
			{visible(of.slice(at))}
		</bdi>
	);
};

const href = (row) => (typeof row.diagnosis === 'string' && row.diagnosis.startsWith('/requests/') ? row.diagnosis : `/requests/${encodeURIComponent(row.id)}`);

// The first part of an id is the start of the incident in microseconds.
const Part = ({ of }) => {
	const p = typeof of === 'string' ? timeParts(parseInt(of, 16) / 1000) : null;
	if (!p) return null;
	const title = t('inc.mark.title', { time: `${p.date} ${p.time} ${p.zone}` });
	return (
		<a class="part" href={`/incidents/${encodeURIComponent(of)}`} title={title} aria-label={title}>
			<Icon name="failed" /> <span class="word">{p.time.slice(0, 5)}</span>
		</a>
	);
};

const Row = memo(({ row }) => (
	<tr data-id={row.id} tabIndex={-1}>
		<td class="c-time">
			<Time of={row.time} />
		</td>
		<td class="c-node">
			<Text of={row.node} />
			<div class="under">
				<Text of={row.app} />
			</div>
		</td>
		<td class="c-app">
			<Text of={row.app} />
		</td>
		<td class="c-remoteAddr">
			<Addr of={row.remoteAddr} />
			<AddressOwner of={row.remotePlace} />
		</td>
		<td class="c-upstreamAddr">
			<Addr of={row.upstreamAddr} />
			<AddressOwner of={row.upstreamPlace} />
		</td>
		<td class="c-request">
			<Request row={row} />
		</td>
		<td class="c-requestTime">
			{ms(row.requestTime)}
			<div class="under hint">{times(row.timesNormal)}</div>
		</td>
		<td class="c-upstreamResponseTime">{ms(row.upstreamResponseTime)}</td>
		<td class={`c-timesNormal${isNumber(row.timesNormal) && row.timesNormal >= 10 ? ' far' : ''}`}>{times(row.timesNormal)}</td>
		<td class="c-status">
			<Status status={row.status} slow={isSlow(row)} />
		</td>
		<td class="c-reason">
			<div class="clamp">
				<Text of={reasonText(row.reason)} />
			</div>
		</td>
		<td class="c-diagnosis">
			<a href={href(row)} tabIndex={-1} aria-label={t('open.title', { request: visible(`${row.method ?? ''} ${row.path ?? ''}`).slice(0, 80) })}>
				<span class="word">{t('open')}</span>
				<span class="arrow" aria-hidden="true">
					›
				</span>
			</a>
			<Part of={row.incident} />
		</td>
	</tr>
));

const Space = ({ px }) =>
	px > 0 && (
		<tr class="space" aria-hidden="true">
			<td colSpan={columns.length} style={{ height: `${px}px` }} />
		</tr>
	);

export const RequestTable = ({ rows, onMove, scroller }) => {
	const settings = useSettings();
	const body = useRef(null);
	const { from, to, above, below } = useRowWindow(rows, scroller, body);
	const onClick = useRowKeys(body, '.c-diagnosis a');
	return (
		<table class="requests" aria-rowcount={rows.length + 1}>
			<caption class="sr">{t('table.caption')}</caption>
			<Head />
			<tbody ref={body} onClick={onClick} onPointerMove={onMove}>
				<Space key="above" px={above} />
				{rows.slice(from, to).map((row) => (
					<Row key={row.id} row={row} lang={settings.lang} zone={settings.zone} />
				))}
				<Space key="below" px={below} />
			</tbody>
		</table>
	);
};
