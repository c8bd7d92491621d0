// SPDX-License-Identifier: Apache-2.0
// The list of events and the page of an event.
import { CHECK, CHECK_EQ, TEST, until } from '../browser.mjs';
import { fleet, idOf, request } from '../mock/data.mjs';
import { event, evidence, explained } from '../mock/events.mjs';
import { foldEvents } from '../../../web/src/data/event_folds.js';

let serial = 0;
const some = (n, over = {}) => Array.from({ length: n }, (_, i) => event({ time: Date.now() - 5e3 - i * 1e3, n: (serial += 1), ...over }));
const ids = (t) => t.page.$$eval('.events tbody tr', (all) => all.map((tr) => tr.dataset.id));
const shows = (t, n) => until(`${n} events are shown`, async () => (await ids(t)).length === n);
const textOf = async (t, selector) => (await t.text(selector)).replace(/\s+/g, ' ').trim();

TEST('the list of events is newest first and loads older ones on demand', async (t) => {
	t.mock.incidents = some(130);
	await t.open('/events?each=1');
	await shows(t, 100);
	CHECK_EQ((await ids(t))[0], t.mock.incidents[0].id, 'the first');
	const row = await textOf(t, '.events tbody tr');
	for (const part of ['warning', 'web-1', 'trainer[20011]', 'write of 52428800 bytes at ckpt/model.pt', '1,204.3 ± 0.40', 'slow file operation']) CHECK(row.includes(part), `${part} in ${row}`);
	await t.page.click('.more button');
	await shows(t, 130);
	CHECK((await t.text('.more')).includes('All events of this range are shown: 130'), 'the end');
});

TEST('an event shows that it is ongoing, or that its end was not seen', async (t) => {
	const [on, over, unseen] = [{ goingOn: true, endSeen: false, told: 2 }, {}, { goingOn: false, endSeen: false, told: 2 }].map((of) => some(1, of)[0]);
	t.mock.incidents = [on, over, unseen];
	await t.open('/events?each=1');
	await shows(t, 3);
	const states = await t.page.$$eval('.events tbody tr', (all) => Object.fromEntries(all.map((tr) => [tr.dataset.id, tr.querySelector('.state')?.innerText ?? ''])));
	CHECK_EQ([on, over, unseen].map((e) => states[e.id]), ['ongoing', '', 'end not seen'], 'the words');
	await t.page.goto(t.mock.url + on.diagnosis);
	await t.page.waitForSelector('.verdict');
	CHECK_EQ(await textOf(t, '.line .state'), 'ongoing', 'on its page');
});

TEST('node and kind filter the list and are kept in the address', async (t) => {
	t.mock.nodes = fleet(3);
	t.mock.incidents = [...some(3), ...some(2, { node: 'web-2', kind: 'gpu.stall' })];
	await t.open('/events?each=1');
	await shows(t, 5);
	await t.page.selectOption('#events-node', 'web-2');
	await shows(t, 2);
	CHECK_EQ(new URL(t.page.url()).search, '?node=web-2&each=1', 'the address');
	await t.page.reload();
	await shows(t, 2);
	await t.page.selectOption('#events-kind', 'io.slow');
	await until('none is left', () => t.page.$('#no-events'));
	await t.page.selectOption('#events-node', '');
	await shows(t, 3);
});

TEST('repeated events are one line until they are unfolded; what is critical or goes on stands alone', async (t) => {
	const goes = { goingOn: true, endSeen: false, told: 2 };
	t.mock.incidents = [...some(4), ...some(2, { severity: 'critical' }), ...some(1, goes), ...some(1, { node: 'web-2' })];
	await t.open('/events');
	await shows(t, 5);
	CHECK((await t.text('.fold')).includes('and 3 more like it since'), await t.text('.fold'));
	await t.page.focus('.fold');
	await t.page.keyboard.press('Enter');
	await shows(t, 8);
	CHECK_EQ(new URL(t.page.url()).pathname, '/events', 'the row does not open');
	t.mock.incidents = [...t.mock.incidents, ...some(1)];
	await t.open('/events');
	await shows(t, 5);
	await t.page.click('.fold');
	await shows(t, 9);
	CHECK_EQ(new URL(t.page.url()).pathname, '/events', 'the row does not open by a click either');
	await t.page.click('.fold');
	await shows(t, 5);
	await t.page.click('#events-each');
	await shows(t, 9);
});

