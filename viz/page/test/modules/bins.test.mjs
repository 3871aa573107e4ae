import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { between, binAt, countAt, lowerBound, originalOf, pieceAt, readLevel, rowBinOf, sizeOf } from '../../src/bins';
import { binsOf, numbers, patternOf, randomly } from './pages.mjs';

// Matrices of all shapes: [rows, columns, entries].
const random = randomly(5);
const scattered = (rows, columns, count) => [...new Map(Array.from({ length: count }, () => [random(rows), random(columns)]).map((one) => [one.join(), one])).values()];
const shapes = [[1, 1, [[0, 0]]], [1, 9, [[0, 8]]], [9, 1, [[8, 0]]], [5, 7, []], [6, 6, [[0, 0], [5, 5]]], [4, 33, scattered(4, 33, 40)], [33, 4, scattered(33, 4, 40)], [16, 16, scattered(16, 16, 90)], [100, 100, scattered(100, 100, 700)], [130, 140, scattered(130, 140, 900)], [300, 70, scattered(300, 70, 600)], [70, 1000, scattered(70, 1000, 900)], [1000, 1, scattered(1000, 1, 300)]];

const entriesOf = (level, plane) => {
  const found = [];
  for (let row = 0; row < level.rowBins; ++row) {
    for (let bin = level.starts[row]; bin < level.starts[row + 1]; ++bin) found.push([row, level.columns[bin], plane === undefined ? countAt(level, bin) : level.counts[bin * level.planes + plane]]);
  }
  return found;
};
const counted = (entries, row_bits, column_bits, wanted = () => true) => {
  const found = new Map();
  for (const one of entries.filter(wanted)) {
    const key = [one[0] >> row_bits, one[1] >> column_bits];
    found.set(key.join(), [...key, (found.get(key.join())?.[2] ?? 0) + 1]);
  }
  return [...found.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
};

test('a level has the nonzeros of the matrix, and the levels above it their sums', async () => {
  for (const [rows, columns, all] of shapes) {
    for (const names of [['nonzeros'], ['inside', 'outside', 'dense']]) {
      const plane = (row, column) => (row * 7 + column * 3) % names.length;
      const { stages: [stage] } = await patternOf({ rows, columns, entries: all.map(([row, column]) => [row, column, 1]), stages: [{ label: 'input', names, plane }] });
      assert.equal(stage.finest.planes, names.length);
      assert.deepEqual(entriesOf(stage.finest), counted(all, 0, 0));
      assert.ok(stage.showsEntries);
      let before = -1;
      for (let size = 0; size < 16; ++size) {
        const level = stage.level(size);
        assert.deepEqual(entriesOf(level), counted(all, level.rowBits, level.columnBits));
        names.forEach((_, p) => assert.deepEqual(entriesOf(level, p).filter(([, , count]) => count > 0), counted(all, level.rowBits, level.columnBits, ([row, column]) => plane(row, column) === p)));
        assert.deepEqual([level.rowBins, level.columnBins], [Math.ceil(rows / 2 ** level.rowBits), Math.ceil(columns / 2 ** level.columnBits)]);
        assert.equal(level.starts.length, level.rowBins + 1);
        assert.deepEqual([level.columns.length, level.counts.length], [level.starts[level.rowBins], level.starts[level.rowBins] * names.length]);
        assert.ok(sizeOf(level) >= Math.min(size, before < 0 ? 0 : before));
        assert.ok(stage.has(level));
        before = sizeOf(level);
      }
      const coarsest = stage.find(() => false);
      assert.ok(coarsest.rowBins <= 64 && coarsest.columnBins <= 64);
      assert.equal(entriesOf(coarsest).reduce((sum, [, , count]) => sum + count, 0), all.length);
    }
  }
});

test('bins become twice as large along the longer axis first, and along both where they are about as many', async () => {
  const shapesOf = async (rows, columns) => {
    const { stages: [stage] } = await patternOf({ rows, columns, entries: [[0, 0, 1]], stages: [{ label: 'input' }] });
    const found = [];
    stage.find(({ rowBins, columnBins }) => (found.push(`${rowBins}x${columnBins}`), false));
    return found.join(' ');
  };
  assert.equal(await shapesOf(64, 64), '64x64');
  assert.equal(await shapesOf(65, 64), '65x64 33x32');
  assert.equal(await shapesOf(64, 65), '64x65 32x33');
  assert.equal(await shapesOf(256, 256), '256x256 128x128 64x64');
  assert.equal(await shapesOf(1024, 256), '1024x256 512x256 256x256 128x128 64x64');
  assert.equal(await shapesOf(257, 128), '257x128 129x128 65x64 33x32');
  assert.equal(await shapesOf(256, 128), '256x128 128x128 64x64');
  assert.equal(await shapesOf(128, 256), '128x256 128x128 64x64');
  assert.equal(await shapesOf(1, 200), '1x200 1x100 1x50');
  assert.equal(await shapesOf(200, 1), '200x1 100x1 50x1');
  assert.equal(await shapesOf(3, 130), '3x130 3x65 3x33');
});

test('a matrix of so many columns that a row does not fit into an array is binned as any other', async () => {
  const [rows, columns] = [8, 2100000];
  const all = [[0, 0], [0, 2099999], [1, 0], [2, 1], [3, 1500000], [7, 1500001], [7, 2099998]];
  for (const names of [['a'], ['a', 'b']]) {
    const plane = (row) => row % names.length;
    const { stages: [stage] } = await patternOf({ rows, columns, entries: all.map(([row, column]) => [row, column, 1]), stages: [{ label: 'input', names, plane }] });
    for (let size = 0; size < 26; size += 3) {
      const level = stage.level(size);
      names.forEach((_, p) => assert.deepEqual(entriesOf(level, p).filter(([, , count]) => count > 0), counted(all, level.rowBits, level.columnBits, ([row]) => plane(row) === p)));
    }
  }
});

test('bins of a page with coarse bins', () => {
  const entries = [[0, 0], [1, 1], [3, 2], [4, 6], [5, 6], [5, 7], [8, 8]]; // in bins of 2 x 4
  const { bytes, facts } = binsOf(entries, { rows: 9, columns: 9, row_bits: 1, column_bits: 2 });
  const level = readLevel(bytes, facts, 1, 9, 9);
  assert.deepEqual(entriesOf(level), [[0, 0, 2], [1, 0, 1], [2, 1, 3], [4, 2, 1]]);
  assert.deepEqual([level.rowBins, level.columnBins, level.rowBits, level.columnBits], [5, 3, 1, 2]);
  assert.deepEqual([binAt(level, 2, 1), binAt(level, 2, 0), binAt(level, 3, 0), binAt(level, -1, 0), binAt(level, 5, 0), binAt(level, 4, 2)], [2, -1, -1, -1, -1, 3]);
  assert.deepEqual([0, 1, 2, 3].map((bin) => rowBinOf(level, bin)), [0, 1, 2, 4]);
  const found = [...Array(5).keys()].map((row) => [0, 1, 2, 3].map((column) => binAt(level, row, column)));
  assert.deepEqual(found, [[0, -1, -1, -1], [1, -1, -1, -1], [-1, 2, -1, -1], [-1, -1, -1, -1], [-1, -1, 3, -1]]);
});

test('the first position whose value is at least another', () => {
  const list = [1, 3, 3, 7];
  for (let wanted = 0; wanted < 9; ++wanted) {
    const expected = list.findIndex((one) => one >= wanted);
    assert.equal(lowerBound(list, wanted, 0, 4), expected < 0 ? 4 : expected);
  }
  assert.equal(lowerBound(list, 3, 2, 4), 2);
  assert.equal(lowerBound(list, 9, 1, 2), 2);
  assert.deepEqual([0, 1, 2, 3, 4, 5, 9].map((at) => pieceAt([0, 2, 2, 5, 10], at)), [0, 0, 2, 2, 2, 3, 3]);
  assert.equal(pieceAt([0, 4], 3), 0);
});

test('the darkest bins are those above the 99th percentile', async () => {
  // A row of bins with these numbers of nonzeros.
  const of_counts = async (counts) => {
    const binned = { bytes: numbers([counts.length, ...counts.flatMap((count) => [0, count])]), facts: { row_bits: 0, column_bits: 1, bins: counts.length, one_each: false } };
    const { stages: [stage] } = await patternOf({ rows: 1, columns: 2 * counts.length, entries: [], values: false, stages: [{ label: 'input', binned }] });
    return stage.ceiling(stage.finest);
  };
  assert.equal(await of_counts(Array.from({ length: 200 }, (_, i) => (i < 2 ? 4 : 1))), 1);
  assert.equal(await of_counts(Array.from({ length: 200 }, (_, i) => (i < 3 ? 4 : 1))), 4);
  assert.equal(await of_counts(Array.from({ length: 40000 }, (_, i) => (i < 800 ? 4 : 1))), 4);
  // Of many bins, every second one is looked at.
  assert.equal(await of_counts(Array.from({ length: 40000 }, (_, i) => (i % 2 === 0 ? 4 : 1))), 4);
  assert.equal(await of_counts(Array.from({ length: 40000 }, (_, i) => (i % 2 === 1 ? 4 : 1))), 1);
  const entries = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [2, 2, 1], [2, 3, 1], [3, 3, 1], [126, 126, 1]];
  const order = Array.from({ length: 128 }, (_, i) => (i === 1 ? 127 : i === 127 ? 1 : i === 3 ? 125 : i === 125 ? 3 : i));
  const pattern = await patternOf({ rows: 128, columns: 128, entries, stages: [{ label: 'input' }, { label: 'next', order }] });
  assert.deepEqual([pattern.ceiling(0), pattern.stages.map((stage) => stage.ceiling(stage.level(2))), pattern.ceiling(2)], [1, [3, 1], 3]);
  const other = await patternOf({ rows: 8, columns: 8, entries: [], stages: [{ label: 'input' }] });
  assert.equal(other.ceiling(0), 1);
  assert.ok(!pattern.stages[0].has(other.stages[0].finest));
});

