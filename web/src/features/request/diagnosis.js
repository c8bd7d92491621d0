// SPDX-License-Identifier: Apache-2.0
// What the page of a request says of it, derived once, so that no two sentences of the page disagree. Tests call it without a page.
import { culpritOf, mainOf, sharesOf } from './time_shares.js';

/* parts that are waits for others, so that the time may have gone elsewhere */
const ELSEWHERE = new Set(['upstream', 'network', 'client']);

const failed = ({ status }) => !status || status >= 500;

// Why a request that was not slow is listed.
const listedFor = (req) => {
	const code = req.reason?.code;
	if (code === 'client.abort') return 'summary.where.aborted';
	if (failed(req)) return 'summary.where.failed';
	return code === 'up.retry' ? 'summary.where.retried' : 'summary.where.listed';
};

// Where to look, as the trace has it. `key` is the sentence. If this request is the first of the trace and its verdict blames this
// process, no other place is blamed.
const lookOf = (req, trace, main) => {
	const look = trace?.hops?.length > 1 ? trace.lookAt : null;
	if (!look) return null;
	const away = look.hop !== trace.hop || look.kind === 'network' || look.kind === 'behind';
	const here = look.kind === 'failed' ? req.reason?.code === 'app.error' : main !== null && !ELSEWHERE.has(main.share.code);
	const also = away && here && trace.hop === 0;
	return { ...look, key: `look.${look.kind}${also ? '.also' : ''}`, away, agrees: !also };
};

const whoOf = (req, main, look) => {
	const known = culpritOf(req, main?.share.code);
	if (known || !look?.away || !look.agrees) return known;
	return { kind: 'look', name: look.app ?? look.addr ?? look.node, more: null };
};

// trace: the answer of /trace, or null. {main, where, who, look}: main of mainOf(); where: the key of a sentence, if there is no
// main; who of culpritOf(), or with the kind `look`; look: lookAt of the trace with its key, or null.
export const diagnosisOf = (req, trace = null) => {
	const main = mainOf(req);
	const look = lookOf(req, trace, main);
	const where = sharesOf(req).length ? listedFor(req) : 'summary.where.unsplit';
	return { main, where: main ? null : where, who: whoOf(req, main, look), look };
};
