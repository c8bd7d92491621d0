// SPDX-License-Identifier: Apache-2.0
// The abnormal requests: in groups, or row by row.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Coverage, Unread } from '../ui/coverage_footer.jsx';
import { CompareRange } from '../features/requests/compare_range.jsx';
import { EmptyState } from '../features/requests/empty_state.jsx';
import { FilterBar } from '../features/filter/filter_bar.jsx';
import { GroupTable } from '../features/requests/group_table.jsx';
import { Histogram } from '../features/requests/histogram.jsx';
import { RequestTable } from '../features/requests/request_table.jsx';
import { useQuery } from '../base/use_query.js';
import { notRead, useCovered } from '../data/coverage.js';
import { count, timeText } from '../text/format.js';
import { isFiltered, isLive, pairs, readFilters, writeFilters } from '../data/filters.js';
import { endGroups, grouped, loadGroups, setGroupsHold, showGroups } from '../data/groups.js';
import { t } from '../text/i18n.js';
import { onKey } from '../base/keyboard.js';
import { momentOf } from '../base/moment.js';
import { go } from '../base/router.js';
import { KEEP, load, loadOlder, setHold, showFresh, table, unload } from '../data/rows.js';
import { useStore } from '../base/store.js';
import { view } from '../base/table_position.js';

const AIM_MS = 700; /* a pointer that moves over the rows is about to click one */
const TOP_PX = 8;

const NewRows = ({ n, more = false, onShow }) => (
	<div class="fresh" role="status">
		{n > 0 && (
			<button type="button" title={t('table.new.title')} onClick={onShow}>
				{t('table.new', { n: `${count(n)}${more ? '+' : ''}` })} ↑
			</button>
		)}
	</div>
);

// An app with encrypted connections has no rows, however bad it is: this is shown where rows are expected.
const NoMatch = ({ filters }) => {
	const unread = notRead(useCovered(), filters.app);
	return (
		<section class="more">
			<p>{t(isFiltered(filters) ? 'table.nomatch' : 'table.norange')}</p>
			{unread.length > 0 && <Unread of={unread} />}
		</section>
	);
};

const NoRows = ({ filters }) => {
	if (!isFiltered(filters) && isLive(filters)) return <EmptyState />;
	return <NoMatch filters={filters} />;
};

const COUNT_EVERY_MS = 30_000;

// The total is a query of its own, made once there are more rows than shown; until then the page says that there are older
// ones.
const Shown = ({ n, filters }) => {
	const { data } = useQuery('/api/v1/requests/count', pairs(filters), { again: () => (isLive(filters) ? COUNT_EVERY_MS : 0) });
	if (!data || data.count < n) return <span id="shown">{t('table.shown', { n: count(n) })}</span>;
	const key = data.source === 'red' ? 'table.of.counted' : 'table.of';
	return <span id="shown">{t(key, { n: count(n), all: `${data.more ? '> ' : ''}${count(data.count)}` })}</span>;
};

const More = ({ state, filters }) => {
	const last = state.rows[state.rows.length - 1];
	if (!last) return null;
	if (state.capped || state.rows.length >= KEEP) {
		return (
			<p class="more">
				{t('table.cap', { n: count(KEEP) })} <a href={writeFilters({ ...filters, to: last.time, from: filters.from && new Date(momentOf(filters.from)).toISOString() })}>{t('table.cap.older', { time: timeText(last.time) })}</a>
			</p>
		);
	}
	if (!state.next) return <p class="more">{t('table.end', { n: count(state.rows.length) })}</p>;
	return (
		<p class="more">
			<Shown n={state.rows.length} filters={filters} />{' '}
			<button type="button" disabled={state.busy} onClick={loadOlder}>
				{state.busy ? t('table.loading') : t('table.older')}
			</button>
		</p>
	);
};

