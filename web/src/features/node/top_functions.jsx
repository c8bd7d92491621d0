// SPDX-License-Identifier: Apache-2.0
// The functions that take the most time of a CPU, by themselves or with what they call.
import { useMemo, useState } from 'preact/hooks';
import { Text } from '../../ui/elements.jsx';
import { functionsOf } from '../../data/profile_functions.js';
import { t } from '../../text/i18n.js';

const SHOWN = 20;
const CUT = 160;
const PERCENT = 100;

const share = (ms, all) => (all > 0 ? (PERCENT * ms) / all : 0);
const text = (n) => (n > 0 && n < 0.1 ? '<0.1' : n.toFixed(1));
const change = (now, was) => `${now < was ? '−' : '+'}${Math.abs(now - was).toFixed(1)}`;

const Value = ({ ms, base, data }) => {
	const now = share(ms, data.ms);
	return (
		<>
			<td class="n">{text(now)}</td>
			{data.baseMs !== null && <td class="n hint">{change(now, share(base, data.baseMs))}</td>}
		</>
	);
};

const Head = ({ by, onBy, compared }) => (
	<thead>
		<tr>
			{['self', 'total'].map((name) => [
				<th key={name} scope="col" class="n" aria-sort={by === name ? 'descending' : undefined}>
					<button type="button" class="quiet" id={`functions-${name}`} title={t(`functions.${name}.title`)} onClick={() => onBy(name)}>
						{t(`functions.${name}`)}
						{by === name && '\u00a0↓'}
					</button>
				</th>,
				compared && (
					<th key={`${name}-change`} scope="col" class="n">
						{t('functions.change')}
					</th>
				),
			])}
			<th scope="col">{t('functions.name')}</th>
		</tr>
	</thead>
);

export const TopFunctions = ({ data }) => {
	const [by, setBy] = useState('self');
	const all = useMemo(() => functionsOf(data), [data]);
	const list = useMemo(() => [...all].sort((a, b) => b[by] - a[by] || b.self - a.self).slice(0, SHOWN), [all, by]);
	if (!list.length) return null;
	return (
		<section class="card wide" id="functions">
			<h2>{t('functions.title')}</h2>
			<table class="plain">
				<caption class="sr">{t('functions.title')}</caption>
				<Head by={by} onBy={setBy} compared={data.baseMs !== null} />
				<tbody>
					{list.map((of) => (
						<tr key={of.key} data-kind={of.kind}>
							<Value ms={of.self} base={of.selfBase} data={data} />
							<Value ms={of.total} base={of.totalBase} data={data} />
							<td class="wrap mono">
								<Text of={of.name} cut={CUT} /> {of.kind === 'kernel' && <span class="hint">{t('functions.kernel')}</span>}
							</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
};
