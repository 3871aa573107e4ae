import { sized } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { linesOf as cacheLines, MemoryPane } from '../../src/memory';
import { RooflinePane, spotOf } from '../../src/roofline';
import { StorageView } from '../../src/storage';
import { sumsOf, WarpsPane } from '../../src/warps';
import { device, kernel, layout, report, runOf, storage, tracksOf, warp } from './documents.mjs';
import { asStored, drawnOn, linesOf } from './golden.mjs';
import { patternOf } from './pages.mjs';

const pointer = (element, kind, given = {}) => element.dispatchEvent(Object.assign(new Event(kind, { bubbles: true }), given));

test('the arrays in memory, cell by cell', () => {
  const view = new StorageView('storage', 'Memory', storage());
  const points = [];
  view.onPoint = (region) => points.push(region && [region.row, region.column].join());
  const lines = linesOf(view.element);
  const readout = () => view.element.querySelector('.storage-readout').textContent;
  const cells = view.element.querySelectorAll('.role-value .cell');
  const read = cells.map((cell) => (pointer(cell, 'pointerover'), [readout(), points.at(-1), cells.map((one) => Number(one.classList.contains('marked'))).join('')]));
  assert.deepEqual(read, [
    ['values[0] = 4 · row 0, column 0 · read by lane 0 of warp 0 in step 0', '0,0', '10000'], ['values[1] = -1 · row 0, column 1 · read by lane 1 of warp 0 in step 0', '0,1', '01000'], ['values[2] =  · padding', null, '00000'],
    ['values[3] = 7 · row 1, column 3 · read by lane 0 of warp 1 in step 2', '1,3', '00010'], ['values[4] = 2 · row 2, column 2 · read by lane 5 of warp 1 in step 3', '2,2', '00001']]);
  const [list] = view.element.querySelectorAll('.role-value.cells');
  pointer(list, 'pointerover'); // between cells
  assert.equal(readout(), read[4][0]);
  pointer(list, 'pointerleave');
  assert.deepEqual([readout(), points.at(-1), cells.some((one) => one.classList.contains('marked'))], ['Point at a place in memory, or in the pattern above.', null, false]);
  view.highlight({ row: 0, column: 0, rows: 2, columns: 2 });
  assert.equal(cells.map((one) => Number(one.classList.contains('marked'))).join(''), '11000');
  view.highlight({ row: 1, column: 3, rows: 2, columns: 1 });
  assert.equal(cells.map((one) => Number(one.classList.contains('marked'))).join(''), '00010');
  const plain = view.element.querySelectorAll('.role-structure .cell')[1];
  pointer(plain, 'pointerover');
  assert.deepEqual([readout(), points.at(-1)], ['offsets[1] = 9', null]);
  asStored('storage_cells', [...lines, ...linesOf(new StorageView(null, '', storage()).element).slice(0, 3)]);
});

