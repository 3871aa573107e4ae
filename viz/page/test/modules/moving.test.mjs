import { downloads, media, time } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { StageAddress } from '../../src/address';
import { endListeners, lifeSignal, listen } from '../../src/life';
import { filmOfStages, filmOfSteps, gifOf } from '../../src/movie';
import { Player } from '../../src/player';
import { printStages } from '../../src/print';
import { runOf, report, run_stages, stages } from './documents.mjs';
import { asStored, drawnOn, linesOf } from './golden.mjs';
import { one, press, settle, shown, text, view } from './window.mjs';

const later = () => new Promise((done) => setImmediate(done));
const position = (viewer) => Number(viewer.tracks[0].position.toFixed(4));

test('nonzeros move to their places in 900 ms', async () => {
  media.clear();
  const viewer = await view([runOf]);
  const stages_shown = [];
  viewer.onStage = (track, stage) => stages_shown.push(`${track} ${stage}`);
  assert.ok(viewer.still());
  viewer.step(1);
  assert.ok(!viewer.still());
  time.frame(0);
  const lines = [];
  for (const milliseconds of [90, 360, 360, 80]) {
    time.frame(milliseconds);
    time.frame(0);
    for (const canvas of viewer.element.querySelectorAll('canvas')) canvas.calls.length = 0;
    viewer.update();
    time.frame(0);
    lines.push(`# ${position(viewer)}`, ...drawnOn(viewer.panes[1].canvas.calls), text(viewer, '.pane:not([hidden]) figcaption'));
  }
  assert.deepEqual([position(viewer), viewer.still()], [Number((890 / 900).toFixed(4)), false]);
  time.frame(10);
  time.frame(16);
  assert.deepEqual([position(viewer), viewer.still(), stages_shown], [1, true, ['0 1']]);
  // A key that is pressed twice moves on; only the last step is animated.
  viewer.step(1);
  time.frame(450);
  assert.equal(position(viewer), 1.5);
  viewer.step(1);
  time.frame(0);
  assert.equal(position(viewer), 2);
  time.frame(900);
  settle();
  assert.equal(position(viewer), 3);
  viewer.moveTo(0, 99);
  time.frame(450);
  viewer.stop();
  settle();
  assert.equal(position(viewer), 3.5);
  assert.ok(!viewer.still());
  viewer.moveTo(0, -5);
  time.frame(900);
  settle();
  assert.equal(position(viewer), 0);
  viewer.show(0, 99);
  assert.equal(position(viewer), 4);
  viewer.show(1, 2);
  assert.equal(position(viewer), 4);
  viewer.moveTo(0, 4);
  settle();
  assert.ok(viewer.still());
  asStored('moves', lines);
});

test('the picture zooms in 220 ms, about its centre', async () => {
  media.clear();
  const viewer = await view([runOf]);
  viewer.zoom.by(4);
  assert.ok(!viewer.zoom.still);
  time.frame(110);
  const { k, x, y } = viewer.zoom.transform;
  assert.deepEqual([k, x, y].map((one) => Number(one.toFixed(9))), [2, -0.5, -0.5]);
  time.frame(110);
  assert.deepEqual([viewer.zoom.transform, viewer.zoom.still], [{ k: 4, x: -1.5, y: -1.5 }, true]);
  viewer.zoom.by(1);
  time.frame(10);
  assert.deepEqual(viewer.zoom.transform, { k: 4, x: -1.5, y: -1.5 });
  time.frame(1000);
  viewer.zoom.fit();
  time.frame(220);
  assert.deepEqual(viewer.zoom.transform, { k: 1, x: 0, y: 0 });
  settle();
  const { canvas } = viewer.panes[1];
  const { left, top, width, height } = viewer.panes[1].view;
  canvas.dispatchEvent(Object.assign(new Event('dblclick'), { clientX: left + width / 2, clientY: top + height / 4 }));
  time.frame(220);
  // Rows and columns are whole places, whose middle is at the centre.
  assert.equal(viewer.zoom.scale, 4);
  assert.deepEqual([viewer.zoom.transform.x, viewer.zoom.transform.y].map((at) => Number(at.toFixed(6))), [0.5 - (15.5 / 30) * 4, 0.5 - (8 / 30) * 4].map((at) => Number(at.toFixed(6))));
});

