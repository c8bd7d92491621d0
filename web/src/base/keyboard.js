// SPDX-License-Identifier: Apache-2.0
// Keyboard shortcuts: none while the user types, and none together with Ctrl, Alt or Meta. The handler added last
// comes first; one that returns false passes the key on. Add handlers in useLayoutEffect, so that a visible element
// has its keys.
const stack = [];

const typing = (el) => el?.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(el?.tagName ?? '');

export const onKey = (keys) => {
	stack.push(keys);
	return () => stack.splice(stack.indexOf(keys), 1);
};

// A key together with Ctrl or Meta, also while the user types.
export const onCtrlKey = (key, handle) => {
	const listen = (event) => {
		if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key !== key) return;
		event.preventDefault();
		handle();
	};
	addEventListener('keydown', listen);
	return () => removeEventListener('keydown', listen);
};

addEventListener('keydown', (event) => {
	if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
	if (typing(event.target)) {
		if (event.key === 'Escape') event.target.blur();
		return;
	}
	for (const keys of [...stack].reverse()) {
		if (!keys[event.key]) continue;
		const answer = keys[event.key](event);
		if (answer === false) continue;
		event.preventDefault();
		return;
	}
});
