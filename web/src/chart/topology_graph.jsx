// SPDX-License-Identifier: Apache-2.0
// The drawing of the call graph. The table below it has the same data in text.
import { ms, rate, visible } from '../text/format.js';
import { t } from '../text/i18n.js';
import { figuresOf } from '../data/topology.js';

const BOX = { width: 150, height: 40 };
const LABELS = 30; /* more labels would overlap */
const FAILING = 0.01; /* share of failed requests from which an edge is marked */

const cut = (text, n = 22) => (text.length > n ? `${text.slice(0, n - 1)}…` : text);
const percent = (part) => (part > 0 && part < 0.001 ? '<0.1 %' : `${(100 * part).toFixed(part && part < 0.1 ? 1 : 0)} %`);
const nameOf = (node) => (node.how === 'others' ? t('topo.others', { n: node.count }) : visible(node.name ?? '–'));
const wordsOf = (link) => {
	const f = figuresOf(link);
	return t('topo.edge', { rate: rate(f.rate), errors: percent(f.errorRatio), p99: ms(f.p99) });
};

const curve = (a, b) => {
	const [x1, y1, x2, y2] = [a.x + BOX.width, a.y + BOX.height / 2, b.x, b.y + BOX.height / 2];
	if (x2 > x1) return { d: `M${x1} ${y1}C${x1 + 50} ${y1} ${x2 - 50} ${y2} ${x2} ${y2}`, x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
	const [mx, low] = [(a.x + b.x + BOX.width) / 2, Math.max(y1, y2) + BOX.height];
	return { d: `M${x1} ${y1}C${x1 + 50} ${low} ${x2 - 50} ${low} ${x2} ${y2}`, x: mx, y: low - BOX.height / 3 };
};

const Link = ({ link, from, to, labelled }) => {
	const { d, x, y } = curve(from, to);
	const { errorRatio } = figuresOf(link);
	return (
		<g class={`link${errorRatio > FAILING ? ' is-failing' : ''}`}>
			<path d={d} marker-end="url(#arrow)">
				<title>{`${nameOf(from)} → ${nameOf(to)}: ${wordsOf(link)}`}</title>
			</path>
			{labelled && (
				<text x={x} y={y - 3}>
					{wordsOf(link)}
				</text>
			)}
		</g>
	);
};

const Box = ({ node }) => (
	<g class={`box how-${node.how}`} transform={`translate(${node.x} ${node.y})`}>
		<title>{`${nameOf(node)}${node.node ? ` · ${visible(node.node)}` : ''}`}</title>
		<rect {...BOX} rx="4" />
		<text x="8" y="17">
			{cut(nameOf(node))}
		</text>
		<text x="8" y="32" class="soft">
			{cut(node.node ? visible(node.node) : node.how === 'others' ? '' : t(`owner.${node.how}`), 26)}
		</text>
	</g>
);

export const TopologyGraph = ({ graph }) => {
	const at = new Map(graph.nodes.map((n) => [n.key, n]));
	const labelled = graph.links.length <= LABELS;
	return (
		<div class="sideways graph" tabIndex={0} role="region" aria-label={t('title.topology')}>
			<svg role="img" aria-label={t('topo.drawing', { nodes: graph.nodes.length, edges: graph.links.length })} width={graph.width + 4} height={graph.height + 24} viewBox={`-2 -2 ${graph.width + 4} ${graph.height + 24}`}>
				<defs>
					<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
						<path d="M0 0L8 4L0 8z" />
					</marker>
				</defs>
				{graph.links.map((link) => (
					<Link key={link.key} link={link} from={at.get(link.from)} to={at.get(link.to)} labelled={labelled} />
				))}
				{graph.nodes.map((node) => (
					<Box key={node.key} node={node} />
				))}
			</svg>
		</div>
	);
};
