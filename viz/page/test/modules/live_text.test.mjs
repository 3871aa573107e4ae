import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { quoted, RecipeText, valueOf } from '../../src/live_text';
import { outlineOf } from './outline.mjs';

const read = (text) => new RecipeText(text, outlineOf(text));
const changed = (text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to);

const recipe = `# a recipe
[recipe]
name = "Größe"

[matrix]
generate = "laplace2d"
nx = 30 # rows

# the first
[[stage]]
use = "cuthill_mckee"

[[stage]]
use = "row_sort"
id = "sorted"
window = 64

# of the layout
[layout]
use = "sell"
slice_height = 32
`;
const of_order = (text) => read(text).stages().map(({ use, table }) => (table ? use : `-${use}`)).join(' ');

test('blocks have the comments above them, and end before those of the next table', () => {
  const text = read(recipe);
  const lines = (head) => {
    const { first, end } = text.block(head);
    return [first, end];
  };
  assert.deepEqual([1, 4, 9, 12, 18].map(lines), [[0, 4], [4, 8], [8, 12], [12, 17], [17, 22]]);
  assert.deepEqual(text.lines.length, 22);
  assert.deepEqual(text.stages().map(({ head, use }) => [head, use]), [[9, 'cuthill_mckee'], [12, 'row_sort']]);
  assert.deepEqual([' [[ stage ]]', '[[stage]] # c', '[[stages]]', '[stage]', '#off [[ stage ]]'].map((head) => new RecipeText(`${head}\n`, outlineOf('')).movable(0)), [true, true, false, false, true]);
  assert.deepEqual([text.movable(9), text.movable(10), text.movable(-1), text.movable(99), text.movable(18)], [true, false, false, false, false]);
});

test('values and their tables', () => {
  const { outline } = read(recipe);
  assert.deepEqual([valueOf(outline.matrix, 'nx'), valueOf(outline.matrix, 'ny'), valueOf(outline.recipe, 'name')], [30, null, 'Größe']);
  const text = read(recipe);
  const line = (path) => text.tableOf(path)?.line ?? null;
  assert.deepEqual(['matrix.nx', 'layout.use', 'stage.cuthill_mckee.x', 'stage.sorted.window', 'stage.row_sort.window', 'stage.none.x'].map(line), [5, 19, 10, 13, 13, null]);
  const shares = read('[[layout]]\nshare = "a"\nuse = "csr"\n[[layout]]\nshare = "b"\nuse = "ell"\n');
  assert.deepEqual([shares.tableOf('layout.b.x').line, shares.tableOf('layout.a.x').line, shares.tableOf('layout.c.x')], [4, 1, null]);
  assert.equal(quoted('a "b"'), '"a \\"b\\""');
  const two = read('[[stage]]\nuse = "x"\nid = "y"\n[[stage]]\nuse = "y"\n');
  assert.equal(two.tableOf('stage.y.z').line, 1);
});

