// SPDX-License-Identifier: Apache-2.0
// A component whose code is loaded when it is first shown; until then there is `meanwhile`.
import { useEffect, useState } from 'preact/hooks';

// load() imports the module that has the component of that name.
export const lazy = (load, name, meanwhile = () => null) => {
	let found = null;
	return (props) => {
		const [Part, setPart] = useState(() => found);
		useEffect(() => {
			if (Part) return;
			load().then((module) => {
				found = module[name];
				setPart(() => found);
			});
		}, []);
		return Part ? <Part {...props} /> : meanwhile();
	};
};
