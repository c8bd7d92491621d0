// SPDX-License-Identifier: Apache-2.0
// The API over fetch: a success gives parsed JSON, a failure throws an ApiError that names the side that failed.
import { absolute } from './moment.js';

export class ApiError extends Error {
	constructor(status, code, message) {
		super(message);
		this.status = status; /* 0: no connection */
		this.code = code;
		this.since = Date.now();
	}
	get kind() {
		if (this.status === 0 || this.code === 'stopping') return 'lost';
		if (this.code === 'too_slow') return 'slow';
		if (this.status === 503) return 'db';
		return this.status >= 500 ? 'failed' : 'api';
	}
}

const GIVE_UP_MS = 10_000;

export const refusal = async (res) => {
	const body = await res.json().catch(() => null);
	return new ApiError(res.status, body?.error?.code ?? String(res.status), body?.error?.message ?? res.statusText);
};

// Sends an action of the operator; the answer is an object.
export const post = async (path, body) => {
	let res;
	try {
		res = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal: AbortSignal.timeout(GIVE_UP_MS) });
	} catch (e) {
		throw new ApiError(0, 'unreachable', e.message);
	}
	if (!res.ok) throw await refusal(res);
	return res.json();
};

// params are [name, value] pairs; a name may occur more than once. "from" may be a time before now, such as "-15m".
export const get = async (path, params = []) => {
	const query = new URLSearchParams(absolute(params));
	const url = `${query}` ? `${path}?${query}` : path;
	let res;
	try {
		res = await fetch(url, { headers: { Accept: 'application/json' }, cache: 'no-store', signal: AbortSignal.timeout(GIVE_UP_MS) });
	} catch (e) {
		throw new ApiError(0, 'unreachable', e.message);
	}
	if (!res.ok) throw await refusal(res);
	return res.json().catch((e) => {
		throw new ApiError(502, 'not-json', e.message);
	});
};
