// SPDX-License-Identifier: Apache-2.0
// Which host it was, of a time that somebody asks about. Nothing here knows of a page.
import { address, pairsOfOne } from './filters.js';

export const whereParams = (f) => pairsOfOne(f, ['from', 'to', 'region', 'node'], ['region', 'node']);
export const whereAddress = (f) => address('/where', whereParams(f));
