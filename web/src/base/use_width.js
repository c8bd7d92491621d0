// SPDX-License-Identifier: Apache-2.0
// The current width of an element: [ref for the element, width in whole pixels; 0 at first].
import { useEffect, useRef, useState } from 'preact/hooks';

export const useWidth = () => {
	const ref = useRef(null);
	const [width, set] = useState(0);
	useEffect(() => {
		const watcher = new ResizeObserver(([entry]) => set(Math.floor(entry.contentRect.width)));
		watcher.observe(ref.current);
		return () => watcher.disconnect();
	}, []);
	return [ref, width];
};
