// SPDX-License-Identifier: Apache-2.0
// A made-up fleet in the shape of /api/v1/fleet: most nodes healthy, some bad in each class, one silent.
const iso = (ms) => new Date(ms).toISOString();
const cause = (code, value = null, what = null, unknown = []) => ({ code, what, value, unknown });

const well = (i) => ({ saturation: [i % 9, cause('cpu.pressure', i % 9)], load: [20 + (i % 25), cause('memory.used', 20 + (i % 25))], latency: [i % 7, cause('excess', (i % 7) / 2, 'shop')], error: [0, cause('failed', 0)] });
const bad = {
	7: { saturation: [93, cause('io.pressure', 93.2)], load: [100, cause('disk.busy', 99.7, 'nvme0n1')] },
	11: { latency: [81, cause('excess', 430, '<b>pay</b>')], error: [62, cause('failed', 8.3, 'pay')] },
	13: { error: [80, cause('event', 2, 'mem.oom')], saturation: [71, cause('memory.low', 2.9)] },
	17: { latency: [null, cause('noRequests')], error: [null, cause('requestsNotSeen')], saturation: [4, cause('cpu.queue', 1, null, ['cpu.pressure', 'io.pressure'])] },
};
const silent = { saturation: [null, cause('silent')], load: [null, cause('silent')], latency: [null, cause('silent')], error: [100, cause('silent')] };

export const scored = (i, over = {}) => {
	const of = { ...(i === 19 ? silent : well(i)), ...bad[i], ...over };
	const scores = Object.fromEntries(Object.entries(of).map(([name, [score]]) => [name, score]));
	const known = Object.values(scores).filter((s) => s !== null);
	return {
		id: i.toString(16).padStart(16, '0'), name: `node-${String(i).padStart(5, '0')}`, region: `r-${i % 3}`, tags: i % 4 ? { role: i % 2 ? 'web' : 'db', rack: `r${i % 40}` } : {}, lastSeen: iso(Date.now() - 900), silent: i === 19, at: iso(Date.now() - 4000),
		worst: known.length ? Math.max(...known) : null, ...scores, causes: Object.fromEntries(Object.entries(of).map(([name, [, c]]) => [name, c])),
	};
};

const before = (by) => (a, b) => (by !== 'name' && ((b[by] ?? -1) - (a[by] ?? -1) || (b.worst ?? -1) - (a.worst ?? -1))) || (a.name < b.name ? -1 : 1);

export const listFleet = (all, q) => {
	const wanted = (n) => (!q.get('q') || n.name.includes(q.get('q'))) && (!q.get('region') || q.getAll('region').includes(n.region)) && (!q.get('tag') || q.getAll('tag').some((tag) => Object.entries(n.tags).some(([k, v]) => `${k}=${v}` === tag)));
	const found = all.filter(wanted).sort(before(q.get('by') ?? 'worst'));
	const skip = Number(q.get('skip') ?? 0);
	const limit = Number(q.get('limit') ?? 100);
	const over = (of) => found.filter((n) => n[of] >= 50).length;
	const counts = { any: over('worst'), saturation: over('saturation'), load: over('load'), latency: over('latency'), error: over('error') };
	return { total: found.length, silent: found.filter((n) => n.silent).length, unknown: found.filter((n) => n.worst === null).length, bad: counts, nodes: found.slice(skip, skip + limit), next: skip + limit < found.length ? skip + limit : null };
};

export const fleetValues = (all) => {
	const counted = (values) => [...values.reduce((sums, v) => sums.set(v, (sums.get(v) ?? 0) + 1), new Map())].map(([value, count]) => ({ value, count }));
	return { facets: { region: counted(all.map((n) => n.region)), tag: counted(all.flatMap((n) => Object.entries(n.tags).map(([k, v]) => `${k}=${v}`))), app: [] } };
};