test('the wheel and a drag', async () => {
  media.add('(prefers-reduced-motion: reduce)');
  const viewer = await view([runOf]);
  const { canvas } = viewer.panes[1];
  const { left, top, width, height } = viewer.panes[1].view;
  const wheel = (deltaY, given = {}) => {
    const event = Object.assign(new Event('wheel', { cancelable: true }), { deltaY, deltaMode: 0, clientX: left + width / 2, clientY: top + height / 2, view: window, ...given });
    canvas.dispatchEvent(event);
    settle();
    return event.defaultPrevented;
  };
  assert.ok(!wheel(-500));
  assert.equal(viewer.zoom.scale, 1);
  canvas.focus();
  assert.ok(!wheel(500));
  assert.ok(wheel(-500));
  const { k, x, y } = viewer.zoom.transform;
  assert.equal(k, 2);
  assert.deepEqual([x, y].map((at) => Number(at.toFixed(6))), [-0.5, -0.5]);
  wheel(500);
  assert.equal(viewer.zoom.scale, 1);
  canvas.blur();
  assert.ok(wheel(-250, { ctrlKey: true, deltaY: -25 }));
  assert.ok(viewer.zoom.scale > 1);
  press(viewer, '[aria-label="Whole matrix"]');
  assert.equal(viewer.zoom.scale, 1);
  const pictures = viewer.panes.map((pane) => pane.canvas.__zoom);
  assert.deepEqual(pictures.map(({ k: scale, x: across, y: down }) => [scale, across + 0, down + 0]), [[1, 0, 0], [1, 0, 0]]);
});

test('a player shows one stage after another', () => {
  const acts = [];
  let at = 0;
  const player = new Player({ last: 2, position: () => at, jump: (stage) => { acts.push(`jump ${stage}`); at = stage; }, move: (stage, done) => { acts.push(`move ${stage}`); at = stage; done(); }, stop: () => acts.push('stop') });
  const label = () => [player.button.getAttribute('aria-label'), player.button.title];
  assert.deepEqual(label(), ['Play all stages', 'Play all stages']);
  const paused = player.button.querySelector('path').getAttribute('d');
  player.button.click();
  assert.deepEqual(label(), ['Pause', 'Pause (Esc)']);
  assert.notEqual(player.button.querySelector('path').getAttribute('d'), paused);
  assert.deepEqual(acts, ['stop', 'move 1']);
  time.advance(699);
  assert.deepEqual(acts.length, 2);
  time.advance(1);
  assert.deepEqual(acts, ['stop', 'move 1', 'move 2']);
  time.advance(700);
  assert.deepEqual(label(), ['Play all stages', 'Play all stages']);
  acts.length = 0;
  player.button.click();
  assert.deepEqual(acts, ['stop', 'jump 0', 'move 1']);
  assert.ok(player.pause());
  assert.ok(!player.pause());
  time.advance(5000);
  assert.deepEqual(acts, ['stop', 'jump 0', 'move 1']);
  at = 0.5;
  acts.length = 0;
  player.button.click();
  assert.deepEqual(acts, ['stop', 'move 1']);
});

test('the player of a view pauses when it is used otherwise', async () => {
  media.add('(prefers-reduced-motion: reduce)');
  const viewer = await view([runOf]);
  const play = one(viewer, '.play');
  play.click();
  settle();
  assert.deepEqual([viewer.current(), play.title], [1, 'Pause (Esc)']);
  time.advance(700);
  settle();
  assert.equal(viewer.current(), 2);
  assert.ok(viewer.stop());
  assert.ok(!viewer.stop());
  time.advance(5000);
  assert.deepEqual([viewer.current(), play.title], [2, 'Play all stages']);
  viewer.show(0, 4);
  play.click();
  settle();
  assert.equal(viewer.current(), 1);
  play.click();
  time.advance(5000);
  assert.equal(viewer.current(), 1);
});

