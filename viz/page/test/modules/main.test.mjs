import { deflateSync } from 'node:zlib';
import { media, page_events, time } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { h } from '../../src/dom';
import { pageOf, report, run_stages, runOf, stages, thinOf } from './documents.mjs';
import { linesOf } from './golden.mjs';
import { PageData } from './pages.mjs';

const text = (selector, root = document) => root.querySelectorAll(selector).map((one) => one.textContent);
const settle = async () => {
  for (let i = 0; i < 6; ++i) {
    await new Promise((done) => setImmediate(done));
    time.frame();
    time.advance(0);
  }
};
const ids = () => document.querySelectorAll('main > section').map((one) => one.id);
const root = document.documentElement;

// The parts of a page, as the server sends them.
function partsOf(make, title = 'Given') {
  const data = new PageData();
  const page = make(data);
  return [new TextEncoder().encode(title), new TextEncoder().encode(JSON.stringify(page)), ...data.sections];
}

test('a page in a file is shown with its sections', async () => {
  const data = new PageData();
  const page = pageOf('run', [runOf(data)]);
  const part = (id, bytes) => h('script', { id }, deflateSync(bytes).toString('base64'));
  document.body.append(h('div', { id: 'page' }), part('document', JSON.stringify(page)), ...data.sections.map((bytes, i) => part(`section-${i}`, bytes)));
  media.add('(prefers-color-scheme: dark)');
  root.removeAttribute('data-theme');
  localStorage.getItem = () => { throw new Error('refused'); };
  location.hash = '#stage=2';
  const later = import('../../src/main');
  await later;
  assert.equal(root.dataset.theme, 'dark');
  assert.equal(root.dataset.ready, undefined);
  for (let i = 0; i < 200 && root.dataset.ready === undefined; ++i) await settle();
  assert.equal(root.dataset.ready, 'true');
  assert.deepEqual(text('h1'), ['demo']);
  assert.deepEqual(text('.matrix'), ['laplace2d nx=5 ny=6 30 × 30, 128 nonzeros']);
  assert.deepEqual(text('.source'), ['A. Author, "A paper", 2020']);
  assert.deepEqual(ids(), ['pattern', 'storage', 'metrics', 'kernels', 'bytes', 'recipe', 'about']);
  assert.deepEqual(document.querySelectorAll('.contents a').map((one) => `${one.getAttribute('href')} ${one.textContent}`), ['#pattern Pattern', '#storage Memory', '#metrics Figures by stage', '#kernels Kernels', '#bytes Bytes by array', '#recipe How to repeat this run', '#about Machine and versions']);
  assert.ok(!document.querySelector('.contents').hidden);
  assert.deepEqual(text('ul.notes'), ['a note']);
  assert.equal(document.querySelector('ul.errors'), null);
  assert.equal(document.querySelector('[aria-current=true]').dataset.stage, '2');
  const { spmvPage } = window;
  assert.deepEqual([spmvPage.still(), spmvPage.scale(), spmvPage.figure('bandwidth'), spmvPage.slices(), spmvPage.vertex(0)], [true, 1, '7', 8, [18, 18]]);
  assert.deepEqual(Object.keys(spmvPage.frame()), ['left', 'top', 'width', 'height', 'rows', 'columns']);
  spmvPage.show(3);
  assert.equal(document.querySelectorAll('[data-stage]').length, 5);
  spmvPage.moveTo(4);
  await settle();
  assert.equal(document.querySelector('[aria-current=true]').dataset.stage, '4');
  assert.equal(spmvPage.picture().width, 1920);
});

test('the theme follows the system until the button changes it', async () => {
  const button = document.getElementById('theme');
  const shown = () => [root.dataset.theme, button.textContent, button.getAttribute('aria-label')];
  const system = (theme) => {
    if (theme === 'dark') media.add('(prefers-color-scheme: dark)');
    else media.delete('(prefers-color-scheme: dark)');
    page_events.dispatchEvent(new Event('change (prefers-color-scheme: dark)'));
  };
  const kept = new Map();
  localStorage.getItem = (name) => kept.get(name) ?? null;
  localStorage.setItem = (name, value) => kept.set(name, value);
  assert.deepEqual(shown(), ['dark', '☀ Light', 'Light theme']);
  system('light');
  assert.deepEqual(shown(), ['light', '☾ Dark', 'Dark theme']);
  button.click();
  assert.deepEqual([shown()[0], kept.get('spmv-theme')], ['dark', 'dark']);
  system('light');
  assert.equal(root.dataset.theme, 'dark');
  localStorage.setItem = () => { throw new Error('refused'); };
  button.click();
  assert.equal(root.dataset.theme, 'light');
  kept.clear();
  // The picture has the colours of the theme.
  const { calls } = document.querySelectorAll('.pane canvas').at(-1);
  const paper = async () => {
    calls.length = 0;
    await settle();
    return document.querySelectorAll('.pane canvas').at(-1).calls.find(({ name }) => name === 'fillRect')?.with.fillStyle;
  };
  button.click();
  assert.equal(await paper(), 'rgb(15 18 23 / 1)');
  button.click();
  assert.equal(await paper(), 'rgb(255 255 255 / 1)');
  kept.clear();
});