TEST('what repeats keeps its place in the list under one key', async () => {
	const older = some(2);
	const [before] = foldEvents(older);
	const [after] = foldEvents([{ ...older[0], id: 'newer' }, ...older]);
	CHECK_EQ([after.key, after.older.length], [before.key, 2], 'the key');
});

TEST('severity filters the list and is kept in the address', async (t) => {
	t.mock.incidents = [...some(1, { severity: 'info' }), ...some(1, { node: 'web-2' }), ...some(1, { severity: 'critical' })];
	await t.open('/events');
	await shows(t, 3);
	await t.page.selectOption('#events-severity', 'warning');
	await shows(t, 2);
	await t.page.selectOption('#events-severity', 'critical');
	await shows(t, 1);
	CHECK_EQ(new URL(t.page.url()).search, '?severity=critical', 'the address');
});

TEST('new events appear by themselves; an empty list says what would be one', async (t) => {
	await t.open('/events');
	await t.page.waitForSelector('#no-events');
	CHECK((await textOf(t, '#no-events')).includes('longer than 10 ms'), 'what would be one');
	CHECK((await t.page.$eval('nav a[aria-current]', (a) => a.pathname)) === '/events', 'the page in the header');
});

TEST('the keyboard leads from the list to an event and back', async (t) => {
	t.mock.incidents = some(3).map((e, i) => ({ ...e, comm: `job${i}` }));
	await t.open('/nodes');
	await t.page.waitForSelector('.nodes');
	await t.page.keyboard.press('4');
	await shows(t, 3);
	await t.page.keyboard.press('j');
	await t.page.keyboard.press('j');
	await t.page.keyboard.press('Enter');
	await t.page.waitForSelector('.verdict');
	CHECK_EQ(new URL(t.page.url()).pathname, t.mock.incidents[1].diagnosis, 'the second');
	await t.page.keyboard.press('Escape');
	await shows(t, 3);
});

TEST('an event shows what happened, how exactly, which process did it, and which requests were affected', async (t) => {
	const one = event({ time: Date.now() - 400e3, params: { comm: 'trainer', call: 'write', bytes: 52428800, file: 'ckpt/model.pt', dev: 'nvme0n1', ms: 1204.3, queue_depth: 31 } });
	t.mock.stall = Date.parse(one.time);
	t.mock.incidents = [one, event({ time: Date.parse(one.time) - 900e3, n: 2 }), event({ time: Date.parse(one.time) - 950e3, n: 3, comm: 'backup', params: { file: 'x' } })];
	t.mock.rows = [explained({ time: Date.parse(one.time) + 3e3 }), request({ time: Date.parse(one.time) - 30e3, node: 'web-1' })];
	await t.open(one.diagnosis);
	await t.page.waitForSelector('#node-context canvas');
	CHECK((await textOf(t, '.tile-what')).includes('1,204.3 ms ± 0.40 ms'), 'how long');
	CHECK((await textOf(t, '.tile-process')).includes('trainer process 20011'), 'who');
	CHECK((await textOf(t, '.tile-on')).includes('ckpt/model.pt the file on nvme0n1'), 'on what');
	const params = await textOf(t, '#params');
	CHECK(params.includes('50.0 MiB (52,428,800)') && params.includes('queue_depth 31'), params);
	CHECK((await textOf(t, '#nearby')).includes('Other abnormal requests of node web-1 within 10 s: 1.') && (await textOf(t, '#nearby')).includes('POST /api/orders/:id'), 'who was hit');
	CHECK((await textOf(t, '#similar')).includes('Others: 2; of the same process: 1; of the same file: 1'), await textOf(t, '#similar'));
	CHECK(await t.page.$('.cell'), 'its stack is drawn');
});

TEST('the disk latency at the moment stands beside the latency before', async (t) => {
	const time = Math.floor((Date.now() - 400e3) / 6e3) * 6e3 + 1e3; /* the moment lies within one step */
	const one = event({ time, params: { comm: 'trainer' }, reason: { code: 'io.slow', params: { dev: 'nvme0n1p2' }, text: { en: 'slow', zh: 'slow' } } });
	Object.assign(t.mock, { stall: time, incidents: [one] });
	await t.open(one.diagnosis);
	await t.page.waitForSelector('#disk .latency');
	CHECK((await textOf(t, '#disk')).includes('Latency of disk nvme0n1'), 'the whole disk');
	CHECK_EQ(await t.page.$$eval('.latency', (all) => all.map((table) => table.dataset.op)), ['write'], 'what was asked of it');
	const rows = await t.page.$$eval('.latency tbody tr', (all) => all.map((tr) => [...tr.cells].map((c) => c.innerText.trim())));
	CHECK_EQ(rows, [['128 µs', '1', '2,000'], ['1,048.6 ms', '90', '0']], 'from the fastest to the slowest');
	CHECK_EQ(await t.page.$$eval('.latency tr:last-child rect', (all) => all.map((r) => Math.round(r.getAttribute('width')))), [158, 0], 'the shares');
	t.mock.mute.push('disk_write_latency_us_*');
	await t.page.reload();
	await until('that there is none is said', async () => (await textOf(t, '#disk')).includes('No measurement'));
});