test('the slider of stages', async () => {
  media.add('(prefers-reduced-motion: reduce)');
  const viewer = await view([runOf]);
  const range = one(viewer, '.track-line input');
  assert.deepEqual(['min', 'max', 'step', 'aria-label'].map((name) => range.getAttribute(name)), ['0', '4', 'any', 'Stage']);
  range.value = '1.4';
  range.dispatchEvent(new Event('input'));
  settle();
  assert.deepEqual([position(viewer), viewer.still(), range.getAttribute('aria-valuetext')], [1.4, false, 'cuthill_mckee']);
  range.dispatchEvent(new Event('change'));
  settle();
  assert.deepEqual([position(viewer), viewer.still(), Number(range.value)], [1, true, 1]);
  const key = (name, given = {}) => {
    const event = Object.assign(new Event('keydown', { cancelable: true, bubbles: true }), { key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...given });
    range.dispatchEvent(event);
    settle();
    return [viewer.current(), event.defaultPrevented];
  };
  assert.deepEqual([key('End'), key('ArrowDown'), key('PageDown'), key('ArrowUp'), key('PageUp'), key('Home'), key('x'), key('End', { ctrlKey: true }), key('End', { altKey: true }), key('End', { metaKey: true }), key('End', { shiftKey: true })],
    [[4, true], [3, true], [2, true], [3, true], [4, true], [0, true], [0, false], [0, false], [0, false], [0, false], [0, false]]);
  // While the slider has the focus, small differences do not move it under the hand.
  range.focus();
  range.value = '2.0000001';
  viewer.show(0, 2);
  settle();
  assert.equal(range.value, '2.0000001');
  viewer.show(0, 3);
  settle();
  assert.equal(range.value, '3');
});

test('the address names the stages', async () => {
  media.add('(prefers-reduced-motion: reduce)');
  const two = await view([runOf, (data) => ({ ...runOf(data, { pattern: { stages: stages.slice(0, 2) } }), title: 'b' })]);
  location.hash = '#stage=3,1';
  const address = new StageAddress(two);
  assert.deepEqual([two.current(0), two.current(1)], [3, 1]);
  location.hash = '#stage=2';
  dispatchEvent(new Event('hashchange'));
  assert.deepEqual([two.current(0), two.current(1)], [2, 1]);
  for (const other of ['#stage=', '#stage=x', '#stage=1,', '#astage=1', '#stage=1a', '']) {
    location.hash = other;
    dispatchEvent(new Event('hashchange'));
    assert.deepEqual([two.current(0), two.current(1)], [2, 1]);
  }
  const written = [];
  history.replaceState = (_, __, hash) => written.push((location.hash = hash));
  address.changed();
  time.advance(200);
  address.changed();
  time.advance(299);
  assert.deepEqual(written, []);
  time.advance(1);
  assert.deepEqual(written, ['#stage=2,1']);
  address.changed();
  time.advance(300);
  assert.deepEqual(written, ['#stage=2,1']);
});

test('listeners end with their page', () => {
  let count = 0;
  listen('resize', () => ++count);
  dispatchEvent(new Event('resize'));
  const signal = lifeSignal();
  endListeners();
  dispatchEvent(new Event('resize'));
  assert.deepEqual([count, signal.aborted, lifeSignal().aborted], [1, true, false]);
});

test('films of stages and of steps', async () => {
  const film = filmOfStages(3, (at) => at);
  assert.equal(film.images, 29);
  assert.deepEqual([0, 1, 14, 28].map((image) => film.draw(image)), [0, 1 / 14, 1, 2]);
  assert.deepEqual([0, 1, 13, 14, 28].map((image) => film.milliseconds(image)), [1400, 60, 60, 1400, 1400]);
  const steps = filmOfSteps(4, (step) => step);
  assert.deepEqual([steps.images, [0, 1, 2, 3].map((image) => steps.draw(image)), [0, 1, 2, 3].map((image) => steps.milliseconds(image))], [4, [0, 1, 2, 3], [350, 350, 350, 1400]]);
});

