// SPDX-License-Identifier: Apache-2.0
// Divides the range of the filters into equal bins of a round length. A live range ends with the current bin, so that
// the bins keep their places as time goes on.
import { momentOf, rollingOf, rollingText } from '../base/moment.js';
import { HOUR_MS, isLive } from './filters.js';

const SECOND = 1e3;
const MIN = 60e3;
const BINS = 200; /* the limit of the API */
const NICE = [SECOND, 2e3, 5e3, 10e3, 15e3, 30e3, MIN, 2 * MIN, 5 * MIN, 10 * MIN, 15 * MIN, 30 * MIN, HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, 24 * HOUR_MS];

const PARTS = 60;

export const endsOf = (f, now) => {
	const to = f.to ? Date.parse(f.to) : now;
	return [f.from ? momentOf(f.from, now) : to - HOUR_MS, to];
};

// A range that would end in the future is the live one of the same length.
const ranged = (f, from, to, now) => {
	if (to >= now) return { ...f, from: rollingText(to - from), to: undefined };
	return { ...f, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
};

// The range before (-1) or after (1) that of the filters, as long as it is.
export const shiftRange = (f, step, now = Date.now()) => {
	const [from, to] = endsOf(f, now);
	return ranged(f, from + step * (to - from), to + step * (to - from), now);
};

// Twice as long, around the same middle where there is a future.
export const widenRange = (f, now = Date.now()) => {
	const [from, to] = endsOf(f, now);
	return ranged(f, from - (to - from) / 2, to + (to - from) / 2, now);
};

export const niceStep = (from, to, least) => {
	const want = Math.max((to - from) / PARTS, least);
	return NICE.find((s) => s >= want) ?? NICE.at(-1);
};

// {from, to, step, n} in ms; a fixed range is divided exactly, a live one ends at most one step ahead.
export const timeBins = (f, now = Date.now()) => {
	const [from, to] = endsOf(f, now);
	if (!isLive(f)) return { from, to, step: (to - from) / PARTS, n: PARTS };
	const step = niceStep(from, to, SECOND);
	const fixed = f.from && !rollingOf(f.from); /* at its beginning */
	const end = fixed ? from + Math.max(1, Math.ceil((to - from) / step)) * step : Math.ceil(to / step) * step;
	const begin = fixed ? from : end - Math.ceil((to - from) / step) * step;
	return { from: begin, to: end, step, n: Math.min(BINS, Math.round((end - begin) / step)) };
};
