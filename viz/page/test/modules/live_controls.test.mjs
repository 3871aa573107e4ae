import { time } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { EditorState } from '@codemirror/state';
import { CompletionContext } from '@codemirror/autocomplete';
import { Controls } from '../../src/live_controls';
import { RecipeCompletion } from '../../src/live_editor';
import { RecipeText } from '../../src/live_text';
import { asStored, linesOf } from './golden.mjs';
import { outlineOf } from './outline.mjs';

const declared = (name, type, given = {}) => ({ name, type, default: null, optional: true, minimum: null, maximum: null, words: [], unit: '', accepts: `what ${name} accepts`, help: `help of ${name}`, ...given });
const catalogue = {
  stages: [
    { name: 'row_sort', summary: 'sorts rows', parameters: [declared('key', 'choice', { words: ['nonzeros', 'first'], default: 'nonzeros', optional: false }), declared('window', 'integer', { minimum: 1, default: 32 }), declared('stable', 'boolean', { default: true }), declared('share', 'text')] },
    { name: 'cuthill_mckee', summary: 'levels', parameters: [declared('start', 'text', { default: 'auto', words: ['auto', 'far'] })] },
    { name: 'must', summary: 'has required values', parameters: [declared('a', 'integer', { optional: false, minimum: 6 }), declared('b', 'integer', { optional: false, maximum: 3 }), declared('c', 'real', { optional: false }), declared('d', 'boolean', { optional: false }), declared('e', 'choice', { optional: false, words: ['x', 'y'] }), declared('f', 'text', { optional: false }), declared('g', 'integer', { optional: false, default: 1 })] },
  ],
  layouts: [{ name: 'sell', summary: 'slices', parameters: [declared('slice_height', 'integer', { minimum: 1, default: 32, unit: 'rows' }), declared('density', 'real', { default: 0.7, minimum: 0, maximum: 1 }), declared('rows_list', 'list')], kernels: [{ name: 'warp', backend: 'cuda', summary: 'a warp' }, { name: 'loop', backend: 'kokkos', summary: 'a loop' }] }, { name: 'csr', summary: 'rows', parameters: [], kernels: [{ name: 'plain', backend: 'kokkos', summary: 'plain' }] }],
  generators: [{ name: 'laplace2d', summary: 'a grid', parameters: [declared('nx', 'integer', { optional: false, minimum: 1 }), declared('ny', 'integer')] }, { name: 'laplace3d', summary: 'a cube', parameters: [declared('nx', 'integer', { optional: false }), declared('nz', 'integer', { optional: false })] }, { name: 'rmat', summary: 'a graph', parameters: [declared('scale', 'integer', { optional: false, maximum: 8 })] }],
  recipe: [declared('name', 'text')], matrix: [declared('path', 'text'), declared('precision', 'choice', { words: ['f32', 'f64'], default: 'f64' })],
};
const recipe = `[matrix]
generate = "laplace2d"
nx = 30

[[stage]]
use = "cuthill_mckee"

#off [[stage]]
#off use = "must"

[[stage]]
use = "row_sort"
id = "sorted"
window = 64

[layout]
use = "sell"
slice_height = 32
rows_list = [1, 2]
`;

// Controls of a text, which follow its changes.
function controlsOf(text, is_shown = true) {
  const state = { text, log: [], controls: null };
  const read = () => new RecipeText(state.text, outlineOf(state.text));
  state.show = () => state.controls.show(read());
  state.controls = new Controls(catalogue, {
    edit: (make, stage) => {
      const change = make(read());
      state.log.push(`edit ${stage}`);
      if (change) state.text = state.text.slice(0, change.from) + change.insert + state.text.slice(change.to);
      if (change && is_shown) state.show();
    },
    slide: (where, key, value, written, stage) => state.log.push(`slide ${where(read().outline).line} ${key} ${value} ${written} ${stage}`),
    rest: () => state.log.push('rest'), goTo: (stage) => state.log.push(`go ${stage}`), examples: () => state.log.push('examples'),
  });
  document.body.replaceChildren(state.controls.element);
  state.controls.files = ['a.mtx', 'b.mtx'];
  state.show();
  state.named = (name) => state.controls.element.querySelector(`[data-name="${name}"]`);
  state.change = (name, value) => {
    const control = state.named(name);
    if (typeof value === 'boolean') control.checked = value;
    else control.value = value;
    control.dispatchEvent(new Event('change'));
    return state.text;
  };
  state.take = () => state.log.splice(0).join('; ');
  return state;
}
const since = (state, act) => {
  const before = state.text.split('\n');
  act();
  const now = state.text.split('\n');
  return [before.filter((line) => !now.includes(line)), now.filter((line) => !before.includes(line))].map((lines) => lines.join('|')).join(' -> ');
};

