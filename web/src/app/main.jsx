// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { App } from './app.jsx';
import { onLink } from '../base/router.js';
import { start } from '../base/live.js';
import { lang } from '../text/i18n.js';
import { loadTexts } from '../text/load_texts.js';

document.addEventListener('click', onLink);
loadTexts(lang.get()).then(
	() => {
		render(<App />, document.body);
		start();
	},
	() => {
		document.body.textContent = 'The console could not load all of its files. Reload the page. 控制台未能加载全部文件，请刷新页面。';
	},
);
