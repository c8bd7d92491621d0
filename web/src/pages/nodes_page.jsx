// SPDX-License-Identifier: Apache-2.0
// The nodes: which report, what each probe reads, and what it could not read.
import { useState } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { Coverage, doOf, whenText } from '../ui/coverage_footer.jsx';
import { Tags } from '../ui/node_tags.jsx';
import { Icon, Text, Time } from '../ui/elements.jsx';
import { useCovered } from '../data/coverage.js';
import { eventsAddress } from '../data/events.js';
import { isQueryable, writeFilters } from '../data/filters.js';
import { count, duration, isNumber, msFine, timeText, visible } from '../text/format.js';
import { t, word } from '../text/i18n.js';
import { messages } from '../text/messages.js';
import { nodeAddress } from '../data/node.js';
import { askNodes, clockOff, isSilent, lostOf, unreadOf, useNodes } from '../data/nodes.js';

const FEW = 3; /* up to this many nodes are shown with all details */
const stateIcon = { attached: 'ok', off: 'off', throttled: 'warn' };

// A source that is measured on demand and not enabled: it is listed in the details and is no problem of the node.
const isNotEnabled = (s) => s.state === 'off' && (s.why ?? '').startsWith('not asked for: ');

export const Source = ({ source, why = false }) => (
	<span class={`source state-${source.state}`} title={source.why ? visible(source.why) : undefined}>
		<Icon name={stateIcon[source.state] ?? 'warn'} /> <Text of={source.name} /> <span class="state">{word('src.', source.state)}</span>
		{why && source.why && (
			<span class="why">
				{': '}
				<Text of={source.why} />
			</span>
		)}
	</span>
);

// The remark for a clock that is visibly off.
export const Clock = ({ node, todo = false }) => {
	const off = clockOff(node);
	if (!off) return null;
	const by = Math.abs(off) < 600e3 ? `${Math.round(Math.abs(off) / 100) / 10} ${t('unit.s')}` : duration(Math.abs(off));
	return (
		<span class="warn clock-off">
			<Icon name="warn" /> {t(off > 0 ? 'clock.ahead' : 'clock.behind', { by })}
			{todo && `, ${t('clock.do', { within: `${msFine(node.clock.uncertainty)} ${t('unit.ms')}` })}`}
		</span>
	);
};

// In the order of the message table, from seen to lost; unknown counters last.
const order = Object.keys(messages);
const rank = (name) => (order.includes(`c.${name}`) ? order.indexOf(`c.${name}`) : order.length);

// The times when the counter rose, and what to do about it.
const Remark = ({ node, name }) => {
	const loss = useCovered()?.losses?.find((l) => l.node === node && l.name === name);
	if (!loss) return null;
	return (
		<div class="remark">
			<span class="hint">{whenText(loss)}</span> {doOf(name)}
		</div>
	);
};

const Details = ({ node }) => {
	const coverage = Object.entries(node.coverage ?? {}).sort(([a], [b]) => rank(a) - rank(b));
	const unread = unreadOf([node]);
	return (
		<div class="details">
			<section>
				<h3>{t('nodes.sources')}</h3>
				{!node.sources?.length && <p>{t('src.none')}</p>}
				<ul>
					{(node.sources ?? []).map((s) => (
						<li key={s.name}>
							<Source source={s} why />
							{s.since && <div class="hint">{t('src.since', { time: timeText(s.since, false) })}</div>}
						</li>
					))}
				</ul>
				<p class="see">
					<a href={nodeAddress(node.name)}>{t('np.open', { node: visible(node.name).slice(0, 60) })}</a>
				</p>
				{isQueryable(node.name) && (
					<p class="see">
						{t('nodes.see')}: <a href={writeFilters({ node: [node.name] })}>{t('nodes.requests')}</a> · <a href={eventsAddress({ node: node.name })}>{t('nodes.events')}</a>
					</p>
				)}
			</section>
			<section>
				<h3>{t('nodes.coverage')}</h3>
				{!coverage.length && <p>{t('nodes.coverage.none')}</p>}
				<dl class="counters">
					{coverage.map(([name, value]) => (
						<div key={name} class={value > 0 ? '' : 'zero'}>
							<dt title={visible(name)}>
								{visible(word('c.', name))}
								{value > 0 && <Remark node={node.name} name={name} />}
							</dt>
							<dd>{count(Number(value))}</dd>
						</div>
					))}
					{isNumber(node.lostBatches) && (
						<div class={node.lostBatches > 0 ? '' : 'zero'}>
							<dt>{t('nodes.lostBatches')}</dt>
							<dd>{count(node.lostBatches)}</dd>
						</div>
					)}
				</dl>
			</section>
			<section>
				<h3>{t('nodes.unread')}</h3>
				{!unread.length && <p>{t('nodes.unread.none')}</p>}
				<dl class="counters">
					{unread.map((u) => (
						<div key={`${u.app}\n${u.kind}`}>
							<dt>
								<Text of={u.app} /> · {word('kind.', u.kind)}
							</dt>
							<dd>{count(u.count)}</dd>
						</div>
					))}
				</dl>
				<p class="hint">
					{node.firstSeen && t('nodes.first', { time: timeText(node.firstSeen, false) })}
					<br />
					<span class="mono">{t('nodes.id', { id: visible(node.id ?? '–') })}</span>
				</p>
			</section>
		</div>
	);
};