test('controls for all values of a recipe', () => {
  asStored('controls', ['# a generator', ...linesOf(controlsOf(recipe).controls.element), '# shares and rows', ...linesOf(controlsOf('[matrix]\nrows = ["1 .", \'. 2\']\n[[layout]]\nshare = "a"\nuse = "csr"\n[[layout]]\nshare = "b"\nuse = "none"\n').controls.element), '# a file', ...linesOf(controlsOf('[matrix]\npath = "c.mtx"\n').controls.element), '# nothing', ...linesOf(controlsOf('').controls.element)]);
});

test('values are written into the text', () => {
  const state = controlsOf(recipe);
  const change = (name, value) => since(state, () => state.change(name, value));
  assert.equal(change('stage 2 window', '8'), 'window = 64 -> window = 8');
  assert.equal(state.take(), 'edit 2');
  assert.equal(change('stage 2 window', ' '), ' -> ');
  assert.equal(state.named('stage 2 window').value, '8');
  assert.equal(change('layout 0 slice_height', '1e3'), 'slice_height = 32 -> slice_height = 1000');
  assert.equal(change('layout 0 slice_height', '123456789012345678901'), 'slice_height = 1000 -> slice_height = 123456789012345678901');
  assert.equal(change('layout 0 slice_height', '4.5'), 'slice_height = 123456789012345678901 -> slice_height = 4.5');
  assert.equal(change('layout 0 slice_height', '32'), 'slice_height = 4.5 -> slice_height = 32');
  state.take();
  assert.equal(change('stage 2 window', '2*mean'), 'window = 8 -> window = "2*mean"');
  assert.equal(change('layout 0 density', '1'), ' -> density = 1.0');
  assert.equal(change('layout 0 density', '1e-3'), 'density = 1.0 -> density = 0.001');
  assert.equal(change('layout 0 density', '0.25'), 'density = 0.001 -> density = 0.25');
  state.take();
  assert.equal(change('stage 2 stable', false), ' -> stable = false');
  assert.equal(change('stage 2 key', 'first'), ' -> key = "first"');
  assert.equal(change('stage 2 share', 'outside'), ' -> share = "outside"');
  assert.equal(change('stage 2 key', ''), ' -> ');
  assert.equal(state.take(), 'edit 2; edit 2; edit 2');
  assert.equal(change('layout 0 rows_list', '[3]'), 'rows_list = [1, 2] -> rows_list = [3]');
  assert.equal(state.named('layout 0 rows_list').value, '[3]');
  assert.equal(state.take(), 'edit Infinity');
  assert.equal(change('matrix ny', '7'), ' -> ny = 7');
  assert.equal(state.take(), 'edit null');
  const slider = state.named('layout 0 slice_height slider');
  slider.value = '0';
  slider.dispatchEvent(new Event('input'));
  slider.dispatchEvent(new Event('change'));
  assert.equal(state.take(), 'slide 20 slice_height 1 1 Infinity; rest'.replace('20', String(state.text.split('\n').indexOf('[layout]') + 1)));
  assert.equal(state.named('layout 0 slice_height').value, '1');
  const density = state.named('layout 0 density slider');
  density.value = density.max;
  density.dispatchEvent(new Event('input'));
  assert.ok(state.take().endsWith('density 1 1.0 Infinity'));
});

test('a matrix is chosen', () => {
  const state = controlsOf(recipe);
  const table = () => /\[matrix\]\n([^]*?)\n\n/.exec(state.text)[1].replaceAll('\n', '; ');
  const chosen = (value) => (state.change('matrix', value), [table(), state.named('matrix').value]);
  assert.deepEqual(chosen('path:a.mtx'), ['path = "a.mtx"', 'path:a.mtx']);
  assert.deepEqual(chosen('generate:laplace2d'), ['generate = "laplace2d"; nx = 30', 'generate:laplace2d']);
  assert.deepEqual(chosen('generate:laplace3d'), ['generate = "laplace3d"; nx = 8; nz = 4', 'generate:laplace3d']);
  assert.deepEqual(chosen('generate:rmat'), ['generate = "rmat"; scale = 8', 'generate:rmat']);
  state.controls.begin({ path: 'dir:x/b.mtx' });
  assert.equal(table(), 'path = "dir:x/b.mtx"');
  state.controls.begin(['[matrix]', 'generate = "rmat"', 'scale = 3']);
  assert.equal(table(), 'generate = "rmat"; scale = 3');
  state.controls.begin('rows');
  assert.equal(table(), 'rows = [;   "1 1 . . . .",;   "1 1 1 . . .",;   ". 1 1 1 . .",;   ". . 1 1 1 .",;   ". . . 1 1 1",;   ". . . . 1 1",; ]');
  state.take();
  state.named('matrix examples').click();
  assert.equal(state.take(), 'examples');
});