test('the arrays in memory as bars', () => {
  sized.length = 0;
  const view = new StorageView('storage', 'Memory', storage(false));
  const points = [];
  view.onPoint = (region) => points.push(region && JSON.stringify(Object.values(region)));
  const canvases = view.element.querySelectorAll('canvas');
  view.redraw();
  assert.equal(canvases[0].calls.length, 0); // not laid out yet
  for (const canvas of canvases) canvas.box = { width: canvas.classList.contains('warp') ? 320 : 40, height: 20 };
  for (const one of sized) one();
  const lines = [...linesOf(view.element), ...canvases.flatMap((canvas) => [`# ${canvas.getAttribute('class')} ${canvas.width} x ${canvas.height}`, ...drawnOn(canvas.calls)])];
  const readout = () => view.element.querySelector('.storage-readout').textContent;
  const read = [-5, 0, 9.9, 10, 25, 39, 50].map((offsetX) => (pointer(canvases[0], 'pointermove', { offsetX }), [readout(), points.at(-1)]));
  assert.deepEqual(read, [
    ['values[0 to 3] · 0 % padding · rows 0 to 2, columns 1 to 5', '[0,1,3,5]'], ['values[0 to 3] · 0 % padding · rows 0 to 2, columns 1 to 5', '[0,1,3,5]'], ['values[0 to 3] · 0 % padding · rows 0 to 2, columns 1 to 5', '[0,1,3,5]'],
    ['values[4 to 7] · 25 % padding · rows 3 to 7, columns 0 to 9', '[3,0,5,10]'], ['values[8 to 11] · 100 % padding', null], ['values[12 to 13] · 100 % padding · rows 8 to 9, columns 4 to 6', '[8,4,2,3]'], ['values[12 to 13] · 100 % padding · rows 8 to 9, columns 4 to 6', '[8,4,2,3]']]);
  assert.ok(!canvases[0].calls.some(({ with: { fillStyle } }) => fillStyle === '#1f2428')); // a bar marks the pattern alone
  const structure = canvases.find((canvas) => canvas.getAttribute('aria-label') === 'offsets, 6 elements');
  pointer(structure, 'pointermove', { offsetX: 3 });
  assert.equal(readout(), 'offsets: 6 elements of the structure');
  pointer(canvases[0], 'pointerleave');
  assert.equal(readout(), 'Point at a place in memory, or in the pattern above.');
  const marked = (region) => {
    view.highlight(region);
    return canvases[0].calls.filter(({ name, with: { fillStyle } }) => name === 'fillRect' && fillStyle === '#1f2428').map(({ words: [x] }) => x / 10).join();
  };
  const region = (row, column, rows = 1, columns = 1) => ({ row, column, rows, columns });
  assert.deepEqual([marked(region(0, 1)), marked(region(2, 5)), marked(region(0, 0)), marked(region(2, 6)), marked(region(7, 9)), marked(region(3, 0)), marked(region(7, 10)), marked(region(0, 0, 4, 2)), marked(region(8, 4)), marked(region(9, 7)), marked(region(10, 4)), marked(null)], ['0', '0', '', '', '1', '1', '', '0,1', '3', '', '', '']);
  // At most one bar a pixel: two bins become one.
  canvases[0].box = { width: 2.5, height: 20 };
  view.highlight(region(8, 4));
  lines.push('# narrow', ...drawnOn(canvases[0].calls));
  const redrawn = () => {
    canvases[0].calls.length = 0;
    view.highlight(null);
    return canvases[0].calls.length > 0;
  };
  assert.deepEqual([redrawn(), redrawn()], [true, false]);
  const warps = canvases.filter((canvas) => canvas.classList.contains('warp'));
  const at = (offsetX, offsetY) => (pointer(warps[0], 'pointermove', { offsetX, offsetY }), [readout(), points.at(-1)]);
  assert.deepEqual([at(5, 5), at(45, 5), at(65, 5), at(319, 29), at(330, 35)], [
    ['lane 0 of warp 0 in step 0 reads values[3] · row 0, column 0', '[0,0,1,1]'], ['lane 4 of warp 0 in step 0 reads values[7], padding', null], ['lane 6 of warp 0 in step 0 is idle', null],
    ['lane 31 of warp 0 in step 2 reads values[98] · row 1, column 3', '[1,3,1,1]'], ['lane 31 of warp 0 in step 2 reads values[98] · row 1, column 3', '[1,3,1,1]']]);
  view.highlight(region(1, 3));
  lines.push('# a marked slot', ...drawnOn(warps[0].calls).filter((line) => line.includes('#1f2428')));
  asStored('storage_bars', lines);
});

test('sums over the steps of a warp', () => {
  const one = warp(0, 3);
  const by_hand = (steps) => {
    const list = one.array.slice(0, 32 * steps).map((array, i) => (array < 0 ? 'idle' : one.padding[i] ? 'padding' : 'used'));
    const count = (what) => list.filter((is) => is === what).length;
    return { values: [8, 17, 27][steps - 1], x: [20, 37, 51][steps - 1], used: count('used'), padding: count('padding'), idle: count('idle') };
  };
  for (const steps of [1, 2, 3]) assert.deepEqual(sumsOf(one, steps), by_hand(steps));
  const pane = WarpsPane.of(storage());
  pane.resize(1000, 400);
  const points = [];
  pane.onPoint = (region) => points.push(region && `${region.row},${region.column}`);
  const { canvas } = pane;
  const boxes = canvas.calls.filter(({ name }) => name === 'fillRect').slice(0, 96).map(({ words }) => words);
  const go = (i, dx = 0.5, dy = 0.5) => {
    const [x, y, width, height] = boxes[i];
    pointer(canvas, 'pointermove', { offsetX: x + dx * (width + 1), offsetY: y + dy * (height + 1) });
    return points.at(-1);
  };
  assert.deepEqual([go(0), go(1), go(4), go(6), go(33), go(95), go(0, -0.5), go(31, 1.5), go(0, 0.5, -0.5), go(95, 0.5, 1.5)], ['0,0', '1,1', null, null, '1,2', '1,3', null, null, null, null]);
  pointer(canvas, 'pointerleave');
  assert.equal(points.at(-1), null);
  assert.deepEqual([WarpsPane.of(null), WarpsPane.of({ parts: [] }), WarpsPane.of({ ...storage(), parts: storage().parts.slice(1) })], [null, null, null]);
  // Another report has the same warp and step, as far as there are.
  const next = WarpsPane.of(storage());
  const [which, step] = ['select', 'input'].map((tag) => pane.element.querySelector(tag));
  which.value = '1';
  which.dispatchEvent(new Event('change'));
  next.follow(pane);
  assert.deepEqual([next.element.querySelector('select').value, next.element.querySelector('input').value], ['1', '4']);
  step.value = '2';
  next.follow(pane);
  assert.equal(next.element.querySelector('input').value, '2');
  const fewer = WarpsPane.of({ ...storage(), parts: [{ ...storage().parts[0], shown_warps: [warp(0, 3)] }] });
  fewer.follow(pane);
  assert.deepEqual([fewer.element.querySelector('select').value, fewer.element.querySelector('input').value], ['0', '2']);
  assert.deepEqual(pane.caption(), ['Warp 2 of CUDA kernel warp: lanes across, steps down']);
  const single = WarpsPane.of({ ...storage(), precision: 'f32' });
  single.resize(300, 60);
  assert.ok(single.element.textContent.includes('of use') && single.element.textContent !== next.element.textContent);
  asStored('warps', [...drawnOn(single.canvas.calls), single.element.querySelector('.warp-words').textContent, canvas.getAttribute('aria-label')]);
  assert.equal(pane.film.count(), 4);
  assert.deepEqual([pane.film.at(0, () => step.value), step.value], ['1', '2']);
  assert.throws(() => pane.film.at(2, () => { throw new Error('inside'); }), /inside/);
  assert.equal(step.value, '2');
});

