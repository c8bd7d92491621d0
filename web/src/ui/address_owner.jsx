// SPDX-License-Identifier: Apache-2.0
// Whose an address is: the node and the app, or that nobody with a probe has it.
import { Text } from './elements.jsx';
import { t } from '../text/i18n.js';

// of: {node, app, how} as the API has it; null: there is no address.
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
