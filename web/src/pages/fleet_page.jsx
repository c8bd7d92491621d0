// SPDX-License-Identifier: Apache-2.0
// The fleet: which nodes are bad, in which of four classes, and why.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { DiskLine } from './storage_page.jsx';
import { Coverage } from '../ui/coverage_footer.jsx';
import { Facet } from '../features/filter/facet_menu.jsx';
import { FilterChips } from '../features/filter/filter_bar.jsx';
import { Tags } from '../ui/node_tags.jsx';
import { Regions } from '../ui/region_list.jsx';
import { Icon, Text } from '../ui/elements.jsx';
import { liveQuery } from '../base/live_query.js';
import { fits } from '../data/filters.js';
import { CLASSES, PAGE, causeText, fleetAddress, fleetQuestion, severityOf, ofFleet, readFleet, unknownText, whenAddress } from '../data/fleet.js';
import { count, isNumber, visible } from '../text/format.js';
import { t, useSettings } from '../text/i18n.js';
import { nodeAddress } from '../data/node.js';
import { go } from '../base/router.js';
import { useStore } from '../base/store.js';

const EVERY_MS = 5000;
const TYPED_MS = 350;
const QUIET = 10; /* scores below this need no sentence */
const fleet = liveQuery(EVERY_MS);

const Score = ({ node, of }) => {
	const score = node[of];
	const cause = node.causes?.[of];
	const why = causeText(cause);
	if (!isNumber(score)) {
		return (
			<td class="f-score none" title={unknownText(cause)}>
				– <span class="f-why hint">{why}</span>
			</td>
		);
	}
	return (
		<td class={`f-score ${severityOf(score)}`} title={[why, unknownText(cause)].filter(Boolean).join('\n')}>
			<a href={whenAddress(node)} aria-label={t('fleet.open', { node: visible(node.name).slice(0, 60), class: t(`fleet.col.${of}`), score, why })}>
				<span class="f-head">
					<b>{score}</b>
					<svg class="f-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
						<rect width={score} height="1" />
					</svg>
				</span>
				{score >= QUIET && <span class="f-why">{why}</span>}
			</a>
		</td>
	);
};

const Row = ({ node }) => (
	<tr data-node={node.name}>
		<td class="f-name">
			<a href={nodeAddress(node.name)}>
				<Text of={node.name} cut={80} />
			</a>{' '}
			{node.silent && (
				<span class="warn">
					<Icon name="warn" /> {t('nodes.silent')}
				</span>
			)}
			<div class="f-tags">
				{node.region && (
					<span class="hint">
						<Text of={node.region} cut={40} />{' '}
					</span>
				)}
				<Tags tags={node.tags} />
			</div>
		</td>
		<td class={`f-worst ${isNumber(node.worst) ? severityOf(node.worst) : 'none'}`}>{isNumber(node.worst) ? node.worst : '–'}</td>
		{CLASSES.map((of) => (
			<Score key={of} node={node} of={of} />
		))}
	</tr>
);

const Sort = ({ by, filters, children }) => (
	<th scope="col" aria-sort={filters.by === by ? (by === 'name' ? 'ascending' : 'descending') : undefined} class={by === 'worst' ? 'n' : undefined}>
		<a href={fleetAddress({ ...filters, by, skip: 0 })} title={t('fleet.sort', { what: t(`fleet.col.${by}`) })}>
			{t(`fleet.col.${by}`)}
			{filters.by === by && <span aria-hidden="true">{by === 'name' ? '\u00a0↑' : '\u00a0↓'}</span>}
		</a>
	</th>
);

