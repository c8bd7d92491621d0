// SPDX-License-Identifier: Apache-2.0
// An icicle chart of the evidence: the total on top, below it parts, calls and frames, each as wide as it lasted. A click
// or Enter zooms in, arrows move, Escape zooms out; search matches are marked and summed up.
import { useMemo, useRef, useState } from 'preact/hooks';
import { msFine, visible } from '../text/format.js';
import { t } from '../text/i18n.js';
import { maxDepth, icicleOf, overlaps, sumMatches, visibleNodes, pathTo } from '../data/evidence_tree.js';
import { partClass, partName, useParts } from '../data/parts.js';

const ROW_PX = 20;
const CUT = 120;
const nameOf = (node) => {
	if (node.kind === 'all') return t('ice.all');
	if (node.kind === 'cut') return t('evi.cut');
	return visible(node.kind === 'part' ? partName(node.part) : node.name || t('ice.nocall')).slice(0, CUT);
};

export const percent = (part) => `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
const inWords = (node, all) => `${nameOf(node)} · ${msFine(node.ms)} ms · ${percent(node.ms / all.ms)}`;

// The target of the arrow keys: down to the longest child, up to the parent, or to the neighbour.
const stepFrom = (way, key) => {
	const [node, parent] = [way.at(-1), way.at(-2)];
	if (key === 'ArrowDown') return node.children[0];
	if (key === 'ArrowUp') return parent;
	if (key === 'ArrowRight') return parent?.children[node.index + 1];
	return parent?.children[node.index - 1];
};

const Cell = ({ node, root, all, of, on, found, current }) => {
	const at = (node.from - root.from) / root.ms;
	const above = node.depth < root.depth;
	const style = above ? { left: 0, width: '100%' } : { left: `${at * 100}%`, width: `${(node.ms / root.ms) * 100}%` };
	return (
		<div
			role="treeitem"
			class={`cell cell-${node.kind} ${of.look(node, all)}${above ? ' above' : ''}${found === null ? '' : found ? ' found' : ' dim'}`}
			style={{ ...style, top: `${node.depth * ROW_PX}px` }}
			tabIndex={current ? 0 : -1}
			data-node={node.id}
			aria-label={of.words(node, all)}
			aria-level={node.depth + 1}
			aria-posinset={(node.index ?? 0) + 1}
			aria-setsize={node.among ?? 1}
			aria-expanded={node.children.length ? true : undefined}
			aria-selected={node === root}
			title={of.words(node, all)}
			onClick={() => on.zoom(node)}
			onFocus={() => on.at(node)}
			onPointerEnter={() => on.at(node)}
		>
			<bdi>{of.name(node)}</bdi>
		</div>
	);
};

const useIcicle = (all, least) => {
	const [zoomed, zoom] = useState('n');
	const [at, setAt] = useState('n');
	const field = useRef(null);
	const root = (pathTo(all, zoomed) ?? [all]).at(-1);
	const focus = (node) => {
		setAt(node.id);
		requestAnimationFrame(() => field.current?.querySelector(`[data-node="${node.id}"]`)?.focus());
	};
	const zoomTo = (node) => {
		zoom(node.id);
		focus(node);
	};
	const onKeyDown = (event) => {
		const way = pathTo(all, at) ?? [all];
		if (event.key === 'Enter' || event.key === ' ') zoomTo(way.at(-1));
		else if (event.key === 'Escape' && root !== all) zoomTo(all);
		else if (event.key === 'Home') zoomTo(all);
		else if (event.key.startsWith('Arrow')) {
			const to = stepFrom(way, event.key);
			if (to && overlaps(to, root) && (to.depth <= root.depth || to.ms >= least * root.ms)) focus(to);
		} else return;
		event.preventDefault();
		event.stopPropagation();
	};
	return { root, at, field, zoomTo, setAt, onKeyDown };
};

// of: describes the nodes by name(node), words(node, all), look(node, all) for the class, found(root, fits) for the search
// result. least: smaller shares of the zoomed node are not drawn.
export const IcicleChart = ({ all, title, of, least = 0 }) => {
	const [text, search] = useState('');
	const tree = useIcicle(all, least);
	const { root } = tree;
	const shown = useMemo(() => visibleNodes(all, root, least), [all, root, least]);
	const wanted = text.trim().toLowerCase();
	const fits = (node) => node.kind !== 'all' && of.name(node).toLowerCase().includes(wanted);
	const current = shown.find((n) => n.id === tree.at) ?? root;
	return (
		<>
			<div class="ice-tools">
				<input id="ice-search" type="search" value={text} aria-label={t('ice.search')} placeholder={t('ice.search')} maxLength={200} spellcheck={false} autocomplete="off" onInput={(e) => search(e.currentTarget.value)} />
				<button type="button" id="ice-out" disabled={root === all} onClick={() => tree.zoomTo(all)}>
					{t('ice.out')}
				</button>
				<span role="status" id="ice-found">
					{wanted ? of.found(root, fits) : ''}
				</span>
			</div>
			<div class="ice-scroll">
				<div class="icicle" ref={tree.field} role="tree" aria-label={title} style={{ height: `${(Math.max(...shown.map((n) => n.depth)) + 1) * ROW_PX}px` }} onKeyDown={tree.onKeyDown}>
					{shown.map((node) => (
						<Cell key={node.id} {...{ node, root, all, of }} on={{ zoom: tree.zoomTo, at: (n) => tree.setAt(n.id) }} found={wanted ? fits(node) : null} current={node === current} />
					))}
				</div>
			</div>
			<p class="ice-at">
				<bdi>{of.words(current, all)}</bdi>
			</p>
		</>
	);
};

const evidence = {
	name: nameOf,
	words: inWords,
	look: (node) => (node.part ? partClass(node.part) : ''),
	found: (root, fits) => {
		const ms = sumMatches(root, fits);
		return ms > 0 ? t('ice.found', { ms: msFine(ms), part: percent(ms / root.ms) }) : t('ice.notfound');
	},
};

export const EvidenceIcicle = ({ of, total }) => {
	useParts();
	const all = useMemo(() => icicleOf(of.evidence), [of.evidence]);
	if (!all || maxDepth(all) < 1) return null;
	return (
		<section class="card wide" id="icicle">
			<h2>{t('ice.title')}</h2>
			<p class="hint">{t(total ? 'ice.about' : 'ice.about.event', { ms: msFine(all.ms), total: msFine(total) })}</p>
			<IcicleChart all={all} title={t('ice.title')} of={evidence} />
		</section>
	);
};
