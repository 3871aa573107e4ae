import { media, time } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { runOf, report, run_stages, stages, thinOf } from './documents.mjs';
import { gridOf } from './pages.mjs';
import { one, press, settle, shown, text, view } from './window.mjs';

const event = (kind, given = {}) => Object.assign(new Event(kind, { bubbles: true, cancelable: true }), { button: 0, pointerType: 'mouse', movementX: 1, movementY: 1, key: '', ...given });
const readout = (viewer) => viewer.reader.element.children.map((line) => line.textContent).join(' ');
const tip = (viewer) => (viewer.reader.tip.hidden ? null : viewer.reader.tip.children.map((line) => line.textContent).join(' '));
const said = (viewer) => viewer.reader.spoken.textContent;
const entries = gridOf(5, 6);
const hint = 'Point at a place to read it, or press Enter in the picture.';

// The place of an entry's middle on the screen.
function placeOf(pane, viewer, row, column) {
  const { left, top, width, height, scale, x, y } = pane.view;
  const { rows, columns } = viewer.shape;
  return { clientX: left + x + ((column + 0.5) * width * scale) / columns, clientY: top + y + ((row + 0.5) * height * scale) / rows };
}
const point = (viewer, row, column, given = {}, pane = viewer.panes[1]) => {
  pane.canvas.dispatchEvent(event('pointermove', { ...placeOf(pane, viewer, row, column), ...given }));
  settle();
};
const key = (viewer, name, given = {}) => {
  const pressed = event('keydown', { key: name, ...given });
  viewer.panes[1].canvas.dispatchEvent(pressed);
  settle();
  return pressed.defaultPrevented;
};

test('the entry under the pointer is read and marked', async () => {
  const viewer = await view([runOf]);
  assert.equal(readout(viewer), hint);
  point(viewer, 3, 4);
  assert.equal(readout(viewer), 'row 3, as originally column 4, as originally value 3.04');
  assert.deepEqual(viewer.reader.mark, { row: 3, column: 4, rows: 1, columns: 1 });
  // The mark is a box around the entry.
  const boxes = () => {
    viewer.panes[1].canvas.calls.length = 0;
    viewer.update();
    settle();
    return viewer.panes[1].canvas.calls.filter(({ name }) => name === 'strokeRect').map(({ words }) => words);
  };
  const { clientX, clientY } = placeOf(viewer.panes[1], viewer, 3, 4);
  const around = ([x, y, width, height]) => x < clientX && x + width > clientX && y < clientY && y + height > clientY && width < 60 && height < 60;
  assert.equal(boxes().filter(around).length > 0, true);
  point(viewer, 0, 29);
  assert.equal(readout(viewer), 'row 0 column 29 nothing is stored here');
  assert.equal(viewer.reader.mark, null);
  assert.equal(boxes().filter(around).length, 0);
  viewer.panes[1].canvas.dispatchEvent(event('pointermove', { clientX: 1, clientY: 1 }));
  assert.equal(readout(viewer), hint);
  press(viewer, 'button[data-stage="1"]');
  point(viewer, 1, 0);
  assert.equal(readout(viewer), 'row 1, as originally column 0, as originally value 1');
  const order = stages[1].order;
  const [row, column] = entries.map(([a, b]) => [order.indexOf(a), order.indexOf(b)]).find(([r, c]) => r !== c && order[r] !== r && order[c] !== c);
  point(viewer, row, column);
  assert.equal(readout(viewer), `row ${row}, originally ${order[row]} column ${column}, originally ${order[column]} value ${order[row] + order[column] / 100}`);
  press(viewer, 'button[data-stage="2"]');
  point(viewer, 7, 3);
  assert.ok(readout(viewer).endsWith('partition 0'), readout(viewer));
  point(viewer, ...entries.map(([a, b]) => [order.indexOf(a), order.indexOf(b)]).find(([r, c]) => r >= 9 && r < 18 && c < 9));
  assert.ok(readout(viewer).endsWith('partition 1, its column in 0'), readout(viewer));
  press(viewer, 'button[data-stage="3"]');
  point(viewer, 7, 3);
  assert.ok(/share (inside|outside) partition 0$/.test(readout(viewer)), readout(viewer));
  press(viewer, 'button[data-stage="4"]');
  point(viewer, 29, 29);
  assert.ok(readout(viewer).endsWith('share inside'), readout(viewer));
  viewer.panes[1].canvas.dispatchEvent(event('pointerleave', { pointerType: 'touch' }));
  viewer.panes[1].canvas.dispatchEvent(new Event('blur')); // there is no cursor
  assert.notEqual(readout(viewer), hint);
  viewer.panes[1].canvas.dispatchEvent(event('pointerleave'));
  assert.equal(readout(viewer), hint);
});

