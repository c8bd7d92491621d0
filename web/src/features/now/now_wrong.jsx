// SPDX-License-Identifier: Apache-2.0
// Sentences about what is wrong now: open incidents, groups of requests that harm most, nodes that are silent.
import { Icon, Text } from '../../ui/elements.jsx';
import { count, duration, ms, reasonText, timeText, visible } from '../../text/format.js';
import { rowsOfGroup } from '../../data/groups.js';
import { writeFilters } from '../../data/filters.js';
import { incidentHref, titleOf } from '../../data/incidents.js';
import { t, word } from '../../text/i18n.js';

const NAME = 60;

const lookAt = (of) => {
	const host = of.first?.node ?? of.first?.address;
	if (!host) return t('now.look.none');
	return t(of.first.node ? 'now.look.node' : 'now.look.address', { host: visible(host).slice(0, NAME) });
};

export const OpenIncident = ({ of }) => (
	<li data-kind="incident">
		<a class="what" href={incidentHref(of)}>
			<Icon name="failed" /> <Text of={titleOf(of)} cut={400} />
		</a>
		<p class="hint">
			{lookAt(of)} {t(of.requests === 1 ? 'now.harmed.one' : 'now.harmed', { n: count(of.requests ?? 0) })}
		</p>
	</li>
);

export const HarmedGroup = ({ of, from }) => {
	const what = { app: visible(of.app ?? '–').slice(0, NAME), route: visible(of.route ?? '–').slice(0, NAME), n: count(of.count), failed: count(of.failed), slowest: ms(of.totalTimeMax) };
	return (
		<li data-kind="group">
			<a class="what" href={writeFilters(rowsOfGroup({ from }, of))}>
				<Icon name={of.failed ? 'failed' : 'slow'} /> {t(`now.${of.failed ? 'failed' : 'abnormal'}${of.count === 1 ? '.one' : ''}`, what)}
			</a>
			<p class="hint">
				{visible(word('reason.', of.reason?.code ?? 'unknown'))}: <Text of={reasonText(of.reason)} cut={240} /> · {t('now.last', { time: timeText(of.last, false) })}{' '}
				<a href={`/requests/${encodeURIComponent(of.newest)}`}>{t('now.newest')}</a>
			</p>
		</li>
	);
};

export const SilentNode = ({ of }) => (
	<li data-kind="silent">
		<a class="what" href={`/nodes/${encodeURIComponent(of.name)}`}>
			<Icon name="warn" /> {t('now.silent', { node: visible(of.name).slice(0, NAME), time: duration(of.lag) })}
		</a>
		<p class="hint">{t('now.silent.do')}</p>
	</li>
);
