// SPDX-License-Identifier: Apache-2.0
// The only formatter: times with their zone, durations in ms, counts, and untrusted text made visible.
import { isNumber } from '../base/number.js';
import { lang, t, word, zone } from './i18n.js';

const two = (n) => String(n).padStart(2, '0');
const three = (n) => String(n).padStart(3, '0');

// The parts of a time in the chosen zone. Callers always print `zone`, too.
export const timeParts = (time, where = zone.get()) => {
	const d = new Date(time);
	if (Number.isNaN(d.getTime())) return null;
	if (where === 'utc') {
		const iso = d.toISOString();
		return { date: iso.slice(0, 10), time: iso.slice(11, 23), zone: 'UTC' };
	}
	const off = -d.getTimezoneOffset();
	const sign = off < 0 ? '-' : '+';
	return {
		date: `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`,
		time: `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${three(d.getMilliseconds())}`,
		zone: `${sign}${two(Math.floor(Math.abs(off) / 60))}:${two(Math.abs(off) % 60)}`,
	};
};

export const timeText = (time, ms = true) => {
	const p = timeParts(time);
	return p ? `${p.date} ${ms ? p.time : p.time.slice(0, 8)} ${p.zone}` : '–';
};

export const zoneName = (which) => (which === 'utc' ? 'UTC' : `${t('zone.local')} (${timeParts(Date.now(), 'local').zone})`);

// datetime-local has no zone: both directions use the chosen zone.
export const toInput = (time) => {
	const p = time ? timeParts(time) : null;
	return p ? `${p.date}T${p.time.slice(0, 8)}` : '';
};
export const fromInput = (text) => {
	const time = Date.parse(zone.get() === 'utc' ? `${text}Z` : text);
	return Number.isNaN(time) ? null : new Date(time).toISOString();
};

const grouped = (digits) => new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const decimals = [0, 1, 2].map(grouped);

export { isNumber };
export const count = (n) => (isNumber(n) ? decimals[0].format(n) : '–');
export const ms = (n) => {
	if (!isNumber(n)) return '–';
	if (n > 0 && n < 0.05) return '<0.1';
	return decimals[1].format(n);
};
export const msFine = (n) => {
	if (!isNumber(n)) return '–';
	return decimals[n < 100 ? 2 : 1].format(n);
};
export const rate = (n) => (n > 0 && n < 0.05 ? '<0.1' : decimals[n < 10 ? 1 : 0].format(n));
export const times = (n) => {
	if (!isNumber(n)) return '–';
	return n >= 1000 ? '>999×' : `${decimals[n < 10 ? 1 : 0].format(n)}×`;
};

export const bytes = (n) => {
	if (!isNumber(n)) return '–';
	if (n < 1024) return `${n} B`;
	if (n < 1024 * 1024) return `${decimals[1].format(n / 1024)} KiB`;
	return `${decimals[1].format(n / 1024 / 1024)} MiB`;
};

// A coarse duration: "420 ms", "3.2 s", "5 min", "2 h", "3 d".
export const duration = (n) => {
	if (!isNumber(n)) return '–';
	const steps = [[1000, 1, 'unit.ms'], [60e3, 1000, 'unit.s'], [3600e3, 60e3, 'unit.min'], [48 * 3600e3, 3600e3, 'unit.h'], [Infinity, 86400e3, 'unit.d']];
	const [, unit, name] = steps.find(([below]) => n < below);
	const value = n / unit;
	const text = name === 'unit.s' && value < 10 ? decimals[1].format(value) : decimals[0].format(Math.floor(value));
	return `${text} ${t(name)}`;
};

// Control bytes, and characters that reorder or hide text, are shown as escapes.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const sign = (c) => {
	const hex = c.charCodeAt(0).toString(16);
	return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`;
};
export const visible = (text) => String(text).replace(hidden, sign);

// The error text of a probe, in the language of the page if its translation is known.
const numbered = [
	[/^answered (\d+)$/, 'error.answered'],
	[/^no answer within (\d+) ms$/, 'error.late'],
];
export const errorText = (error) => {
	if (lang.get() !== 'zh' || typeof error !== 'string') return error;
	for (const [form, key] of numbered) if (form.test(error)) return t(key, { n: form.exec(error)[1] });
	return word('error.', error);
};

// The sentence of a failure's reason ends in the probe's error text: that part is translated into Chinese here.
export const reasonText = (reason) => {
	const text = reason?.text?.[lang.get()] ?? reason?.text?.en ?? reason?.code ?? '–';
	const error = reason?.params?.error;
	const said = errorText(error);
	return said !== error && text.endsWith(`：${error}`) ? text.slice(0, -error.length) + said : text;
};
