// SPDX-License-Identifier: Apache-2.0
// The fleet: its address, its query, and the sentence of each cause. Tests call it without a page.
import { address, pairs, readFilters } from './filters.js';
import { visible } from '../text/format.js';
import { t, word } from '../text/i18n.js';
import { messages } from '../text/messages.js';
import { nodeAround } from './node.js';

export const CLASSES = ['saturation', 'load', 'latency', 'error'];
export const ORDERS = ['worst', ...CLASSES, 'name'];
export const PAGE = 100;
const FILTERS = ['q', 'region', 'tag', 'app'];
const MINUTE_MS = 60e3;
const BAD = 50;
const SEVERE = 80;
const CUT = 60;

export const readFleet = (search) => {
	const { q, region, tag, app } = readFilters(search);
	const query = new URLSearchParams(search);
	const skip = Number(query.get('skip'));
	return { q, region, tag, app, by: ORDERS.includes(query.get('by')) ? query.get('by') : 'worst', skip: Number.isInteger(skip) && skip > 0 ? Math.min(skip, 99999) : 0 };
};

const fleetParams = (f) => [...pairs(f, FILTERS), ...(f.by === 'worst' ? [] : [['by', f.by]]), ...(f.skip ? [['skip', f.skip]] : [])];

export const fleetAddress = (f) => address('/fleet', fleetParams(f));
export const fleetQuestion = (f) => () => ({ path: '/api/v1/fleet', params: [...fleetParams(f), ['limit', PAGE]], live: true, filters: f });

export const ofFleet = {
	question: () => ({ path: '/api/v1/fleet/values', params: [], live: false }),
	values: (data, name) => data.facets?.[name],
	note: () => null,
};

export const severityOf = (score) => (score >= SEVERE ? 'grave' : score >= BAD ? 'bad' : 'well');

// The address of the node's page with the minute of the score marked.
export const whenAddress = (node) => {
	const at = Date.parse(node.at);
	return nodeAround(node.name, (Number.isNaN(at) ? Date.now() : at) - MINUTE_MS, Number.isNaN(at) ? Date.now() : at);
};

const number = (v) => (typeof v !== 'number' ? '–' : v < 10 ? String(Math.round(10 * v) / 10) : String(Math.round(v)));

export const causeText = (cause) => {
	if (!cause?.code) return '–';
	const what = cause.what ? visible(cause.code === 'event' ? word('kind.', cause.what) : cause.what).slice(0, CUT) : t('fleet.all');
	if (!(`fleet.why.${cause.code}` in messages)) return visible(cause.code).slice(0, CUT);
	return t(`fleet.why.${cause.code}`, { what, value: number(cause.value) });
};

export const unknownText = (cause) => (cause?.unknown?.length ? t('fleet.unknown', { what: cause.unknown.map((c) => visible(c).slice(0, CUT)).join(', ') }) : undefined);