test('the cache lines of x that rows read', async () => {
  const entries = [[0, 0, 1], [0, 15, 1], [0, 16, 1], [1, 31, 1], [1, 32, 1], [3, 39, 1]];
  const pattern = await patternOf({ rows: 4, columns: 40, entries, stages: [{ label: 'input' }] });
  const lines = (row, rows, bytes) => {
    const { reads, lines: found } = cacheLines(pattern.stages[0], row, rows, bytes);
    return `${reads}: ${[...found].join()}`;
  };
  assert.deepEqual([lines(0, 1, 8), lines(0, 1, 4), lines(0, 2, 8), lines(2, 1, 8), lines(3, 32, 8), lines(0, 4, 8)], ['3: 0,1', '3: 0', '5: 0,1,2', '0: ', '1: 2', '6: 0,1,2']);
  const pane = MemoryPane.of(storage(), pattern);
  pane.resize(1000, 400);
  const words = () => pane.element.querySelector('.warp-words').textContent;
  const { calls } = pane.element.querySelector('canvas.x-lines');
  assert.ok(words().startsWith('Point at a row'));
  pane.point(0);
  assert.ok(words().startsWith('Row 0 reads 3 values of x from 2 lines: 256 B for 24 B. Its block of 32 rows reads 6 from 3 lines.'), words());
  pane.point(2);
  assert.ok(words().startsWith('Row 2 reads 0 values of x from 0 lines: 0 B for 0 B. Its block'), words());
  pane.point(null);
  assert.ok(words().startsWith('Point at a row'));
  assert.ok(calls.length > 0);
  const found = [];
  const wide = await patternOf({ rows: 64, columns: 40000, entries: [[0, 0, 1], [0, 39999, 1], [33, 20000, 1], [40, 20016, 1]], values: false, stages: [{ label: 'input' }] });
  for (const [map, columns, width] of [[storage(), pattern, 300], [storage(true, { precision: 'f32' }), pattern, 60], [storage(), wide, 300], [storage(), wide, 900]]) {
    const one = MemoryPane.of(map, columns);
    one.resize(width, 200);
    one.point(columns === wide ? 33 : 1);
    const canvas = one.element.querySelector('canvas.x-lines');
    found.push(`# ${width}: ${canvas.width} x ${canvas.height}, ${one.element.querySelector('.warp-words').textContent}`, ...drawnOn(canvas.calls));
  }
  asStored('lines_of_x', found);
  assert.deepEqual([MemoryPane.of(null, pattern), MemoryPane.of({ parts: [] }, pattern)], [null, null]);
  const coarse = await patternOf({ rows: 4, columns: 40, entries, values: false, stages: [{ label: 'input', row_bits: 1 }] });
  const bare = MemoryPane.of(storage(), coarse);
  bare.resize(500, 300);
  bare.point(1);
  assert.ok(bare.element.querySelector('.warp-words').textContent.startsWith('Row 1.') && bare.element.querySelector('canvas.x-lines') === null);
});

