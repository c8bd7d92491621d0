// SPDX-License-Identifier: Apache-2.0
// Values of a panel with their unit, short enough for an axis: "1.5 GiB", "12k /s", "0.4 %".
const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const DECIMAL = ['', 'k', 'M', 'G', 'T'];

const scaled = (n, base, names) => {
	let k = 0;
	let v = Math.abs(n);
	while (v >= base && k < names.length - 1) {
		v /= base;
		k += 1;
	}
	return [n < 0 ? -v : v, names[k]];
};

const short = (n) => {
	const size = Math.abs(n);
	if (size === 0) return '0';
	if (size < 0.01) return '<0.01';
	return String(Number(n.toFixed(size < 1 ? 2 : size < 100 ? 1 : 0)));
};

const isBytes = (unit) => unit === 'bytes' || unit === 'B/s';

// For an axis whose title has the unit: "1.5 GiB", "12k".
export const tick = (n, unit) => {
	const [v, name] = isBytes(unit) ? scaled(n, 1024, BINARY) : scaled(n, 1000, DECIMAL);
	return isBytes(unit) ? (n === 0 ? '0' : `${short(v)} ${name}`) : `${short(v)}${name}`;
};

export const quantity = (n, unit) => {
	if (n === null || n === undefined) return '–';
	if (unit === 'B/s') return `${n === 0 ? '0 B' : tick(n, unit)}/s`;
	if (unit === 'bytes') return n === 0 ? '0 B' : tick(n, unit);
	return `${tick(n, unit)} ${unit}`;
};

// The upper edge of a bucket, in µs or bytes; null is the last bucket, which has none.
export const edgeText = (edge, unit) => {
	if (edge === null) return '∞';
	if (unit === 'bytes') return quantity(edge, unit);
	if (edge < 1000) return `${edge} µs`;
	return edge < 1e6 ? `${short(edge / 1e3)} ms` : `${short(edge / 1e6)} s`;
};
