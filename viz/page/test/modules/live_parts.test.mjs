import { downloads } from './dom.mjs';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'node:test';
import assert from 'node:assert/strict';
import { StartPage } from '../../src/live_gallery';
import { LessonPanel } from '../../src/live_lesson';
import { ReportFrame } from '../../src/live_report';
import { saveMenu } from '../../src/live_save';
import { linkOf } from '../../src/live_server';
import { asStored, linesOf } from './golden.mjs';
import { binsOf } from './pages.mjs';

const later = async () => {
  for (let i = 0; i < 8; ++i) await new Promise((done) => setImmediate(done));
};
HTMLElement.prototype.showModal = function show() { this.is_modal = true; };
HTMLElement.prototype.close = function close() { this.is_modal = false; };

const lesson = `# 3. Slices
**Aim.** See it.
Twice.
**Predict first.** How much?
<!-- page {"figure": "padding, in percent", "choices": ["1 %", "5 %"], "set": {"layout.slice_height": 4}, "move": "layout 0 slice_height"} -->
**Explanation.** Because.
**Exercise.** Find it.
<!-- page {"ask": "Which?", "figure": "bandwidth"} -->
<summary>Check</summary>
It is **8 %**.
<summary>Notes for the speaker</summary>
Wait.
`;

function panelOf(text, figures = {}, runs = true) {
  const log = [];
  const panel = new LessonPanel(text, { runWith: async (question) => void log.push(`run ${question.figure ?? question.ask}`), figure: (name) => figures[name] ?? null, runs: () => runs, showStage: (stage) => log.push(`stage ${stage}`), point: (name) => log.push(`point ${name}`) });
  document.body.replaceChildren(panel.element);
  const named = (name) => panel.element.querySelector(`[data-name="${name}"]`);
  return { panel, log, named, press: (name) => named(name).click(), verdict: () => panel.element.querySelector('.verdict')?.textContent, take: () => log.splice(0).join('; ') };
}

test('a lesson: predict, try, read why, and an exercise', async () => {
  const figures = { 'padding, in percent': '4.9 %', bandwidth: '12' };
  const { panel, named, press, verdict, take } = panelOf(lesson, figures);
  let steps = 0;
  document.body.addEventListener('step', () => ++steps);
  const lines = ['# predict', ...linesOf(panel.element)];
  assert.deepEqual([panel.question.figure, panel.hidesControls], ['padding, in percent', true]);
  panel.refresh();
  assert.equal(take(), 'stage 0');
  press('choice 5 %');
  await later();
  assert.equal(take(), 'run padding, in percent; point layout 0 slice_height');
  assert.deepEqual([panel.hidesControls, verdict(), steps], [false, 'You predicted 5 %; padding now: 4.9 %', 1]);
  lines.push('# try', ...linesOf(panel.element));
  figures['padding, in percent'] = '3 %';
  panel.refresh();
  assert.deepEqual([verdict(), take()], ['You predicted 5 %; padding now: 3 %', '']);
  named('next').focus();
  panel.refresh();
  assert.equal(document.activeElement, named('next'));
  press('next');
  lines.push('# why', ...linesOf(panel.element));
  press('next');
  assert.ok(panel.hidesControls);
  lines.push('# exercise', ...linesOf(panel.element));
  const answer = async (text) => {
    named('answer').value = text;
    const event = new Event('submit', { cancelable: true });
    named('answer').parentElement.dispatchEvent(event);
    await later();
    return [verdict(), event.defaultPrevented];
  };
  assert.deepEqual(await answer(' '), [undefined, true]);
  assert.deepEqual(await answer('11'), ['11 is not right: it is 12.', true]);
  assert.equal(take(), 'run bandwidth');
  assert.equal(named('answer').value, '11');
  assert.deepEqual(await answer('12'), ['12: that is right.', true]);
  lines.push('# checked', ...linesOf(panel.element));
  press('step predict');
  panel.refresh();
  assert.ok(!take().includes('stage'));
  assert.deepEqual(['predict', 'try', 'explanation', 'exercise'].map((step) => named(`step ${step}`).disabled), [false, false, false, false]);
  const notes = panel.element.querySelector('.speaker');
  notes.open = true;
  notes.dispatchEvent(new Event('toggle'));
  press('step try');
  assert.ok(panel.element.querySelector('.speaker').open);
  asStored('lesson', lines);
});

