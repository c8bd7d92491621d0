// SPDX-License-Identifier: Apache-2.0
// One request across hosts: every known hop at its time, on the time axis of the first hop.
import { Status, Text } from '../../ui/elements.jsx';
import { isNumber, msFine, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { nodeAround } from '../../data/node.js';
import { partClass, partName, useParts } from '../../data/parts.js';

const SMALL = 0.004; /* of the axis: least width, so that a short hop stays visible */

const between = (from, ms, scale) => ({ left: `${(from / scale) * 100}%`, width: `${Math.max(SMALL, ms / scale) * 100}%` });
const words = (of) => ({ addr: visible(of.addr ?? '–'), node: visible(of.node ?? '–') });
const Silence = ({ of, ...more }) => (
	<p class="hint silence" {...more}>
		{t(`hop.${of.silence}`, words(of))}
	</p>
);

// The call, and within it the row of the callee: its parts as shares, not in order of time.
const HopLane = ({ hop, scale }) => {
	const parts = (hop.shares ?? []).filter((s) => s.ms > 0);
	const all = parts.reduce((sum, s) => sum + s.ms, 0);
	const said = parts.map((s) => `${visible(partName(s.code))} ${msFine(s.ms)} ms`).join(', ');
	return (
		<span class="hop-lane">
			{isNumber(hop.responseTime) && <span class="hop-call" style={between(hop.callTime, hop.responseTime, scale)} />}
			{hop.id && (
				<span class="hop-split" role="img" aria-label={said} title={said} style={between(hop.startTime, hop.totalTime, scale)}>
					{parts.map((s) => (
						<span key={s.code} class={`seg ${partClass(s.code)}`} style={{ width: `${(s.ms / all) * 100}%` }} />
					))}
				</span>
			)}
		</span>
	);
};

const Who = ({ hop, here }) => (
	<p class="hop">
		<b>
			<Text of={hop.app ?? hop.addr} cut={60} />
		</b>{' '}
		{hop.node && (
			<a class="hint" href={nodeAround(hop.node, Date.parse(hop.time) || here.at, (Date.parse(hop.time) || here.at) + (hop.totalTime ?? 0))}>
				<Text of={hop.node} cut={60} />
			</a>
		)}{' '}
		{hop.hop === here.hop ? <span>{t('hop.here')}</span> : hop.id && <a href={`/requests/${encodeURIComponent(hop.id)}`}>{t('hop.open')}</a>} {hop.id && <Status status={hop.status} slow={false} />} {hop.request && <Text of={hop.request} class="mono" cut={120} />}{' '}
		{isNumber(hop.totalTime) && <span>{t('hop.total', { ms: msFine(hop.totalTime) })}</span>}
	</p>
);

const Hop = ({ hop, hops, here, scale }) => {
	const below = hops.filter((h) => h.parent === hop.hop);
	return (
		<li class={hop.hop === here.look ? 'hop-look' : undefined}>
			{hop.parent !== null && (
				<p class="hint edge">
					{t('hop.call', { n: hop.try, addr: visible(hop.addr ?? '–'), ms: msFine(hop.responseTime) })}
					{isNumber(hop.networkTime) && ` · ${t('hop.network', { ms: msFine(hop.networkTime) })}`}
				</p>
			)}
			<Who hop={hop} here={here} />
			<HopLane hop={hop} scale={scale} />
			{hop.silence && <Silence of={hop} />}
			{hop.ends && <p class="hint silence">{t(`hop.${hop.ends}`)}</p>}
			{below.length > 0 && (
				<ol class="hops">
					{below.map((h) => (
						<Hop key={h.hop} {...{ hop: h, hops, here, scale }} />
					))}
				</ol>
			)}
		</li>
	);
};

// look: that of diagnosisOf().
export const CallTree = ({ req, trace, look }) => {
	useParts();
	const { hops = [], caller } = trace ?? {};
	if (hops.length < 2 && (caller?.silence ?? 'noProbe') === 'noProbe') return null;
	const scale = Math.max(hops[0].totalTime, 0.001);
	return (
		<section class="card wide" id="calls">
			<h2>{t('hop.title')}</h2>
			{look && <p id="look">{t(look.key, { ...words(look), from: visible(look.from ?? '–'), app: visible(look.app ?? '–'), ms: msFine(look.ms ?? 0), all: msFine(scale) })}</p>}
			{caller.silence !== 'noProbe' && <Silence of={caller} id="before" />}
			<ol class="hops">
				<Hop hop={hops[0]} hops={hops} here={{ hop: trace.hop, look: look?.hop, at: Date.parse(req.time) }} scale={scale} />
			</ol>
		</section>
	);
};
