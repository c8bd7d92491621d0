// SPDX-License-Identifier: Apache-2.0
// Where the reader was in the table, for when they come back from a request.
export const view = { key: null, top: 0, row: null };
