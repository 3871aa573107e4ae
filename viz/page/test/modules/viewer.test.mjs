import { downloads } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { sentenceOf } from '../../src/sentence';
import { report, run_stages, runOf, stages, thinOf, tracksOf } from './documents.mjs';
import { asStored, drawnOn, linesOf, pixelsOf } from './golden.mjs';
import { gridOf } from './pages.mjs';
import { one, press, settle, shown, text, view } from './window.mjs';

// What was drawn since the canvases were forgotten, of each picture that is shown.
function drawn(viewer) {
  for (const canvas of viewer.element.querySelectorAll('canvas')) canvas.getContext().calls.length = 0;
  viewer.update();
  settle();
  return shown(viewer).flatMap((pane) => [`## ${pane.firstElementChild.textContent}`, ...pane.querySelectorAll('canvas').flatMap((canvas) => [`${canvas.width} x ${canvas.height}`, ...drawnOn(canvas.calls)])]);
}

test('the view of a run, stage by stage and in all modes', async () => {
  const viewer = await view([runOf]);
  const lines = [...linesOf(viewer.element)];
  for (let stage = 0; stage < 5; ++stage) {
    press(viewer, `button[data-stage="${stage}"]`);
    assert.equal(viewer.current(), stage);
    assert.deepEqual(viewer.element.querySelectorAll('button[data-stage]').map((button) => button.getAttribute('aria-current')), [0, 1, 2, 3, 4].map((i) => String(i === stage)));
    lines.push(`# stage ${stage}`, ...drawn(viewer), ...['.sentence', '.stage-facts', '.stage-notes', '.legend', '.toggles', '.note'].map((name) => `${name}: ${text(viewer, name)}`));
  }
  for (const mode of ['beside', 'difference', 'graph', 'memory', 'warps', 'roofline', 'one']) {
    press(viewer, `[data-mode=${mode}]`);
    assert.deepEqual(viewer.element.querySelectorAll('[data-mode]').filter((button) => button.getAttribute('aria-pressed') === 'true').map((button) => button.dataset.mode), [mode]);
    assert.equal(shown(viewer).length, mode === 'one' || mode === 'difference' ? 1 : 2);
    lines.push(`# ${mode}`, ...drawn(viewer), text(viewer, '.viewer .legend'));
    if (mode === 'memory' || mode === 'warps') lines.push(...linesOf(shown(viewer)[0]));
    if (mode === 'roofline') lines.push(...linesOf(one(viewer, '.roofline')));
    assert.equal(one(viewer, '.tools select').hidden, mode !== 'graph');
  }
  asStored('view', lines);
});

test('zooming, values, levels and slices', async () => {
  const viewer = await view([runOf]);
  const lines = [];
  const add = (title) => lines.push(`# ${title}: ${JSON.stringify(viewer.zoom.transform)}`, ...drawn(viewer));
  press(viewer, 'button[data-stage="1"]');
  press(viewer, '[title="The levels of Cuthill-McKee as bands"]');
  assert.ok(text(viewer, '.legend').includes('10 levels: the nonzeros of a row are in its own level and the two beside it'));
  add('levels');
  press(viewer, 'button[data-stage="4"]');
  add('levels from the last row');
  press(viewer, 'button[data-stage="3"]');
  add('no levels, because of shares');
  press(viewer, '[title="The levels of Cuthill-McKee as bands"]');
  for (const name of ['Zoom in', 'Zoom out', 'Zoom out', 'Zoom in', 'Zoom in']) press(viewer, `[aria-label="${name}"]`);
  assert.equal(viewer.zoom.scale, 4);
  add('four times as large, with values');
  viewer.zoom.panBy(0.25, 0);
  viewer.zoom.panBy(10, 10);
  settle();
  assert.deepEqual(viewer.zoom.transform, { k: 4, x: 0, y: 0 });
  viewer.zoom.panBy(-10, -0.5);
  settle();
  assert.deepEqual(viewer.zoom.transform, { k: 4, x: -3, y: -0.5 });
  add('moved to the right');
  viewer.bringIntoView(29, 0);
  settle();
  // The centre of the place is at 5 % and 95 % of the frame.
  const { x, y } = viewer.zoom.transform;
  assert.deepEqual([x, y].map((at) => at.toFixed(6)), [0.05 - (4 * 0.5) / 30, 0.95 - (4 * 29.5) / 30].map((at) => at.toFixed(6)));
  press(viewer, '[aria-label="Whole matrix"]');
  assert.deepEqual(viewer.zoom.transform, { k: 1, x: 0, y: 0 });
  viewer.bringIntoView(29, 0);
  assert.deepEqual(viewer.zoom.transform, { k: 1, x: 0, y: 0 });
  viewer.zoom.showPlace(3, 20, 1000);
  settle();
  add('the largest zoom');
  press(viewer, '[aria-label="Whole matrix"]');
  for (const [name, other] of [['slices of the layout', 'partitions'], ['inside', 'outside']]) {
    for (const input of viewer.element.querySelectorAll('.toggles input').filter((box) => [name, other].includes(box.getAttribute('name')))) {
      input.checked = false;
      input.dispatchEvent(new Event('change'));
      settle();
      add(`without ${input.getAttribute('name')}`);
      if (input.getAttribute('name') !== other) continue;
      input.checked = true;
      input.dispatchEvent(new Event('change'));
    }
  }
  const compares = viewer.element.querySelectorAll('.toggles input').find((box) => box.getAttribute('name') === 'compare with the input');
  compares.checked = true;
  compares.dispatchEvent(new Event('change'));
  press(viewer, '[data-mode=difference]');
  assert.equal(text(viewer, '.pane:not([hidden]) figcaption').split(' | ').at(-1), '0  input → 3  split');
  asStored('zooms', lines);
});

