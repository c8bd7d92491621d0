// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../text/i18n.js';

const keys = [
	[['j', 'k'], 'help.move'],
	[['Enter'], 'help.enter'],
	[['/'], 'help.search'],
	[['Ctrl', 'K'], 'help.find'],
	[['g'], 'help.top'],
	[['Esc'], 'help.esc'],
	[['0', '1', '2', '3', '4', '5', '6', '7'], 'help.pages'],
	[['?'], 'help.help'],
];

export const Help = ({ onClose }) => {
	const dialog = useRef(null);
	useEffect(() => {
		dialog.current.showModal();
	}, []);
	return (
		<dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
			<h2 id="help-title">{t('help.title')}</h2>
			<dl class="keys">
				{keys.map(([names, text]) => (
					<div key={text}>
						<dt>
							{names.map((k) => (
								<kbd key={k}>{k}</kbd>
							))}
						</dt>
						<dd>{t(text)}</dd>
					</div>
				))}
			</dl>
			<button type="button" onClick={onClose}>
				{t('close')}
			</button>
		</dialog>
	);
};