test('what is under the pointer goes to memory and back', async () => {
  const viewer = await view([runOf]);
  const [regions, rows] = [[], []];
  viewer.reader.onPoint = (_, region) => regions.push(region && [region.row, region.column].join());
  viewer.reader.onRow = (row) => rows.push(row);
  const order = stages[4].order;
  point(viewer, 3, 4);
  assert.deepEqual([regions.at(-1), rows.at(-1)], [[order.indexOf(3), order.indexOf(4)].join(), order.indexOf(3)]);
  point(viewer, 0, 29);
  assert.deepEqual([regions.at(-1), rows.at(-1)], [null, order.indexOf(0)]);
  viewer.panes[1].canvas.dispatchEvent(event('pointerleave'));
  assert.deepEqual([regions.at(-1), rows.at(-1)], [null, null]);
  viewer.reader.pointAt(0, { row: order.indexOf(3), column: order.indexOf(4), rows: 1, columns: 1 });
  assert.deepEqual(viewer.reader.mark, { row: 3, column: 4, rows: 1, columns: 1 });
  viewer.reader.pointAt(0, { row: 2, column: 0, rows: 3, columns: 4 });
  assert.equal(viewer.reader.mark, null);
  press(viewer, 'button[data-stage="4"]');
  viewer.reader.pointAt(0, { row: 2, column: 0, rows: 3, columns: 4 });
  assert.deepEqual(viewer.reader.mark, { row: 2, column: 0, rows: 3, columns: 4 });
  viewer.reader.pointAt(0, null);
  assert.equal(viewer.reader.mark, null);
});

test('a cursor moves by keys, and is announced', async () => {
  const viewer = await view([runOf]);
  const { canvas } = viewer.panes[1];
  assert.ok(!key(viewer, 'ArrowDown'));
  assert.ok(!key(viewer, 'Enter', { ctrlKey: true }));
  canvas.focus();
  assert.ok(key(viewer, 'Enter'));
  assert.equal(said(viewer), 'row 0, as originally; column 0, as originally; value 0');
  assert.ok(key(viewer, 'ArrowDown'));
  assert.equal(said(viewer), 'row 1, as originally; column 0, as originally; value 1');
  key(viewer, 'ArrowUp');
  key(viewer, 'ArrowUp');
  assert.ok(said(viewer).startsWith('row 0,'));
  key(viewer, 'ArrowLeft');
  assert.ok(said(viewer).includes('column 0'));
  key(viewer, 'ArrowRight', { shiftKey: true });
  key(viewer, 'ArrowRight', { shiftKey: true });
  assert.equal(said(viewer), 'row 0, as originally; column 5, as originally; value 0.05');
  assert.ok(key(viewer, 'ArrowRight', { shiftKey: true }));
  assert.ok(said(viewer).includes('column 5'));
  key(viewer, 'ArrowRight');
  assert.equal(said(viewer), 'row 0; column 6; nothing is stored here');
  assert.deepEqual(viewer.reader.mark, { row: 0, column: 6, rows: 1, columns: 1 });
  key(viewer, 'ArrowDown', { shiftKey: true });
  assert.ok(said(viewer).startsWith('row 1,') && said(viewer).includes('column 6'), said(viewer));
  key(viewer, 'ArrowDown', { shiftKey: true });
  assert.ok(said(viewer).startsWith('row 5,'), said(viewer));
  key(viewer, 'ArrowUp', { shiftKey: true });
  key(viewer, 'ArrowLeft', { shiftKey: true });
  assert.ok(said(viewer).startsWith('row 1,') && said(viewer).includes('column 2'), said(viewer));
  assert.ok(!key(viewer, 'x'));
  for (let i = 0; i < 40; ++i) key(viewer, 'ArrowDown');
  for (let i = 0; i < 40; ++i) key(viewer, 'ArrowRight');
  assert.ok(said(viewer).startsWith('row 29, as originally; column 29'), said(viewer));
  assert.ok(key(viewer, ' '));
  assert.deepEqual(viewer.panes[1].followed, [{ row: 29, column: 29 }]);
  press(viewer, 'button[data-stage="4"]');
  assert.ok(said(viewer).startsWith('row 29, originally 0'), said(viewer));
  // The page scrolls under the pointer, which does not move.
  point(viewer, 3, 3, { movementX: 0, movementY: 0 });
  assert.notEqual(said(viewer), '');
  assert.ok(key(viewer, 'Escape'));
  assert.deepEqual([said(viewer), readout(viewer), viewer.reader.mark], ['', hint, null]);
  assert.ok(!key(viewer, 'Escape'));
  key(viewer, 'Enter');
  canvas.dispatchEvent(new Event('blur'));
  assert.equal(said(viewer), '');
  // The cursor begins at what is marked, if it is in the picture.
  viewer.reader.pointAt(0, { row: 5, column: 6, rows: 1, columns: 1 });
  key(viewer, 'Enter');
  assert.equal(said(viewer), 'row 5; column 6; nothing is stored here');
  key(viewer, 'Escape');
  viewer.zoom.by(4);
  viewer.zoom.panBy(-0.75, -0.75);
  settle();
  viewer.reader.pointAt(0, { row: 0, column: 0, rows: 1, columns: 1 });
  key(viewer, 'Enter');
  assert.ok(/^row [1-9]/.test(said(viewer)), said(viewer));
  const before = viewer.zoom.transform.y;
  for (let i = 0; i < 40; ++i) key(viewer, 'ArrowUp');
  assert.ok(viewer.zoom.transform.y > before && said(viewer).startsWith('row 0'), said(viewer));
});

