// SPDX-License-Identifier: Apache-2.0
// The footer of every page with requests: how complete its data is, and in text what was missed, where, since when, and
// what to do.
import { useState } from 'preact/hooks';
import { count, isNumber, timeText, visible } from '../text/format.js';
import { connections, isGoingOn, isSevere, lossesOf, lostRequests, notRead, useCoverage } from '../data/coverage.js';
import { isLive } from '../data/filters.js';
import { t, word } from '../text/i18n.js';
import { messages } from '../text/messages.js';
import { isSilent, useNodes } from '../data/nodes.js';
import { Icon, Text } from './elements.jsx';

const CUT = 80;

const Figure = ({ name, value, text = count, known, warn = false }) => {
	const title = t(known ? `cov.${name}.title` : 'cov.missing');
	return (
		<span class={`figure${warn ? ' warn' : ''}`} title={title} data-name={name} tabIndex={0}>
			{warn && <Icon name="warn" />}
			<span class="what">{t(`cov.${name}`)}</span> <b>{isNumber(value) ? text(value) : '–'}</b>
		</span>
	);
};

const lossText = (loss) => {
	const n = count(loss.count);
	const name = visible(loss.name).slice(0, CUT);
	const known = `c.${loss.name}` in messages;
	return known ? t('cov.loss', { n, what: t(`c.${loss.name}`) }) : t('cov.strange', { n, name, unit: visible(loss.unit ?? '').slice(0, CUT) });
};

export const doOf = (name) => (`do.${name}` in messages ? t(`do.${name}`) : '');

export const whenText = (loss, live = true) =>
	live && isGoingOn(loss) ? t('cov.since', { from: timeText(loss.first, false) }) : t('cov.from', { from: timeText(loss.first, false), to: timeText(loss.last, false) });

const unreadText = ({ app, kind, count: n }) => {
	const key = `cov.kind.${kind}`;
	return t(key in messages ? key : 'cov.kind.other', { app: visible(app).slice(0, CUT), n: count(n), kind: visible(kind).slice(0, CUT) });
};

// "nginx: 312 encrypted connections not read", one line per app and kind.
export const Unread = ({ of }) => (
	<ul class="unread">
		{of.map((u) => (
			<li key={`${u.app}\n${u.kind}`}>
				<bdi>{unreadText(u)}</bdi>
			</li>
		))}
	</ul>
);

const Loss = ({ loss, live }) => (
	<li class={isSevere(loss) ? 'warn' : ''} data-loss={loss.name}>
		<Icon name={isSevere(loss) ? 'warn' : 'off'} /> <b>
			<Text of={loss.node} cut={CUT} />
		</b>{' '}
		<bdi>{lossText(loss)}</bdi> <span class="hint">{whenText(loss, live)}</span> <span class="todo">{doOf(loss.name)}</span>
	</li>
);

const Details = ({ id, losses, coverage, unread, live }) => (
	<div class="cover-details" id={id} role="region" aria-label={t('cov.label')} tabIndex={0}>
		<section>
			<h2>{t('cov.losses')}</h2>
			{!losses.length && !coverage.lostBatches && <p class="hint">{t('cov.losses.none')}</p>}
			<ul>
				{losses.map((loss) => (
					<Loss key={`${loss.node}\n${loss.name}`} loss={loss} live={live} />
				))}
				{coverage.lostBatches > 0 && (
					<li class="warn">
						<Icon name="warn" /> {t('cov.gap', { n: count(coverage.lostBatches) })}. <span class="todo">{doOf('requests_lost')}</span>
					</li>
				)}
			</ul>
		</section>
		<section>
			<h2>{t('cov.unread.head')}</h2>
			{unread.length ? <Unread of={unread} /> : <p class="hint">{t('cov.unread.none')}</p>}
			{unread.length > 0 && <p class="hint">{t('cov.unread.do')}</p>}
		</section>
	</div>
);

// The loss that grew last in one line; the others are one click away.
const Headline = ({ losses, live }) => {
	const severe = losses.filter(isSevere);
	if (!severe.length) return null;
	const [first] = severe;
	return (
		<p class="headline warn" role="status">
			<Icon name="warn" /> <b>
				<Text of={first.node} cut={CUT} />
			</b>{' '}
			<bdi>{lossText(first)}</bdi>, {whenText(first, live)}. <span class="todo">{doOf(first.name)}</span> {severe.length > 1 && t('cov.others', { n: count(severe.length - 1) })}
		</p>
	);
};

const Nodes = ({ list }) => {
	const silent = (list ?? []).filter(isSilent);
	return (
		<a class={silent.length ? 'warn' : ''} href="/nodes">
			{silent.length > 0 && <Icon name="warn" />}
			{t('cov.nodes')} {list ? count(list.length) : '–'}
			{silent.length > 0 && `, ${t('cov.silent', { n: count(silent.length) })}`}
		</a>
	);
};

export const Coverage = ({ filters, of = t('cov.range') }) => {
	const { list } = useNodes();
	const coverage = useCoverage(filters);
	const [open, setOpen] = useState(false);
	const c = coverage ?? {};
	const known = Boolean(coverage);
	const losses = lossesOf(coverage);
	const unread = notRead(coverage);
	const lost = known ? lostRequests(coverage) : null;
	const live = isLive(filters);
	const stored = (n) => (c.storedExact === false ? t('cov.atleast', { n: count(n) }) : count(n));
	return (
		<footer class="coverage" aria-label={t('cov.label')}>
			{open && known && <Details {...{ losses, coverage, unread, live }} id="cover-details" />}
			{!open && <Headline losses={losses} live={live} />}
			<div class="figures">
				<span class="label">
					{t('cov.label')} <span class="hint">{of}</span>
				</span>
				<Figure name="seen" value={c.seen} known={known} />
				<Figure name="stored" value={c.stored} text={stored} known={known} />
				<Figure name="withheld" value={c.withheld} known={known} warn={c.withheld > 0} />
				<Figure name="lost" value={lost} known={known} warn={lost > 0 || c.lostBatches > 0} />
				<Figure name="unread" value={known ? connections(unread) : null} known={known} />
				<button type="button" class="quiet" id="cover-more" disabled={!known} aria-expanded={open} aria-controls={open ? 'cover-details' : undefined} title={t('cov.more.title')} onClick={() => setOpen(!open)}>
					{t('cov.more')} <span aria-hidden="true">{open ? '▾' : '▴'}</span>
				</button>
				<span class="push" />
				<Nodes list={list} />
			</div>
		</footer>
	);
};
