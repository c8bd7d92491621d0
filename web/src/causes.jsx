// SPDX-License-Identifier: Apache-2.0
// Whose fault it was, as the collector ranks it: the first three, each with what of it arose there and on the way.
import { count, duration, visible } from './lib/format.js';
import { t } from './lib/i18n.js';
import { nodeAddress } from './lib/node.js';
import { Text } from './ui.jsx';

export const percent = (share) => `${Math.round(100 * share)} %`;
export const short = (text) => visible(String(text ?? '–')).slice(0, 60);

// Microseconds, or failed requests.
const valueText = (value, errors) => (errors ? t('inc.failures', { n: count(Math.round(value)) }) : duration(value / 1000));

const Bar = ({ of, errors }) => {
	const whole = of.own + of.edge;
	const unit = errors ? 1 : 1000; /* own and edge are ms */
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
					<li key={i}>{t(p.to === null ? 'inc.part.own' : 'inc.part.edge', { from: short(p.from), to: short(p.to), value: valueText(p.value, errors) })}</li>
				))}
				{!of.parts?.length && <li>{valueText(whole * unit, errors)}</li>}
			</ul>
		</li>
	);
};

export const Causes = ({ of, ranking, none = t('inc.where.none') }) => {
	const all = (of.candidates ?? []).filter((c) => c.ranking === ranking);
	const errors = ranking === 'errors';
	if (!all.length && errors) return null;
	return (
		<section class="card two" id={`causes-${ranking}`}>
			<h2>
				{t(errors ? 'inc.where.errors' : 'inc.where')}
				<span class="key own"> {t('inc.own')}</span> <span class="key edge">{t('inc.edge')}</span>
			</h2>
			{!all.length && <p>{none}</p>}
			{all.length > 0 && all[0].share < 0.5 && <p class="hint">{t('inc.where.unclear')}</p>}
			<ol class="causes">
				{all.map((c) => (
					<Bar key={c.place} of={c} errors={errors} />
				))}
			</ol>
		</section>
	);
};