test('a click follows a nonzero, up to six at a time', async () => {
  const viewer = await view([runOf]);
  const click = (row, column) => {
    point(viewer, row, column);
    viewer.panes[1].canvas.dispatchEvent(event('click'));
    settle();
  };
  press(viewer, 'button[data-stage="1"]');
  const order = stages[1].order;
  click(1, 0);
  assert.deepEqual(viewer.panes.map((pane) => pane.followed), [0, 1].map(() => [{ row: order[1], column: order[0] }]));
  click(0, 20);
  assert.equal(viewer.panes[1].followed.length, 1);
  click(1, 0);
  assert.deepEqual(viewer.panes[1].followed, []);
  for (let i = 0; i < 8; ++i) click(i, i);
  assert.deepEqual(viewer.panes[1].followed.map(({ row }) => row), [2, 3, 4, 5, 6, 7].map((i) => order[i]));
  const { calls } = viewer.panes[1].canvas;
  calls.length = 0;
  viewer.update();
  settle();
  const rings = calls.filter(({ name }) => name === 'arc').map(({ words }) => words);
  assert.equal(rings.length, 6);
  assert.deepEqual(calls.filter(({ name }) => name === 'fillText').slice(0, 6).map(({ words: [, x, y] }) => [x, y]), rings.map(([x, y, radius]) => [x + radius + 5, y]));
  assert.deepEqual(calls.filter(({ name }) => name === 'strokeText').map(({ words }) => words[0]), [2, 3, 4, 5, 6, 7].map((i) => `${order[i]}, ${order[i]}`));
});

