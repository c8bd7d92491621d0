// SPDX-License-Identifier: Apache-2.0
// Times in an address: absolute as in RFC 3339, or before now, such as "-15m". The units are m, h and d.
const UNIT_MS = { d: 86400e3, h: 3600e3, m: 60e3 };
const ROLLING = /^-([1-9]\d{0,4})([mhd])$/;

// {n, unit} of a time before now, else null.
export const rollingOf = (value) => {
	const [, n, unit] = ROLLING.exec(value ?? '') ?? [];
	return unit ? { n: Number(n), unit } : null;
};

// In ms since 1970.
export const momentOf = (value, now = Date.now()) => {
	const rolling = rollingOf(value);
	return rolling ? now - rolling.n * UNIT_MS[rolling.unit] : Date.parse(value);
};

// The time so many ms before now, rounded up to minutes, in the largest unit that fits.
export const rollingText = (ms) => {
	const minutes = Math.ceil(ms / UNIT_MS.m) * UNIT_MS.m;
	const [unit, of] = Object.entries(UNIT_MS).find(([, one]) => minutes % one === 0);
	return `-${minutes / of}${unit}`;
};

// Parameters as the API takes them: every time is absolute.
export const absolute = (params, now = Date.now()) => params.map(([name, value]) => [name, rollingOf(value) && name === 'from' ? new Date(momentOf(value, now)).toISOString() : value]);
