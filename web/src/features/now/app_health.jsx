// SPDX-License-Identifier: Apache-2.0
// Each application that answers requests: its last five minutes beside what was usual in the hour before.
import { Sparkline } from '../../chart/sparkline.jsx';
import { Icon, TableHead, Text } from '../../ui/elements.jsx';
import { count, msFine, rate, visible } from '../../text/format.js';
import { isQueryable, NONE, writeFilters } from '../../data/filters.js';
import { NOW_MS, USUAL_MS } from '../../data/now.js';
import { redAddress } from '../../data/red.js';
import { t } from '../../text/i18n.js';

const SHOWN = 30;

const percentText = (part) => {
	if (part === null) return '–';
	const n = 100 * part;
	return `${n > 0 && n < 0.1 ? '<0.1' : n.toFixed(n < 10 && n > 0 ? 1 : 0)} %`;
};

// A value and, below it, the usual one.
const Both = ({ now, usual, bad = false }) => (
	<td class={`n${bad ? ' is-failed' : ''}`}>
		{now}
		<div class="hint">{usual}</div>
	</td>
);

const Health = ({ of }) => (
	<span class={of.worse ? 'is-failed' : 'hint'}>
		<Icon name={of.worse ? 'failed' : of.known ? 'ok' : 'off'} /> {t(`now.app.${of.worse ?? (of.known ? 'usual' : 'few')}`)}
	</span>
);

const Row = ({ of }) => {
	const app = isQueryable(of.app ?? NONE) ? [of.app || NONE] : undefined;
	const what = visible(of.app ?? '').slice(0, 80);
	return (
		<tr data-app={of.app}>
			<td class="wrap">
				<a href={redAddress({ app })}>
					<Text of={of.app} />
				</a>
				<div class="hint">{of.node === null ? t('now.nodes', { n: count(of.nodes) }) : <Text of={of.node} />}</div>
			</td>
			<td>
				<Health of={of} />
			</td>
			<Both now={rate(of.now.count / (NOW_MS / 1000))} usual={rate(of.usual.count / (USUAL_MS / 1000))} />
			<Both now={percentText(of.now.errorPart)} usual={percentText(of.usual.errorPart)} bad={of.worse === 'errors'} />
			<Both now={msFine(of.now.p50)} usual={msFine(of.usual.p50)} />
			<Both now={msFine(of.now.p99)} usual={msFine(of.usual.p99)} bad={of.worse === 'slow'} />
			<td class="spark-cell">
				<Sparkline values={of.spark} label={t('red.spark.title', { n: count(of.now.count + of.usual.count), most: count(Math.max(...of.spark)) })} />
			</td>
			<td>
				<a href={writeFilters({ app })} aria-label={t('red.rows.title', { what })}>
					{t('red.rows')}
				</a>
			</td>
		</tr>
	);
};

// cut: there are more applications than the collector listed.
export const AppHealth = ({ apps, cut }) => (
	<section class="card" id="apps">
		<h2>{t('now.apps')}</h2>
		<p class="hint">{t('now.apps.what')}</p>
		<table class="plain">
			<caption class="sr">{t('now.apps')}</caption>
			<TableHead at="now.col." of={['app', 'health', 'rate', 'errors', 'p50', 'p99', 'spark', 'see']} n={['rate', 'errors', 'p50', 'p99']} />
			<tbody>
				{apps.slice(0, SHOWN).map((of) => (
					<Row key={of.app} of={of} />
				))}
			</tbody>
		</table>
		{(cut || apps.length > SHOWN) && (
			<p class="hint" id="apps-cut">
				{t(cut ? 'now.apps.cut' : 'now.apps.more', { n: count(Math.min(SHOWN, apps.length)), total: count(apps.length) })} <a href="/red">{t('now.apps.all')}</a>
			</p>
		)}
	</section>
);
