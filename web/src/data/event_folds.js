// SPDX-License-Identifier: Apache-2.0
// Events that repeat: [{key, event, older: []}], each with the newest of a node, kind and process. What is critical or goes on
// stands alone. The key stays the same when another event joins.
export const foldEvents = (rows) => {
	const folds = new Map();
	for (const e of rows) {
		const alone = e.severity === 'critical' || e.goingOn;
		const key = alone ? e.id : JSON.stringify([e.region, e.node, e.kind, e.severity, e.comm, e.reason?.code]);
		if (folds.has(key)) folds.get(key).older.push(e);
		else folds.set(key, { key, event: e, older: [] });
	}
	return [...folds.values()];
};
