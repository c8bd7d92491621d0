// SPDX-License-Identifier: Apache-2.0
// The bundle holds no texts: messages.js is empty there, and the texts of the chosen language are loaded into it. build.mjs
// makes the modules texts:en and texts:zh.
import { loadPart } from '../base/part.js';
import { messages } from './messages.js';

const files = { en: () => import('texts:en'), zh: () => import('texts:zh') };

export const loadTexts = async (language) => {
	const at = language === 'zh' ? 1 : 0;
	const { default: texts } = await loadPart(files[language]);
	for (const [key, text] of Object.entries(texts)) (messages[key] ??= [])[at] = text;
};
