// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { App } from './app.jsx';
import { onLink } from '../base/router.js';
import { start } from '../base/live.js';

document.addEventListener('click', onLink);
render(<App />, document.body);
start();
