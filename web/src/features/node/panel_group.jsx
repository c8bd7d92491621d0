// SPDX-License-Identifier: Apache-2.0
// One group of panels of a node.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Panel } from './panel.jsx';
import { Text } from '../../ui/elements.jsx';
import { panelDataOf, hasValues, silentRanges } from '../../data/columns.js';
import { visible } from '../../text/format.js';
import { localized, t } from '../../text/i18n.js';
import { shortLabel, labelsOf } from '../../text/entity_labels.js';
import { useColumns, useInView } from './use_columns.js';

// An input for one entity's name; the list offers the node's entities.
const Only = ({ group, kinds, labels, only, onOnly }) => {
	const names = useMemo(() => [...new Set(kinds.filter((k) => group.entity.includes(k.kind)).flatMap((k) => k.entities))], [kinds, group]);
	const id = `only-${group.name}`;
	if (names.length < 2 && !only) return null;
	const onKeyDown = (event) => event.key === 'Enter' && onOnly(event.currentTarget.value.trim());
	return (
		<span class="only">
			<label for={id}>{t('np.only')}</label> <input id={id} list={`${id}-names`} defaultValue={only ?? ''} key={only ?? ''} placeholder={t('np.only.hint')} maxLength={200} onChange={(e) => onOnly(e.currentTarget.value.trim())} onKeyDown={onKeyDown} />
			<datalist id={`${id}-names`}>
				{names.map((n) => (
					<option key={n} value={n}>
						{shortLabel(n, labels)}
					</option>
				))}
			</datalist>
			{only && (
				<button type="button" class="quiet" onClick={() => onOnly('')}>
					{t('np.only.drop')}
				</button>
			)}
		</span>
	);
};

// Panels without data, or with zeros only, are named in one line and drawn on demand.
const QuietPanels = ({ quiet, all, onAll }) => {
	if (!quiet.length) return null;
	const names = (which) => quiet.filter((q) => q.says === which).map((q) => localized(q.panel.title));
	return (
		<p class="quiet-panels hint">
			{['nought', 'nothing'].map((which) => names(which).length > 0 && <span key={which}>{t(`np.${which}`, { names: names(which).join(' · ') })} </span>)}
			<button type="button" class="quiet" aria-expanded={all} onClick={() => onAll(!all)}>
				{t(all ? 'np.hide' : 'np.show')}
			</button>
		</p>
	);
};

export const PanelGroup = ({ name, group, panels, kinds, range, marks, only, onOnly, onZoom, onSilent, look }) => {
	const [ref, seen] = useInView();
	const { data, error } = useColumns(name, range, panels, only, seen, undefined, group.kind);
	const [all, onAll] = useState(false);
	const labels = useMemo(() => labelsOf(kinds), [kinds]);
	const found = useMemo(() => panels.map((panel) => {
		const here = data && panelDataOf(panel, data.answer, data.alive);
		return { panel, found: here, says: here && hasValues(here) };
	}), [panels, data]);
	const quiet = found.filter((f) => f.says === 'nought' || f.says === 'nothing');
	useEffect(() => data && onSilent?.(silentRanges(data.alive, data.from, data.step)), [data]);
	return (
		<section class="np-group" id={`group-${group.name}`} ref={ref}>
			<h2>
				{localized(group.title)} {group.entity && <Only {...{ group, kinds, labels, only, onOnly }} />}
				{only && (
					<span class="hint">
						<Text of={shortLabel(only, labels)} cut={60} />
					</span>
				)}
			</h2>
			{error && <p class="warn">{t('np.failed', { message: visible(error.message).slice(0, 200) })}</p>}
			<div class="np-panels">
				{found.filter((f) => all || !quiet.includes(f)).map((f) => (
					<Panel key={f.panel.name} panel={f.panel} found={f.found} {...{ data, labels, marks, onZoom, look }} />
				))}
			</div>
			<QuietPanels {...{ quiet, all, onAll }} />
		</section>
	);
};
