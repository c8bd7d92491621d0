// SPDX-License-Identifier: Apache-2.0
// The time of a request as segments that add up to its total: the queue, then own time and upstream tries in order.
// Where tries overlap, each moment counts once. All in ms.
import { isNumber } from '../../text/format.js';

const MIN_MS = 0.001;

const hasTime = (up) => isNumber(up.responseTime);

// The sum over all tries is known even if failed tries have no time of their own: the rest of the sum is theirs.
const untimedRest = (req, tries) => {
	const said = tries.filter(({ up }) => hasTime(up)).reduce((sum, { up }) => sum + up.responseTime, 0);
	return isNumber(req.upstreamResponseTime) ? Math.max(0, req.upstreamResponseTime - said) : 0;
};

const failed = (up) => Boolean(up.error) || up.status >= 500;

// Tries in order of their start; those without a time are joined, from the first of them.
const ordered = (req) => {
	const tries = (req.upstreams ?? []).map((up, i) => ({ up, n: i + 1, start: isNumber(up.startTime) ? up.startTime : 0 }));
	const dark = tries.filter(({ up }) => !hasTime(up));
	const all = tries.filter(({ up }) => hasTime(up)).map((one) => ({ ...one, ms: one.up.responseTime, failed: failed(one.up) }));
	if (dark.length) all.push({ up: dark[0].up, n: dark.map((d) => d.n).join(', '), start: dark[0].start, ms: untimedRest(req, tries), failed: dark.some((d) => failed(d.up)) });
	return all.sort((a, b) => a.start - b.start);
};

export const timeSegments = (req) => {
	const queue = isNumber(req.queueTime) ? req.queueTime : 0;
	const whole = isNumber(req.requestTime) ? req.requestTime : 0;
	const unknown = (req.flags ?? []).includes('upstreamUnknown');
	const parts = queue > MIN_MS ? [{ kind: 'queue', from: 0, ms: queue }] : [];
	let at = 0;
	let busy = 0; /* end of the earlier tries */
	let overlap = false;
	for (const { up, n, start, ms, failed: bad } of unknown ? [] : ordered(req)) {
		const end = Math.min(whole, start + ms);
		overlap ||= start < busy - MIN_MS && end > start;
		busy = Math.max(busy, end);
		const from = Math.min(whole, Math.max(at, start));
		if (from - at > MIN_MS) parts.push({ kind: 'own', from: queue + at, ms: from - at });
		if (end - from > MIN_MS) parts.push({ kind: 'up', n, addr: up.addr, failed: bad, from: queue + from, ms: end - from });
		at = Math.max(at, end, from);
	}
	if (whole - at > MIN_MS) parts.push({ kind: unknown ? 'whole' : 'own', from: queue + at, ms: whole - at });
	return { parts, total: queue + whole, overlap };
};
