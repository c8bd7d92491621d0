// SPDX-License-Identifier: Apache-2.0
// The collector's ranking of causes: the first three hosts, each with the parts that arose there and on the way.
import { count, duration, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { nodeAddress } from '../../data/node.js';
import { Text } from '../../ui/elements.jsx';

export const percent = (share) => `${Math.round(100 * share)} %`;
export const short = (text) => visible(String(text ?? '–')).slice(0, 60);

const number = (n) => count(Math.round(n));
const failures = (n) => t('inc.failures', { n: number(n) });
const partText = (value) => (p) => t(p.to === null ? 'inc.part.own' : 'inc.part.edge', { from: short(p.from), to: short(p.to), value: value(p.value) });

// The texts of each ranking. value formats own and edge; part formats the parts, which have other units.
const RANKINGS = {
	time: { title: 'inc.where', own: 'inc.own', edge: 'inc.edge', value: duration, part: partText((us) => duration(us / 1000)) },
	errors: { title: 'inc.where.errors', own: 'inc.own', edge: 'inc.edge', value: failures, part: partText(failures) },
	calls: {
		title: 'where.calls',
		hint: 'where.calls.what',
		own: 'where.calls.own',
		edge: 'where.calls.edge',
		value: number,
		part: (p) => t('where.calls.part', { from: short(p.from), to: short(p.to), value: number(p.value), of: number(p.net) }),
	},
};

const Bar = ({ of, words }) => {
	const whole = of.own + of.edge;
	const width = (part) => `${whole > 0 ? (100 * of.share * part) / whole : 0}%`;
	return (
		<li class="cause">
			<div class="cause-head">
				{of.node ? (
					<a href={nodeAddress(of.node)}>
						<Text of={of.node} cut={60} />
					</a>
				) : (
					<Text of={of.address} cut={60} class="mono" />
				)}
				{of.external && <span class="hint"> {t('inc.external')}</span>}
				<b class="cause-share">{percent(of.share)}</b>
			</div>
			<svg class="cause-bar" role="img" aria-label={percent(of.share)}>
				<rect class="bar-own" width={width(of.own)} height="100%" />
				<rect class="bar-edge" x={width(of.own)} width={width(of.edge)} height="100%" />
			</svg>
			<ul class="cause-parts">
				{(of.parts ?? []).map((p, i) => (
					<li key={i}>{words.part(p)}</li>
				))}
				{!of.parts?.length && <li>{words.value(whole)}</li>}
			</ul>
		</li>
	);
};

export const CauseRanking = ({ of, ranking, none = t('inc.where.none') }) => {
	const all = (of.candidates ?? []).filter((c) => c.ranking === ranking);
	const words = RANKINGS[ranking];
	if (!all.length && ranking !== 'time') return null;
	return (
		<section class="card two" id={`causes-${ranking}`}>
			<h2>
				{t(words.title)}
				<span class="key own"> {t(words.own)}</span> <span class="key edge">{t(words.edge)}</span>
			</h2>
			{words.hint && <p class="hint">{t(words.hint)}</p>}
			{!all.length && <p>{none}</p>}
			{all.length > 0 && ranking !== 'calls' && all[0].share < 0.5 && <p class="hint">{t('inc.where.unclear')}</p>}
			<ol class="causes">
				{all.map((c) => (
					<Bar key={c.place} of={c} words={words} />
				))}
			</ol>
		</section>
	);
};

