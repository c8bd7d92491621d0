// SPDX-License-Identifier: Apache-2.0
// The four tiles below the verdict: how bad, where the time went, the cause, what to do next.
import { isNumber, msFine, visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';
import { messages } from '../../text/messages.js';
import { partClass, partName, useParts } from '../../data/parts.js';
import { alsoOf } from './time_shares.js';
import { Text } from '../../ui/elements.jsx';

const Tile = ({ name, children }) => (
	<div class={`tile tile-${name}`}>
		<dt>{t(`summary.${name}`)}</dt>
		<dd>{children}</dd>
	</div>
);

const HowBad = ({ ms, normal, times, error }) => (
	<Tile name="what">
		<b class="big">{msFine(ms)} ms</b>
		{isNumber(error) && error > 0 && <span class="hint"> ± {msFine(error)} ms</span>}
		{isNumber(normal) && <p class="hint">{t('summary.normal', { ms: msFine(normal) })}</p>}
		{isNumber(times) && <p>{t('ev.time.times', { n: times })}</p>}
	</Tile>
);

const Where = ({ main, where }) => {
	useParts();
	return (
		<Tile name="where">
			{!main && <p>{t(where)}</p>}
			{main && (
				<>
					<span class={`key ${partClass(main.share.code)}`} aria-hidden="true" /> <b>{visible(partName(main.share.code))}</b>
					<p class="figure">
						{msFine(main.share.ms)} ms{main.over < main.share.ms && <span class="hint">{`, ${t('summary.over', { ms: msFine(main.over) })}`}</span>}
					</p>
					{main.part !== null && <p>{t(main.normal ? 'summary.part' : 'summary.part.whole', { n: Math.round(main.part * 100) })}</p>}
				</>
			)}
		</Tile>
	);
};

const Who = ({ of, part, who, name }) => {
	const also = who?.kind === 'who' ? alsoOf(of, part, who.name) : [];
	return (
		<Tile name={name}>
			{!who && <p>{t('summary.who.none')}</p>}
			{who && (
				<>
					<b class="wrap">
						<Text of={who.name} cut={160} />
					</b>
					<p class="hint">
						{t(`summary.who.${who.kind}`)}
						{who.more && (
							<>
								{' '}
								<bdi>{t('summary.at', { dev: visible(who.more).slice(0, 80) })}</bdi>
							</>
						)}
					</p>
					{also.length > 0 && (
						<p>
							{t('summary.also')} <Text of={also.map((a) => `${a.name} ${msFine(a.ms)} ms`).join(', ')} cut={200} />
						</p>
					)}
				</>
			)}
		</Tile>
	);
};

const Next = ({ code, links }) => (
	<Tile name="next">
		<p>{t(`next.${code}` in messages ? `next.${code}` : 'next.unknown')}</p>
		{links.length > 0 && (
			<ul class="links">
				{links.map(({ href, text }) => (
					<li key={href}>
						<a href={href} data-plain={href.startsWith("#") || undefined}>
							{text}
						</a>
					</li>
				))}
			</ul>
		)}
	</Tile>
);

const Process = ({ of }) => (
	<Tile name="process">
		<b>
			<Text of={of.comm} cut={60} />
		</b>
		<p class="hint">{t('summary.pid', { pid: of.pid ?? '–' })}</p>
	</Tile>
);

// found: what diagnosisOf() has found. process: set for an event, which has a process instead of parts.
export const Summary = ({ of, ms, normal, times, error, found, process = false, links }) => (
	<dl class={`summary${process ? ' three' : ''}`}>
		<HowBad {...{ ms, normal, times, error }} />
		{process ? <Process of={of} /> : <Where main={found.main} where={found.where} />}
		<Who of={of} part={found.main?.share.code} who={found.who} name={process ? 'on' : 'who'} />
		<Next code={of.reason?.code} links={links} />
	</dl>
);
