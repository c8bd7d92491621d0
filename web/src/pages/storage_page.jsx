// SPDX-License-Identifier: Apache-2.0
// The database's disk: its limit, the size of each table, and the data that was dropped for the limit.
import { QueryError } from '../ui/banner.jsx';
import { Text, Time } from '../ui/elements.jsx';
import { useQuery } from '../base/use_query.js';
import { count, duration, isNumber } from '../text/format.js';
import { t, useSettings, word } from '../text/i18n.js';
import { quantity } from '../text/quantity.js';

const WEEK_S = 7 * 86400;
const every = () => 10_000;
const useStorage = () => useQuery('/api/v1/storage', [], { again: every });
const size = (n) => (isNumber(n) ? quantity(n, 'bytes') : '–');
const full = (s) => (isNumber(s.fullSeconds) && s.allowed ? t('disk.full', { time: duration(1000 * s.fullSeconds) }) : '');
const isNear = (s) => ['dropping', 'full'].includes(s.state) || (s.allowed && isNumber(s.fullSeconds) && s.fullSeconds < WEEK_S);
const saying = (s) => (s.state === 'ok' ? full(s) : word('disk.state.', s.state));

// A line on the fleet page.
export const DiskLine = () => {
	const s = useStorage().data?.storage;
	return (
		<a class="f-list" href="/storage">
			{s && isNear(s) ? <span class="warn">{t('disk.line', { what: saying(s) })}</span> : t('title.storage')}
		</a>
	);
};

const Grid = ({ id, heads, rows }) => (
	<table class="plain" id={id}>
		<thead>
			<tr>
				{heads.map((h) => (
					<th key={h} scope="col">
						{t(`disk.${h}`)}
					</th>
				))}
			</tr>
		</thead>
		<tbody>
			{rows.map((cells, i) => (
				<tr key={i}>
					{cells.map((c, k) => (
						<td key={k}>{c}</td>
					))}
				</tr>
			))}
		</tbody>
	</table>
);

const drop = (d) => [<Time of={d.at} />, word('disk.step.', d.step), <Text of={d.group ? `${d.table}: ${d.group}` : d.table} cut={80} />, <Time of={d.from} />, <Time of={d.to} />, (d.exact ? '' : '≈ ') + count(d.rows), size(d.bytes)];

export const StoragePage = () => {
	useSettings();
	const { data, error } = useStorage();
	const s = data?.storage;
	return (
		<main id="content" class="page page-table" tabIndex={-1}>
			<h1>{t('title.storage')}</h1>
			{error && <QueryError error={error} />}
			{!s && !error && <p class="more">{t('table.loading')}</p>}
			{s && (
				<>
					<p id="disk-sum" class={isNear(s) ? 'warn' : undefined}>
						{t('disk.sum', { used: size(s.used), allowed: size(s.allowed), free: size(s.free), total: size(s.total) })} {saying(s)}
					</p>
					{s.hint && (
						<p class="hint">
							<Text of={s.hint} cut={300} />
						</p>
					)}
					<Grid id="disk-tables" heads={['table', 'bytes']} rows={(s.tables ?? []).map((x) => [<Text of={x.name} cut={60} />, size(x.bytes)])} />
					<p class="hint about">{t('disk.order')}</p>
					{s.drops.length > 0 && <Grid id="disk-drops" heads={['at', 'step', 'table', 'from', 'to', 'rows', 'bytes']} rows={s.drops.map(drop)} />}
				</>
			)}
		</main>
	);
};
