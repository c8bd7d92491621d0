// SPDX-License-Identifier: Apache-2.0
// The scroll position in the table, restored when the user comes back from a request.
export const view = { key: null, top: 0, row: null };