test('a small matrix is drawn', () => {
  const state = controlsOf('[matrix]\nrows = ["4 . .", ". 2 .", ". . 1"]\n\n');
  const rows = () => [...state.text.matchAll(/"([^"]*)"/g)].map(([, row]) => row).join('|');
  const cell = (row, column) => state.named(`entry ${row} ${column}`);
  cell(0, 1).dispatchEvent(Object.assign(new Event('click'), { detail: 0 }));
  assert.equal(rows(), '4 1 .|. 2 .|. . 1');
  cell(0, 0).dispatchEvent(Object.assign(new Event('click'), { detail: 0 }));
  cell(1, 1).dispatchEvent(Object.assign(new Event('click'), { detail: 1 })); // of a pointer
  assert.equal(rows(), '. 1 .|. 2 .|. . 1');
  // A stroke from one cell over others; the first decides whether entries are added. A cell is 10 x 10 pixels.
  document.elementFromPoint = (x, y) => cell(Math.floor(y / 10), Math.floor(x / 10)) ?? document.body;
  const pointer = (kind, x, y, target = globalThis, given = {}) => target.dispatchEvent(Object.assign(new Event(kind, { cancelable: true }), { clientX: x, clientY: y, button: 0, ...given }));
  pointer('pointerdown', 5, 5, cell(0, 0), { button: 2 });
  pointer('pointerup', 5, 5);
  assert.equal(rows(), '. 1 .|. 2 .|. . 1');
  pointer('pointerdown', 5, 5, cell(0, 0));
  assert.equal(cell(0, 0).getAttribute('aria-pressed'), 'true');
  assert.equal(document.activeElement, cell(0, 0));
  state.show(); // the controls stay as they are meanwhile
  pointer('pointermove', 5, 25);
  pointer('pointermove', 25, 25);
  pointer('pointermove', 500, 500);
  assert.equal(rows(), '. 1 .|. 2 .|. . 1');
  pointer('pointerup', 25, 25);
  assert.equal(rows(), '1 1 .|1 2 .|1 1 1');
  pointer('pointermove', 5, 5);
  pointer('pointerdown', 5, 5, cell(0, 0));
  pointer('pointermove', 25, 5);
  pointer('pointercancel', 25, 5);
  assert.equal(rows(), '. . .|1 2 .|1 1 1');
  const size = (value) => (state.change('size', String(value)), rows());
  assert.equal(size(2), '. .|1 2');
  assert.equal(size(4), '. . . .|1 2 . .|. . 1 .|. . . 1');
  assert.equal(size(33), '. . . .|1 2 . .|. . 1 .|. . . 1');
  state.change('size', '');
  assert.equal(state.named('size').value, '4');
  assert.equal(rows(), '. . . .|1 2 . .|. . 1 .|. . . 1');
  const key = (name, row, column) => {
    const event = Object.assign(new Event('keydown', { bubbles: true, cancelable: true }), { key: name });
    cell(row, column).focus();
    cell(row, column).dispatchEvent(event);
    return [document.activeElement.dataset.name, event.defaultPrevented];
  };
  assert.deepEqual([key('ArrowRight', 0, 0), key('ArrowDown', 0, 1), key('ArrowLeft', 1, 1), key('ArrowUp', 1, 0), key('ArrowUp', 0, 0), key('x', 2, 2)],
    [['entry 0 1', true], ['entry 1 1', true], ['entry 1 0', true], ['entry 0 0', true], ['entry 0 0', true], ['entry 2 2', false]]);
  for (const text of ['["1 .", "1"]', '[]', `["${'1 '.repeat(33)}"]`, `[${'"1", '.repeat(33)}]`]) assert.equal(controlsOf(`[matrix]\nrows = ${text}\n`).controls.element.querySelector('.drawing'), null);
  assert.ok(controlsOf(`[matrix]\nrows = [${'"1", '.repeat(32)}]\n`).controls.element.querySelector('.drawing'));
});

