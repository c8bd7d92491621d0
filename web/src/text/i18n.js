// SPDX-License-Identifier: Apache-2.0
// The two settings of the header, language and zone, and t(): the text for a key in the chosen language.
import { messages } from './messages.js';
import { remembered, useStore } from '../base/store.js';

const preferred = (navigator.language || 'en').toLowerCase().startsWith('zh') ? 'zh' : 'en';

export const lang = remembered('seismo.lang', preferred, ['en', 'zh']);
export const zone = remembered('seismo.zone', 'local', ['local', 'utc']);

const applyLanguage = () => {
	document.documentElement.lang = lang.get() === 'zh' ? 'zh-CN' : 'en';
};
lang.watch(applyLanguage);
applyLanguage();

export const t = (key, params = {}) => {
	const text = messages[key]?.[lang.get() === 'zh' ? 1 : 0];
	if (text === undefined) return key;
	return text.replace(/\{(\w+)\}/g, (whole, name) => (name in params ? String(params[name]) : whole));
};

// The text in the chosen language, of [English, Chinese].
export const localized = ([en, zh]) => (lang.get() === 'zh' ? zh : en);

// The text for a key of the collector; a key that this console does not know is shown by its own name.
export const word = (prefix, name) => (messages[prefix + name] ? t(prefix + name) : name);

// A component calls this to be rendered again when language or zone change.
export const useSettings = () => ({ lang: useStore(lang), zone: useStore(zone) });
