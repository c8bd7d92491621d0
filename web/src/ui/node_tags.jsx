// SPDX-License-Identifier: Apache-2.0
// The operator's tags of a node; each links to the abnormal requests of all nodes with that tag.
import { useQuery } from '../base/use_query.js';
import { isQueryable, writeFilters } from '../data/filters.js';
import { t } from '../text/i18n.js';
import { Text } from './elements.jsx';

const Tag = ({ of: tag }) => (
	<span class="tag">
		{isQueryable(tag) ? (
			<a href={writeFilters({ tag: [tag] })}>
				<Text of={tag} />
			</a>
		) : (
			<Text of={tag} />
		)}
	</span>
);

export const Tags = ({ tags }) => {
	const all = Object.entries(tags ?? {});
	if (!all.length) return <span class="tag untagged">{t('nodes.untagged')}</span>;
	return all.map(([k, v]) => <Tag key={k} of={`${k}=${v}`} />);
};

// The tags at that time: they may have changed since.
export const TagsAtTime = ({ node, time }) => {
	const { data } = useQuery(node && time ? '/api/v1/tags' : null, [['node', node], ['at', time]]);
	return data ? <Tags tags={data.tagged?.find((x) => !x.entity)?.tags} /> : <span class="none">–</span>;
};
