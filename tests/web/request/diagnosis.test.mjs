// SPDX-License-Identifier: Apache-2.0
// No two sentences of a request's page disagree, whatever its verdict, status, parts and trace are.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CHECK, CHECK_EQ, TEST, until, top } from '../browser.mjs';
import { request } from '../mock/data.mjs';
import { messages } from '../../../web/src/text/messages.js';
import { diagnosisOf } from '../../../web/src/features/request/diagnosis.js';

/* what the texts say, read by their words: independent of the code that chooses them */
const english = (key) => messages[key][0];
const saysFailed = (text) => /because it failed/.test(text);
const saysRetried = (text) => /a try at an upstream failed/.test(text);
const saysLeft = (text) => /the client closed/.test(text);
const blames = (text) => /^Look at/.test(text);

/* the part that each verdict is of, by its words: "io.block" is of "block I/O" and so on */
const VERDICTS = {
	'up.slow': 'upstream', 'cpu.own': 'cpu', 'cpu.wait': 'runqueue', 'cpu.throttled': 'throttled', 'io.block': 'io', 'io.dirty': 'dirty', 'mem.fault': 'fault', 'mem.reclaim': 'reclaim',
	lock: 'lock', sleep: 'sleep', stopped: 'stopped', 'loop.busy': 'loop', 'net.wait': 'network', 'net.peer': 'network', 'queue.app': 'queue', 'queue.pool': 'pool', 'client.slow': 'client',
};
const WAITS = ['upstream', 'network', 'client'];
const STATUSES = [200, 404, 499, 500, 502, null];