test('stages are switched, removed, added and moved', () => {
  const state = controlsOf(recipe);
  const uses = () => new RecipeText(state.text, outlineOf(state.text)).stages().map(({ use, table }) => (table ? use : `-${use}`)).join(' ');
  const done = (act) => (act(), `${uses()} (${state.take()})`);
  assert.equal(uses(), 'cuthill_mckee -must row_sort');
  assert.equal(done(() => state.change('stage 1 on', true)), 'cuthill_mckee must row_sort (edit 2)');
  assert.equal(done(() => state.change('stage 0 on', false)), '-cuthill_mckee must row_sort (edit 0)');
  assert.equal(done(() => state.change('stage 2 on', false)), '-cuthill_mckee must -row_sort (edit 1)');
  assert.equal(done(() => state.change('stage 2 on', true)), '-cuthill_mckee must row_sort (edit 2)');
  assert.equal(done(() => state.named('stage 1 show').click()), '-cuthill_mckee must row_sort (go 1)');
  assert.equal(done(() => state.named('stage 0 show').click()), '-cuthill_mckee must row_sort ()');
  assert.equal(done(() => state.named('stage 0 remove').click()), 'must row_sort (edit 0)');
  assert.equal(done(() => state.named('add button').click()), 'must row_sort ()');
  state.named('add').value = 'must';
  assert.equal(done(() => state.named('add button').click()), 'must row_sort must (edit Infinity)');
  assert.ok(state.text.includes('[[stage]]\nuse = "must"\na = 6\nb = 3\nc = 4.0\nd = false\ne = "x"\nf = ""\n'), state.text);
  const key = (name, i) => state.named(`stage ${i} move`).dispatchEvent(Object.assign(new Event('keydown', { cancelable: true }), { key: name }));
  assert.equal(done(() => key('ArrowUp', 1)), 'row_sort must must (edit null)');
  assert.equal(done(() => key('ArrowDown', 0)), 'must row_sort must (edit null)');
  assert.equal(done(() => key('ArrowUp', 0)), 'must row_sort must ()');
  assert.equal(done(() => key('ArrowDown', 2)), 'must row_sort must ()');
  assert.equal(done(() => key('x', 1)), 'must row_sort must ()');
  state.named('stage 1 move').focus();
  key('ArrowUp', 1);
  assert.deepEqual([document.activeElement.dataset.name, uses()], ['stage 0 move', 'row_sort must must']);
});

