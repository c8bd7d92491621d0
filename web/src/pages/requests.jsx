// SPDX-License-Identifier: Apache-2.0
// The table of abnormal requests.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Coverage } from '../coverage.jsx';
import { Empty } from '../empty.jsx';
import { Filters } from '../filters.jsx';
import { Histogram } from '../histogram.jsx';
import { Table } from '../table.jsx';
import { count, timeText } from '../lib/format.js';
import { isFiltered, isLive, readFilters, writeFilters } from '../lib/filters.js';
import { t } from '../lib/i18n.js';
import { onKey } from '../lib/keys.js';
import { go } from '../lib/router.js';
import { KEEP, load, loadOlder, setHold, showFresh, table } from '../lib/rows.js';
import { useStore } from '../lib/store.js';
import { view } from '../lib/view.js';

const AIM_MS = 700; /* someone who moves the pointer over the rows is about to click one */
const TOP_PX = 8;

const Fresh = ({ state, onShow }) => {
	const n = state.fresh.length;
	return (
		<div class="fresh" role="status">
			{n > 0 && (
				<button type="button" title={t('table.new.title')} onClick={onShow}>
					{t('table.new', { n: state.jump || n >= KEEP ? `${count(n)}+` : count(n) })} ↑
				</button>
			)}
		</div>
	);
};

const More = ({ state, filters }) => {
	const last = state.rows[state.rows.length - 1];
	if (!last) return null;
	if (state.capped || state.rows.length >= KEEP) {
		return (
			<p class="more">
				{t('table.cap', { n: count(KEEP) })} <a href={writeFilters({ ...filters, to: last.time, from: filters.from })}>{t('table.cap.older', { time: timeText(last.time) })}</a>
			</p>
		);
	}
	if (!state.next) return <p class="more">{t('table.end', { n: count(state.rows.length) })}</p>;
	return (
		<p class="more">
			<span>{t('table.shown', { n: count(state.rows.length) })}</span>{' '}
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

export const RequestsPage = ({ search }) => {
	const filters = useMemo(() => readFilters(search), [search]);
	const state = useStore(table);
	const scroller = useRef(null);
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
	const onScroll = () => {
		view.top = scroller.current.scrollTop;
		if (view.top <= TOP_PX && table.get().fresh.length && !document.activeElement?.closest?.('tbody')) showFresh();
	};
	useEffect(() => onKey({ g: onShow }), []);

	const none = state.loaded && !state.rows.length;
	const plain = !isFiltered(filters) && isLive(filters);
	return (
		<>
			<Filters filters={filters} onChange={(f) => go(writeFilters(f))} />
			<Histogram filters={filters} onChange={(f) => go(writeFilters(f))} />
			<main id="content" class="scroll" ref={scroller} onScroll={onScroll} tabIndex={-1} aria-busy={state.busy}>
				<h1 class="sr">{t('title.requests')}</h1>
				<Fresh state={state} onShow={onShow} />
				<Table rows={state.rows} onMove={onMove} />
				{none && plain && <Empty />}
				{none && !plain && <p class="more">{t(isFiltered(filters) ? 'table.nomatch' : 'table.norange')}</p>}
				{!state.loaded && state.busy && <p class="more">{t('table.loading')}</p>}
				<More state={state} filters={filters} />
			</main>
			<Coverage coverage={state.coverage} />
		</>
	);
};