TEST('the evidence of an event is its time bar if it covers the whole event', async (t) => {
	const at = new Date(Date.now() - 60e3).toISOString();
	const parts = (cpu) => [evidence(at, { ms: 1000 }), evidence(at, { part: 'cpu', ms: cpu }), evidence(at, { part: 'runqueue', ms: 4.3, stack: null })];
	t.mock.incidents = [event({ n: 1, evidence: parts(200) }), event({ n: 2, evidence: parts(20) })];
	await t.open(t.mock.incidents[0].diagnosis);
	await until('the bar has its names', async () => (await t.text('#times')).includes('on a CPU'));
	const rows = await t.page.$$eval('#times tr', (all) => all.map((tr) => [tr.dataset.part, tr.cells[2].innerText, tr.cells[3].innerText]));
	CHECK_EQ(rows, [['io', '1,000.0 ms', '83 %'], ['cpu', '200.0 ms', '17 %'], ['runqueue', '4.30 ms', '<1 %']], 'the parts');
	await t.page.goto(t.mock.url + t.mock.incidents[1].diagnosis);
	await t.page.waitForSelector('#evidence tbody tr');
	CHECK_EQ(await t.page.$('#times'), null, 'a bar that would not add up');
});

TEST('a missing event and an invalid id have a message', async (t) => {
	for (const id of [idOf(Date.now(), 99), '%E0%A4%A', '..%2f<script>']) {
		await (t.page ? t.page.goto(`${t.mock.url}/events/${id}`) : t.open(`/events/${id}`));
		await t.page.waitForSelector('.missing');
		CHECK((await t.text('main')).includes('There is no such event'), 'the words');
	}
});

const HOSTILE = ['<script>window.hurt=1</script>', '"><img src=x onerror="window.hurt=1">', 'a\u202egnp.exe', '\u001b[31mred', 'javascript:window.hurt=1', 'x'.repeat(9000)];

TEST('hostile text in evidence, checks, events and their links is text', async (t) => {
	const hostileRow = (text) => ({ reason: { code: text, params: { file: text, dev: text }, text: { en: text, zh: text } }, node: 'web-1', evidence: [evidence(new Date().toISOString(), { comm: text, call: text, what: text, who: text, part: text, stack: [text, text] })] });
	t.mock.rows = HOSTILE.map((text) => explained({ ...hostileRow(text), app: text, checked: [text], unchecked: [{ code: text, why: text }], losses: [{ side: text, kind: text, count: 1 }] }));
	t.mock.incidents = HOSTILE.map((text, i) => ({ ...event({ ...hostileRow(text), n: i, kind: text, severity: text, comm: text, params: { [text]: text } }), diagnosis: text }));
	await t.open('/events');
	await shows(t, HOSTILE.length);
	for (const where of ['/events', t.mock.rows[0].diagnosis, t.mock.rows[2].diagnosis, t.mock.rows[5].diagnosis, `/events/${t.mock.incidents[1].id}`, `/events/${t.mock.incidents[5].id}`]) {
		await t.page.goto(t.mock.url + where);
		await t.page.waitForSelector('.verdict, .events tbody tr');
		await until('the evidence is there', async () => where === '/events' || (await t.page.$('#evidence tbody tr')));
		await t.page.$$eval('#evidence .expand', (all) => all.forEach((b) => b.click()));
		CHECK_EQ(await t.page.evaluate(() => window.hurt), undefined, 'what an injected script would set');
		CHECK_EQ(await t.page.$$eval('main script, main img', (all) => all.length), 0, 'elements made of text');
		CHECK((await t.page.$$eval('main a', (all) => all.map((a) => a.protocol))).every((p) => p === 'http:'), 'links lead into the console');
		CHECK(!/[\u0000-\u0008\u000e-\u001f\u202a-\u202e]/.test(await t.text('main')), 'no control byte is left');
		CHECK(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth), `the page keeps its width: ${where}`);
	}
});