test('keys choose stages, zoom and pan', async () => {
  const stage = () => Number(document.querySelector('[aria-current=true]').dataset.stage);
  const key = async (name, given = {}, target = document.body) => {
    const event = Object.assign(new Event('keydown', { bubbles: true, cancelable: true }), { key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...given });
    target.dispatchEvent(event);
    await settle();
    return event.defaultPrevented;
  };
  window.spmvPage.show(0);
  await settle();
  assert.ok(await key('ArrowRight'));
  assert.ok(await key('ArrowRight'));
  assert.ok(await key('ArrowLeft'));
  assert.equal(stage(), 1);
  for (const given of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) assert.ok(!(await key('ArrowRight', given)));
  assert.ok(!(await key('x')));
  assert.ok(!(await key('ArrowUp')));
  const typed = (tag, attributes = {}) => {
    const made = h(tag, attributes);
    document.getElementById('page').append(made);
    return made;
  };
  assert.ok(!(await key('ArrowRight', {}, typed('input', { type: 'text' }))));
  assert.ok(!(await key('ArrowRight', {}, typed('textarea'))));
  assert.ok(!(await key('ArrowRight', {}, typed('select'))));
  assert.ok(!(await key('ArrowRight', {}, typed('input', { type: 'range' }))));
  assert.ok(await key('ArrowRight', {}, typed('input', { type: 'checkbox' })));
  assert.ok(await key('ArrowLeft', {}, document.querySelector('.track-line input')));
  assert.ok(!(await key('ArrowRight', {}, document.querySelector('pre'))));
  assert.ok(await key('+', {}, document.querySelector('pre')));
  assert.equal(window.spmvPage.scale(), 2);
  await key('=');
  assert.equal(window.spmvPage.scale(), 4);
  await key('-');
  assert.equal(window.spmvPage.scale(), 2);
  const canvas = document.querySelectorAll('.pane canvas').at(-1);
  const corner = async () => {
    await settle();
    const { __zoom: { x, y } } = canvas;
    const { left, top, width, height } = window.spmvPage.frame();
    return [(x + left) / width, (y + top) / height].map((one) => Number(one.toFixed(4)));
  };
  assert.deepEqual(await corner(), [-0.5, -0.5]);
  await key('ArrowRight', { shiftKey: true });
  assert.deepEqual(await corner(), [-0.75, -0.5]);
  await key('ArrowLeft', { shiftKey: true });
  await key('ArrowLeft', { shiftKey: true });
  assert.deepEqual(await corner(), [-0.25, -0.5]);
  assert.ok(await key('ArrowUp', { shiftKey: true }));
  assert.deepEqual(await corner(), [-0.25, -0.25]);
  await key('ArrowDown', { shiftKey: true });
  assert.deepEqual(await corner(), [-0.25, -0.5]);
  assert.ok(await key('ArrowDown', {}, canvas));
  assert.deepEqual(await corner(), [-0.25, -0.75]);
  await key('0');
  assert.equal(window.spmvPage.scale(), 1);
  assert.ok(!(await key('ArrowUp', { shiftKey: true })));
  await key('f');
  assert.equal(document.fullscreenElement, document.querySelector('.viewer'));
  await key('f');
  assert.equal(document.fullscreenElement, null);
  document.querySelector('.play').click();
  await key('Escape');
  assert.equal(document.querySelector('.play').title, 'Play all stages');
});

test('memory and the pattern point at each other', async () => {
  window.spmvPage.show(4);
  await settle();
  const cell = document.querySelector('#storage .role-value .cell');
  cell.dispatchEvent(new Event('pointerover', { bubbles: true }));
  await settle();
  assert.equal(document.querySelector('.storage-readout').textContent, 'values[0] = 4 · row 0, column 0 · read by lane 0 of warp 0 in step 0');
  assert.ok(cell.classList.contains('marked'));
});

