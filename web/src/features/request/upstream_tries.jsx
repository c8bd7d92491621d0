// SPDX-License-Identifier: Apache-2.0
// The upstream tries of a request with their measurements.
import { OrderBar } from './time_bar.jsx';
import { TableHead, Status, Text } from '../../ui/elements.jsx';
import { count, errorText, msFine } from '../../text/format.js';
import { t } from '../../text/i18n.js';

const Try = ({ up, n }) => (
	<tr>
		<td>{n}</td>
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
);

// order: the page shows shares, not the order of time. This card then also draws the tries in time, and is left out if
// there were none.
export const Upstreams = ({ req, order }) => {
	const unknown = (req.flags ?? []).includes('upstreamUnknown');
	const ups = req.upstreams ?? [];
	if (order && !ups.length && !unknown) return null;
	return (
		<section class="card wide" id="upstreams">
			<h2>{t('ev.ups')}</h2>
			{!ups.length && <p>{t(unknown ? 'ev.ups.unknown' : 'ev.ups.none')}</p>}
			{order && ups.length > 0 && !unknown && <OrderBar req={req} />}
			{ups.length > 0 && (
				<div class="sideways" tabIndex={0} role="region" aria-label={t('ev.ups')}>
					<table class="plain">
						<TableHead at="ev.ups." of={['n', 'addr', 'start', 'connect', 'response', 'status', 'error', 'reused', 'retrans', 'rtt']} n={['retrans']} ms={['start', 'connect', 'response', 'rtt']} />
						<tbody>
							{ups.map((up, i) => (
								<Try key={i} up={up} n={i + 1} />
							))}
						</tbody>
					</table>
				</div>
			)}
		</section>
	);
};