const Row = ({ node, open, onToggle }) => {
	const silent = isSilent(node);
	const lost = lostOf(node);
	const unread = unreadOf([node]).reduce((n, u) => n + u.count, 0);
	return (
		<>
			<tr class={open ? 'open' : ''} data-node={node.name}>
				<td>
					<button type="button" class="expand" aria-expanded={open} aria-label={t('nodes.details', { node: visible(node.name) })} onClick={onToggle}>
						<span aria-hidden="true">{open ? '▾' : '▸'}</span>
					</button>{' '}
					<a href={nodeAddress(node.name)}>
						<Text of={node.name} />
					</a>
				</td>
				<td>{node.region ? <Text of={node.region} /> : <span class="none">{t('nodes.noregion')}</span>}</td>
				<td>
					<Tags tags={node.tags} />
				</td>
				<td class="mono">
					<Time of={node.lastSeen} />
				</td>
				<td class={silent ? 'lag warn' : 'lag'}>
					<Icon name={silent ? 'warn' : 'ok'} /> {t(silent ? 'nodes.silent' : 'nodes.reporting')} · {duration(node.lag)} <Clock node={node} />
				</td>
				<td>
					<Text of={node.version} class="mono" />
				</td>
				<td class="sources">
					{(node.sources ?? []).filter((s) => !isNotEnabled(s)).map((s) => (
						<Source key={s.name} source={s} />
					))}
				</td>
				<td class="n">{count(Number(node.coverage?.requests_seen ?? 0))}</td>
				<td class={`n${lost > 0 ? ' warn' : ''}`}>
					{lost > 0 && <Icon name="warn" />} {count(lost)}
				</td>
				<td class="n">{count(unread)}</td>
			</tr>
			{open && (
				<tr class="detail">
					<td colSpan={10}>
						<Details node={node} />
					</td>
				</tr>
			)}
		</>
	);
};

const columns = [['name'], ['region'], ['tags'], ['lastSeen'], ['lag'], ['version'], ['sources'], ['seen', 'n'], ['notdelivered', 'n'], ['unread', 'n']];

export const NodesPage = () => {
	const { list, error } = useNodes();
	const [toggled, setToggled] = useState({});
	const byDefault = (list ?? []).length <= FEW;
	const isOpen = (node) => toggled[node.name] ?? byDefault;
	return (
		<>
			<main class="scroll page-table" id="content">
				<h1>
					{t('title.nodes')} {list && <span class="hint">{count(list.length)}</span>}
				</h1>
				{error && <QueryError error={error} onRetry={askNodes} />}
				{!list && !error && <p class="more">{t('table.loading')}</p>}
				{list?.length === 0 && (
					<section class="empty">
						<h2>{t('nodes.none')}</h2>
						<p>{t('empty.nonodes.do')}</p>
					</section>
				)}
				{list?.length > 0 && (
					<table class="plain nodes">
						<thead>
							<tr>
								{columns.map(([name, cls]) => (
									<th key={name} scope="col" class={cls}>
										{t(`nodes.col.${name}`)}
										{cls && <span class="unit"> {t('nodes.hour')}</span>}
									</th>
								))}
							</tr>
						</thead>
						<tbody>
							{list.map((node) => (
								<Row key={node.name} node={node} open={isOpen(node)} onToggle={() => setToggled({ ...toggled, [node.name]: !isOpen(node) })} />
							))}
						</tbody>
					</table>
				)}
			</main>
			<Coverage filters={{}} of={t('nodes.hour')} />
		</>
	);
};
