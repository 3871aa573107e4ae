import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { drawnPlace, toggled } from '../../src/followed';
import { GraphPane, piecesOf } from '../../src/graph';
import { canHaveLevels, levelBands, levelsOf } from '../../src/levels';
import { runOf, tracksOf } from './documents.mjs';
import { asStored, drawnOn } from './golden.mjs';
import { gridOf, patternOf } from './pages.mjs';

const places_of = (nx, ny, far = 100) => [...Array(nx * ny).keys()].map((i) => far * (i % nx)).concat([...Array(nx * ny).keys()].map((i) => far * Math.floor(i / nx)));
const partition = (...boundaries) => [{ kind: 'partition', count: boundaries.length - 1, step: 1, boundaries }];

test('a graph has an edge for each pair of rows, whatever its direction', async () => {
  const entries = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [2, 0, 1], [1, 3, 1], [3, 2, 1], [2, 3, 1]];
  const pattern = await patternOf({ rows: 4, columns: 4, entries, stages: [{ label: 'input' }] });
  const graph = new GraphPane(pattern, Int32Array.from([0, 1, 0, 1, 0, 0, 1, 1]));
  assert.deepEqual(graph.edges.map((ends) => [...ends]), [[0, 1, 2, 2], [1, 3, 0, 3]]);
  assert.deepEqual([0, 1, 2, 3].map((vertex) => graph.neighboursOf(vertex)), [2, 2, 2, 2]);
  // The largest that fits, with a rim of 18 pixels.
  assert.equal(graph.resize(236, 136), 136);
  assert.deepEqual([0, 1, 2, 3].map((vertex) => graph.at(vertex)), [[18, 18], [118, 18], [18, 118], [118, 118]]);
  assert.equal(graph.resize(136, 500), 136);
  assert.deepEqual([[18, 18], [30, 30], [18, 41], [18, 42.5], [118, 100], [95, 118], [60, 60]].map(([x, y]) => graph.vertexAt(x, y)), [0, 0, 0, null, 3, 3, null]);
  const points = new GraphPane(pattern, new Int32Array(8));
  assert.equal(points.resize(100, 100), 36 + 64);
});

test('graphs are drawn in the colours of pieces, order, levels and lengths', async () => {
  const lines = [];
  const add = (title, graph, stage, mark = null) => {
    graph.canvas.calls.length = 0;
    graph.draw(stage, mark);
    const still = graph.canvas.calls.find(({ name }) => name === 'drawImage').words[0];
    lines.push(`# ${title}: ${graph.caption(stage).map((part) => part.textContent ?? part).join('')}`, ...drawnOn(still.calls.splice(0)).filter((line) => !line.includes('{}')), ...drawnOn(graph.canvas.calls).slice(2));
  };
  const [{ pattern }] = await tracksOf(runOf);
  const graph = new GraphPane(pattern, pattern.places);
  graph.resize(500, 400);
  for (const by of ['auto', 'order', 'level', 'length']) {
    graph.colour_by = by;
    for (const number of by === 'auto' ? [0, 1, 2, 4] : [1]) add(`${by}, stage ${number}`, graph, pattern.stages[number]);
  }
  graph.colour_by = 'auto';
  document.documentElement.dataset.theme = 'dark';
  add('dark', graph, pattern.stages[2]);
  document.documentElement.dataset.theme = 'light';
  for (const mark of [{ row: 3, column: 4, rows: 1, columns: 1 }, { row: 0, column: 29, rows: 1, columns: 1 }, { row: 0, column: 0, rows: 2, columns: 30 }, { row: 29, column: 28, rows: 4, columns: 2 }]) add(JSON.stringify(mark), graph, pattern.stages[1], mark);
  // Of many vertices, edges and discs are smaller, and without numbers.
  for (const [nx, ny, width, cuts] of [[9, 9, 400, partition(0, 27, 54, 81)], [30, 30, 300, partition(0, 450, 900)], [40, 40, 150, []], [12, 1, 300, partition(...[...Array(13).keys()])]]) {
    const large = await patternOf({ rows: nx * ny, columns: nx * ny, entries: gridOf(nx, ny), stages: [{ label: 'input', cuts }] });
    const one = new GraphPane(large, Int32Array.from(places_of(nx, ny)));
    one.resize(width, 400);
    add(`${nx} x ${ny} in ${width}`, one, large.stages[0]);
  }
  asStored('graphs', lines);
});

test('adjacent pieces have different colours', async () => {
  const cuts = partition(...Array.from({ length: 13 }, (_, i) => 12 * i));
  const pattern = await patternOf({ rows: 144, columns: 144, entries: gridOf(12, 12), stages: [{ label: 'input', cuts }] });
  const graph = new GraphPane(pattern, Int32Array.from(places_of(12, 12)));
  graph.resize(600, 600);
  graph.draw(pattern.stages[0], null);
  const { calls } = graph.canvas.calls.find(({ name }) => name === 'drawImage').words[0];
  const of_row = new Map();
  for (const { words: [path], with: { fillStyle } } of calls.filter(({ name, words: [path] }) => name === 'fill' && path.calls.length > 0)) {
    for (const [kind, , y] of path.calls) if (kind === 'arc') of_row.set(y, new Set([...(of_row.get(y) ?? []), fillStyle]));
  }
  const rows = [...of_row].sort((a, b) => a[0] - b[0]).map(([, found]) => [...found]);
  assert.ok(rows.length === 12 && rows.every((found) => found.length === 1), JSON.stringify(rows));
  assert.ok(rows.every(([one], i) => i === 0 || one !== rows[i - 1][0]));
});

