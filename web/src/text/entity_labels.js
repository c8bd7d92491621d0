// SPDX-License-Identifier: Apache-2.0
// The display name of an entity. A cgroup has the name of its unit, container or job if its path shows one, else the end
// of its path.
const LONG = 40;
const ID = 12; /* characters of a container id, as container tools show it */

export const labelsOf = (kinds) => Object.assign({}, ...kinds.map((k) => k.labels ?? {}));

const jobOf = (l) => l.job && `${l.batch ?? ''} ${l.job}${l.step ? `.${l.step}` : ''}`.trim();
const containerOf = (l) => l.container && `${l.runtime ?? ''} ${l.container.slice(0, ID)}`.trim();

export const shortLabel = (entity, labels) => {
	const l = Object.hasOwn(labels, entity) ? labels[entity] : {};
	const called = jobOf(l) ?? containerOf(l) ?? l.unit ?? l.vm;
	if (called) return called;
	return entity.length > LONG ? `…${entity.slice(1 - LONG)}` : entity;
};