// The images of a GIF, each 2 x 2: their delays, transparent colours and local colours. https://www.w3.org/Graphics/GIF/spec-gif89a.txt
function frames(bytes) {
  const found = [];
  const colours = (bits) => 3 * 2 ** (bits + 1);
  let at = 13 + (bytes[10] & 128 ? colours(bytes[10] & 7) : 0);
  let control = null;
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) {
      if (bytes[at + 1] === 0xf9) control = { flags: bytes[at + 3], delay: bytes[at + 4] + 256 * bytes[at + 5], transparent: bytes[at + 6] };
      at += 2;
    } else {
      found.push({ ...control, width: bytes[at + 5], height: bytes[at + 7] });
      at += 10 + (bytes[at + 9] & 128 ? colours(bytes[at + 9] & 7) : 0) + 1;
    }
    while (bytes[at] !== 0) at += bytes[at] + 1;
    ++at;
  }
  return found;
}

test('an animated GIF has each image, and only what changes after the first', async () => {
  const draw = (image) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [2, 2];
    const pixels = canvas.getContext().createImageData(2, 2);
    pixels.data.set([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, image > 4 ? 0 : 255, image > 4 ? 0 : 255, image > 4 ? 0 : 255, 255]);
    canvas.getContext().putImageData(pixels);
    return canvas;
  };
  const shares = [];
  const made = gifOf({ images: 9, draw, milliseconds: (image) => 100 * (image + 1) }, (share) => shares.push(share));
  for (let i = 0; i < 12; ++i) {
    await later();
    time.advance(0);
  }
  const blob = await made;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  assert.equal(blob.type, 'image/gif');
  assert.deepEqual([Buffer.from(bytes.subarray(0, 6)).toString(), bytes[6], bytes[8]], ['GIF89a', 2, 2]);
  const found = frames(bytes);
  assert.deepEqual(found.map(({ delay }) => delay), [10, 20, 30, 40, 50, 60, 70, 80, 90]);
  assert.deepEqual(found.map(({ flags }) => flags & 1), [0, 1, 1, 1, 1, 1, 1, 1, 1]);
  assert.ok(found.slice(1).every(({ transparent }) => transparent === 255) && found.every(({ width, height }) => width === 2 && height === 2));
  assert.deepEqual(shares, [1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => i / 9));
});

// Pictures of 2 x 2 pixels, which take less time, and what the view shows in each.
function small(viewer, state) {
  const found = [];
  viewer.picture = () => {
    found.push(state());
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [2, 2];
    return canvas;
  };
  return found;
}

test('the film of a view shows all stages, and then what was shown', async () => {
  media.add('(prefers-reduced-motion: reduce)');
  const viewer = await view([(data) => runOf(data, { pattern: { stages: stages.slice(0, 2) }, run: { report: report({ stages: run_stages.slice(0, 2) }) } })]);
  viewer.show(0, 1);
  const button = viewer.element.querySelectorAll('.saving button')[1];
  assert.deepEqual([button.textContent, button.hidden, button.title], ['Save GIF', false, 'Save all stages as an animated GIF']);
  const positions = small(viewer, () => position(viewer));
  button.click();
  assert.ok(button.disabled);
  const words = new Set();
  for (let i = 0; i < 20; ++i) {
    await later();
    words.add(button.textContent);
    time.advance(0);
  }
  await later();
  assert.deepEqual([button.textContent, button.disabled, downloads.at(-1)], ['Save GIF', false, 'demo.gif']);
  assert.ok(words.has('GIF 7 %') && words.has('GIF 93 %'), [...words].join());
  assert.equal(viewer.current(), 1);
  assert.deepEqual(positions.map((at) => Math.round(14 * at)), [0, 7, 14, ...Array.from({ length: 15 }, (_, i) => i)]); // those of the palette first
  press(viewer, '[data-mode=warps]');
  assert.equal(button.title, 'Save the steps of the warp as an animated GIF');
  const steps = small(viewer, () => one(viewer, '.warp-tools input').value);
  const of_warp = viewer.movie(() => undefined);
  for (let i = 0; i < 6; ++i) {
    await later();
    time.advance(0);
  }
  assert.equal(frames(new Uint8Array(await (await of_warp).arrayBuffer())).length, 3);
  assert.deepEqual(steps, ['1', '3', '1', '2', '3']); // those of the palette first
  const none = await view([(data) => runOf(data, { pattern: { stages: stages.slice(0, 1) }, run: { report: report({ stages: run_stages.slice(0, 1) }), storage: null } })]);
  assert.equal(await none.movie(() => undefined), null);
  assert.ok(none.element.querySelectorAll('.saving button')[1].hidden);
});

