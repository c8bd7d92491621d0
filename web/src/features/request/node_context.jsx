// SPDX-License-Identifier: Apache-2.0
// The node around that moment, drawn by uPlot, with the moment marked. A canvas is not readable by a screen reader: the
// figures below each drawing give the values at the moment and before it.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { isNumber, msFine, timeParts, timeText, visible } from '../../text/format.js';
import { t, useSettings } from '../../text/i18n.js';
import { nodeAround } from '../../data/node.js';
import { loadPanels, lineFigures, timesOf, useAroundMoment, windowOf } from './node_series.js';
import { Text } from '../../ui/elements.jsx';

const HEIGHT = 120;
const LEAST = { '%': 10, 'MiB/s': 1, '/s': 5 }; /* least end of a scale, so that a quiet node looks quiet */
const HEADROOM = 1.1;
const topOf = (unit, high) => Math.max(LEAST[unit], high * HEADROOM);
const DASHES = [[], [6, 3], [2, 2]];
const LINES = ['--own', '--up', '--wait'];
const MARK_PX = 2;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const drawMark = (u, begin, end) => {
	const { ctx, bbox } = u;
	const x = u.valToPos(begin / 1e3, 'x', true);
	ctx.save();
	ctx.fillStyle = colour('--bad');
	ctx.globalAlpha = 0.55;
	ctx.fillRect(x, bbox.top, Math.max(MARK_PX * devicePixelRatio, u.valToPos(end / 1e3, 'x', true) - x), bbox.height);
	ctx.restore();
};

const clock = (s) => timeParts(s * 1e3).time.slice(0, 5);

const axis = (values, size) => ({ values, size, stroke: colour('--soft'), font: `10px ${colour('--sans')}`, grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, gap: 4 });

const optionsOf = (panel, width, begin, end) => ({
	width,
	height: HEIGHT,
	legend: { show: false },
	cursor: { drag: { x: false, y: false }, sync: { key: 'strips' }, y: false },
	scales: { x: { time: true }, y: { range: (u, low, high) => [0, topOf(panel.unit, high ?? 0)] } },
	axes: [axis((u, all) => all.map(clock), 22), axis((u, all) => all.map((v) => v), 38)],
	series: [{}, ...panel.lines.map((line, i) => ({ label: line.name, stroke: colour(LINES[i % LINES.length]), dash: DASHES[i % DASHES.length], width: 1.5, points: { show: false } }))],
	hooks: { drawAxes: [(u) => drawMark(u, begin, end)] },
});

const darkness = matchMedia('(prefers-color-scheme: dark)');

const Drawing = ({ panel, win, begin, end, zone }) => {
	const ref = useRef(null);
	useEffect(() => {
		let plot = null;
		const data = [timesOf(win).map((ms) => ms / 1e3), ...panel.lines.map((line) => line.values)];
		const draw = () => {
			plot?.destroy();
			plot = ref.current.clientWidth ? new uPlot(optionsOf(panel, ref.current.clientWidth, begin, end), data, ref.current) : null;
		};
		const watcher = new ResizeObserver(([entry]) => {
			const width = Math.floor(entry.contentRect.width);
			if (plot && plot.width !== width && width) plot.setSize({ width, height: HEIGHT });
			else if (!plot) draw();
		});
		draw();
		watcher.observe(ref.current);
		darkness.addEventListener('change', draw);
		return () => {
			darkness.removeEventListener('change', draw);
			watcher.disconnect();
			plot?.destroy();
		};
	}, [panel, begin, end, zone]);
	return <div class="drawing" ref={ref} aria-hidden="true" />;
};

const Key = ({ i }) => (
	<svg class={`line-key line-${i % LINES.length}`} width="18" height="8" aria-hidden="true">
		<path d="M0 4h18" stroke-dasharray={DASHES[i % DASHES.length].join(' ')} />
	</svg>
);

const figure = (n, unit) => (isNumber(n) ? `${msFine(n)} ${unit}` : '–');

const Panel = ({ panel, win, begin, end, zone }) => (
	<section class="strip-panel" data-panel={panel.name}>
		<h3>
			{t(`node.${panel.name}`)} <span class="unit">{panel.unit}</span>
		</h3>
		{!panel.lines.length && <p class="hint">{t('node.nodata')}</p>}
		{panel.lines.length > 0 && <Drawing {...{ panel, win, begin, end, zone }} />}
		<ul class="says">
			{panel.lines.map((line, i) => {
				const said = lineFigures(line.values, win, begin, end);
				return (
					<li key={line.name}>
						<Key i={i} /> {line.known ? t(`node.line.${line.name}`) : <Text of={line.name} cut={40} />} <b>{figure(said.at, panel.unit)}</b> <span class="hint">{t('node.before', { value: figure(said.before, panel.unit) })}</span>
					</li>
				);
			})}
		</ul>
	</section>
);

export const NodeContext = ({ node, time, end }) => {
	const { zone } = useSettings();
	const begin = Date.parse(time);
	const until = Math.max(begin, Date.parse(end) || begin);
	const { found: panels, error } = useAroundMoment(loadPanels, node, begin, until);
	const win = windowOf(begin, until);
	return (
		<section class="card wide" id="node-context">
			<h2>{t('node.title', { node: visible(node ?? '–').slice(0, 60) })}</h2>
			{typeof node === 'string' && node && (
				<p>
					<a href={nodeAround(node, begin, until)}>{t('np.same')}</a>
				</p>
			)}
			<p class="hint">{t('node.about', { from: timeText(win.from, false), to: timeText(win.to, false) })}</p>
			{error && <p class="warn">{t('part.failed', { message: visible(error.message) })}</p>}
			{!panels && !error && <p>{t('table.loading')}</p>}
			{panels && (
				<div class="strip-panels">
					{panels.map((panel) => (
						<Panel key={panel.name} {...{ panel, win, begin, end: until, zone }} />
					))}
				</div>
			)}
		</section>
	);
};