test('pointing at a vertex of the graph', async () => {
  const viewer = await view([runOf]);
  press(viewer, '[data-mode=graph]');
  press(viewer, 'button[data-stage="2"]');
  const graph = shown(viewer)[0].querySelector('canvas');
  const old = stages[2].order.find((one, i) => one !== i && one % 5 > 0 && one % 5 < 4 && one > 5 && one < 24);
  const [x, y] = viewer.vertex(old);
  assert.deepEqual(viewer.vertex(0), [18, 18]);
  const go = (clientX, clientY) => {
    graph.dispatchEvent(event('pointermove', { clientX, clientY }));
    settle();
  };
  go(x + 3, y - 4);
  const row = stages[2].order.indexOf(old);
  assert.equal(readout(viewer), `row ${row}, originally ${old} column ${row}, originally ${old} neighbours 4 partition ${Math.min(2, Math.floor(row / 9))}`);
  assert.deepEqual(viewer.reader.mark, { row, column: row, rows: 1, columns: 1 });
  go(...viewer.vertex(0));
  assert.equal(readout(viewer), 'row 0, as originally column 0, as originally neighbours 2 partition 0');
  go(x + 25, y);
  assert.equal(readout(viewer), hint);
  go(x, y + 23);
  assert.ok(readout(viewer).startsWith('row'));
  graph.dispatchEvent(event('pointerleave', { pointerType: 'touch' }));
  assert.ok(readout(viewer).startsWith('row'));
  graph.dispatchEvent(event('pointerleave'));
  assert.equal(readout(viewer), hint);
  const words = () => text(viewer, '.pane:not([hidden]) figcaption').split(' | ')[0];
  const colours = one(viewer, '.tools select');
  const found = ['auto', 'partition', 'order', 'level', 'length'].map((by) => {
    colours.value = by;
    colours.dispatchEvent(new Event('change'));
    settle();
    return words();
  });
  assert.deepEqual(found, ['Graph: 3 partitions; edges between them are dark', 'Graph: 3 partitions; edges between them are dark', 'Graph, by row: 0 to 29 ', 'Graph, by level: the edges from the first row ', 'Graph, by the nonzeros of each row ']);
});

test('bins of several entries', async () => {
  const entries = gridOf(16, 16);
  const coarse = (data) => ({ ...runOf(data), storage: null, pattern: data.pattern({ rows: 256, columns: 256, entries, values: false, sampled: [[0, 0, 1.5], [100, 100, 2.5]], stages: [{ label: 'input', row_bits: 1, column_bits: 1, names: ['a', 'b'], plane: (row, column) => (row === column ? 0 : 1) }, { label: 'turned', order: [...Array(256).keys()].reverse(), rows: null, columns: null, row_bits: 1, column_bits: 1 }] }), report: report({ matrix: { source: 'g', rows: 256, columns: 256, nonzeros: entries.length }, stages: run_stages.slice(0, 2) }) });
  const viewer = await view([coarse]);
  point(viewer, 0, 0);
  assert.equal(readout(viewer), 'rows 0 to 1 columns 0 to 1 holds 4 nonzeros of 2 × 2 entries one of them row 0, column 0 (originally 0, 0): 1.5 share 2 a, 2 b');
  assert.equal(tip(viewer), null);
  point(viewer, 4, 4);
  assert.equal(readout(viewer), 'rows 4 to 5 columns 4 to 5 holds 4 nonzeros of 2 × 2 entries share 2 a, 2 b');
  point(viewer, 16, 0);
  assert.equal(readout(viewer), 'rows 16 to 17 columns 0 to 1 holds 2 nonzeros of 2 × 2 entries share b');
  // A place near a bin reads the bin.
  point(viewer, 24, 9.5);
  const near = readout(viewer);
  assert.ok(near.includes('holds'), near);
  point(viewer, 200, 9);
  assert.ok(readout(viewer).includes('nothing is stored here'));
  assert.ok(text(viewer, '.note').includes('The finest bins that fit into this page have 2 × 2 entries. The animation moves 2 of 1,216 nonzeros'.replace('1,216', entries.length.toLocaleString('en'))), text(viewer, '.note'));
  const regions = [];
  viewer.reader.onPoint = (_, region) => regions.push(region);
  point(viewer, 0, 0);
  press(viewer, 'button[data-stage="1"]');
  point(viewer, 254, 254);
  assert.deepEqual([regions.at(0), regions.at(-1)], [null, { row: 254, column: 254, rows: 2, columns: 2 }]);
  assert.ok(readout(viewer).startsWith('rows 254 to 255 columns 254 to 255 holds 4 nonzeros'), readout(viewer));
  assert.ok(text(viewer, '.note').includes('The page does not store the original numbers of these rows and columns: it stores up to 1,000,000, within its size limit. The page stores values of matrices with up to 200,000 nonzeros.'));
});