test('paper has all stages on white', async () => {
  media.add('(prefers-reduced-motion: reduce)');
  const viewer = await view([runOf]);
  document.documentElement.dataset.theme = 'dark';
  let redrawn = 0;
  printStages(viewer, () => ++redrawn);
  dispatchEvent(new Event('beforeprint'));
  const sheet = document.querySelector('.print-only');
  assert.deepEqual([document.documentElement.dataset.theme, document.getElementById('page').style.width, redrawn], ['light', '186mm', 1]);
  const lines = sheet.querySelectorAll('figure').flatMap((figure) => [...linesOf(figure).filter((line) => !line.includes('<canvas')), ...drawnOn(figure.querySelector('canvas').calls).slice(0, 3)]);
  assert.equal(sheet.querySelectorAll('canvas').length, 5);
  assert.equal(sheet.querySelector('h3'), null);
  dispatchEvent(new Event('afterprint'));
  assert.deepEqual([document.documentElement.dataset.theme, document.querySelector('.print-only'), document.getElementById('page').style.width, redrawn], ['dark', null, '', 2]);
  document.documentElement.dataset.theme = 'light';
  asStored('paper', lines);
  endListeners();
  const two = await view([runOf, (data) => ({ ...runOf(data), title: 'b' })]);
  printStages(two, () => undefined);
  dispatchEvent(new Event('beforeprint'));
  assert.deepEqual(document.querySelectorAll('.print-only h3').map((title) => title.textContent), ['demo', 'b']);
  dispatchEvent(new Event('afterprint'));
});

test('a warp is played step by step', async () => {
  media.add('(prefers-reduced-motion: reduce)');
  const viewer = await view([runOf]);
  press(viewer, '[data-mode=warps]');
  const step = one(viewer, '.warp-tools input');
  const button = one(viewer, '.warp-tools button');
  const words = () => text(viewer, '.warp-words').split(' | ').find((line) => /step/.test(line) && line.includes('lane steps'));
  assert.deepEqual([step.max, step.value], ['3', '3']);
  assert.ok(words().startsWith('All 3 steps: '), words());
  button.click();
  assert.deepEqual([step.value, button.getAttribute('aria-label')], ['1', 'Pause']);
  assert.ok(words().startsWith('After step 0 of 3: '), words());
  time.advance(349);
  assert.equal(step.value, '1');
  time.advance(1);
  assert.equal(step.value, '2');
  time.advance(350);
  assert.equal(step.value, '3');
  time.advance(350);
  assert.equal(button.getAttribute('aria-label'), 'Play the steps');
  step.value = '1';
  step.dispatchEvent(new Event('input'));
  button.click();
  assert.equal(step.value, '2');
  button.click();
  time.advance(3000);
  assert.equal(step.value, '2');
  const which = one(viewer, '.warp-tools select');
  assert.deepEqual(which.options.map((option) => option.textContent), ['sell, warp 0 of 3', 'sell, warp 2 of 3']);
  which.value = '1';
  which.dispatchEvent(new Event('change'));
  assert.deepEqual([step.max, step.value], ['4', '4']);
  assert.ok(words().startsWith('After step 3 of 6: '), words());
  button.click();
  viewer.element.remove();
  time.advance(350);
  assert.deepEqual([step.value, button.getAttribute('aria-label')], ['1', 'Play the steps']);
  assert.equal(shown(viewer).length, 2);
});
