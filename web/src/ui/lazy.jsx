// SPDX-License-Identifier: Apache-2.0
// A component whose code is loaded when it is first shown; until then there is `meanwhile`, and nothing if it cannot be loaded.
import { useEffect, useState } from 'preact/hooks';
import { loadPart } from '../base/part.js';

// load() imports the module that has the component of that name.
export const lazy = (load, name, meanwhile = () => null) => {
	let found = null;
	return (props) => {
		const [Part, setPart] = useState(() => found);
		useEffect(() => {
			if (Part) return;
			loadPart(load).then(
				(module) => {
					found = module[name];
					setPart(() => found);
				},
				() => setPart(() => () => null),
			);
		}, []);
		return Part ? <Part {...props} /> : meanwhile();
	};
};
