import { time } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { h } from '../../src/dom';
import { Runs } from '../../src/live_runs';
import { checkText, fragmentOf, keepMatrix, linkOf, matrixFiles, runBeside, runText, ServerGone, start, useFile } from '../../src/live_server';

const bytes = (text) => new TextEncoder().encode(text);
const requests = [];
let answers = [];
globalThis.fetch = async (path, options) => {
  requests.push([path, options.method ?? 'GET', typeof options.body === 'string' ? JSON.parse(options.body) : options.body]);
  const next = answers.shift();
  if (next instanceof Error) throw next;
  const { status = 200, body } = next;
  return { status, ok: status < 400, arrayBuffer: async () => (typeof body === 'string' ? bytes(body) : body).buffer };
};
const whole = (...parts) => Uint8Array.from(parts.flatMap((one) => [...(typeof one === 'string' ? bytes(one) : one)]));
const later = () => new Promise((done) => setImmediate(done));

test('the data with which the page begins', () => {
  document.body.append(h('script', { id: 'start' }, JSON.stringify({ files: [{ text: 'a', file: 'z.toml', lesson: '' }, { text: 'b', file: 'b.toml', lesson: '# 10. Ten' }, { text: 'c', file: 'c.toml', lesson: '# 2. Two' }, { text: 'd', file: 'd.toml', lesson: '# No number' }], can_time: true })));
  assert.deepEqual(start().files.map(({ file, number }) => `${file} ${number}`), ['c.toml 2', 'b.toml 1', 'z.toml 0', 'd.toml 3']);
});

test('texts are checked and files are listed, of the file that is edited', async () => {
  useFile({ number: 3 });
  answers = [{ body: '{"problems":[],"message":"","outline":null}' }, { body: '["a.mtx"]' }, { body: '{"path":"b.mtx"}' }];
  assert.deepEqual(await checkText('x = 1'), { problems: [], message: '', outline: null });
  assert.deepEqual(await matrixFiles(), ['a.mtx']);
  const file = { name: 'ä b.mtx' };
  assert.deepEqual(await keepMatrix(file), { path: 'b.mtx' });
  assert.deepEqual(requests.splice(0), [['check', 'POST', { text: 'x = 1', of: 3 }], ['matrices/3', 'GET', undefined], ['matrix/3/%C3%A4%20b.mtx', 'POST', file]]);
});

test('errors of the server', async () => {
  const failing = async (answer) => {
    answers = [answer];
    return checkText('').then(() => null, (error) => `${error instanceof ServerGone} ${error.message}`);
  };
  assert.equal(await failing(new Error('no')), 'true The server does not answer');
  assert.equal(await failing({ status: 404, body: '' }), 'false The server was started again, at another address: open the one that it prints.');
  assert.equal(await failing({ status: 403, body: 'for a reason' }), 'false the server refused: for a reason');
  assert.equal(await failing({ body: '{"half' }), 'true The server ended while it answered');
});

test('a run has the parts of a page, of which some are those of an older one', async () => {
  requests.length = 0;
  const head = (page, parts) => `${JSON.stringify({ page, parts })}\n`;
  answers = [{ body: whole(head(4, [{ bytes: 2 }, { bytes: 0 }, { bytes: 1 }]), 'abc') }];
  const first = await runText('t', false, 1);
  assert.deepEqual([first.page, first.parts.map((one) => [...one])], [4, [[97, 98], [], [99]]]);
  answers = [{ body: whole(head(5, [{ same: 2 }, { bytes: 1 }]), 'z') }, { body: whole(head(3, [{ bytes: 1 }]), 'y') }, { body: whole(head(6, [{ same: 0 }])) }];
  const second = await runText('t', true, 2);
  assert.equal(second.parts[0], first.parts[2]);
  await runText('t', true, 3); // of an older page
  assert.equal((await runText('t', true, 4)).parts[0], first.parts[2]);
  assert.deepEqual(requests.map(([, , body]) => [body.have, body.timed, body.number, body.of]), [[0, false, 1, 3], [4, true, 2, 3], [5, true, 3, 3], [5, true, 4, 3]]);
  assert.equal(new Set(requests.map(([, , body]) => body.client)).size, 1);
  const failing = async (answer) => {
    answers = [answer];
    return runText('t', false, 5).then((ran) => ran, (error) => `${error instanceof ServerGone} ${error.message}`);
  };
  assert.equal(await failing({ body: 'no line' }), 'true The server ended while it worked');
  assert.equal(await failing({ body: whole(head(7, [{ bytes: 5 }]), 'abc') }), 'true The server ended while it answered');
  assert.deepEqual(await failing({ body: '{"error":"wrong"}\n' }), { error: 'wrong', replaced: undefined });
  assert.deepEqual(await failing({ body: '{"replaced":true}\n' }), { error: undefined, replaced: true });
  requests.length = 0;
  answers = [{ body: whole(head(9, [{ bytes: 1 }]), 'x') }];
  await runBeside('other');
  assert.deepEqual([requests[0][2].text, requests[0][2].have, requests[0][2].number], ['other', undefined, 1]);
});