test('a card is dragged by its handle', () => {
  const state = controlsOf('[[stage]]\nuse = "row_sort"\n\n[[stage]]\nuse = "cuthill_mckee"\n\n[[stage]]\nuse = "must"\n');
  const uses = () => new RecipeText(state.text, outlineOf(state.text)).stages().map(({ use }) => use).join(' ');
  const lay = () => {
    state.controls.element.box = { top: 0, height: 300 };
    const items = state.controls.element.querySelectorAll('.stages li');
    items.forEach((item, i) => (item.box = { top: 100 + 40 * i, height: 40 }));
    return items;
  };
  const pointer = (kind, target, clientY, given = {}) => target.dispatchEvent(Object.assign(new Event(kind, { cancelable: true }), { clientY, button: 0, pointerId: 5, ...given }));
  const begin = (i, given) => {
    const items = lay();
    pointer('pointerdown', state.named(`stage ${i} move`), 120 + 40 * i, given);
    return items;
  };
  let items = begin(0);
  const handle = state.named('stage 0 move');
  assert.deepEqual([items[0].classList.contains('dragged'), handle.captured, document.activeElement], [true, 5, handle]);
  pointer('pointermove', handle, 165);
  assert.deepEqual([items[0].style.translate, items.map((item) => item.getAttribute('class'))], ['0 45px', ['dragged', '', 'lands-before']]);
  pointer('pointermove', handle, 205);
  assert.deepEqual(items.map((item) => item.getAttribute('class')), ['dragged', '', 'lands-after']);
  pointer('pointermove', handle, 125);
  assert.deepEqual(items.map((item) => item.getAttribute('class')), ['dragged', '', '']);
  pointer('pointermove', handle, 205);
  pointer('pointerup', handle, 205);
  assert.deepEqual([uses(), state.take()], ['cuthill_mckee must row_sort', 'edit null']);
  items = begin(2);
  pointer('pointermove', state.named('stage 2 move'), 130);
  assert.deepEqual(items.map((item) => item.getAttribute('class')), ['', 'lands-before', 'dragged']);
  pointer('pointercancel', state.named('stage 2 move'), 130);
  assert.deepEqual([uses(), state.take(), items.map((item) => item.getAttribute('class')), items[2].style.translate], ['cuthill_mckee must row_sort', '', ['', '', ''], '']);
  begin(1);
  pointer('pointermove', state.named('stage 1 move'), 110);
  dispatchEvent(Object.assign(new Event('keydown'), { key: 'x' }));
  dispatchEvent(Object.assign(new Event('keydown'), { key: 'Escape' }));
  pointer('pointerup', state.named('stage 1 move'), 110);
  assert.equal(uses(), 'cuthill_mckee must row_sort');
  items = begin(1, { button: 1 });
  assert.ok(!items[1].classList.contains('dragged'));
  items = begin(1);
  pointer('pointerup', state.named('stage 1 move'), 160);
  assert.equal(state.take(), '');
  // At its edges, the list scrolls, and the card with it.
  items = begin(0);
  state.controls.element.scrollTop = 50;
  pointer('pointermove', state.named('stage 0 move'), 31);
  assert.equal(state.controls.element.scrollTop, 34);
  pointer('pointermove', state.named('stage 0 move'), 32);
  assert.equal(state.controls.element.scrollTop, 34);
  pointer('pointermove', state.named('stage 0 move'), 269);
  assert.deepEqual([state.controls.element.scrollTop, items[0].style.translate], [50, `0 ${269 - 120 + 50}px`]);
  pointer('pointermove', state.named('stage 0 move'), 268);
  assert.equal(state.controls.element.scrollTop, 50);
  pointer('pointerup', state.named('stage 0 move'), 268);
  assert.equal(uses(), 'must row_sort cuthill_mckee');
  state.show();
});

test('a layout is replaced, whole or of a share', () => {
  const state = controlsOf(recipe);
  state.change('layout 0', 'csr');
  assert.ok(state.text.endsWith('[layout]\nuse = "csr"\n') && state.take() === 'edit Infinity', state.text);
  const shares = controlsOf('[[layout]]\nshare = "a"\nuse = "csr"\n\n[[layout]]\nuse = "csr"\n');
  shares.change('layout 0', 'sell');
  shares.change('layout 1', 'sell');
  assert.equal(shares.text, '[[layout]]\nshare = "a"\nuse = "sell"\n\n[[layout]]\nuse = "sell"\n');
  const none = controlsOf('');
  none.change('layout 0', '');
  assert.equal(none.text, '');
  none.change('layout 0', 'csr');
  assert.equal(none.text, '[layout]\nuse = "csr"\n\n');
});

test('the focus and what is open stay, and one card is chosen where there is no room', () => {
  const state = controlsOf(recipe);
  const { element } = state.controls;
  const chosen = () => element.querySelectorAll('.card.chosen').map((card) => card.dataset.owner).join();
  assert.equal(chosen(), 'stage 0');
  assert.ok(!element.classList.contains('tight'));
  element.box = { height: 100, scrollHeight: 102 };
  element.scrollTop = 17;
  state.show();
  assert.deepEqual([element.classList.contains('tight'), element.scrollTop], [true, 17]);
  element.box = { height: 100, scrollHeight: 101 };
  state.named('layout 0').focus();
  assert.equal(chosen(), 'layout 0');
  assert.ok(!element.classList.contains('tight'));
  const details = state.named('layout 0 more').parentElement;
  details.open = true;
  details.dispatchEvent(new Event('toggle'));
  const other = state.named('stage 2 more').parentElement;
  assert.ok(!other.open);
  state.named('stage 2 window').focus();
  state.show();
  assert.deepEqual([document.activeElement, chosen(), state.named('layout 0 more').parentElement.open], [state.named('stage 2 window'), 'stage 2', true]);
  state.named('layout 0 more').parentElement.open = false;
  state.named('layout 0 more').parentElement.dispatchEvent(new Event('toggle'));
  state.show();
  assert.ok(!state.named('layout 0 more').parentElement.open);
  state.controls.point('layout 0 density');
  assert.deepEqual([chosen(), state.named('layout 0 density').classList.contains('pointed'), state.named('layout 0 density').scrolled, state.named('layout 0 density').closest('details').open], ['layout 0', true, true, true]);
  state.controls.point('none');
  assert.equal(chosen(), 'layout 0');
  assert.equal(time.waiting, 0);
});

