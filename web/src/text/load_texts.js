// SPDX-License-Identifier: Apache-2.0
// The bundle has the texts of no language; those of the chosen one are loaded (build.mjs makes texts:en and texts:zh of
// messages.js).
import { messages } from './messages.js';

const files = { en: () => import('texts:en'), zh: () => import('texts:zh') };

export const loadTexts = async (language) => {
	const at = language === 'zh' ? 1 : 0;
	const { default: texts } = await files[language]();
	for (const [key, text] of Object.entries(texts)) (messages[key] ??= [])[at] = text;
};
