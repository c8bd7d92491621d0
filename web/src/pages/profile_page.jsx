// SPDX-License-Identifier: Apache-2.0
// The CPU profile of a node or an app as a flame graph; compared with another range, coloured by the change of shares.
import { useMemo } from 'preact/hooks';
import { QueryError } from '../ui/banner.jsx';
import { percent, IcicleChart } from '../chart/icicle_chart.jsx';
import { TimeRange } from '../ui/time_range.jsx';
import { TopFunctions } from '../features/node/top_functions.jsx';
import { CopyButton } from '../ui/elements.jsx';
import { useQuery } from '../base/use_query.js';
import { count, duration, timeText, visible } from '../text/format.js';
import { t, useSettings } from '../text/i18n.js';
import { maxDepth, sumMatches } from '../data/evidence_tree.js';
import { nodeAddress } from '../data/node.js';
import { baseView, closedView, profileAddress, profilePairs, profileTree, readProfile, shareChange, sharesOf } from '../data/profile.js';
import { go } from '../base/router.js';

const AGAIN_MS = 60e3; /* profiles are sent once a minute */
const LEAST = 0.001;
const CUT = 200;
const CHOICES = ['before', 'day', 'week', 'this'];
const KINDS = { all: 'pf.all', unknown: 'pf.unknown', lost: 'pf.lost', cut: 'pf.cut', other: 'pf.other' };

const nameOf = (node) => (KINDS[node.kind] ? t(KINDS[node.kind]) : visible(node.name).slice(0, CUT));

const points = (change) => `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(1)}`;

const plain = {
	name: nameOf,
	words: (node, all) => t('pf.words', { name: nameOf(node), part: percent(node.now / all.now), cpu: duration(node.now) }),
	look: () => '',
	found: (root, fits) => {
		const ms = sumMatches(root, fits);
		return ms > 0 ? t('pf.found', { part: percent(ms / root.ms), cpu: duration(ms) }) : t('ice.notfound');
	},
};

const compared = {
	name: nameOf,
	words: (node, all) => {
		const [now, was] = sharesOf(node, all);
		return t('pf.words.base', { name: nameOf(node), part: percent(now / 100), was: percent(was / 100), change: points(now - was), cpu: duration(node.now) });
	},
	look: shareChange,
	found: (root, fits) => {
		const [now, was] = sharesOf({ now: sumMatches(root, fits, (n) => n.now), base: sumMatches(root, fits, (n) => n.base) }, root);
		return now || was ? t('pf.found.base', { part: percent(now / 100), was: percent(was / 100) }) : t('ice.notfound');
	},
};

const Compare = ({ view, onView }) => {
	const onSelect = (event) => {
		const choice = event.currentTarget.value;
		event.currentTarget.value = 'now';
		if (choice === 'none') onView({ ...view, base_from: undefined, base_to: undefined });
		else if (CHOICES.includes(choice)) onView(baseView(view, choice));
	};
	return (
		<select id="pf-compare" aria-label={t('pf.compare')} class={view.base_from ? 'set' : ''} value="now" onChange={onSelect}>
			<option value="now">{view.base_from ? t('pf.compare.set', { from: timeText(view.base_from, false), to: timeText(view.base_to, false) }) : t('pf.compare')}</option>
			{view.base_from && <option value="none">{t('pf.compare.none')}</option>}
			{CHOICES.map((choice) => (
				<option key={choice} value={choice}>
					{t(`pf.compare.${choice}`)}
				</option>
			))}
		</select>
	);
};

const ScopeLine = ({ view, onView }) => {
	const names = ['node', 'app'].filter((name) => view[name]);
	if (!names.length) return <span class="hint">{t('pf.everything')}</span>;
	return names.map((name) => (
		<button key={name} type="button" class="chip" data-filter={name} title={t('pf.without', { what: visible(view[name]).slice(0, 80) })} onClick={() => onView({ ...view, [name]: undefined })}>
			{t(`pf.of.${name}`)}: <bdi>{visible(view[name]).slice(0, 80)}</bdi> <span aria-hidden="true">×</span>
		</button>
	));
};

const About = ({ data }) => (
	<p class="hint">
		{data.baseMs === null
			? t('pf.about', { cpu: duration(data.ms), n: count(data.samples) })
			: t('pf.about.base', { cpu: duration(data.ms), n: count(data.samples), base: duration(data.baseMs), m: count(data.baseSamples) })}
	</p>
);

// With nothing to compare with, everything would look new.
const comparable = (data) => (data.baseMs === 0 ? { ...data, baseMs: null, baseSamples: null } : data);

const Flame = ({ data }) => {
	const all = useMemo(() => profileTree(data), [data]);
	if (!all || maxDepth(all) < 1)
		return (
			<p class="more" id="pf-none">
				{t('pf.none')} {t('pf.none.do')}
			</p>
		);
	return (
		<section class="card wide flame" id="flame">
			<About data={data} />
			<IcicleChart all={all} title={t('title.profile')} of={data.baseMs === null ? plain : compared} least={LEAST} />
		</section>
	);
};

export const ProfilePage = ({ search }) => {
	useSettings();
	const view = useMemo(() => readProfile(search), [search]);
	const params = profilePairs(view);
	const { data, error } = useQuery('/api/v1/profile', params, { again: () => (view.to ? 0 : AGAIN_MS) });
	const onView = (next) => go(profileAddress(next));
	return (
		<main id="content" class="page page-table" tabIndex={-1}>
			<h1>{t('title.profile')}</h1>
			<div class="second red-tools">
				<TimeRange filters={view} onChange={(f) => onView({ ...view, from: f.from, to: f.to })} />
				<Compare view={view} onView={onView} />
				<ScopeLine view={view} onView={onView} />
				<CopyButton class="quiet" label={t('pf.link')} title={t('pf.link.title')} text={() => `${location.origin}${profileAddress(closedView(view))}`} />
				<a id="pf-folded" href={`/api/v1/profile.folded?${new URLSearchParams(params)}`} title={t('pf.folded.title')} data-plain download>
					{t('pf.folded')}
				</a>
				{view.node && <a href={nodeAddress(view.node, { from: view.from, to: view.to })}>{t('title.node')}</a>}
			</div>
			{error && <QueryError error={error} />}
			{!data && !error && <p class="more">{t('table.loading')}</p>}
			{data?.baseMs === 0 && data.ms > 0 && (
				<p class="warn" id="pf-base-none">
					{t('pf.base.none', { from: timeText(view.base_from, false), to: timeText(view.base_to, false) })}
				</p>
			)}
			{data && <Flame data={comparable(data)} />}
			{data && <TopFunctions data={comparable(data)} />}
		</main>
	);
};
