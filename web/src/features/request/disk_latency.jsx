// SPDX-License-Identifier: Apache-2.0
// The latency histogram of the disk that the request waited for: at that moment, and in the five minutes before.
import { useMemo } from 'preact/hooks';
import { TableHead } from '../../ui/elements.jsx';
import { diskOf, loadLatency } from './disk_histogram.js';
import { count, msFine, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { useAroundMoment } from './node_series.js';

const WIDTH = 160;

const Bar = ({ n, all, name }) => (
	<svg class={`share-bar share-${name}`} width={WIDTH} height="9" viewBox={`0 0 ${WIDTH} 9`} preserveAspectRatio="none" aria-hidden="true">
		<rect width={all ? (WIDTH * n) / all : 0} height="9" />
	</svg>
);

const boundText = (us) => (us === Infinity ? t('disk.more') : us < 1000 ? `${us} µs` : `${msFine(us / 1e3)} ms`);

const Op = ({ op, all, buckets }) => (
	<table class="latency" data-op={op}>
		<caption>{t(`disk.${op}`, { n: count(all[1]), before: count(all[0]) })}</caption>
		<TableHead at="disk." of={['upto', 'at', 'before']} />
		<tbody>
			{buckets.map(({ us, before, at }) => (
				<tr key={us}>
					<th scope="row">{boundText(us)}</th>
					<td>
						<Bar n={at} all={all[1]} name="at" /> {count(at)}
					</td>
					<td>
						<Bar n={before} all={all[0]} name="before" /> {count(before)}
					</td>
				</tr>
			))}
		</tbody>
	</table>
);

export const DiskLatency = ({ of }) => {
	const disk = diskOf(of.reason?.params?.dev);
	const begin = Date.parse(of.time);
	const end = Math.max(begin, Date.parse(of.end) || begin);
	const load = useMemo(() => loadLatency(disk, begin, end), [disk, begin, end]);
	const { found, error } = useAroundMoment(load, disk && of.node, begin, end);
	if (!disk) return null;
	return (
		<section class="card wide" id="disk">
			<h2>{t('disk.title', { disk: visible(disk).slice(0, 40) })}</h2>
			<p class="hint">{t('disk.about')}</p>
			{error && <p class="warn">{t('part.failed', { message: visible(error.message) })}</p>}
			{!found && !error && <p>{t('table.loading')}</p>}
			{found && !found.length && <p>{t('disk.none')}</p>}
			<div class="latencies">
				{(found ?? []).map((f) => (
					<Op key={f.op} {...f} />
				))}
			</div>
		</section>
	);
};