test('two runs side by side', async () => {
  const other = (data) => ({ ...runOf(data, { pattern: { stages: stages.slice(0, 2) } }), title: 'other', report: report({ stages: run_stages.slice(0, 2) }) });
  const viewer = await view([other, runOf]);
  assert.equal(viewer.active, 1);
  const lines = [...linesOf(viewer.element)];
  viewer.step(1);
  settle();
  assert.deepEqual([viewer.current(0), viewer.current(1)], [0, 1]);
  press(viewer, '.track button[data-stage="1"]');
  assert.deepEqual([viewer.active, viewer.current(0), viewer.current(1)], [0, 1, 1]);
  assert.deepEqual(viewer.element.querySelectorAll('.track').map((track) => track.classList.contains('active')), [true, false]);
  for (const mode of ['beside', 'difference', 'one']) {
    press(viewer, `[data-mode=${mode}]`);
    lines.push(`# ${mode}`, ...drawn(viewer));
  }
  viewer.active = 1;
  lines.push('# the other one', ...drawn(viewer), ...['.sentence', '.stage-facts', '.legend', '.toggles'].map((name) => `${name}: ${text(viewer, name)}`));
  assert.deepEqual(viewer.stageOn(viewer.panes[0]).track, 1);
  press(viewer, '[data-mode=beside]');
  assert.deepEqual(viewer.panes.map((pane) => viewer.stageOn(pane).track), [0, 1]);
  viewer.show(1, 3);
  settle();
  assert.equal(text(viewer, '.legend .key'), 'inside | outside');
  assert.equal(text(viewer, '.toggles label'), 'slices of the layout | partitions | segments | inside | outside | followed nonzeros');
  asStored('view_of_two', lines);
});

test('a matrix that is not square, without stages', async () => {
  const viewer = await view([thinOf], 500);
  assert.ok(one(viewer, '.stage-bar').hidden);
  assert.ok(one(viewer, '[aria-label="What to show"]').hidden);
  assert.equal(one(viewer, '[data-mode=graph]'), null);
  asStored('view_of_thin', [...linesOf(viewer.element), ...drawn(viewer)]);
});

test('windows of all sizes: what is beside, below and apart', async () => {
  const viewer = await view([runOf]);
  const lines = [];
  const body = one(viewer, '.viewer-body');
  const list = viewer.panes.map((pane) => pane);
  for (const [width, height, body_width, lecture] of [[1280, 900, 1240, false], [1280, 500, 1240, false], [700, 900, 680, false], [390, 800, 370, false], [800, 390, 630, false], [1280, 900, 1240, true], [390, 800, 370, true], [3840, 2160, 3800, true], [900, 890, 895, false], [900, 890, 896, false], [660, 900, 640, false], [660, 900, 639, false]]) {
    [window.innerWidth, window.innerHeight] = [width, height];
    body.box = { width: body_width, height: 700 };
    viewer.lecture = lecture;
    for (const mode of ['one', 'beside', 'roofline']) {
      press(viewer, `[data-mode=${mode}]`);
      lines.push(`${width} x ${height} ${lecture} ${mode}: ${list.map(({ view }) => [view.left, view.top, view.width, view.height].join(' ')).join(' / ')}; ${viewer.element.getAttribute('class')}; ${body.getAttribute('class')}; ${one(viewer, '.panes').getAttribute('class')}; ${body.style.gridTemplateColumns}`);
    }
  }
  [window.innerWidth, window.innerHeight] = [1280, 900];
  const pane = viewer.panes[1];
  for (const [rows, columns] of [[10, 10], [1, 1000], [1000, 1], [0, 0], [123456, 123456]]) {
    for (const width of [479, 480, 900]) {
      for (const high of [30, 300, 3000]) {
        const needed = pane.resize(width, high, rows, columns);
        const { left, top, width: wide, height } = pane.view;
        lines.push(`${rows} x ${columns} in ${width} x ${high}: ${needed}; ${left} ${top} ${wide} ${height}`);
        assert.ok(needed <= width && (height <= high || high < 60));
      }
    }
  }
  asStored('windows', lines);
});

