// SPDX-License-Identifier: Apache-2.0
// The frame of every page: header, banner, the page itself, keyboard shortcuts.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { Banner } from '../ui/banner.jsx';
import { FindDialog } from '../features/search/find_dialog.jsx';
import { Help } from './keyboard_help.jsx';
import { lang, t, useSettings, zone } from '../text/i18n.js';
import { loadTexts } from '../text/load_texts.js';
import { count, timeText, zoneName } from '../text/format.js';
import { onCtrlKey, onKey } from '../base/keyboard.js';
import { back, go, place } from '../base/router.js';
import { useStore } from '../base/store.js';
import { status } from '../base/live.js';
import { EventPage } from '../pages/event_page.jsx';
import { EventsPage } from '../pages/events_page.jsx';
import { FleetPage } from '../pages/fleet_page.jsx';
import { IncidentsPage } from '../pages/incidents_page.jsx';
import { NodesPage } from '../pages/nodes_page.jsx';
import { NowPage } from '../pages/now_page.jsx';
import { RedPage } from '../pages/red_page.jsx';
import { RequestPage } from '../pages/request_page.jsx';
import { StoragePage } from '../pages/storage_page.jsx';
import { WherePage } from '../pages/where_page.jsx';
import { RequestsPage } from '../pages/requests_page.jsx';
import { lazy } from '../ui/lazy.jsx';

const Loading = () => (
	<main class="page">
		<p class="more">{t('table.loading')}</p>
	</main>
);

const TopologyPage = lazy(() => import('../pages/topology_page.jsx'), 'TopologyPage', Loading);
const ProfilePage = lazy(() => import('../pages/profile_page.jsx'), 'ProfilePage', Loading);
const IncidentPage = lazy(() => import('../pages/incident_page.jsx'), 'IncidentPage', Loading);
const NodePage = lazy(() => import('../pages/node_page.jsx'), 'NodePage', Loading);

const Mark = () => (
	<svg class="mark" viewBox="0 0 24 16" width="30" height="20" aria-hidden="true">
		<path d="M1 9h5l2.5-6 4.5 11 3-8 1.5 3H23" />
	</svg>
);

const NavLink = ({ href, here, children }) => (
	<a href={href} aria-current={here ? 'page' : undefined}>
		{children}
	</a>
);

// How many incidents are open, on every page.
const OpenIncidents = () => {
	const { open, since } = useStore(status).data?.incidents ?? {};
	if (!(open > 0)) return null;
	const title = t(open === 1 ? 'nav.open.one' : 'nav.open', { n: count(open), since: timeText(since, false) });
	return (
		<span class="open-count" title={title}>
			<span aria-hidden="true">{count(open)}</span>
			<span class="sr"> {title}</span>
		</span>
	);
};

// How many nodes are silent, on every page.
const SilentNodes = () => {
	const n = useStore(status).data?.silentNodes;
	if (!(n > 0)) return null;
	const title = t(n === 1 ? 'nav.silent.one' : 'nav.silent', { n: count(n) });
	return (
		<span class="open-count" title={title}>
			<span aria-hidden="true">{count(n)}</span>
			<span class="sr"> {title}</span>
		</span>
	);
};

const Header = ({ page, onFind, onHelp }) => {
	const other = zone.get() === 'utc' ? 'local' : 'utc';
	const onZone = () => zone.set(other);
	const next = lang.get() === 'zh' ? 'en' : 'zh';
	const onLang = () => loadTexts(next).then(
			() => lang.set(next),
			() => {}, // the banner says it
		);
	return (
		<header class="top">
			<a class="brand" href="/">
				<Mark />
				Seismo
			</a>
			<nav aria-label={t('nav.main')}>
				<NavLink href="/" here={page === 'now'}>
					{t('title.now')}
				</NavLink>
				<NavLink href="/requests" here={page === 'requests'}>
					{t('title.requests')}
				</NavLink>
				<NavLink href="/red" here={page === 'red' || page === 'topology'}>
					{t('title.red')}
				</NavLink>
				<NavLink href="/fleet" here={page === 'fleet' || page === 'storage'}>
					{t('title.fleet')}
				</NavLink>
				<NavLink href="/nodes" here={page === 'nodes' || page === 'node'}>
					{t('title.nodes')}
					<SilentNodes />
				</NavLink>
				<NavLink href="/events" here={page === 'events'}>
					{t('title.events')}
				</NavLink>
				<NavLink href="/profile" here={page === 'profile'}>
					{t('title.profile')}
				</NavLink>
				<NavLink href="/incidents" here={['incidents', 'incident', 'where'].includes(page)}>
					{t('title.incidents')}
					<OpenIncidents />
				</NavLink>
			</nav>
			<div class="settings">
				<button type="button" id="find" onClick={onFind} title={t('find.title')}>
					{t('find.open')} <kbd>Ctrl K</kbd>
				</button>
				<button type="button" id="zone" onClick={onZone} title={t('zone.title', { zone: zoneName(zone.get()), other: zoneName(other) })}>
					{zoneName(zone.get())}
				</button>
				<button type="button" id="lang" lang={lang.get() === 'zh' ? 'en' : 'zh-CN'} onClick={onLang} title={t('lang.title')}>
					{t('lang.other')}
				</button>
				<button type="button" id="help" onClick={onHelp} aria-label={t('help.open')} title={t('help.open')}>
					?
				</button>
			</div>
		</header>
	);
};