test('bars of figures choose a stage', async () => {
  for (const place of document.querySelectorAll('.chart-place')) place.box = { width: 400 };
  document.getElementById('theme').click();
  document.getElementById('theme').click();
  await settle();
  document.querySelectorAll('#metrics .chart')[0].querySelectorAll('.bar')[1].dispatchEvent(new Event('click'));
  await settle();
  assert.equal(document.querySelector('[aria-current=true]').dataset.stage, '1');
  assert.deepEqual(document.querySelectorAll('#metrics .chart')[0].querySelectorAll('.bar').map((bar) => bar.classList.contains('now')), [false, true, false, false, false]);
});

test('another report takes the place of the page, with what was shown', async () => {
  const { spmvReport } = window;
  document.querySelector('[data-mode=graph]').click();
  document.querySelector('.tools select').value = 'length';
  document.querySelector('.tools select').dispatchEvent(new Event('change'));
  for (const section of document.querySelectorAll('main > section')) section.box = { height: section.id === 'kernels' ? 321 : 100 };
  window.scrollY = 77;
  const short = (data) => pageOf('run', [{ ...runOf(data, { pattern: { stages: stages.slice(0, 3) } }), report: report({ stages: run_stages.slice(0, 3), errors: ['it failed'], notes: [] }), title: 'next' }]);
  const showing = spmvReport.show(partsOf(short), null);
  for (let i = 0; i < 10; ++i) await settle();
  await showing;
  assert.equal(document.title, 'Given');
  assert.deepEqual([text('h1'), text('ul.errors li'), document.querySelector('ul.notes')], [['next'], ['it failed'], null]);
  assert.equal(document.querySelector('[aria-current=true]').dataset.stage, '1');
  assert.equal(document.querySelector('[data-mode][aria-pressed=true]').dataset.mode, 'graph');
  assert.equal(document.querySelector('.tools select').value, 'length');
  assert.equal(document.querySelector('#kernels').getAttribute('style'), 'content-visibility: auto; contain-intrinsic-size: auto 321px');
  assert.equal(document.querySelector('#recipe').getAttribute('style'), 'content-visibility: auto; contain-intrinsic-size: auto 100px');
  assert.equal(window.scrollY, 77);
  // A lecture has no sections below the picture until the report is wanted.
  spmvReport.view('lecture');
  const lecture = spmvReport.show(partsOf((data) => pageOf('run', [runOf(data)])), 3);
  for (let i = 0; i < 10; ++i) await settle();
  await lecture;
  assert.deepEqual([ids(), document.querySelector('[aria-current=true]').dataset.stage, root.dataset.view], [['pattern'], '3', 'lecture']);
  spmvReport.view('report');
  assert.deepEqual([ids().length, root.dataset.view], [7, 'report']);
  spmvReport.view('report');
  assert.equal(ids().length, 7);
});

test('pages of two runs, and of studies', async () => {
  const show = async (make) => {
    const showing = window.spmvReport.show(partsOf(make), null);
    for (let i = 0; i < 10; ++i) await settle();
    await showing;
  };
  await show((data) => pageOf('compare', [runOf(data), { ...thinOf(data), storage: null }, { ...runOf(data), title: 'c', pattern: null }]));
  assert.deepEqual(text('h1'), ['demo and thin and c']);
  assert.deepEqual(ids(), ['pattern', 'storage', 'storage-2', 'metrics', 'kernels', 'bytes', 'recipe', 'about']);
  assert.deepEqual(text('main > section > h2').slice(0, 2), ['Memory of demo', 'Memory of c']);
  await show(() => pageOf('bench', [], { title: 'A bench', records: [], rankings: [] }));
  assert.deepEqual([text('h1'), text('.matrix'), ids()], [['A bench'], [], ['ranking', 'records', 'recipe']]);
  await show(() => pageOf('solve', [], { title: 'S', solve: { matrix: { source: 'm', rows: 3, columns: 3, nonzeros: 5 }, method: 'cg', preconditioner: 'none', precision: 'f64', tolerance: 1, device: 'host', solves: [], advice: [], errors: [], machine: {}, versions: {}, notes: [], warnings: [] } }));
  assert.deepEqual([text('.matrix'), ids()], [['m 3 × 3, 5 nonzeros'], ['advice', 'prices', 'recipe', 'about']]);
  await show(() => pageOf('run', [{ title: 'empty', report: report({ kernels: [], layouts: [], stages: [], notes: [], matrix: { source: '', rows: 0, columns: 0, nonzeros: 0 } }), figures: [], pattern: null, storage: null }]));
  assert.deepEqual([text('.matrix'), ids(), linesOf(document.querySelector('.contents'))[0]], [[], ['recipe', 'about'], '<nav class="contents" aria-label="Contents">']);
});