test('positions of one stage in another', async () => {
  const [first, second, column_order] = [[2, 0, 3, 1], [3, 2, 1, 0], [1, 2, 0, 3]];
  const pattern = await patternOf({ rows: 4, columns: 4, entries: [[0, 1, 5], [3, 2, 7]], stages: [{ label: 'input' }, { label: 'a', order: first, column_order }, { label: 'b', order: second }, { label: 'c', order: first }, { label: 'd', order: null, column_order: second }] });
  const [input, a, b, c, d] = pattern.stages;
  const rows = (from, to) => [0, 1, 2, 3].map((row) => between(from, to, 'originalRows', row));
  assert.deepEqual(rows(input, a), [1, 3, 0, 2]);
  assert.deepEqual(rows(a, input), first);
  assert.deepEqual(rows(a, b), first.map((row) => second.indexOf(row)));
  assert.deepEqual(rows(a, c), [0, 1, 2, 3]);
  assert.deepEqual(rows(a, a), [0, 1, 2, 3]);
  assert.deepEqual([rows(a, d), rows(d, a), rows(d, d), rows(input, d)], [[null, null, null, null], [null, null, null, null], [0, 1, 2, 3], [null, null, null, null]]);
  assert.deepEqual([0, 1, 2, 3].map((column) => between(a, b, 'originalColumns', column)), column_order.map((column) => second.indexOf(column)));
  assert.deepEqual([0, 1, 2, 3].map((column) => between(d, b, 'originalColumns', column)), [0, 1, 2, 3]);
  assert.deepEqual([originalOf(null, 2), originalOf('same', 2), originalOf(Int32Array.from(first), 2)], [null, 2, 3]);
  assert.deepEqual([pattern.value(0, 1), pattern.value(3, 2), pattern.value(1, 0), pattern.value(null, 1), pattern.value(0, null)], [5, 7, null, null, null]);
  assert.equal(a.rowAt(2, 1), 2);
  assert.equal(a.drawnRow(2, 1), 2);
});

