// SPDX-License-Identifier: Apache-2.0
export const isNumber = (n) => typeof n === 'number' && Number.isFinite(n);
