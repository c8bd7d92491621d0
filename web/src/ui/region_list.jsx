// SPDX-License-Identifier: Apache-2.0
// Regions: how far each is behind, and a link to its own console.
import { count, duration, visible } from '../text/format.js';
import { t } from '../text/i18n.js';
import { consoleAddress, isLate, useRegions } from '../data/regions.js';
import { Icon, Text } from './elements.jsx';

// Shown only if regions relay to this collector.
export const Regions = () => {
	const list = useRegions();
	if (!list.some((r) => r.relay)) return null;
	return (
		<ul class="f-regions" aria-label={t('regions.title')}>
			{list.map((r) => (
				<li key={r.name} data-region={r.name} class={isLate(r) ? 'warn' : ''}>
					{consoleAddress(r, '/') ? (
						<a href={consoleAddress(r, '/')} rel="noreferrer" title={t('regions.open')}>
							<Text of={r.name} />
						</a>
					) : (
						<Text of={r.name} />
					)}{' '}
					<span class="hint">{t('regions.nodes', { n: count(r.nodes) })}</span>{' '}
					{r.relay && (
						<span>
							<Icon name={isLate(r) ? 'warn' : 'ok'} /> {t(isLate(r) ? 'regions.late' : 'regions.behind', { time: duration(r.lag) })}
						</span>
					)}
				</li>
			))}
		</ul>
	);
};

// A region; another region has a link to the same page in its own console.
export const RegionOf = ({ name, path }) => {
	const there = consoleAddress(useRegions().find((r) => r.relay && r.name === name), path);
	return (
		<>
			<Text of={name} />
			{there && (
				<>
					{' '}
					<a class="there" href={there} rel="noreferrer">
						{t('regions.there', { region: visible(name).slice(0, 60) })}
					</a>
				</>
			)}
		</>
	);
};
