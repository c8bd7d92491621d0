// SPDX-License-Identifier: Apache-2.0
// One panel of a node: the title with the unit, the drawing, and a list of its lines: the value at the pointer, else the
// last value, and the maximum. A canvas is not readable by a screen reader; the list is.
import { useMemo } from 'preact/hooks';
import { TimePlot, lookOf } from '../../chart/time_plot.jsx';
import { memo } from '../../base/memo.js';
import { Text } from '../../ui/elements.jsx';
import { count, timeText, visible } from '../../text/format.js';
import { localized, t } from '../../text/i18n.js';
import { lastOf, mostOf, hasValues } from '../../data/columns.js';
import { shortLabel } from '../../text/entity_labels.js';
import { edgeText, quantity } from '../../text/quantity.js';
import { store, useStore } from '../../base/store.js';

const REST = { name: '--rest', dash: [] };

const Key = ({ look, limit, area }) => (
	<svg class={limit ? 'line-key line-limit' : `line-key look${look.name}${area ? ' area' : ''}`} width="18" height="8" aria-hidden="true">
		<path d={area ? 'M3 4h12' : 'M0 4h18'} stroke-dasharray={limit ? '3 4' : look.dash.join(' ')} />
	</svg>
);

const Name = ({ of, labels }) => (
	<span title={visible(of).slice(0, 500)}>
		<Text of={shortLabel(of, labels)} />
	</span>
);

const Line = ({ line, i, idx, panel, labels }) => (
	<li>
		<Key look={line.rest ? REST : lookOf(line, i, panel.form)} area={panel.form === 'stack'} /> {line.fromWire ? <Name of={line.name} labels={labels} /> : localized(line.name)} <b>{quantity(idx === null ? lastOf(line.values) : (line.values[idx] ?? null), panel.unit)}</b> <span class="hint">{t('np.most', { value: quantity(mostOf(line), panel.unit) })}</span>
	</li>
);

const Lines = ({ found, panel, idx, labels }) => (
	<ul class="says">
		{found.lines.map((line, i) => (
			<Line key={line.name} {...{ line, i, idx, panel, labels }} />
		))}
		{found.limit && (
			<li>
				<Key limit /> {localized(found.limit.name)} <b>{quantity(lastOf(found.limit.values), panel.unit)}</b>
			</li>
		)}
	</ul>
);

// The edge below which this share of the counts lies.
const within = (counts, edges, part) => {
	const want = part * counts.reduce((a, b) => a + b, 0);
	let upto = 0;
	for (const [i, n] of counts.entries()) {
		upto += n;
		if (n > 0 && upto >= want) return edges[i];
	}
	return null;
};

const Fields = ({ fields, panel, idx }) => {
	const counts = idx === null ? fields.edges.map((_, k) => fields.counts.reduce((n, c) => n + (c?.[k] ?? 0), 0)) : fields.counts[idx];
	const all = counts?.reduce((a, b) => a + b, 0) ?? 0;
	const unit = panel.unit === 'bytes' ? 'bytes' : 'us';
	return (
		<p class="says">
			{all > 0 ? t('np.heat.sum', { all: count(all), p50: edgeText(within(counts, fields.edges, 0.5), unit), p99: edgeText(within(counts, fields.edges, 0.99), unit) }) : '–'} <span class="hint">{t('np.heat.legend')}</span>
		</p>
	);
};

const PanelValues = ({ found, panel, at, from, step, labels }) => {
	const idx = useStore(at);
	return (
		<>
			{found.fields ? <Fields fields={found.fields} panel={panel} idx={idx} /> : <Lines {...{ found, panel, idx, labels }} />}
			<p class="at hint" role="status">
				{idx === null ? '' : timeText(from + idx * step, false)}
			</p>
		</>
	);
};

export const Panel = memo(({ panel: plain, data, found, labels, marks, onZoom, look }) => {
	const at = useMemo(() => store(null), []);
	const panel = useMemo(() => (plain.fromWire && found ? { ...plain, unit: found.unit } : plain), [plain, found?.unit]);
	const title = visible(localized(panel.title));
	const any = found && hasValues(found) !== 'nothing' && (!found.fields || found.fields.any);
	return (
		<section class="np-panel" data-panel={panel.name}>
			<h3>
				{title} <span class="unit">{panel.unit}</span>
				{found?.total && <span class="hint cutting"> {t('np.top', { shown: (found.fields?.entities ?? found.lines ?? []).length, total: found.total })}</span>}
				{found?.fields?.entities.length > 1 && <span class="hint cutting"> {t('np.together', { n: found.fields.entities.length })}</span>}
			</h3>
			{!any && <p class="hint empty-panel">{t(!data ? 'table.loading' : found.fields ? 'np.noevent' : 'np.nodata')}</p>}
			{any && <TimePlot {...{ range: data.range, from: data.from, step: data.step, n: data.alive.length, panel, marks, at, onZoom, look, label: `${title}, ${panel.unit}` }} lines={found.lines} limit={found.limit} fields={found.fields} />}
			{any && <PanelValues {...{ found, panel, at, from: data.from, step: data.step, labels }} />}
		</section>
	);
});
