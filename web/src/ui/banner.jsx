// SPDX-License-Identifier: Apache-2.0
// The banner on top for a problem between this page and the data, with what to do.
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './elements.jsx';
import { t } from '../text/i18n.js';
import { duration, timeText, visible } from '../text/format.js';
import { messages } from '../text/messages.js';
import { connect, link, status } from '../base/live.js';
import { gone } from '../base/part.js';
import { isRequestList } from '../data/filters.js';
import { groupsState } from '../data/groups.js';
import { table } from '../data/rows.js';
import { useStore } from '../base/store.js';

const PATIENCE_MS = 1000; /* a reconnect within this time shows no banner */

const problemOf = {
	lost: ['banner.lost', 'banner.lost.do'],
	db: ['banner.db', 'banner.db.do'],
	slow: ['banner.slow', 'banner.slow.do'],
	failed: ['banner.failed', 'banner.failed.do'],
	api: ['banner.api', null],
	gone: ['banner.gone', 'banner.gone.do'],
};

export const QueryError = ({ error, since = null, onRetry, retry = 'banner.retry' }) => {
	const [what, todo] = problemOf[error.kind];
	return (
		<div class="banner" role="alert" data-kind={error.kind}>
			<Icon name="warn" />
			<p>
				<strong>{t(what, { host: location.host, time: timeText(since ?? Date.now(), false), message: visible(error.message).slice(0, 300) })}</strong>{' '}
				{todo && t(todo)}
			</p>
			{onRetry && (
				<button type="button" onClick={onRetry}>
					{t(retry)}
				</button>
			)}
		</div>
	);
};

// Retention drops nothing: which clocks differ, by how much, and what to do.
const Hold = ({ retention }) => {
	const key = `hold.${retention.held}`;
	const known = key in messages;
	return (
		<div class="banner" role="status" data-kind="hold">
			<Icon name="warn" />
			<p>
				<strong>{t(known ? key : 'hold.other', { time: duration(1000 * retention.apartSeconds) })}</strong> {t(known ? `${key}.do` : 'hold.other.do')}
			</p>
		</div>
	);
};

const away = { kind: 'db', message: '' };
const partGone = { kind: 'gone', message: '' };

export const Banner = () => {
	const live = useStore(link);
	const { data, since } = useStore(status);
	const rows = useStore(table);
	const groups = useStore(groupsState);
	const isGone = useStore(gone);
	const error = rows.error ?? groups.error;
	const [, redraw] = useState(0);
	const lost = live.state === 'lost';
	useEffect(() => {
		const timer = lost ? setTimeout(() => redraw(Date.now()), PATIENCE_MS) : 0;
		return () => clearTimeout(timer);
	}, [lost]);
	if (lost && Date.now() - live.since >= PATIENCE_MS) return <QueryError error={live.error} since={live.since} onRetry={connect} />;
	if (isGone) return <QueryError error={partGone} onRetry={() => location.reload()} retry="banner.reload" />;
	if (!lost && data?.database === 'away') return <QueryError error={away} since={since} />;
	if (error && isRequestList()) return <QueryError error={error} since={error.since} />;
	if (!lost && data?.retention) return <Hold retention={data.retention} />;
	return null;
};