test('completion knows the tables, keys and words of the catalogue', () => {
  const completion = new RecipeCompletion(catalogue);
  completion.files = ['m.mtx'];
  // The text with | at the caret.
  const at = (text, explicit = false) => {
    const pos = text.indexOf('|');
    const found = completion.complete(new CompletionContext(EditorState.create({ doc: text.replace('|', '') }), pos, explicit));
    return found && `${found.from - pos} ${found.to === undefined ? '' : found.to - pos} ${found.options.map((one) => one.apply ?? one.label).join(' ')}`;
  };
  const heads = '[recipe] [matrix] [[stage]] [layout] [[layout]] [kernel]';
  assert.equal(at('[|'), `-1  ${heads}`);
  assert.equal(at('x = 1\n[[st|'), `-4  ${heads}`);
  assert.equal(at('|'), null);
  assert.equal(at('|', true), `0  ${heads}`);
  assert.equal(at('[[stage]]\n|', true), `0  use =  id =  ${heads}`);
  assert.equal(at('[[stage]]\nuse = "row_sort"\nwi|'), '-2  key =  window =  stable =  share =  use =  id = ');
  assert.equal(at('[[stage]]\nwi|\nuse = "row_sort"\n[layout]\nuse = "csr"'), '-2  key =  window =  stable =  share =  use =  id = ');
  assert.equal(at('[recipe]\nn|'), '-1  name = ');
  assert.equal(at('[matrix] # it\ngenerate = \'rmat\'\np|'), '-1  path =  precision =  scale = ');
  assert.equal(at('[layout]\nx|'), '-1  use = ');
  assert.equal(at('[kernel]\nx|'), '-1  kokkos =  cuda =  cusparse =  eigen =  cpu = ');
  assert.equal(at('[other]\nx|'), '-1  ');
  assert.equal(at('# wi|'), null);
  assert.equal(at('a b|'), null);
  assert.equal(at('[[stage]]\nuse = |'), '0 0 "row_sort" "cuthill_mckee" "must"');
  assert.equal(at('[[stage]]\nuse = "ro|"'), '-3 1 "row_sort" "cuthill_mckee" "must"');
  assert.equal(at('[layout]\nuse = \'|\' # x'), '-1 1 "sell" "csr"');
  assert.equal(at('[matrix]\ngenerate = |'), '0 0 "laplace2d" "laplace3d" "rmat"');
  assert.equal(at('[matrix]\npath = "|'), '-1 0 "m.mtx"');
  assert.equal(at('[matrix]\nprecision = |'), '0 0 "f32" "f64"');
  assert.equal(at('[kernel]\nkokkos = |'), '0 0 "loop" "plain"');
  assert.equal(at('[layout]\nkernel.cuda = |'), '0 0 "warp"');
  assert.equal(at('[[stage]]\nuse = "row_sort"\nkey = |'), '0 0 "nonzeros" "first"');
  assert.equal(at('[[stage]]\nuse = "row_sort"\nwindow = |'), '0 0 32');
  assert.equal(at('[[stage]]\nuse = "row_sort"\nstable = |'), '0 0 true false');
  assert.equal(at('[[stage]]\nuse = "row_sort"\nshare = |'), null);
  assert.equal(at('[[stage]]\nuse = "row_sort"\nother = |'), null);
  assert.equal(at('[[stage]]\nuse = "x" "|'), null);
  const valid = (text) => completion.complete(new CompletionContext(EditorState.create({ doc: text }), text.length, false)).validFor;
  assert.deepEqual([['[', '[[sta'], ['[recipe]\nn', 'na_m3'], ['[layout]\nuse = ', '"a-b/c.d']].map(([text, next]) => [valid(text).test(next), valid(text).test(`${next} x`)]), [[true, false], [true, false], [true, false]]);
  const options = completion.complete(new CompletionContext(EditorState.create({ doc: '[[stage]]\nuse = "row_sort"\nw' }), 28, false)).options;
  assert.deepEqual(options.slice(1, 4).map(({ detail, info }) => `${detail}: ${info}`), ['help of window: help of window; what window accepts. Default: 32', 'help of stable: help of stable; what stable accepts. Default: true', 'help of share: help of share; what share accepts']);
});