const reasons = async () => [...(await readFile(path.join(top, 'schema/def/reasons.def'), 'utf8')).matchAll(/^REASON\((\d+), \w+, "([^"]+)"/gm)].map((m) => m[2]);
const share = (code, ms, normal) => ({ code, ms, normal });

// Where the time went: nowhere known; mostly in the part of the verdict; mostly in an upstream that is always that slow; in a CPU wait.
const splits = (part) => [[], [share(part, 80, 1), share('other', 20, 20)], [share('upstream', 60, 58), share(part, 40, 1)], [share('runqueue', 70, 1), share(part, 30, 1)]];
const LOOKS = [null, { kind: 'node', hop: 0, node: 'web-1', app: 'nginx' }, { kind: 'node', hop: 1, node: 'shop-1', app: 'shop' }, { kind: 'network', hop: 1, node: 'shop-1', app: 'shop', from: 'web-1' }, { kind: 'behind', hop: 1, node: null, app: null, addr: '10.0.0.2:80' }, { kind: 'failed', hop: 1, node: 'shop-1', app: 'shop' }];
const traceOf = (look, hop) => ({ hop, hops: [{ hop: 0 }, { hop: 1 }], lookAt: look });

const disagreements = (req, trace) => {
	const found = diagnosisOf(req, trace);
	const where = found.main ? '' : english(found.where);
	const look = found.look ? english(found.look.key) : '';
	const failed = req.status === null || req.status >= 500;
	const faults = [];
	if (saysFailed(where) && (!failed || req.reason.code === 'client.abort')) faults.push('it failed, but it did not');
	if (saysRetried(where) && req.reason.code !== 'up.retry') faults.push('it was retried, but it was not');
	if (saysLeft(where) && req.reason.code !== 'client.abort') faults.push('the client left, but it did not');
	if (found.main && req.totalTime <= req.limitTime) faults.push('a part is blamed of a request that was not slow');
	if (!found.main && req.totalTime > req.limitTime && req.shares.length) faults.push('it was slow, and no part is named');
	const part = VERDICTS[req.reason.code];
	if (found.main && part && req.shares.some((s) => s.code === part) && found.main.share.code !== part) faults.push(`the verdict is of ${part}, the time went to ${found.main.share.code}`);
	const elsewhere = found.look && (found.look.hop !== trace.hop || ['network', 'behind'].includes(found.look.kind));
	if (trace.hop === 0 && elsewhere && blames(look) && found.look.kind !== 'failed' && found.main && !WAITS.includes(found.main.share.code)) faults.push(`the time went to ${found.main.share.code} here, but one is to look elsewhere`);
	if (trace.hop === 0 && elsewhere && blames(look) && found.look.kind === 'failed' && req.reason.code === 'app.error') faults.push('it failed by itself, but another is to blame');
	if (!found.who && elsewhere && blames(look)) faults.push('nobody is known, but a place is named');
	return faults.map((fault) => `${fault}: ${JSON.stringify([req.reason, req.status, req.shares, found.look])}`);
};

TEST('no two sentences about a request disagree: all verdicts, statuses, parts and traces', async () => {
	const faults = [];
	let n = 0;
	for (const code of await reasons()) {
		for (const status of STATUSES) for (const slow of [true, false]) for (const shares of splits(VERDICTS[code] ?? 'cpu')) for (const params of [{}, { who: 'cc1[7]' }, { addr: '10.0.0.2:80' }]) for (const look of LOOKS) for (const hop of [0, 1]) {
			n++;
			faults.push(...disagreements({ reason: { code, params }, status, shares, normalTime: 80, totalTime: 100, limitTime: slow ? 90 : 200, app: 'nginx', flags: [] }, traceOf(look, hop)));
		}
	}
	CHECK(n > 40_000, `${n} pages`);
	CHECK_EQ(faults.slice(0, 5), [], `of ${faults.length} disagreements`);
});

const page = async (t, row, look) => {
	t.mock.rows = [row];
	t.mock.trace = { ...traceOf({ app: null, addr: null, from: 'web-1', ms: 60, share: 0.6, ...look }, 0), caller: { addr: '192.0.2.1:9', node: null, silence: 'noProbe' } };
	t.mock.trace.hops = [{ hop: 0, parent: null, node: 'web-1', app: 'nginx', id: row.id, time: row.time, startTime: 0, totalTime: 100 }, { hop: 1, parent: 0, try: 1, addr: '10.0.0.2:80', callTime: 5, responseTime: 60, silence: 'noProbe' }];
	await t.open(`/requests/${row.id}`);
	await t.page.waitForSelector('#look');
	return (await t.text('main')).replace(/\s+/g, ' ');
};

const row = (over) => request({ app: 'nginx', status: 200, queueTime: 0, requestTime: 100, totalTime: 100, normalTime: 20, limitTime: 50, evidence: [], ...over });

TEST('a busy event loop is not blamed on the upstream that took most of the time as always', async (t) => {
	const said = await page(t, row({ reason: 'loop.busy', shares: [share('upstream', 60, 58), share('loop', 40, 0)] }), { kind: 'behind', hop: 1, addr: '10.0.0.2:80' });
	CHECK(said.includes('was spent waiting for 10.0.0.2:80; the delay arose here'), said);
	CHECK(!said.includes('Look at'), 'nobody else is blamed');
});

TEST('who is to blame is named from the trace if the verdict does not name them', async (t) => {
	const said = await page(t, row({ reason: 'client.abort', status: 499, shares: [share('upstream', 95, 5), share('cpu', 5, 5)], upstreams: [] }), { kind: 'behind', hop: 1, addr: '10.0.0.2:80' });
	CHECK(said.includes('Look at 10.0.0.2:80'), said);
	await until('who', async () => (await t.text('.tile-who')).includes('10.0.0.2:80'));
});

TEST('a retry that succeeded did not fail', async (t) => {
	t.mock.rows = [row({ reason: 'up.retry', status: 200, limitTime: 500, shares: [share('upstream', 90, 80)] })];
	await t.open(`/requests/${t.mock.rows[0].id}`);
	const where = await t.text('.tile-where');
	CHECK(where.includes('a try at an upstream failed') && !where.includes('because it failed'), where);
});