test('the marked slot of a row is scrolled into the pane', async () => {
  const [{ pattern }] = await tracksOf(runOf);
  const pane = MemoryPane.of(storage(), pattern);
  pane.resize(600, 300);
  pane.element.box = { top: 100, height: 300 };
  const cell = pane.element.querySelector('.role-value .cell');
  const scrolled = (top) => {
    pane.point(null);
    pane.element.scrollTop = 1000;
    cell.box = { top, height: 20 };
    pane.point(0);
    return pane.element.scrollTop;
  };
  assert.ok(cell.classList.contains('marked') === false);
  assert.deepEqual([scrolled(200), scrolled(100), scrolled(99), scrolled(380), scrolled(381)], [1000, 1000, 1000 - 1 - 4, 1000, 1000 + 1 + 4]);
  const points = [];
  pane.onPoint = (region) => points.push(region?.row ?? null);
  pointer(cell, 'pointerover');
  assert.deepEqual(points, [0]);
});

test('the bytes and flops of a layout under the roof', () => {
  const run = (given) => ({ report: report(given) });
  const spot = spotOf(run({}));
  assert.deepEqual([spot.name, spot.bytes, spot.intensity], ['sell', (2048 + 8 * 60) / 128, 256 / (2048 + 8 * 60)]);
  const shares = [layout({ share: 'a', name: 'ell', bytes: 500, precision: 'f32' }), layout({ share: 'b', name: 'coo', bytes: 700, precision: 'f32' }), layout({ precision: 'f64', bytes: 9999 })];
  const both = spotOf(run({ layouts: shares }));
  assert.deepEqual([both.name, both.bytes], ['ell and coo', (1200 + 4 * 60) / 128]);
  assert.equal(spotOf(run({ layouts: [...shares, layout({ precision: 'f32', name: 'whole', bytes: 900 })] })).bytes, (900 + 240) / 128);
  assert.deepEqual([spotOf(run({ layouts: [] })), spotOf(run({ layouts: [layout({}), layout({ unsuitable: 'no' })] })), spotOf(run({ matrix: { rows: 3, columns: 3, nonzeros: 0 } }))], [null, null, null]);
  assert.equal(RooflinePane.of(run({ layouts: [] })), null);
  const lines = [];
  const draw = (given, sizes, before = []) => {
    const pane = RooflinePane.of(run(given));
    let older = null;
    for (const one of before) {
      const next = RooflinePane.of(run(one));
      if (older) next.follow(older);
      older = next;
    }
    if (older) pane.follow(older);
    for (const [width, height] of sizes) {
      const needed = pane.resize(width, height);
      pane.draw();
      lines.push(`# ${JSON.stringify(given)} in ${width} x ${height}: ${needed}`, ...linesOf(pane.element));
    }
    return pane.element.querySelectorAll('circle').length;
  };
  draw({}, [[700, 500], [250, 300], [1200, 100]]);
  draw({ kernels: [kernel({ backend: 'cuda', gflops: 70, gbytes_per_second: 300, status: 'measured' }), kernel({ backend: 'cuda', gflops: 1e-3, gbytes_per_second: 3 }), kernel({ backend: 'cuda', share: 'x' }), kernel({ baseline: true, backend: 'cusparse', gflops: 40, gbytes_per_second: 250 })] }, [[500, 400]]);
  // Only kernels of the whole matrix that were measured, and are in the picture, have a square.
  const squares = (...kernels) => {
    const pane = RooflinePane.of(run({ kernels: kernels.map((one) => kernel({ gflops: 3, gbytes_per_second: 18, ...one })) }));
    pane.resize(500, 400);
    pane.draw();
    return pane.element.querySelectorAll('rect').map((one) => one.firstElementChild.textContent.split(' ')[1].replace(',', '')).join();
  };
  assert.equal(squares({ kernel: 'a' }, { kernel: 'b', status: 'wrong' }, { kernel: 'c', share: 'inside' }, { kernel: 'd', gflops: 0 }, { kernel: 'e', gflops: 1e-4 }, { kernel: 'f', gbytes_per_second: 1e4 }, { kernel: 'g', gbytes_per_second: 0.1 }, { kernel: 'h', baseline: true }), 'a,h');
  draw({ devices: [device({ copy_bytes_per_second: 0 })] }, [[500, 400]]);
  draw({ layouts: [layout({ bytes: 100 })] }, [[500, 400]]);
  draw({ layouts: [layout({ bytes: 20000 })] }, [[500, 400], [300, 300]]);
  const sizes = Array.from({ length: 14 }, (_, i) => ({ layouts: [layout({ bytes: 1000 + 100 * i })] }));
  assert.equal(draw({ layouts: [layout({ bytes: 3000 })] }, [[500, 400]], sizes), 12);
  assert.equal(draw({ layouts: [layout({ bytes: 1100 })] }, [[500, 400]], sizes.slice(0, 3)), 3);
  const idle = RooflinePane.of(run({}));
  idle.draw();
  assert.equal(idle.element.childElementCount, 0);
  assert.deepEqual(idle.caption(), ['Roofline: bytes to time']);
  asStored('roofline', lines);
});
