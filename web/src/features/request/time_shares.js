// SPDX-License-Identifier: Apache-2.0
// Evaluates the shares of a request's time: whether they add up, which part is furthest over its normal, and how much of
// the delay it explains. All in ms.
import { isNumber } from '../../base/number.js';
import { isSlow } from '../../data/limit.js';

const ROUNDING_MS = 0.05;

// A part without time in this request is listed if it has a normal time.
export const sharesOf = (req) => (req.shares ?? []).filter((s) => isNumber(s.ms) && (s.ms > 0 || s.normal > 0));

// A route without a normal time has no normal times of parts.
export const hasNormal = (req) => isNumber(req.normalTime);
export const normalOf = (req, share) => (hasNormal(req) && isNumber(share.normal) ? share.normal : null);
const over = (req, share) => share.ms - (normalOf(req, share) ?? 0);

export const totalOf = (req) => (isNumber(req.totalTime) ? req.totalTime : (req.queueTime ?? 0) + (req.requestTime ?? 0));
export const sumOf = (shares) => shares.reduce((sum, s) => sum + s.ms, 0);
export const addsUp = (req) => Math.abs(sumOf(sharesOf(req)) - totalOf(req)) <= ROUNDING_MS + totalOf(req) / 1e4;

// The part furthest over its own normal; the others grow as a consequence, or not at all.
export const topOf = (req) => sharesOf(req).reduce((top, s) => (!top || over(req, s) > over(req, top) ? s : top), null);

/* the part of the time that a verdict is of */
const PART_OF = {
	'up.slow': 'upstream', 'up.connect': 'upstream', 'up.error': 'upstream', 'up.retry': 'upstream', 'queue.app': 'queue', 'queue.pool': 'pool', 'queue.accept': 'queue', 'cpu.own': 'cpu',
	'cpu.wait': 'runqueue', 'cpu.throttled': 'throttled', 'io.block': 'io', 'io.dirty': 'dirty', 'mem.fault': 'fault', 'mem.reclaim': 'reclaim', lock: 'lock', sleep: 'sleep',
	'loop.busy': 'loop', 'net.wait': 'network', 'net.peer': 'network', stopped: 'stopped', 'client.slow': 'client',
};

// The part that the verdict is of, if it was measured; else the one furthest over its normal.
const blamed = (req) => sharesOf(req).find((s) => s.ms > 0 && s.code === PART_OF[req.reason?.code]) ?? topOf(req);

// A request within its limit has no part to blame.
// {share, over, part, normal}: part is the share of the delay over normal that it explains. null if no part is over its
// normal, and for a request judged by its first byte, whose total is not comparable with its normal.
export const mainOf = (req) => {
	const share = isSlow(req) ? blamed(req) : null;
	if (!share) return null;
	if ((req.flags ?? []).includes('byFirstByte')) return { share, over: over(req, share), part: null, normal: hasNormal(req) };
	const delay = totalOf(req) - (hasNormal(req) ? req.normalTime : 0);
	const more = over(req, share);
	return { share, over: more, part: delay > 0 && more > 0 ? Math.min(1, more / delay) : null, normal: hasNormal(req) };
};

const evidenceOf = (of, part) => (of.evidence ?? []).filter((e) => e.part === part).sort((a, b) => b.ms - a.ms)[0];

/* parameters of reasons that name a culprit, the most specific first */
const NAMING = ['who', 'cgroup', 'file', 'addr', 'peer', 'dev'];
/* reasons for which the app itself was slow */
const ITSELF = new Set(['cpu.own', 'app.error', 'sleep', 'queue.app', 'queue.pool', 'queue.accept', 'loop.busy', 'stopped', 'net.wait']);

// {kind, name, more}: the culprit, from the verdict's own parameters, else from the evidence; null: not known.
export const culpritOf = (of, part) => {
	const { code, params = {} } = of.reason ?? {};
	const kind = NAMING.find((k) => typeof params[k] === 'string' && params[k] !== '');
	if (kind) return { kind, name: params[kind], more: kind === 'file' ? params.dev : null };
	const seen = evidenceOf(of, part);
	if (seen?.who) return { kind: 'who', name: seen.who, more: null };
	if (seen?.what) return { kind: 'what', name: seen.what, more: null };
	if (ITSELF.has(code)) return { kind: 'app', name: of.app ?? of.comm, more: null };
	return null;
};

const ALSO = 3;

// Other culprits in the evidence of that part with their times: [{name, ms}], longest first.
export const alsoOf = (of, part, name) => {
	const sums = new Map();
	for (const e of of.evidence ?? []) if (e.part === part && e.who && e.who !== name) sums.set(e.who, (sums.get(e.who) ?? 0) + (e.ms || 0));
	return [...sums].map(([who, ms]) => ({ name: who, ms })).sort((a, b) => b.ms - a.ms).slice(0, ALSO);
};