const pageOf = (path, search) => {
	if (path === '/requests') return 'requests';
	if (path === '/') return search ? 'requests' : 'now'; /* with filters it is an address of an older version */
	if (path === '/nodes') return 'nodes';
	if (path === '/fleet') return 'fleet';
	if (path.startsWith('/nodes/')) return 'node';
	if (path === '/red') return 'red';
	if (path === '/profile') return 'profile';
	if (path === '/incidents') return 'incidents';
	if (path.startsWith('/incidents/')) return 'incident';
	if (path === '/topology') return 'topology';
	if (path === '/where') return 'where';
	if (path === '/storage') return 'storage';
	if (path === '/events') return 'events';
	if (path.startsWith('/events/')) return 'event';
	return path.startsWith('/requests/') ? 'request' : 'unknown';
};

const Page = ({ page, path, search }) => {
	if (page === 'now') return <NowPage />;
	if (page === 'requests') return <RequestsPage search={search} />;
	if (page === 'red') return <RedPage search={search} />;
	if (page === 'profile') return <ProfilePage search={search} />;
	if (page === 'topology') return <TopologyPage search={search} />;
	if (page === 'where') return <WherePage search={search} />;
	if (page === 'nodes') return <NodesPage />;
	if (page === 'storage') return <StoragePage />;
	if (page === 'fleet') return <FleetPage search={search} />;
	if (page === 'node') return <NodePage path={path.slice('/nodes/'.length)} search={search} key={path} />;
	if (page === 'events') return <EventsPage search={search} />;
	if (page === 'event') return <EventPage id={path.slice('/events/'.length)} />;
	if (page === 'incidents') return <IncidentsPage search={search} />;
	if (page === 'incident') return <IncidentPage id={path.slice('/incidents/'.length)} />;
	if (page === 'request') return <RequestPage id={path.slice('/requests/'.length)} />;
	return (
		<main class="page">
			<h1>{t('page.notfound')}</h1>
			<p>
				<a href="/">{t('page.first')}</a>
			</p>
		</main>
	);
};

/* where Escape leads from a page, if it was not reached from another */
const PARENT = { request: '/requests', event: '/events', incident: '/incidents', where: '/incidents', node: '/nodes', topology: '/red', storage: '/fleet' };

export const App = () => {
	useSettings();
	const url = new URL(useStore(place), location.origin);
	const [help, setHelp] = useState(false);
	const [find, setFind] = useState(false);
	const page = pageOf(url.pathname, url.search);
	const open = useStore(status).data?.incidents?.open;
	const title = page === 'unknown' ? 'page.notfound' : `title.${page}`;
	useEffect(() => {
		document.title = `${open > 0 ? `(${count(open)}) ` : ''}${t(title)} · Seismo`;
	});
	useLayoutEffect(
		() =>
			onKey({
				'?': () => setHelp(true),
				Escape: () => {
					if (help || find) return [setHelp(false), setFind(false)];
					if (page === 'now' || document.activeElement?.closest?.('tr[data-id]')) return false; /* a row is left first */
					return back(PARENT[page] ?? '/');
				},
				0: () => go('/'),
				1: () => go('/requests'),
				2: () => go('/red'),
				3: () => go('/nodes'),
				4: () => go('/events'),
				5: () => go('/incidents'),
				6: () => go('/fleet'),
				7: () => go('/profile'),
			}),
		[help, find, page],
	);
	useEffect(() => onCtrlKey('k', () => setFind(true)), []);
	return (
		<>
			<a class="skip" href="#content" data-plain>
				{t('nav.skip')}
			</a>
			<Header page={page} onFind={() => setFind(true)} onHelp={() => setHelp(true)} />
			<Banner />
			<Page page={page} path={url.pathname} search={url.search} />
			{help && <Help onClose={() => setHelp(false)} />}
			{find && <FindDialog onClose={() => setFind(false)} />}
		</>
	);
};
