// SPDX-License-Identifier: Apache-2.0
// Go to: one field that finds pages, nodes, apps, routes, incidents, ids and addresses.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { go } from '../../base/router.js';
import { useStore } from '../../base/store.js';
import { status } from '../../base/live.js';
import { useQuery } from '../../base/use_query.js';
import { PAGES, placesFor } from '../../data/find.js';
import { titleOf } from '../../data/incidents.js';
import { useNodes } from '../../data/nodes.js';
import { visible } from '../../text/format.js';
import { t } from '../../text/i18n.js';

const NAME = 120;

const namesOf = (facets, name) => (facets?.facets?.[name] ?? []).map((of) => of.value);

// What there is to find.
const useKnown = () => {
	const { list } = useNodes();
	const { data } = useStore(status);
	const facets = useQuery('/api/v1/requests/facets').data;
	const open = useQuery('/api/v1/incidents', [['state', 'open'], ['limit', 100]]).data;
	return useMemo(
		() => ({
			pages: PAGES.map((page) => [t(`title.${page}`), page === 'now' ? '/' : `/${page}`]),
			nodes: (list ?? []).map((node) => node.name),
			apps: [...(data?.servers ?? []).map((s) => s.app ?? ''), ...namesOf(facets, 'app')],
			routes: namesOf(facets, 'route'),
			incidents: (open?.incidents ?? []).map((of) => ({ id: of.id, title: titleOf(of) })),
		}),
		[list, data, facets, open],
	);
};

const Option = ({ of, chosen, id, onOpen }) => (
	<li role="option" id={id} aria-selected={chosen}>
		<a href={of.href} tabIndex={-1} onClick={onOpen}>
			<span class="hint">{t(`find.${of.kind}`)}</span> {visible(of.name).slice(0, NAME)}
		</a>
	</li>
);

export const FindDialog = ({ onClose }) => {
	const dialog = useRef(null);
	const [typed, setTyped] = useState('');
	const [at, setAt] = useState(0);
	const known = useKnown();
	const all = useMemo(() => placesFor(typed, known), [typed, known]);
	const chosen = Math.min(at, all.length - 1);
	useEffect(() => dialog.current.showModal(), []);
	useEffect(() => dialog.current.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [chosen]);
	const onKeyDown = (event) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (step) setAt(Math.max(0, Math.min(all.length - 1, chosen + step)));
		if (event.key === 'Enter' && all[chosen]) {
			onClose();
			go(all[chosen].href);
		}
		if (step || event.key === 'Enter') event.preventDefault();
	};
	const onInput = (event) => {
		setTyped(event.currentTarget.value);
		setAt(0);
	};
	return (
		<dialog ref={dialog} class="find" onClose={onClose} aria-label={t('find.title')}>
			<input
				id="find-text"
				type="text"
				role="combobox"
				aria-label={t('find.title')}
				aria-expanded="true"
				aria-controls="find-list"
				aria-activedescendant={all.length ? `find-${chosen}` : undefined}
				placeholder={t('find.hint')}
				autocomplete="off"
				spellcheck={false}
				maxLength={200}
				value={typed}
				onInput={onInput}
				onKeyDown={onKeyDown}
			/>
			<ul id="find-list" role="listbox" aria-label={t('find.found')}>
				{all.map((of, i) => (
					<Option key={`${of.kind} ${of.href}`} of={of} id={`find-${i}`} chosen={i === chosen} onOpen={onClose} />
				))}
			</ul>
			{!all.length && <p class="hint">{t('find.none')}</p>}
		</dialog>
	);
};