test('a link contains the text and the path of its file', async () => {
  for (const [text, path] of [['', 'a.toml'], ['x = 1\n', 'docs/lessons/3-slices.md'], ['Größe 😀 '.repeat(300), '/a b/ö&file=c+d.toml']]) {
    const fragment = await fragmentOf({ text, path });
    assert.match(fragment, /^#recipe=[\w-]*&file=[^&#]*$/);
    assert.deepEqual(await linkOf(fragment), { text, path });
    assert.deepEqual(await linkOf(fragment.replace(/&.*/, '')), { text, path: '' });
  }
  for (const fragment of ['', '#stage=2', '#recipe=!!', '#recipe=AAAA']) assert.equal(await linkOf(fragment), null);
});

// Runs with answers that the test gives.
function runs(given = {}) {
  const [log, waiting] = [[], []];
  globalThis.fetch = (_, { body }) => new Promise((done, fail) => {
    const { text, timed, number } = JSON.parse(body);
    log.push(`run ${text} ${timed ? 'timed ' : ''}${number}`);
    waiting.push({ answer: (json) => done({ status: 200, ok: true, arrayBuffer: async () => bytes(`${JSON.stringify(json)}\n`).buffer }), fail: () => fail(new Error('gone')), refuse: () => done({ status: 403, ok: false, arrayBuffer: async () => bytes('no').buffer }) });
  });
  let text = 0;
  const made = new Runs({ text: () => String(++text), began: () => log.push('began'), ended: async (ran, timed, of) => { log.push(`ended ${of} ${ran.error} ${timed}`); await given.showing; }, failed: (error, again) => log.push(`failed ${error.message} ${again}`), rested: () => log.push('rested') });
  return { made, log, waiting, take: () => log.splice(0) };
}

test('runs one after another', async () => {
  const { made, waiting, take } = runs();
  assert.ok(!made.busy);
  made.now();
  assert.ok(made.busy);
  waiting[0].answer({ error: 'a' });
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual([take(), made.busy], [['began', 'run 1 1', 'ended 1 a false', 'rested'], false]);
  // A newer run replaces an older one, whose answer comes late.
  made.now(true);
  made.now();
  waiting[2].answer({ error: 'c' });
  for (let i = 0; i < 5; ++i) await later();
  waiting[1].answer({ error: 'b' });
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual(take(), ['began', 'run 2 timed 2', 'began', 'run 3 3', 'ended 3 c false', 'rested', 'rested']);
  made.now();
  waiting[3].answer({ replaced: true });
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual(take(), ['began', 'run 4 4', 'rested']);
});

test('while one runs, only the newest change waits, with patience', async () => {
  const { made, waiting, take } = runs();
  made.soon();
  assert.deepEqual(take(), ['began', 'run 1 1']);
  made.soon();
  made.soon();
  assert.deepEqual(take(), []);
  waiting[0].answer({ error: 'a' });
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual(take(), ['began', 'run 2 2', 'ended 1 a false']);
  made.soon();
  time.advance(249);
  made.soon();
  time.advance(249);
  assert.deepEqual(take(), []);
  time.advance(1);
  assert.deepEqual(take(), ['began', 'run 3 3']);
  time.advance(1000);
  assert.deepEqual(take(), []);
  waiting[1].answer({ replaced: true });
  waiting[2].answer({ error: 'c' });
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual([take(), made.busy], [['ended 3 c false', 'rested'], false]);
});

test('a server that is gone is tried again', async () => {
  const { made, waiting, take } = runs();
  made.now(true);
  waiting[0].fail();
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual([take(), made.busy], [['began', 'run 1 timed 1', 'failed The server does not answer true'], true]);
  time.advance(999);
  assert.deepEqual(take(), []);
  time.advance(1);
  assert.deepEqual(take(), ['began', 'run 2 timed 2']);
  waiting[1].refuse();
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual([take(), made.busy], [['failed the server refused: no false', 'rested'], false]);
  time.advance(5000);
  assert.deepEqual(take(), []);
  // The failure of an older run does not count.
  made.now();
  made.now();
  waiting[2].fail();
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual(take(), ['began', 'run 3 3', 'began', 'run 4 4']);
  waiting[3].answer({ error: 'd' });
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual(take(), ['ended 4 d false', 'rested']);
});

test('a run is busy until its report is shown', async () => {
  let done;
  const { made, waiting, take } = runs({ showing: new Promise((end) => { done = end; }) });
  made.now();
  waiting[0].answer({ error: 'a' });
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual([take(), made.busy], [['began', 'run 1 1', 'ended 1 a false'], true]);
  done();
  for (let i = 0; i < 5; ++i) await later();
  assert.deepEqual([take(), made.busy], [['rested'], false]);
});
