// SPDX-License-Identifier: Apache-2.0
// The time of a request in pieces that add up to its total: the queue, then own time and upstream tries in
// their order. Tries that overlap count each moment once. All in ms.
import { isNumber } from './format.js';

const MIN_MS = 0.001;

const tryTime = (up) => (isNumber(up.responseTime) ? up.responseTime : isNumber(up.connectTime) ? up.connectTime : 0);

export const timeParts = (req) => {
	const queue = isNumber(req.queueTime) ? req.queueTime : 0;
	const whole = isNumber(req.requestTime) ? req.requestTime : 0;
	const unknown = (req.flags ?? []).includes('upstreamUnknown');
	const parts = queue > MIN_MS ? [{ kind: 'queue', from: 0, ms: queue }] : [];
	const tries = unknown ? [] : (req.upstreams ?? []).map((up, i) => ({ up, n: i + 1, start: isNumber(up.startTime) ? up.startTime : 0 }));
	tries.sort((a, b) => a.start - b.start);
	let at = 0;
	let overlap = false;
	for (const { up, n, start } of tries) {
		const end = Math.min(whole, start + tryTime(up));
		if (start < at - MIN_MS && at > 0 && parts.some((p) => p.kind === 'up')) overlap = true;
		const from = Math.min(whole, Math.max(at, start));
		if (from - at > MIN_MS) parts.push({ kind: 'own', from: queue + at, ms: from - at });
		if (end - from > MIN_MS) parts.push({ kind: 'up', n, addr: up.addr, failed: Boolean(up.error) || up.status >= 500, from: queue + from, ms: end - from });
		at = Math.max(at, end, from);
	}
	if (whole - at > MIN_MS) parts.push({ kind: unknown ? 'whole' : 'own', from: queue + at, ms: whole - at });
	return { parts, total: queue + whole, overlap };
};
