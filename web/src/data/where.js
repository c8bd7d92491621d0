// SPDX-License-Identifier: Apache-2.0
// The address and parameters of the page that ranks the hosts of a time span.
import { address, pairsOfOne } from './filters.js';

export const whereParams = (f) => pairsOfOne(f, ['from', 'to', 'region', 'node'], ['region', 'node']);
export const whereAddress = (f) => address('/where', whereParams(f));