test('rows of tiles are drawn where their tiles store them', async () => {
  const cuts = [{ kind: 'row_block', count: 2, step: 1, boundaries: [0, 3, 5] }, { kind: 'segment', count: 2, step: 1, boundaries: [0, 2, 4] }];
  const stage_tiles = [{ block: 0, segment: 0, rows: [2, 0, 1] }, { block: 1, segment: 1, rows: [4, 3] }];
  const entries = [[0, 0, 1], [4, 3, 1]];
  const { stages: [, stage, lost] } = await patternOf({ rows: 5, columns: 4, entries, stages: [{ label: 'input' }, { label: 'hash', cuts, stage_tiles }, { label: 'lost', cuts, stage_tiles, stored: null }] });
  const at = (column) => [0, 1, 2, 3, 4].map((row) => stage.rowAt(row, column));
  assert.deepEqual([at(0), at(1), at(2), at(3)], [[2, 0, 1, 3, 4], [2, 0, 1, 3, 4], [0, 1, 2, 4, 3], [0, 1, 2, 4, 3]]);
  assert.deepEqual([0, 1, 2, 3, 4].map((row) => stage.drawnRow(row, 0)), [1, 2, 0, null, null]);
  assert.deepEqual([0, 1, 2, 3, 4].map((row) => stage.drawnRow(row, 2)), [null, null, null, 4, 3]);
  assert.deepEqual([lost.rowAt(1, 1), lost.drawnRow(1, 1)], [null, null]);
});

