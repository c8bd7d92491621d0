// SPDX-License-Identifier: Apache-2.0
// Which host it was, of a time that somebody asks about. Nothing here knows of a page.
import { address, isNot, pairs } from './filters.js';

const FILTERS = ['from', 'to', 'region', 'node'];
const ONE = ['region', 'node']; /* of each the first value is asked for */

const single = (f) => Object.fromEntries(FILTERS.map((name) => [name, ONE.includes(name) ? [f[name] ?? []].flat().find((v) => !isNot(v)) : f[name]]));

export const whereParams = (f) => pairs(single(f), FILTERS).filter(([, value]) => value);
export const whereAddress = (f) => address('/where', whereParams(f));