test('a finger has its readout beside it', async () => {
  const viewer = await view([runOf]);
  const at = placeOf(viewer.panes[1], viewer, 3, 4);
  const touch = { pointerType: 'touch' };
  point(viewer, 3, 4, touch);
  assert.equal(tip(viewer), 'row 3, as originally column 4, as originally value 3.04');
  assert.deepEqual([viewer.reader.tip.style.left, viewer.reader.tip.style.top].map(parseFloat).map(Math.round), [Math.round(Math.max(0, at.clientX - 45)), Math.round(at.clientY - 58)]);
  point(viewer, 0, 0, touch);
  assert.deepEqual([viewer.reader.tip.style.left, parseFloat(viewer.reader.tip.style.top) > -40], ['0px', true]);
  viewer.reader.tip.box = { width: 400, height: 30 };
  point(viewer, 15, 29, touch);
  assert.equal(parseFloat(viewer.reader.tip.style.left), viewer.panes[1].canvas.clientWidth - 400);
  viewer.reader.tip.box = { width: 90, height: 200 };
  const [low] = [placeOf(viewer.panes[1], viewer, 2, 2)];
  point(viewer, 2, 2, touch);
  assert.equal(Math.round(parseFloat(viewer.reader.tip.style.top)), Math.round(low.clientY + 36));
  viewer.zoom.by(2);
  settle();
  assert.equal(tip(viewer), null);
  // A cursor has it only if the panel is outside of the window.
  const { canvas } = viewer.panes[1];
  key(viewer, 'Enter');
  assert.equal(tip(viewer), null);
  viewer.reader.element.box = { top: 850, height: 100, width: 10 };
  key(viewer, 'ArrowDown');
  assert.ok(tip(viewer).startsWith('row'));
  const cursor = placeOf(viewer.panes[1], viewer, viewer.reader.mark.row, viewer.reader.mark.column);
  viewer.reader.tip.box = { width: 90, height: 30 };
  viewer.reader.placeTip();
  assert.deepEqual([viewer.reader.tip.style.left, viewer.reader.tip.style.top].map((at) => Math.round(parseFloat(at))), [Math.max(0, cursor.clientX - 45), cursor.clientY - 58 >= -40 ? cursor.clientY - 58 : cursor.clientY + 36].map(Math.round));
  viewer.reader.element.box = { top: -1, height: 10, width: 10 };
  key(viewer, 'ArrowDown');
  assert.ok(tip(viewer)?.startsWith('row'));
  viewer.reader.element.box = { top: 0, height: 900, width: 10 };
  key(viewer, 'ArrowDown');
  assert.equal(tip(viewer), null);
  viewer.reader.element.box = { is_hidden: true, top: 0, height: 0 };
  point(viewer, 15, 15);
  assert.ok(tip(viewer)?.startsWith('row'));
  media.add('(hover: none)');
  canvas.dispatchEvent(event('pointerleave'));
  assert.equal(readout(viewer), 'Tap a place to read it.');
  media.delete('(hover: none)');
  assert.equal(time.waiting >= 0, true);
});

test('rows of tiles are read where they are stored', async () => {
  const cuts = [{ kind: 'row_block', count: 2, step: 1, boundaries: [0, 3, 5] }, { kind: 'segment', count: 1, step: 1, boundaries: [0, 3] }];
  const tiled = (data) => ({ ...thinOf(data), report: { ...thinOf(data).report, stages: run_stages.slice(0, 2) }, pattern: data.pattern({ rows: 5, columns: 3, entries: [[0, 1, 2.5], [2, 0, -1], [4, 2, 1e-7]], stages: [{ label: 'input' }, { label: 'hash', cuts, binned: undefined, stage_tiles: [{ block: 0, segment: 0, rows: [2, 1, 0] }] }] }) });
  const viewer = await view([tiled]);
  press(viewer, 'button[data-stage="1"]');
  point(viewer, 2, 0);
  assert.ok(readout(viewer).startsWith('stored at line 2 row 0, as originally column 0, as originally'), readout(viewer));
  assert.ok(text(viewer, '.note').includes('Rows are drawn where their tile stores them.'));
  viewer.reader.pointAt(0, { row: 0, column: 1, rows: 1, columns: 1 });
  assert.deepEqual(viewer.reader.mark, { row: 2, column: 1, rows: 1, columns: 1 });
});