test('the sizes of a picture', async () => {
  const viewer = await view([runOf]);
  const pane = viewer.panes[1];
  pane.resize(600, 600, 30, 60);
  pane.view.scale = 2;
  pane.view.x = -pane.view.width / 2;
  pane.view.y = 0;
  const { left, top, width, height } = pane.view;
  assert.deepEqual(pane.placeAt(left, top, 30, 60), { row: 0, column: 15 });
  assert.deepEqual(pane.placeAt(left + width / 2, top + height / 2, 30, 60), { row: 7.5, column: 30 });
  assert.equal(pane.placeAt(left - 1, top, 30, 60), null);
  assert.equal(pane.placeAt(left, top - 1, 30, 60), null);
  assert.equal(pane.placeAt(left + width, top, 30, 60), null);
  assert.equal(pane.placeAt(left, top + height, 30, 60), null);
  assert.deepEqual(viewer.frame(), { left, top, width, height, rows: 30, columns: 30 });
});

test('numbers at the axes, of all sizes', async () => {
  const { Pane } = await import('../../src/pane');
  const { patternOf } = await import('./pages.mjs');
  const lines = [];
  for (const [rows, columns, row_bits, column_bits] of [[100, 101, 0, 0], [9999, 10001, 6, 6], [9001, 30001, 6, 8], [5, 1000001, 0, 12], [2, 3, 0, 0], [1000001, 12, 12, 0], [70000, 1100000, 9, 12]]) {
    const pattern = await patternOf({ rows, columns, entries: [[0, 0, 1], [rows - 1, columns - 1, 2]], values: false, stages: [{ label: 'input', row_bits, column_bits }] });
    for (const [width, text, k, x, y] of [[600, 12, 1, 0, 0], [470, 12, 1, 0, 0], [600, 20, 1, 0, 0], [600, 12, 2, -1, -1], [600, 12, 2.9, -0.33, -1.2]]) {
      const pane = new Pane('x');
      pane.resize(width, 500, rows, columns, 1, text);
      pane.draw({ kind: 'stage', pattern, stage: pattern.stages[0] }, { k, x, y }, { planes: [true], cuts: {}, sample: false, levels: false }, null);
      const { view, canvas } = pane;
      const texts = canvas.calls.filter(({ name }) => name === 'fillText');
      // No text is beyond the frame, and none of the columns overlaps another one.
      const numbers = texts.filter(({ words: [, , at], with: { textAlign } }) => textAlign === 'left' && at < view.top).filter(({ words: [word] }) => word !== 'length');
      const ends = numbers.map(({ words: [word, at] }) => [at, at + 0.5 * text * word.length]);
      assert.ok(ends.every(([begin, end], i) => begin >= 0 && end <= view.left + view.width + 1e-9 && (i === 0 || begin > ends[i - 1][1])));
      lines.push(`# ${rows} x ${columns} in ${width}, ${text}, ${k}: ${view.left} ${view.top} ${view.width} ${view.height}`, texts.map(({ words: [word, across, down] }) => `${word} ${across.toFixed(1)} ${down.toFixed(1)}`).join('; '));
    }
  }
  asStored('axes', lines);
});

