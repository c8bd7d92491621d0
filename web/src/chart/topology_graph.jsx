// SPDX-License-Identifier: Apache-2.0
// The drawing of the call graph. The table below it has the same data in text.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { count, ms, rate, visible } from '../text/format.js';
import { t } from '../text/i18n.js';
import { figuresOf } from '../data/topology.js';
import { BOX, pathOf, placed } from './topology_layout.js';

const FAILING = 0.01; /* share of failed requests from which an edge is marked */

const cut = (text, n = 22) => (text.length > n ? `${text.slice(0, n - 1)}…` : text);
const percent = (part) => (part > 0 && part < 0.001 ? '<0.1 %' : `${(100 * part).toFixed(part && part < 0.1 ? 1 : 0)} %`);
const nameOf = (node) => (node.how === 'others' ? t('topo.others', { n: node.count }) : node.name ? visible(node.name) : t('topo.nameless'));
const wordsOf = (link) => {
	const f = figuresOf(link);
	return t('topo.edge', { rate: rate(f.rate), errors: percent(f.errorRatio), p99: ms(f.p99) });
};

const Link = ({ link, from, to, dim }) => {
	const { errorRatio } = figuresOf(link);
	return (
		<g class={`link${errorRatio > FAILING ? ' is-failing' : ''}${dim ? ' is-dim' : ''}`}>
			<path d={pathOf(link.points)} marker-end="url(#arrow)">
				<title>{`${nameOf(from)} → ${nameOf(to)}: ${wordsOf(link)}`}</title>
			</path>
			{link.label && (
				<text x={link.label.x} y={link.label.y + 3.5}>
					{wordsOf(link)}
				</text>
			)}
		</g>
	);
};

const placeOf = ({ hosts, how }) => {
	if (hosts.length > 1) return t('topo.hosts', { n: count(hosts.length) });
	if (hosts.length) return visible(hosts[0]);
	return how === 'others' ? '' : t(`owner.${how}`);
};

const Box = ({ node, found, dim }) => (
	<g class={`box how-${node.how}${found ? ' is-found' : ''}${dim ? ' is-dim' : ''}`} transform={`translate(${node.x} ${node.y})`}>
		<title>{[nameOf(node), ...node.hosts.slice(0, 20).map(visible)].join(' · ')}</title>
		<rect {...BOX} rx="4" />
		<text x="8" y="17">
			{cut(nameOf(node))}
		</text>
		<text x="8" y="32" class="soft">
			{cut(placeOf(node), 26)}
		</text>
	</g>
);

// The first box that is found is scrolled to.
const useFound = (keys) => {
	const frame = useRef();
	useEffect(() => {
		if (keys) frame.current.querySelector('.is-found')?.scrollIntoView({ block: 'nearest', inline: 'center' });
	}, [keys]);
	return frame;
};

// find: a text; boxes that have it in their name, or the name of a host, are marked, and the others are dimmed.
export const TopologyGraph = ({ graph, find = '' }) => {
	const shape = JSON.stringify([graph.nodes, graph.links].map((all) => all.map((x) => x.key).sort()));
	const places = useMemo(() => placed(graph), [shape]);
	const nodes = new Map(graph.nodes.map((n) => [n.key, n]));
	const links = new Map(graph.links.map((l) => [l.key, l]));
	const wanted = find.toLowerCase();
	const found = new Set(wanted ? graph.nodes.filter((n) => [nameOf(n), ...n.hosts].some((s) => s.toLowerCase().includes(wanted))).map((n) => n.key) : []);
	const frame = useFound(wanted && `${wanted} ${shape}`);
	const isDim = (...keys) => wanted && !keys.some((key) => found.has(key));
	return (
		<div class="sideways graph" tabIndex={0} role="region" aria-label={t('title.topology')} ref={frame}>
			<svg role="img" aria-label={t('topo.drawing', { nodes: graph.nodes.length, edges: graph.links.length })} width={places.width} height={places.height} viewBox={`0 0 ${places.width} ${places.height}`}>
				<defs>
					<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" orient="auto">
						<path d="M0 0L8 4L0 8z" />
					</marker>
				</defs>
				{places.links.map((place) => (
					<Link key={place.key} link={{ ...place, edges: links.get(place.key).edges }} from={nodes.get(place.from)} to={nodes.get(place.to)} dim={isDim(place.from, place.to)} />
				))}
				{places.nodes.map((place) => (
					<Box key={place.key} node={{ ...nodes.get(place.key), x: place.x, y: place.y }} found={found.has(place.key)} dim={isDim(place.key)} />
				))}
			</svg>
		</div>
	);
};
