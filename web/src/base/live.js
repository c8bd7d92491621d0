// SPDX-License-Identifier: Apache-2.0
// The live connection: server-sent events over fetch. A new EventSource cannot send Last-Event-ID, nor distinguish a
// 503 from a closed port. The connection is closed while the page is hidden.
import { ApiError, refusal } from './api.js';
import { store } from './store.js';

const SILENT_MS = 10_000; /* the server sends an event every 2 s */
const RETRY_MS = [300, 1000, 2000, 3000];

// {state: 'wait' | 'open' | 'lost' | 'paused', since, error}
export const link = store({ state: 'wait', since: Date.now(), error: null });

// The status event, sent every 2 s: {data: {database, nodes, servers, requestsPerSecond, incidents, coverage}, since}
export const status = store({ data: null, since: 0 });

const listeners = new Set();
let lastId = null;
let current = null;
let tries = 0;
let timer = 0;

export const onLive = (fn) => {
	listeners.add(fn);
	return () => listeners.delete(fn);
};

const notify = (type, data) => {
	for (const fn of [...listeners]) fn(type, data);
};

const setState = (state, error = null) => {
	const was = link.get();
	const same = was.state === state && was.error?.kind === error?.kind;
	link.set({ state, error, since: same ? was.since : Date.now() });
};

const handleEvent = (block) => {
	let type = 'message';
	let data = '';
	for (const line of block.split('\n')) {
		const colon = line.indexOf(':');
		const field = colon < 0 ? line : line.slice(0, colon);
		const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
		if (field === 'event') type = value;
		else if (field === 'data') data += (data && '\n') + value;
		else if (field === 'id') lastId = value;
	}
	if (!data) return;
	let parsed = null;
	try {
		parsed = JSON.parse(data);
	} catch {
		return;
	}
	if (type === 'status') {
		const same = status.get().data?.database === parsed.database;
		status.set({ data: parsed, since: same ? status.get().since : Date.now() });
	}
	notify(type, parsed);
};

const readStream = async (res, abort) => {
	const reader = res.body.getReader();
	const decoder = new TextDecoder();
	let text = '';
	let watchdog = 0;
	const wind = () => {
		clearTimeout(watchdog);
		watchdog = setTimeout(() => abort.abort(), SILENT_MS);
	};
	try {
		for (;;) {
			wind();
			const { done, value } = await reader.read();
			if (done) return;
			text = (text + decoder.decode(value, { stream: true })).replace(/\r\n?/g, '\n');
			for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
				handleEvent(text.slice(0, end));
				text = text.slice(end + 2);
			}
		}
	} finally {
		clearTimeout(watchdog);
	}
};

const reconnectLater = () => {
	clearTimeout(timer);
	timer = setTimeout(connect, RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)]);
};

export const connect = async () => {
	clearTimeout(timer);
	current?.abort();
	const abort = new AbortController();
	current = abort;
	let error = new ApiError(0, 'closed', 'the stream ended');
	try {
		const headers = { Accept: 'text/event-stream' };
		if (lastId !== null) headers['Last-Event-ID'] = lastId;
		const res = await fetch('/api/v1/stream', { headers, cache: 'no-store', signal: abort.signal });
		if (!res.ok) throw await refusal(res);
		tries = 0;
		setState('open');
		notify('open', null);
		await readStream(res, abort);
	} catch (e) {
		if (e instanceof ApiError) error = e;
	}
	if (current !== abort) return;
	setState('lost', error);
	notify('lost', error);
	reconnectLater();
};

const pause = () => {
	clearTimeout(timer);
	const was = current;
	current = null;
	was?.abort();
	setState('paused');
};

export const start = () => {
	document.addEventListener('visibilitychange', () => (document.hidden ? pause() : connect()));
	if (!document.hidden) connect();
};