test('a value is replaced where it is written, whatever it is', () => {
  const values = ['30', '-1.5e3', 'true', '"a # b"', "'it''", '"a\\"b"', '"""three\nlines"""', "'''x'y'''", '[1, 2]', '[\n  "a ] b", # ] comment\n  [2]\n]', '{ a = 1, b = [2] }', '[ [1], {x = "}"} ] # end'];
  for (const value of values) {
    for (const tail of ['\n', ' # comment\nother = 2\n']) {
      const whole = value.replace(/ # end$/, '').replace(/^'it''$/, "'it'");
      const text = `[matrix]\nä = ${value.replace(/^'it''$/, "'it'")}${value.endsWith('end') ? '\n' : tail}`;
      const outline = outlineOf('[matrix]\n');
      outline.matrix.settings.push({ key: 'ä', line: 2, column: 5, value: null });
      const { from, to } = new RecipeText(text, outline).placeOf(outline.matrix, 'ä');
      const found = text.slice(from, to);
      assert.equal(found, whole, JSON.stringify(text));
    }
  }
  const text = read(recipe);
  assert.equal(text.placeOf(text.outline.matrix, 'ny'), null);
  assert.deepEqual(text.placeOf({ line: 1, settings: [{ key: 'x', line: 0, column: 0, value: 1 }] }, 'x'), null);
  // Columns count characters: a letter outside of the basic plane is two units of the text.
  const wide = '[recipe]\nt = ["😀", 5]\n';
  const { from, to } = new RecipeText(wide, outlineOf(wide)).placeOf({ line: 1, settings: [{ key: 'x', line: 2, column: 11, value: 5 }] }, 'x');
  assert.equal(wide.slice(from, to), '5');
  const open = '[matrix]\nrows = [ "a", # b';
  assert.deepEqual(new RecipeText(open, outlineOf('')).placeOf({ line: 1, settings: [{ key: 'rows', line: 2, column: 8, value: null }] }, 'rows'), { from: 16, to: open.length });
});

test('values are set in their place, and new ones after the last of their table', () => {
  const text = read(recipe);
  const { matrix, stages, layout } = text.outline;
  assert.ok(changed(recipe, text.setValue(matrix, 'nx', '40')).includes('nx = 40 # rows'));
  assert.ok(changed(recipe, text.setValue(matrix, 'ny', '7')).includes('nx = 30 # rows\nny = 7\n\n# the first'));
  assert.ok(changed(recipe, text.setValue(stages[0], 'x', '1')).includes('use = "cuthill_mckee"\nx = 1\n\n[[stage]]'));
  assert.ok(changed(recipe, text.setValue(layout, 'x', '1')).endsWith('slice_height = 32\nx = 1\n'));
  const empty = '[matrix]\n[layout]';
  const bare = read(empty);
  assert.equal(changed(empty, bare.setValue(bare.outline.matrix, 'a', '1')), '[matrix]\na = 1\n[layout]');
  const long = '[matrix]\nrows = [\n  "1",\n]\nnx = 2\n';
  const spread = read(long);
  assert.equal(changed(long, spread.setValue({ line: 1, settings: [{ key: 'nx', line: 5, column: 6, value: 2 }, { key: 'rows', line: 2, column: 8, value: null }] }, 'a', '1')), '[matrix]\nrows = [\n  "1",\n]\nnx = 2\na = 1\n');
  assert.equal(changed(long, spread.setValue({ line: 1, settings: [{ key: 'rows', line: 2, column: 8, value: null }] }, 'a', '1')), '[matrix]\nrows = [\n  "1",\n]\na = 1\nnx = 2\n');
});

test('a slider needs no new outline of the server', () => {
  for (const [where, key] of [[(one) => one.matrix, 'nx'], [(one) => one.matrix, 'ny'], [(one) => one.stages[1], 'window'], [(one) => one.stages[0], 'limit'], [(one) => one.layout, 'a']]) {
    const text = read(recipe);
    const { change, outline } = text.setPlainValue(where, key, 77, '77');
    const next = changed(recipe, change);
    assert.deepEqual(outline, outlineOf(next), key);
    assert.equal(valueOf(where(text.outline), 'nx') ?? 0, key.startsWith('n') ? 30 : 0); // the given outline stays
  }
});

test('stages move, with their comments', () => {
  const text = read(recipe);
  assert.equal(text.move(0, 0), null);
  assert.equal(text.move(0, 2), null);
  assert.equal(text.move(5, 0), null);
  const down = changed(recipe, text.move(0, 1));
  const up = changed(recipe, text.move(1, 0));
  assert.equal(down, up);
  assert.equal(of_order(down), 'row_sort cuthill_mckee');
  assert.ok(down.includes('window = 64\n\n# the first\n[[stage]]\nuse = "cuthill_mckee"\n\n# of the layout'), down);
  assert.equal(changed(down, read(down).move(0, 1)), recipe);
  const three = '[[stage]]\nuse = "a"\n[[stage]]\nuse = "b"\n\n[[stage]]\nuse = "c"';
  assert.equal(of_order(changed(three, read(three).move(0, 2))), 'b c a');
  assert.equal(of_order(changed(three, read(three).move(2, 0))), 'c a b');
  assert.equal(of_order(changed(three, read(three).move(2, 1))), 'a c b');
  assert.equal(changed(three, read(three).move(1, 2)), '[[stage]]\nuse = "a"\n[[stage]]\nuse = "c"\n\n[[stage]]\nuse = "b"\n');
  const apart = '[[stage]]\nuse = "a"\n[matrix]\nnx = 1\n\n[[stage]]\nuse = "b"\n\n[layout]\nuse = "csr"\n';
  const swapped = changed(apart, read(apart).move(0, 1));
  assert.ok(swapped.startsWith('[[stage]]\nuse = "b"') && swapped.includes('[matrix]\nnx = 1') && of_order(swapped) === 'b a', swapped);
  const inline = 'stage = [{ use = "a" }, { use = "b" }]\n';
  const fixed = new RecipeText(inline, { ...outlineOf(''), stages: [{ line: 1, settings: [] }, { line: 1, settings: [] }] });
  assert.equal(fixed.move(0, 1), null);
});

test('stages are switched off and on again', () => {
  const text = read(recipe);
  const off = changed(recipe, text.switchOff(12));
  assert.ok(off.includes('\n#off [[stage]]\n#off use = "row_sort"\n#off id = "sorted"\n#off window = 64\n\n# of the layout'), off);
  assert.equal(of_order(off), 'cuthill_mckee -row_sort');
  const again = read(off);
  assert.equal(again.movable(12), true);
  assert.deepEqual(again.block(12), { first: 12, end: 17 });
  assert.equal(changed(off, again.switchOn(12)), recipe);
  const both = changed(off, again.switchOff(9));
  assert.equal(of_order(both), '-cuthill_mckee -row_sort');
  assert.equal(changed(both, read(both).switchOn(9)), off);
  assert.equal(of_order(changed(both, read(both).move(0, 1))), '-row_sort -cuthill_mckee');
  const last = '[[stage]]\nuse = "a"';
  assert.equal(changed(last, read(last).switchOff(0)), '#off [[stage]]\n#off use = "a"');
  const touching = "#off [[stage]]\n#off use = 'a'\n#off [[ stage ]]\n#off use = 'b'\n#off x = 1";
  assert.equal(of_order(touching), '-a -b');
  assert.equal(changed(touching, read(touching).switchOn(2)), "#off [[stage]]\n#off use = 'a'\n[[ stage ]]\nuse = 'b'\nx = 1");
  assert.equal(of_order('#off [[stage]]\n#off x = 1'), '-?');
  assert.equal(of_order('#off   [[stage]] # c\n#off   use   =   "a"\n#off x[[stage]]'), '-a');
  assert.equal(read('[[stage]]\nx = 1\n').stages()[0].use, '?');
  assert.equal(read('[[stage]]\nid = "only"\n').stages()[0].use, 'only');
});

test('stages are removed and added', () => {
  const text = read(recipe);
  assert.ok(changed(recipe, text.remove(9)).includes('nx = 30 # rows\n\n[[stage]]\nuse = "row_sort"'));
  const lines = ['[[stage]]', 'use = "new"'];
  const added = changed(recipe, text.addStage(lines));
  assert.ok(added.includes('window = 64\n\n[[stage]]\nuse = "new"\n\n# of the layout\n[layout]'), added);
  const cases = { '': '[[stage]]\nuse = "new"\n\n', '[matrix]\nnx = 1': '[matrix]\nnx = 1\n\n[[stage]]\nuse = "new"\n\n', '[matrix]\nnx = 1\n': '[matrix]\nnx = 1\n\n[[stage]]\nuse = "new"\n\n',
    '[matrix]\n\n# l\n[layout]\n': '[matrix]\n\n[[stage]]\nuse = "new"\n\n# l\n[layout]\n', '[layout]\n': '[[stage]]\nuse = "new"\n\n[layout]\n', '[[layout]]\n[[layout]]\n': '[[stage]]\nuse = "new"\n\n[[layout]]\n[[layout]]\n' };
  for (const [before, after] of Object.entries(cases)) assert.equal(changed(before, read(before).addStage(lines)), after, before);
});

test('a table is replaced, or added before the first stage or layout', () => {
  const text = read(recipe);
  const lines = ['[matrix]', 'path = "x.mtx"'];
  const replaced = changed(recipe, text.replaceTable(text.outline.matrix, lines));
  assert.ok(replaced.includes('name = "Größe"\n\n[matrix]\npath = "x.mtx"\n\n# the first'), replaced);
  const cases = { '': '[matrix]\npath = "x.mtx"\n\n', '[recipe]\nname = "a"\n\n# s\n[[stage]]\n': '[recipe]\nname = "a"\n\n[matrix]\npath = "x.mtx"\n\n# s\n[[stage]]\n',
    '[layout]\n[recipe]\n': '[matrix]\npath = "x.mtx"\n\n[layout]\n[recipe]\n', '[recipe]\nname = "a"\n': '[recipe]\nname = "a"\n[matrix]\npath = "x.mtx"\n\n' };
  for (const [before, after] of Object.entries(cases)) assert.equal(changed(before, read(before).replaceTable(read(before).outline.matrix, lines)), after, before);
  const end = '[layout]\nuse = "csr"\n\n';
  assert.equal(changed(end, read(end).replaceTable(read(end).outline.layout, ['[layout]', 'use = "ell"'])), '[layout]\nuse = "ell"\n\n');
  const one = '[matrix]';
  assert.equal(changed(one, read(one).replaceTable(read(one).outline.matrix, lines)), lines.join('\n'));
});
