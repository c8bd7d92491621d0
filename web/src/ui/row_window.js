// SPDX-License-Identifier: Apache-2.0
// Which rows of a long table are drawn: those near the visible part, so that a page has as many elements with 2,000 rows as with a
// few hundred. The height of a row that was drawn is remembered; each of the others counts as their mean.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { view } from '../base/table_position.js';

export const ALL = 300; /* rows that are drawn in any case */
const STEP = 20; /* the range begins and ends at multiples */
const MARGIN_PX = 1000; /* drawn above and below the visible part */
const ROW_PX = 27;

const known = { of: new Map(), sum: 0, width: 0 };

const forget = () => {
	known.of.clear();
	known.sum = 0;
};

const remember = (id, height) => {
	if (!height) return;
	if (known.of.size > 10 * ALL) forget();
	known.of.set(id, height);
	known.sum += height;
};

const rangeOf = (rows, top, height) => {
	const mean = known.of.size ? known.sum / known.of.size : ROW_PX;
	const ends = [0];
	for (const row of rows) ends.push(ends.at(-1) + (known.of.get(row.id) ?? mean));
	const first = ends.findIndex((end) => end > top - MARGIN_PX);
	const last = ends.findIndex((end) => end > top + height + MARGIN_PX);
	const from = Math.max(0, Math.floor(((first < 0 ? rows.length : first) - 1) / STEP) * STEP);
	const to = last < 0 ? rows.length : Math.min(rows.length, Math.ceil(last / STEP) * STEP);
	return { from, to, above: ends[from], below: ends.at(-1) - ends[to] };
};

const rangeNow = (rows, main) => (rows.length <= ALL ? { from: 0, to: rows.length, above: 0, below: 0 } : rangeOf(rows, main?.scrollTop ?? view.top, main?.clientHeight ?? innerHeight));

// {from, to, above, below}: the rows to draw, and how many pixels the others take. scroller, body: refs of the element that
// scrolls and of the tbody, whose rows have data-id.
export const useRowWindow = (rows, scroller, body) => {
	const [, redraw] = useState(0);
	const range = rangeNow(rows, scroller.current);
	const drawn = useRef();
	drawn.current = { rows, ...range };
	useLayoutEffect(() => {
		for (const tr of body.current.rows) if (tr.dataset.id && !known.of.has(tr.dataset.id)) remember(tr.dataset.id, tr.offsetHeight);
	});
	useEffect(() => {
		let frame = 0;
		const look = () => {
			frame = 0;
			const { from, to } = rangeNow(drawn.current.rows, scroller.current);
			if (from !== drawn.current.from || to !== drawn.current.to) redraw((n) => n + 1);
		};
		const soon = () => {
			frame ||= requestAnimationFrame(look);
		};
		const resized = new ResizeObserver(([entry]) => {
			if (entry.contentRect.width !== known.width) forget();
			known.width = entry.contentRect.width;
			soon();
		});
		const main = scroller.current;
		main.addEventListener('scroll', soon, { passive: true });
		resized.observe(main);
		return () => {
			main.removeEventListener('scroll', soon);
			resized.disconnect();
			cancelAnimationFrame(frame);
		};
	}, []);
	return range;
};