test('the pieces by which a graph is coloured', async () => {
  const of = (...cuts) => piecesOf({ facts: { cuts: cuts.map(([kind, count, step = 1]) => ({ kind, count, step, boundaries: [count] })) } });
  assert.equal(of(), null);
  assert.equal(of(['segment', 3], ['slice', 4], ['partition', 1], ['row_block', 5, 2]), null);
  assert.deepEqual(of(['length_group', 2], ['row_block', 3]), { boundaries: [3], kind: 'row block', name: '3 row blocks' });
  assert.deepEqual(of(['length_group', 2], ['partition', 7]), { boundaries: [7], kind: 'partition', name: '7 partitions' });
});

test('levels are the edges from the first row of each component', async () => {
  // A path 0-1-2-3 of which one direction is stored, a single vertex, and a pair, whose first row is in the band of that vertex.
  const entries = [[1, 0, 1], [1, 2, 1], [3, 2, 1], [4, 4, 1], [5, 6, 1], [6, 5, 1]];
  const { stages: [stage] } = await patternOf({ rows: 7, columns: 7, entries, stages: [{ label: 'input' }] });
  assert.deepEqual([...levelsOf(stage)], [0, 1, 2, 3, 0, 0, 1]);
  assert.deepEqual([...levelsOf(stage, true)], [3, 2, 1, 0, 0, 1, 0]);
  assert.deepEqual(levelBands(stage), [[0, 1, 0, 2], [1, 2, 0, 3], [2, 3, 1, 4], [3, 4, 2, 4], [4, 6, 4, 7], [6, 7, 4, 7]].map(([begin, end, first, last]) => ({ begin, end, first, last })));
  assert.equal(levelBands(stage), levelBands(stage));
  // A grid row by row is in no order by levels; in the order of its diagonals it is, and in that order from its end.
  const diagonals = [...Array(12).keys()].sort((a, b) => (a % 4) + Math.floor(a / 4) - (b % 4) - Math.floor(b / 4) || a - b);
  const { stages } = await patternOf({ rows: 12, columns: 12, entries: gridOf(4, 3), stages: [{ label: 'input' }, { label: 'a', order: diagonals }, { label: 'b', order: [...diagonals].reverse() }] });
  assert.equal(levelBands(stages[0]), null);
  const bands = levelBands(stages[1]);
  assert.deepEqual(bands.map(({ begin, end }) => end - begin), [1, 2, 3, 3, 2, 1]);
  assert.deepEqual(bands.map(({ first, last }) => [first, last]), [[0, 3], [0, 6], [1, 9], [3, 11], [6, 12], [9, 12]]);
  for (const one of [stages[1], stages[2]]) {
    const { finest: { starts, columns } } = one;
    assert.ok(levelBands(one).every(({ begin, end, first, last }) => [...columns.subarray(starts[begin], starts[end])].every((column) => column >= first && column < last)));
  }
  // The reverse of an order that only its end knows.
  const tree = [[0, 2, 1], [1, 2, 1], [2, 3, 1]];
  const { stages: [ends] } = await patternOf({ rows: 4, columns: 4, entries: tree, stages: [{ label: 'input' }] });
  assert.deepEqual([[...levelsOf(ends)], levelBands(ends)?.map(({ begin, end, first, last }) => [begin, end, first, last].join(' '))], [[0, 2, 1, 2], ['3 4 2 4', '2 3 0 4', '0 2 0 3']]);
  const { stages: [thin] } = await patternOf({ rows: 4, columns: 5, entries: [], stages: [{ label: 'input' }] });
  assert.deepEqual([canHaveLevels(thin), levelBands(thin), canHaveLevels(ends)], [false, null, true]);
});

test('nonzeros that are followed', async () => {
  const place = (row) => ({ row, column: row + 1 });
  const all = [1, 2, 3, 4, 5, 6].map(place);
  assert.deepEqual(toggled([], place(1)), [place(1)]);
  assert.deepEqual(toggled(all, place(3)), all.filter(({ row }) => row !== 3));
  assert.deepEqual(toggled(all, place(7)), [...all.slice(1), place(7)]);
  assert.deepEqual(toggled([place(1)], { row: 1, column: 9 }), [place(1), { row: 1, column: 9 }]);
  assert.deepEqual(toggled([place(1)], { row: 9, column: 2 }), [place(1), { row: 9, column: 2 }]);
  const order = [3, 2, 1, 0];
  const pattern = await patternOf({ rows: 4, columns: 4, entries: [[0, 1, 5], [2, 1, 6], [3, 3, 7]], sampled: [[0, 1, 5], [2, 1, 6]], stages: [{ label: 'input' }, { label: 'a', order }, { label: 'b', order, rows: null }] });
  const [, a, b] = pattern.stages;
  assert.deepEqual([drawnPlace(pattern, a, { row: 0, column: 1 }), drawnPlace(pattern, b, { row: 2, column: 1 }), drawnPlace(pattern, b, { row: 3, column: 3 })], [{ row: 3, column: 2 }, { row: 1, column: 2 }, null]);
  const bare = await patternOf({ rows: 4, columns: 4, entries: [[0, 1, 5]], stages: [{ label: 'input' }, { label: 'b', order, rows: null }] });
  assert.equal(drawnPlace(bare, bare.stages[1], { row: 0, column: 1 }), null);
});
