// SPDX-License-Identifier: Apache-2.0
// The severity of an event: an icon and a word, never a colour alone.
import { Icon } from './elements.jsx';
import { word } from '../text/i18n.js';
import { visible } from '../text/format.js';

const CUT = 20;
const icons = { info: 'off', warning: 'warn', critical: 'failed' };

export const Severity = ({ of }) => (
	<span class={`severity ${of === 'critical' ? 'is-failed' : of === 'warning' ? 'warn' : 'hint'}`}>
		<Icon name={icons[of] ?? 'off'} /> {visible(word('sev.', of ?? '–')).slice(0, CUT)}
	</span>
);