test('lines of cuts that would touch each other are left out', async () => {
  const { drawCuts } = await import('../../src/paint');
  const cuts = (kind, boundaries, step = 1) => ({ kind, count: boundaries.length - 1, step, boundaries });
  // The lines and boxes of a matrix of 100 x 100 in a frame of 200 x 200 pixels at 10, 20: a row takes two.
  const lines = (one, given = {}, on = {}) => {
    const { context, calls } = (([canvas]) => ({ context: canvas.getContext('2d'), calls: canvas.calls }))([document.createElement('canvas')]);
    const left_out = drawCuts(context, { rows: 100, columns: 100, facts: { cuts: [one] } }, { left: 10, top: 20, width: 200, height: 200, scale: 1, x: 0, y: 0, ...given }, on);
    const drawn_lines = calls.filter(({ name }) => name === 'moveTo' || name === 'lineTo' || name === 'strokeRect').map(({ words, at: [, , , , e, f] }) => words.slice(0, 2).map((at, i) => at + [e, f][i]).concat(words.slice(2)).join(' '));
    return [drawn_lines.join('; '), left_out.map(({ drawn: count }) => count).join()];
  };
  assert.deepEqual(lines(cuts('row_block', [0, 50, 100])), ['10 20.5; 210 20.5; 10 120.5; 210 120.5; 10 220.5; 210 220.5', '']);
  assert.deepEqual(lines(cuts('segment', [0, 50, 100])), ['10.5 20; 10.5 220; 110.5 20; 110.5 220; 210.5 20; 210.5 220', '']);
  assert.deepEqual(lines(cuts('partition', [0, 50, 100])), ['10 20.5; 210 20.5; 10 120.5; 210 120.5; 10 220.5; 210 220.5; 10.5 20; 10.5 220; 110.5 20; 110.5 220; 210.5 20; 210.5 220; 10 20 100 100; 110 120 100 100', '']);
  assert.deepEqual(lines(cuts('row_block', [0, 50, 100]), {}, { row_block: false }), ['', '']);
  assert.deepEqual(lines(cuts('row_block', [0, 50, 100], 2)), ['', '0']);
  // Lines are three pixels apart; a last piece that is shorter does not count.
  assert.deepEqual(lines(cuts('row_block', [0, 2, 100]))[1], '');
  assert.deepEqual(lines(cuts('row_block', [0, 1, 50, 100])), ['10 20.5; 210 20.5; 10 120.5; 210 120.5; 10 220.5; 210 220.5', '']);
  assert.deepEqual(lines(cuts('row_block', [0, 1, 50, 51, 100]))[1], '3');
  assert.deepEqual(lines(cuts('row_block', [0, 1, 2, 3, 4, 5])), ['', '0']);
  assert.deepEqual(lines(cuts('row_block', [0, 50, 50, 50, 50, 50, 100])), lines(cuts('row_block', [0, 50, 100]))); // empty pieces
  assert.deepEqual(lines(cuts('partition', [0, 1, 2, 3, 4, 100]))[0].split('; ').filter((one) => one.split(' ').length > 2), ['18 28 192 192']);
  // Zoomed, only lines in the frame count, and end with the matrix.
  assert.deepEqual(lines(cuts('row_block', [0, 1, 2, 3, 50, 100]), { scale: 2, x: -100, y: -300 }), ['10 120.5; 210 120.5', '']);
  assert.deepEqual(lines(cuts('segment', [0, 75, 100]), { scale: 2, x: -150, y: -350 }), ['160.5 20; 160.5 70', '']);
});

test('a stage is still where the slider almost reaches it', async () => {
  const viewer = await view([runOf]);
  press(viewer, 'button[data-stage="1"]');
  const kinds = () => drawn(viewer).filter((line) => line.startsWith('drawImage')).length;
  const still = kinds();
  for (const [position, images] of [[1.0000001, still], [0.9999999, still], [1.5, 2]]) {
    viewer.tracks[0].position = position;
    assert.equal(kinds(), images);
  }
  // Values are not drawn while nonzeros move.
  viewer.zoom.by(4);
  settle();
  const values = () => {
    drawn(viewer);
    return viewer.panes[1].canvas.calls.filter(({ name, with: { textAlign } }) => name === 'fillText' && textAlign === 'center').length;
  };
  assert.equal(values(), 0);
  viewer.tracks[0].position = 1;
  assert.ok(values() > 0);
});

