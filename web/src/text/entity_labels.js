// SPDX-License-Identifier: Apache-2.0
// What an entity is called: of a cgroup its unit, container or job, as far as its path tells, else the end of its path.
const LONG = 40;
const ID = 12; /* of a container, as its own tools show it */

export const labelsOf = (kinds) => Object.assign({}, ...kinds.map((k) => k.labels ?? {}));

const jobOf = (l) => l.job && `${l.batch ?? ''} ${l.job}${l.step ? `.${l.step}` : ''}`.trim();
const containerOf = (l) => l.container && `${l.runtime ?? ''} ${l.container.slice(0, ID)}`.trim();

export const shortLabel = (entity, labels) => {
	const l = Object.hasOwn(labels, entity) ? labels[entity] : {};
	const called = jobOf(l) ?? containerOf(l) ?? l.unit ?? l.vm;
	if (called) return called;
	return entity.length > LONG ? `…${entity.slice(1 - LONG)}` : entity;
};