test('a lesson whose answers are in the text', async () => {
  const { panel, named, press, verdict, take } = panelOf('# L\n**Aim.** A\n**Predict first.** How?\n<!-- page {"answer": "7"} -->\n**Explanation.** B\n**Exercise.** Which *one*?\n<summary>Check</summary>\nIt is **8 %**.\n');
  assert.equal(panel.element.querySelector('.speaker'), null);
  assert.deepEqual(['try', 'explanation'].map((step) => named(`step ${step}`).disabled), [true, true]);
  assert.ok(panel.element.textContent.includes('How?'));
  named('answer').value = '6';
  named('answer').parentElement.dispatchEvent(new Event('submit', { cancelable: true }));
  await later();
  assert.deepEqual([verdict(), take()], ['You predicted 6; it is 7', 'run undefined']);
  press('next');
  press('next');
  assert.ok(panel.element.textContent.includes('Which one?'));
  named('answer').value = '8';
  named('answer').parentElement.dispatchEvent(new Event('submit', { cancelable: true }));
  await later();
  assert.deepEqual([verdict(), take()], ['8 %: that is right.', '']);
  const bare = panelOf('# L\n**Aim.** A\n**Predict first.** How?\n**Exercise.** x');
  assert.deepEqual([bare.panel.question, bare.verdict()], [{}, undefined]);
  bare.named('answer').value = '6';
  bare.named('answer').parentElement.dispatchEvent(new Event('submit', { cancelable: true }));
  await later();
  assert.deepEqual([bare.verdict(), bare.take()], ['You predicted 6.', 'run undefined']);
  assert.ok(bare.panel.element.textContent.includes('watch the picture.'));
  const code = panelOf('# L\n**Aim.** A\n**Predict first.** How?\n<!-- page {"choices": ["7"]} -->\n**Commands.** The recipe has code.\n\n```sh\nworkbench run x.toml\n```\n**Exercise.** x', {}, false);
  code.press('choice 7');
  await later();
  assert.ok(!code.panel.element.textContent.includes('move the controls'));
  assert.ok(code.panel.element.textContent.includes('is run in a terminal:The recipe has code.workbench run x.toml'), code.panel.element.textContent);
});

