// SPDX-License-Identifier: Apache-2.0
// The line that is always there: how much of what happened this table can know about.
import { count, isNumber, visible } from './lib/format.js';
import { t, word } from './lib/i18n.js';
import { isSilent, unreadOf, useNodes } from './lib/nodes.js';
import { Icon } from './ui.jsx';

const Figure = ({ name, value, title, warn = false }) => (
	<span class={`figure${warn ? ' warn' : ''}`} title={title} data-name={name} tabIndex={0}>
		{warn && <Icon name="warn" />}
		<span class="what">{t(`cov.${name}`)}</span> <b>{isNumber(value) ? count(value) : '–'}</b>
	</span>
);

const unreadTitle = (unread) =>
	unread.length
		? t('cov.unread.title') +
			unread
				.slice(0, 20)
				.map((u) => `${visible(u.app)} ${word('kind.', u.kind)} ${count(u.count)}`)
				.join(', ')
		: t('cov.unread.none');

export const Coverage = ({ coverage, of = 'cov.range' }) => {
	const { list } = useNodes();
	const c = coverage ?? {};
	const title = (name) => (coverage ? t(`cov.${name}.title`) : t('cov.missing'));
	const lost = isNumber(c.lost) ? c.lost + (c.lostRequests ?? 0) : null;
	const unread = unreadOf(list);
	const silent = (list ?? []).filter(isSilent);
	return (
		<footer class="coverage" aria-label={t('cov.label')}>
			<span class="label">
				{t('cov.label')} <span class="hint">{t(of)}</span>
			</span>
			<Figure name="seen" value={c.seen} title={title('seen')} />
			<Figure name="stored" value={c.stored} title={title('stored')} />
			<Figure name="withheld" value={c.withheld} title={title('withheld')} warn={c.withheld > 0} />
			<Figure name="lost" value={lost} title={title('lost')} warn={lost > 0 || c.lostBatches > 0} />
			<Figure name="unread" value={list ? unread.reduce((n, u) => n + u.count, 0) : null} title={unreadTitle(unread)} />
			<span class="push" />
			<a class={silent.length ? 'warn' : ''} href="/nodes">
				{silent.length > 0 && <Icon name="warn" />}
				{t('cov.nodes')} {list ? count(list.length) : '–'}
				{silent.length > 0 && `, ${t('cov.silent', { n: count(silent.length) })}`}
			</a>
		</footer>
	);
};

