// SPDX-License-Identifier: Apache-2.0
// An empty table is good news only if something is watched: this shows what is watched, and how to produce a row.
import { Unread } from '../../ui/coverage_footer.jsx';
import { notRead, useCovered } from '../../data/coverage.js';
import { count, duration, rate, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { status } from '../../base/live.js';
import { isSilent, useNodes } from '../../data/nodes.js';
import { useStore } from '../../base/store.js';
import { CopyButton, TableHead, Icon, Text } from '../../ui/elements.jsx';

const SHOWN = 12;

const TRY = 'make row';

const Servers = ({ servers }) => (
	<table class="servers">
		<caption>{t('empty.servers')}</caption>
		<TableHead of={['col.node', 'col.app', 'empty.col.port', 'empty.col.rate']} n={['empty.col.port', 'empty.col.rate']} />
		<tbody>
			{servers.slice(0, SHOWN).map((s) => (
				<tr key={[s.node, s.app, s.port].join('\n')}>
					<td>
						<Text of={s.node} />
					</td>
					<td>
						<Text of={s.app} />
					</td>
					<td class="n">{s.port}</td>
					<td class="n">{rate(Number(s.rate))}</td>
				</tr>
			))}
		</tbody>
	</table>
);

export const EmptyState = () => {
	const { list } = useNodes();
	const { data } = useStore(status);
	const unread = notRead(useCovered());
	if (!list || (!data && list.length)) return <p class="more">{t('table.loading')}</p>;
	if (!list.length) {
		return (
			<section class="empty">
				<h2>{t('empty.nonodes')}</h2>
				<p>{t('empty.nonodes.do')}</p>
			</section>
		);
	}
	const servers = data.servers ?? [];
	return (
		<section class="empty">
			<h2>{t('empty.title')}</h2>
			{list.filter(isSilent).map((node) => (
				<p class="warn" key={node.id}>
					<Icon name="warn" /> {t('empty.silent', { node: visible(node.name), time: duration(node.lag) })}
				</p>
			))}
			<p>{t('empty.rate', { rate: rate(Number(data.requestsPerSecond ?? 0)), servers: count(servers.length), nodes: count(list.length) })}</p>
			<p>{t('empty.rows')}</p>
			{servers.length ? <Servers servers={servers} /> : <p>{t('empty.none')}</p>}
			{unread.length > 0 && <Unread of={unread} />}
			<p>{t('empty.try')}</p>
			<pre class="command">
				<code>{TRY}</code>
			</pre>
			<CopyButton label={t('copy')} text={() => TRY} />
		</section>
	);
};