test('where to begin: examples with pictures, lessons, recipes and files', async () => {
  const [acts, requests] = [[], []];
  const { bytes, facts } = binsOf([[0, 0], [1, 1], [1, 0], [239, 239]], { rows: 240, columns: 240 });
  const page = { runs: [{ pattern: { stages: [{ bins: { section: 0, ...facts }, planes: ['nonzeros'] }] }, report: { matrix: { rows: 240, columns: 240 } } }] };
  const parts = [new Uint8Array(0), new TextEncoder().encode(JSON.stringify(page)), bytes];
  const head = new TextEncoder().encode(`${JSON.stringify({ page: 1, parts: parts.map((one) => ({ bytes: one.length })) })}\n`);
  globalThis.fetch = async (_, { body }) => {
    requests.push(JSON.parse(body).text);
    if (requests.length === 2) throw new Error('gone');
    return { status: 200, ok: true, arrayBuffer: async () => Uint8Array.from([...head, ...parts.flatMap((one) => [...one])]).buffer };
  };
  const files = [{ file: 'a.toml', lesson: '' }, { file: 'b.toml', lesson: '# L' }, { file: 'c.toml', lesson: '' }];
  const begins = { matrix: (lines) => acts.push(lines.join('; ')), draw: () => acts.push('draw'), file: (path) => acts.push(`file ${path}`), open: (one) => acts.push(`open ${one.file}`) };
  const start = new StartPage(files, ({ file }) => file.toUpperCase(), begins);
  const { element } = start;
  start.show(['x/y/a.mtx', 'b.mtx']);
  assert.ok(element.is_modal);
  for (let i = 0; i < 10; ++i) await later();
  assert.equal(element.querySelector('.thumbnails').dataset.made, '8');
  const [first, second] = element.querySelectorAll('canvas');
  // 240 rows on 120 pixels: two rows and columns a pixel.
  assert.deepEqual(first.calls.map(({ words, with: { globalAlpha } }) => [...words, Number(globalAlpha.toFixed(4))]), [[0, 0, 1, 1, 1], [119, 119, 1, 1, Number((0.35 + (0.65 * Math.log(2)) / Math.log(4)).toFixed(4))]]);
  assert.equal(second.calls.length, 0);
  assert.equal(requests[0], '[matrix]\ngenerate = "laplace2d"\nnx = 40\n\n[layout]\nuse = "csr"\n');
  const lines = linesOf(element);
  const press = (name) => (element.querySelector(`[data-name="${name}"]`).click(), [acts.at(-1), element.is_modal]);
  assert.deepEqual(press('example grid, scrambled'), ['[matrix]; generate = "laplace2d"; nx = 40; scramble = 1', false]);
  assert.deepEqual([press('draw a matrix')[0], press('file x/y/a.mtx')[0], press('open b.toml')[0]], ['draw', 'file x/y/a.mtx', 'open b.toml']);
  start.show(Array.from({ length: 26 }, (_, i) => `${i}.mtx`));
  await later();
  assert.deepEqual([requests.length, element.querySelector('summary').textContent, element.querySelectorAll('details button').length], [8, '2 more files', 2]);
  start.show(Array.from({ length: 24 }, (_, i) => `${i}.mtx`));
  assert.equal(element.querySelector('details'), null);
  start.show([]);
  assert.ok(!element.textContent.includes('Matrix files'));
  press('close');
  assert.ok(!element.is_modal);
  const headings = (given) => new StartPage(given, ({ file }) => file, begins).element.querySelectorAll('h2').map((one) => one.textContent);
  assert.deepEqual([headings(files.slice(0, 1)), headings(files.slice(1, 2)), headings([files[0], files[2]])], [['Matrices'], ['Matrices', 'Lessons'], ['Matrices', 'Recipes']]);
  asStored('start', lines);
});

// A frame whose window has a report.
function frameOf(given = {}) {
  const log = [];
  const frame = new ReportFrame(() => log.push('loaded'));
  const iframe = frame.element.querySelector('iframe');
  const sections = { kernels: { scrollIntoView: () => log.push('scroll') } };
  const body = document.createElement('body');
  body.addEventListener('keydown', ({ key, shiftKey, bubbles }) => log.push(`key ${key} ${shiftKey} ${bubbles}`));
  const load = () => {
    iframe.contentWindow = { document: { getElementById: (id) => sections[id] ?? null }, spmvReport: { show: async (parts, stage) => { log.push(`show ${parts} ${stage}`); await given.showing; }, view: (view) => log.push(`view ${view}`) }, spmvPage: { moveTo: (stage) => log.push(`move ${stage}`), figure: (name) => (name === 'a' ? '5' : null), picture: () => 'picture', movie: async (progress) => (progress(0.256), 'movie') }, ...given.window };
    iframe.contentDocument = { body };
    iframe.dispatchEvent(new Event('load'));
  };
  return { frame, iframe, load, take: () => log.splice(0).join('; ') };
}

