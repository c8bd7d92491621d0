// SPDX-License-Identifier: Apache-2.0
// Keyboard control of a table whose rows have data-id: j, k and the arrows move, Enter opens, Escape leaves.
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { onKey } from '../base/keyboard.js';
import { go } from '../base/router.js';
import { view } from '../base/table_position.js';

const focusedRow = () => document.activeElement?.closest?.('tbody tr');

const select = (tr) => {
	if (!tr) return;
	tr.focus({ preventScroll: true });
	tr.scrollIntoView({ block: 'nearest' });
	view.row = tr.dataset.id;
};

// The row with the focus, or the row opened last.
const current = (body) => focusedRow() ?? body.querySelector(`tr[data-id="${CSS.escape(view.row ?? '')}"]`);

// Below the head of the table, which stays in place.
const firstVisible = (body, all) => {
	const top = body.closest('table').tHead.rows[0].cells[0].getBoundingClientRect().bottom;
	return all.find((tr) => tr.getBoundingClientRect().top >= top - 1) ?? all[0];
};

// A row that is no longer drawn is not moved from.
const move = (body, step) => {
	const all = [...body.querySelectorAll('tr[data-id]')];
	const at = all.indexOf(current(body));
	select(at < 0 ? firstVisible(body, all) : all[Math.min(all.length - 1, Math.max(0, at + step))]);
};

// link: the selector of the link that a row opens.
export const useRowKeys = (body, link) => {
	const open = (tr) => {
		const a = tr?.querySelector(link);
		if (!a) return false;
		view.row = tr.dataset.id;
		go(`${a.pathname}${a.search}`);
		return true;
	};
	useLayoutEffect(
		() =>
			onKey({
				j: () => move(body.current, 1),
				k: () => move(body.current, -1),
				ArrowDown: () => (focusedRow() ? move(body.current, 1) : false),
				ArrowUp: () => (focusedRow() ? move(body.current, -1) : false),
				Enter: () => (document.activeElement?.closest?.('a, button') ? false : open(focusedRow())) /* a link or button in the row does its own */,
				Escape: () => (focusedRow() ? document.activeElement.blur() : false),
			}),
		[],
	);
	useEffect(() => {
		if (view.row) current(body.current)?.focus({ preventScroll: true });
	}, []);
	/* a click anywhere in a row opens it, except on links and during text selection */
	return (event) => {
		if (event.defaultPrevented || event.target.closest('a') || !document.getSelection().isCollapsed) return;
		open(event.target.closest('tr'));
	};
};