const useHold = (scroller) => {
	const moved = useRef(0);
	useEffect(() => {
		setHold(() => {
			const el = scroller.current;
			if (!el) return view.top > TOP_PX;
			const reads = el.scrollTop > TOP_PX || el.contains(document.activeElement?.closest?.('tbody tr'));
			return reads || !document.getSelection().isCollapsed || Date.now() - moved.current < AIM_MS;
		});
	}, []);
	return () => {
		moved.current = Date.now();
	};
};

const RowsView = ({ filters, scroller }) => {
	const state = useStore(table);
	const onMove = useHold(scroller);
	const key = writeFilters(filters);
	useEffect(() => {
		if (view.key !== key || !table.get().loaded) {
			view.key = key;
			view.top = 0;
			load(filters);
		}
		scroller.current.scrollTop = view.top;
	}, [key]);
	const onShow = () => {
		showFresh();
		document.activeElement?.blur();
		scroller.current.scrollTop = 0;
	};
	useLayoutEffect(() => onKey({ g: onShow }), []);
	return (
		<>
			<NewRows n={state.fresh.length} more={state.jump || state.fresh.length >= KEEP} onShow={onShow} />
			<RequestTable rows={state.rows} onMove={onMove} scroller={scroller} />
			{state.loaded && !state.rows.length && <NoRows filters={filters} />}
			{!state.loaded && state.busy && <p class="more">{t('table.loading')}</p>}
			<More state={state} filters={filters} />
		</>
	);
};

const GroupsEnd = ({ state }) => (
	<p class="more">
		{state.total > state.list.length ? t('group.cut', { n: count(state.list.length), total: count(state.total) }) : t('group.all', { n: count(state.list.length) })}
		{state.exact === false && ` · ${t('group.inexact', { time: timeText(state.since) })}`}
	</p>
);

const GroupsView = ({ filters, scroller }) => {
	const state = useStore(grouped);
	const pointed = useRef(false);
	const key = writeFilters(filters);
	useEffect(() => {
		unload();
		view.top = view.key === key ? view.top : 0;
		view.key = key;
		loadGroups(filters);
	}, [key]);
	useEffect(() => {
		setGroupsHold(() => pointed.current || scroller.current?.scrollTop > TOP_PX || Boolean(document.activeElement?.closest?.('.groups tbody')));
		return endGroups;
	}, []);
	const loaded = state.list !== null;
	useEffect(() => {
		if (loaded) scroller.current.scrollTop = view.top;
	}, [loaded]);
	const onShow = () => {
		showGroups();
		document.activeElement?.blur();
		scroller.current.scrollTop = 0;
	};
	useLayoutEffect(() => onKey({ g: onShow }), []);
	if (!loaded) return <p class="more">{t('table.loading')}</p>;
	if (!state.list.length) return <NoRows filters={filters} />;
	return (
		<>
			<NewRows n={state.fresh} onShow={onShow} />
			<GroupTable list={state.list} filters={filters} onPointer={(is) => (pointed.current = is)} />
			<GroupsEnd state={state} />
		</>
	);
};

export const RequestsPage = ({ search }) => {
	const filters = useMemo(() => readFilters(search), [search]);
	const rows = useStore(table);
	const scroller = useRef(null);
	const onChange = (f) => go(writeFilters(f));
	const onScroll = () => {
		if (!scroller.current) return; /* the page was left while it scrolled */
		view.top = scroller.current.scrollTop;
		if (view.top <= TOP_PX && table.get().fresh.length && !document.activeElement?.closest?.('tbody')) showFresh();
	};
	const View = filters.view === 'groups' ? GroupsView : RowsView;
	return (
		<>
			<FilterBar filters={filters} onChange={onChange} />
			<Histogram filters={filters} onChange={onChange} />
			<CompareRange filters={filters} />
			<main id="content" class="scroll" ref={scroller} onScroll={onScroll} tabIndex={-1} aria-busy={rows.busy}>
				<h1 class="sr">{t('title.requests')}</h1>
				<View filters={filters} scroller={scroller} />
			</main>
			<Coverage filters={filters} />
		</>
	);
};