test('tiles without row blocks', async () => {
  const cuts = [{ kind: 'segment', count: 2, step: 1, boundaries: [0, 2, 4] }];
  const { stages: [stage] } = await patternOf({ rows: 3, columns: 4, entries: [], stages: [{ label: 'hash', cuts, stage_tiles: [{ block: 0, segment: 1, rows: [2, 1, 0] }] }] });
  assert.deepEqual([0, 1, 2].map((row) => [stage.rowAt(row, 3), stage.rowAt(row, 1), stage.drawnRow(row, 3), stage.drawnRow(row, 0)]), [[2, 0, 2, null], [1, 1, 1, null], [0, 2, 0, null]]);
});

test('what a pattern stores: sample, lengths, slices and shared sections', async () => {
  const entries = [[0, 0, 1.5], [1, 3, -2], [4, 2, 1e300], [6, 6, 0.25]];
  const slice = () => ({ kind: 'slice', count: 3, step: 1, boundaries: [], height: 3 });
  const order = [6, 5, 4, 3, 2, 1, 0];
  const pattern = await patternOf({ rows: 7, columns: 7, entries, sampled: [entries[1], entries[2]], places: [5, 6, 7, 8, 9, 10, 11, -1, -2, -3, -4, -5, -6, -7],
    stages: [{ label: 'input', cuts: [slice()] }, { label: 'turned', order, lengths: [300, 2, 0], cuts: [slice()] }, { label: 'again', order, same_as: 1 }] });
  assert.deepEqual([...pattern.sample.rows, ...pattern.sample.columns, ...pattern.sample.values], [1, 4, 3, 2, -2, 1e300]);
  assert.deepEqual(pattern.stages.map(({ sample }) => [...sample.rows, ...sample.columns]), [[1, 4, 3, 2], [5, 2, 3, 4], [5, 2, 3, 4]]);
  assert.deepEqual(pattern.stages.map(({ storedLengths }) => storedLengths), [null, [300, 2, 0], null]);
  assert.deepEqual([...pattern.places], [5, 6, 7, 8, 9, 10, 11, -1, -2, -3, -4, -5, -6, -7]);
  assert.deepEqual(pattern.stages[0].facts.cuts[0].boundaries, [0, 3, 6, 7]);
  assert.deepEqual(pattern.stages[1].facts.cuts[0].boundaries, [0, 3, 6, 7]);
  assert.equal(pattern.stages[2].finest, pattern.stages[1].finest);
  assert.notEqual(pattern.stages[0].finest, pattern.stages[1].finest);
  assert.ok(pattern.has_values);
  const bare = await patternOf({ rows: 2, columns: 3, entries: [[0, 2, 4]], values: false, stages: [{ label: 'input' }] });
  assert.deepEqual([bare.sample, bare.places, bare.has_values, bare.value(0, 2), bare.stages[0].sample], [null, null, false, null, null]);
  const { Stage } = await import('../../src/bins');
  assert.throws(() => new Stage(bare.facts.stages[0], 2, 3).finest, /the stage was not read/);
});
