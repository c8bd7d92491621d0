// SPDX-License-Identifier: Apache-2.0
// The hosts on the path of an incident: callers on the left, callees to their right.
import { count, duration, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';

const HOSTS = 24;
const WIDE = 170;
const HIGH = 38;
const GAP_X = 120;
const GAP_Y = 18;
const CUT = 22;

// A host is placed right of all its callers; hosts that call each other in a circle stay where the walk met them first.
export const layersOf = (parts) => {
	const edges = parts.filter((p) => p.to !== null);
	const names = [...new Set(parts.flatMap((p) => (p.to === null ? [p.from] : [p.from, p.to])))].slice(0, HOSTS);
	const layer = Object.fromEntries(names.map((name) => [name, 0]));
	for (let round = 0; round < names.length; round += 1) {
		for (const { from, to } of edges) if (from in layer && to in layer && layer[to] <= layer[from] && layer[from] + 1 < names.length) layer[to] = layer[from] + 1;
	}
	const rows = {};
	return names.map((name) => {
		const column = layer[name];
		rows[column] = (rows[column] ?? -1) + 1;
		return { name, column, row: rows[column], own: parts.find((p) => p.to === null && p.from === name)?.value ?? 0 };
	});
};

const x = (host) => 4 + host.column * (WIDE + GAP_X);
const y = (host) => 4 + host.row * (HIGH + GAP_Y);
const short = (text) => (visible(text).length > CUT ? `${visible(text).slice(0, CUT - 1)}…` : visible(text));

const Host = ({ of, first, text }) => (
	<g class={`through-host${of.own > 0 ? ' has' : ''}${first ? ' first' : ''}`} data-name={of.name}>
		<title>{visible(of.name)}</title>
		<rect x={x(of)} y={y(of)} width={WIDE} height={HIGH} rx="6" />
		<text x={x(of) + 10} y={y(of) + 16}>{short(of.name)}</text>
		{of.own > 0 && (
			<text class="own" x={x(of) + 10} y={y(of) + 31}>
				{t('inc.graph.own', { value: text(of.own) })}
			</text>
		)}
	</g>
);

const Edge = ({ of, from, to, text }) => {
	const back = to.column <= from.column;
	const [x1, x2] = back ? [x(from) + WIDE / 2, x(to) + WIDE / 2] : [x(from) + WIDE, x(to)];
	const [y1, y2] = [y(from) + HIGH / 2, y(to) + HIGH / 2];
	return (
		<g class={`through-edge${of.value > 0 ? ' has' : ''}`}>
			<title>{`${visible(of.from)} → ${visible(of.to)}: ${text(of.net)}`}</title>
			<path d={`M${x1} ${y1}L${x2} ${y2}`} marker-end="url(#through-arrow)" />
			<text x={(x1 + x2) / 2} y={(y1 + y2) / 2 - 4} text-anchor="middle">
				{text(of.net)}
				{of.value > 0 && <tspan class="own">{` · ${text(of.value)}`}</tspan>}
			</text>
		</g>
	);
};

export const HostGraph = ({ of }) => {
	const parts = of.graph ?? [];
	const errors = String(of.code).startsWith('failed');
	const text = (value) => (errors ? count(Math.round(value)) : duration(value / 1000));
	const hosts = layersOf(parts);
	const byName = Object.fromEntries(hosts.map((h) => [h.name, h]));
	const first = of.first?.node ?? of.first?.address;
	if (hosts.length < 2) return null;
	const columns = Math.max(...hosts.map((h) => h.column)) + 1;
	const rows = Math.max(...hosts.map((h) => h.row)) + 1;
	const [w, h] = [columns * (WIDE + GAP_X) - GAP_X + 8, rows * (HIGH + GAP_Y) - GAP_Y + 8];
	return (
		<section class="card wide sideways" id="through">
			<h2>{t('inc.graph')}</h2>
			<svg class="through" width={w} height={h} viewBox={`0 0 ${w} ${h}`} role="img" aria-label={t('inc.graph')}>
				<defs>
					<marker id="through-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
						<path d="M0 0L8 4L0 8z" />
					</marker>
				</defs>
				{parts
					.filter((p) => p.to !== null && byName[p.from] && byName[p.to])
					.map((p) => (
						<Edge key={`${p.from}\n${p.to}`} of={p} from={byName[p.from]} to={byName[p.to]} text={text} />
					))}
				{hosts.map((host) => (
					<Host key={host.name} of={host} first={host.name === first} text={text} />
				))}
			</svg>
			<p class="hint">{t('inc.graph.what')}</p>
		</section>
	);
};