test('saved slides', async () => {
  const viewer = await view([runOf]);
  const lines = [];
  // The style of the page for what snapshots draw.
  for (const mode of ['one', 'beside', 'graph', 'memory', 'warps', 'roofline', 'difference']) {
    press(viewer, `[data-mode=${mode}]`);
    press(viewer, `button[data-stage="${mode === 'beside' ? 3 : 1}"]`);
    const picture = viewer.picture();
    const written = picture.calls.filter(({ name }) => name === 'fillText').map(({ words: [word] }) => word).join(' ');
    assert.ok(written.includes(sentenceOf(viewer.tracks[0], mode === 'beside' ? 3 : 1)), `${mode}: ${written}`);
    lines.push(`# ${mode}: ${picture.width} x ${picture.height}`, ...drawnOn(picture.calls));
    one(viewer, '[title="Save the view as PNG"]').click();
  }
  assert.deepEqual(downloads.splice(0), ['demo_1_cuthill_mckee', 'demo_3_split', 'demo_1_cuthill_mckee_graph', 'demo_1_cuthill_mckee_memory', 'demo_1_cuthill_mckee_warps', 'demo_1_cuthill_mckee_roofline', 'demo_1_cuthill_mckee'].map((name) => `${name}.png`));
  const two = await view([runOf, (data) => ({ ...runOf(data), title: 'other run' })]);
  const picture = two.picture();
  lines.push('# two runs', ...drawnOn(picture.calls));
  one(two, '[title="Save the view as PNG"]').click();
  assert.deepEqual(downloads.splice(0), ['demo_0_input_other_run_0_input.png']);
  asStored('slides', lines);
});

test('pixels of bins at several sizes', async () => {
  const { paintDifference, paintStage } = await import('../../src/paint');
  const lines = [];
  const [{ pattern }] = await tracksOf(runOf);
  const view_of = (given) => ({ left: 10, top: 20, width: 90, height: 60, scale: 1, x: 0, y: 0, ...given });
  for (const [name, given, ratio, on] of [['whole', {}, 1, [true, true]], ['twice the dots', {}, 2, [true, true]], ['zoomed', { scale: 3, x: -70, y: -50 }, 1, [true, true]], ['between pixels', { width: 70, height: 50 }, 1, [true, true]], ['one share', { width: 70, height: 50 }, 1, [false, true]], ['no share', {}, 1, [false, false]], ['large', { width: 900, height: 900 }, 1, [true, true]], ['large, between pixels', { width: 1000, height: 700 }, 1, [true, true]], ['soft and zoomed', { width: 70, height: 50, scale: 1.3, x: -15, y: -9 }, 1, [true, true]]]) {
    for (const number of [0, 3]) {
      const { canvas, level } = paintStage(pattern, pattern.stages[number], view_of(given), ratio, on);
      lines.push(`# ${name}, stage ${number}: ${canvas.width} x ${canvas.height}, bins of ${2 ** level.rowBits} x ${2 ** level.columnBits}`, ...pixelsOf(canvas.pixels));
    }
  }
  const { canvas } = paintDifference(pattern.stages[0], pattern.stages[1], (size) => pattern.ceiling(size), view_of({}), 1);
  lines.push('# difference', ...pixelsOf(canvas.pixels));
  const grid = gridOf(20, 20);
  const { patternOf } = await import('./pages.mjs');
  const large = await patternOf({ rows: 400, columns: 400, entries: grid, stages: [{ label: 'input' }, { label: 'turned', order: [...Array(400).keys()].reverse() }, { label: 'half', order: [...Array(400).keys()].map((i) => (i % 2 === 0 ? i / 2 : 200 + (i - 1) / 2)), row_bits: 1, column_bits: 1 }] });
  for (const [width, height] of [[90, 60], [400, 400], [50, 50], [20, 20], [3, 200]]) {
    const painted = paintStage(large, large.stages[0], view_of({ width, height }), 1, [true]);
    lines.push(`# ${width} x ${height}: bins of ${2 ** painted.level.rowBits} x ${2 ** painted.level.columnBits}`, ...pixelsOf(painted.canvas.pixels));
    assert.equal(paintStage(large, large.stages[0], view_of({ width, height }), 1, [true]), painted);
    assert.notEqual(paintStage(large, large.stages[0], view_of({ width, height }), 1, [false]), painted);
    const change = paintDifference(large.stages[0], large.stages[2], (size) => large.ceiling(size), view_of({ width, height }), 1);
    lines.push('# difference', ...pixelsOf(change.canvas.pixels));
  }
  const { drawRowLengths } = await import('../../src/paint');
  const strip = document.createElement('canvas');
  drawRowLengths(strip.getContext('2d'), large.stages[2], large.stages[2].finest, view_of({ width: 400, height: 400 }), 420, 44, {});
  lines.push('# lengths of pairs of rows', ...drawnOn(strip.calls));
  asStored('pixels', lines);
});
