// SPDX-License-Identifier: Apache-2.0
// The owner of an address: node and app, or the remark that no node with a probe has it.
import { Text } from './elements.jsx';
import { t } from '../text/i18n.js';

// of: {node, app, how} from the API; null if there is no address.
export const AddressOwner = ({ of, class: cls = 'owner hint' }) => {
	if (!of) return null;
	return (
		<span class={cls} title={t(`owner.${of.how}.title`)}>
			{of.node ? <Text of={of.node} cut={40} /> : t(`owner.${of.how}`)}
			{of.app && (
				<>
					{' · '}
					<Text of={of.app} cut={40} />
				</>
			)}
		</span>
	);
};