test('the frame of the report shows one report after another', async () => {
  const { frame, load, take } = frameOf();
  assert.deepEqual([frame.figure('a'), frame.picture(), await frame.movie(() => undefined)], [null, null, null]);
  frame.showStage(1);
  const first = frame.show(1, ['p1']);
  const second = frame.show(2, ['p2']);
  frame.view('report');
  load();
  await Promise.all([first, second]);
  assert.equal(take(), 'loaded; view report; show p2 Infinity');
  assert.equal(frame.page, 2);
  await frame.show(3, ['p3']);
  assert.equal(take(), 'show p3 null');
  frame.goTo(4);
  frame.goToSection('kernels');
  await frame.show(4, ['p4']);
  await frame.show(5, ['p5']);
  assert.equal(take(), 'show p4 4; scroll; show p5 null');
  frame.goToSection('none');
  await frame.show(6, ['p6']);
  take();
  frame.showStage(2);
  frame.press({ key: 'ArrowLeft', shiftKey: true });
  assert.equal(take(), 'move 2; key ArrowLeft true true');
  assert.deepEqual([frame.figure('a'), frame.figure('b'), frame.picture(), await frame.movie(() => undefined)], ['5', null, 'picture', 'movie']);
  // Of another file nothing is shown before its own report, also not by an older one that comes late.
  const late = frame.show(7, ['p7']);
  frame.blank();
  await late;
  assert.deepEqual([frame.isBlank, frame.figure('a'), frame.picture(), take()], [true, null, null, '']);
  await frame.show(8, ['p8']);
  assert.deepEqual([frame.isBlank, frame.figure('a'), take()], [false, '5', 'show p8 null']);
  frame.dim(true);
  assert.ok(frame.element.classList.contains('old'));
  frame.dim(false);
  assert.ok(!frame.element.classList.contains('old'));
});

test('a frame without a report, and a report that fails', async () => {
  const { frame, load } = frameOf({ window: { spmvReport: undefined } });
  const showing = frame.show(1, []);
  load();
  await assert.rejects(showing, /the page of the report cannot be shown/);
  const bare = frameOf({ window: { spmvPage: undefined } });
  bare.load();
  bare.frame.showStage(1);
  assert.deepEqual([bare.frame.figure('a'), bare.frame.picture(), await bare.frame.movie(() => undefined)], [null, null, null]);
  let fail;
  const other = frameOf({ showing: new Promise((_, reject) => { fail = reject; }) });
  other.load();
  const first = other.frame.show(1, ['a']);
  await later();
  const second = other.frame.show(2, ['b']);
  fail(new Error('bad page'));
  await assert.rejects(first, /bad page/);
  await assert.rejects(second, /bad page/);
  assert.equal(other.take().includes('show b null'), true);
});

test('what is saved', async () => {
  const said = [];
  const { frame, load } = frameOf({ window: {} });
  load();
  const menu = saveMenu({ text: () => 'x = 1', file: () => ({ file: 'demo.toml', path: 'a/demo.toml' }), frame, say: (words) => said.push(words) });
  const press = async (name) => {
    menu.querySelector(`[data-action=${name}]`).click();
    await later();
    for (let i = 0; i < 100 && name === 'Link' && said.length === 0; ++i) await wait(10);
    return [downloads.splice(0).join(), said.splice(0).join('; ')];
  };
  globalThis.fetch = async () => ({ ok: true, blob: async () => new Blob(['r']) });
  assert.deepEqual([await press('Recipe'), await press('Report')], [['demo.toml', ''], ['demo.html', '']]);
  globalThis.fetch = async () => ({ ok: false });
  assert.deepEqual(await press('Report'), ['', 'There is no report to save.']);
  const { spmvPage } = frame.element.querySelector('iframe').contentWindow;
  spmvPage.picture = () => ({ toBlob: (act) => act(new Blob(['p'])) });
  spmvPage.movie = async (progress) => (progress(0.256), new Blob(['m']));
  assert.deepEqual(await press('Picture'), ['demo.png', 'The picture was saved.']);
  assert.deepEqual(await press('GIF'), ['demo.gif', 'Drawing the GIF: 26 %; The view was saved as an animated GIF.']);
  spmvPage.picture = () => ({ toBlob: (act) => act(null) });
  assert.deepEqual(await press('Picture'), ['', '']);
  spmvPage.picture = () => null;
  spmvPage.movie = async () => null;
  assert.deepEqual([await press('Picture'), await press('GIF')], [['', 'There is no picture to save.'], ['', 'Nothing moves in this view: the recipe has no stages.']]);
  assert.deepEqual(await press('Link'), ['', 'The address of this page now contains the recipe.']);
  assert.deepEqual(await linkOf(location.hash), { text: 'x = 1', path: 'a/demo.toml' });
  navigator.clipboard = { writeText: async () => undefined };
  assert.deepEqual(await press('Link'), ['', 'The address, which now contains the recipe, was copied.']);
});