const Bad = ({ data, filters }) => (
	<p class="f-bad" id="fleet-bad">
		<b class={data.bad.any ? 'is-failed' : ''}>{t('fleet.bad', { n: count(data.bad.any), total: count(data.total) })}</b>
		{CLASSES.map((of) => (
			<a key={of} href={fleetAddress({ ...filters, by: of, skip: 0 })} aria-current={filters.by === of ? 'true' : undefined}>
				{t(`fleet.col.${of}`)} <b>{count(data.bad[of])}</b>
			</a>
		))}
		{data.silent > 0 && (
			<span class="warn">
				<Icon name="warn" /> {t('fleet.silent', { n: count(data.silent) })}
			</span>
		)}
	</p>
);

// filters: those that the data was asked with; the address may already be of the next page.
const Pages = ({ data, filters }) => {
	if (!filters.skip && data.next === null) return null;
	return (
		<p class="more f-pages">
			{filters.skip > 0 && (
				<a id="fleet-previous" href={fleetAddress({ ...filters, skip: Math.max(0, filters.skip - PAGE) })}>
					{t('fleet.previous')}
				</a>
			)}{' '}
			{t('fleet.page', { from: count(filters.skip + 1), to: count(filters.skip + data.nodes.length), total: count(data.total) })}{' '}
			{data.next !== null && (
				<a id="fleet-next" href={fleetAddress({ ...filters, skip: data.next })}>
					{t('fleet.next')}
				</a>
			)}
		</p>
	);
};

const Search = ({ value, onChange }) => {
	const [typed, setTyped] = useState(value ?? '');
	const timer = useRef(0);
	useEffect(() => () => clearTimeout(timer.current), []);
	const onInput = (event) => {
		const text = event.currentTarget.value;
		setTyped(text);
		clearTimeout(timer.current);
		timer.current = setTimeout(() => fits(text) && onChange(text.trim() || undefined), TYPED_MS);
	};
	return <input id="fleet-q" type="search" class={value ? 'set' : ''} value={typed} maxLength={200} spellcheck={false} autocomplete="off" aria-label={t('fleet.search')} placeholder={t('fleet.search')} onInput={onInput} />;
};

const Table = ({ data, filters }) => (
	<table class="plain fleet">
		<caption class="sr">{t('fleet.table')}</caption>
		<thead>
			<tr>
				{['name', 'worst', ...CLASSES].map((by) => (
					<Sort key={by} by={by} filters={filters} />
				))}
			</tr>
		</thead>
		<tbody>
			{data.nodes.map((node) => (
				<Row key={node.id} node={node} />
			))}
		</tbody>
	</table>
);

export const FleetPage = ({ search }) => {
	useSettings();
	const filters = useMemo(() => readFleet(search), [search]);
	const { data, question, error } = useStore(fleet.state);
	const key = fleetAddress(filters);
	useEffect(() => fleet.turn(fleetQuestion(filters)), [key]);
	useEffect(() => fleet.end, []);
	const onChange = (f) => go(fleetAddress({ ...f, skip: 0 }));
	return (
		<>
			<main id="content" class="page page-table" tabIndex={-1}>
				<h1>
					{t('title.fleet')} <a class="f-list" href="/nodes">{t('fleet.list')}</a> <DiskLine />
				</h1>
				<p class="hint about">{t('fleet.about')}</p>
				<Regions />
				<div class="second red-tools">
					<Search value={filters.q} onChange={(q) => onChange({ ...readFleet(location.search), q })} />
					{['region', 'tag', 'app'].map((name) => (
						<Facet key={name} name={name} filters={filters} source={ofFleet} onChange={onChange} />
					))}
					<FilterChips filters={filters} onChange={onChange} />
				</div>
				{error && <QueryError error={error} since={error.since} />}
				{!data && !error && <p class="more">{t('table.loading')}</p>}
				{data && <Bad data={data} filters={filters} />}
				{data && !data.nodes.length && <p class="more">{t('fleet.none')}</p>}
				{data?.nodes.length > 0 && <Table data={data} filters={filters} />}
				{data && <Pages data={data} filters={question.filters} />}
			</main>
			<Coverage filters={{ region: filters.region }} />
		</>
	);
};
