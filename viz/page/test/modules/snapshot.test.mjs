import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { h, s } from '../../src/dom';
import { snapshotOf } from '../../src/snapshot';
import { drawnOn } from './golden.mjs';

// An element at a place, with a style.
const at = (element, [left, top, width, height], computed = {}) => Object.assign(element, { box: { left, top, width, height }, computed });
// What is drawn of an element at 100, 50 of 60 x 40 pixels, in its own coordinates.
const drawn = (children, computed = {}) => {
  const { calls, width, height } = snapshotOf(at(h('div', {}, ...children), [100, 50, 60, 40], computed), 60, 40, 2);
  assert.deepEqual([width, height], [120, 80]);
  const lines = drawnOn(calls).filter((line) => !/^(beginPath|clip)/.test(line));
  return lines.map((line) => line.replace(/ at 2,2,-200,-100/, ''));
};
const only = (child) => drawn([child]).slice(2); // without the box of the root

test('boxes have a background, rounded corners and an outline', () => {
  assert.deepEqual(drawn([], { backgroundColor: 'red', borderTopLeftRadius: '4px' }), ['roundRect 100 50 60 40 4', 'fill  fillStyle=red globalAlpha=1']);
  assert.deepEqual(drawn([], { borderTopLeftRadius: '50%' })[0], 'roundRect 100 50 60 40 20');
  assert.deepEqual(drawn([], { outlineStyle: 'solid', outlineWidth: '3px' }).slice(2), ['strokeRect 98.5 48.5 63 43 strokeStyle=#0f0 lineWidth=3']);
  assert.deepEqual(drawn([], { outlineStyle: 'solid', outlineWidth: '0px' }).length, 2);
  assert.deepEqual(drawn([], { outlineStyle: 'none', outlineWidth: '3px' }).length, 2);
  assert.equal(drawn([], { backgroundImage: 'linear-gradient(to right, rgb(1 2 3), oklch(4 5 6), rgb(7 8 9))' })[2], 'fill  fillStyle=gradient(100,0,160,0; 0 rgb(1 2 3), 0.5 oklch(4 5 6), 1 rgb(7 8 9))');
  assert.equal(drawn([], { backgroundImage: 'linear-gradient(rgb(1 2 3))' })[2], 'fill  fillStyle=gradient(100,0,160,0; 0 rgb(1 2 3))');
  const stripes = drawn([], { backgroundImage: 'repeating-linear-gradient(45deg, rgb(1 1 1), rgb(2 2 2))' });
  assert.equal(stripes[2], 'fillRect 100 50 60 40 fillStyle=rgb(2 2 2)');
  assert.equal(stripes[3], 'moveTo 60 90');
  assert.equal(stripes[4], 'lineTo 100 50');
  assert.equal(stripes.filter((line) => line.startsWith('moveTo')).length, Math.ceil(100 / (6 * Math.SQRT2)));
  assert.equal(stripes.at(-1), 'stroke  strokeStyle=rgb(1 1 1) lineWidth=3 dash=');
});

test('what is hidden, and controls, are not drawn', () => {
  for (const computed of [{ display: 'none' }, { visibility: 'hidden' }]) assert.deepEqual(only(at(h('p'), [0, 0, 1, 1], computed)), []);
  for (const tag of ['button', 'input', 'select', 'title']) assert.deepEqual(only(at(h(tag), [0, 0, 1, 1])), []);
  const [box, fill, inner] = drawn([at(h('p'), [100, 50, 9, 9], { opacity: '0.5', backgroundColor: 'red' })], { opacity: '0.5' }).filter((line) => line.startsWith('fill') || line.startsWith('round'));
  assert.ok(box && fill.includes('globalAlpha=0.5') && inner, fill);
  const after = drawn([at(h('p'), [100, 50, 9, 9], { opacity: '0.5' }), at(h('p'), [100, 50, 8, 8])]).filter((line) => line.startsWith('fill'));
  assert.deepEqual(after.map((line) => /globalAlpha=([\d.]+)/.exec(line)?.[1]), ['1', '0.5', '1']);
});

test('texts are drawn word by word, where they are laid out', () => {
  const paragraph = (places, computed = {}, text = 'one  two') => {
    const made = at(h('p', {}, text), [100, 50, 60, 20], { fontSize: '10px', fontWeight: '700', fontFamily: 'serif', ...computed });
    made.childNodes[0].place = (begin, end) => new DOMRect(...((text.slice(begin, end) === /^\S+/.exec(text.slice(begin))[0] && places[begin]) || [0, 0, 0, 0]));
    return made;
  };
  const words = (places, ...rest) => only(paragraph(places, ...rest)).filter((line) => line.startsWith('fillText'));
  assert.deepEqual(words({ 0: [100, 50, 20, 14], 5: [125, 50, 20, 14] }), ['fillText one 100 60 fillStyle=#123 font=normal 700 10px serif textAlign=left textBaseline=alphabetic', 'fillText two 125 60']);
  assert.deepEqual(words({ 0: [100, 50, 20, 14] }).length, 1);
  // Words that are not wholly inside are left out; one pixel does not count.
  assert.deepEqual(words({ 0: [100, 48, 20, 14], 5: [125, 49, 20, 14] }).map((line) => line.split(' ')[1]), ['two']);
  assert.deepEqual(words({ 0: [100, 77, 20, 14], 5: [125, 78, 20, 14] }).map((line) => line.split(' ')[1]), ['one']);
  assert.deepEqual(words({ 0: [141, 50, 20, 14], 5: [142, 50, 20, 14] }).map((line) => line.split(' ')[1]), ['one']);
  // An element that scrolls clips what is in it.
  assert.deepEqual(words({ 0: [100, 57, 20, 14], 5: [100, 58, 20, 14] }, { overflowY: 'auto' }).map((line) => line.split(' ')[1]), ['one']);
  const scrolling = snapshotOf(at(h('div', {}, at(h('p'), [100, 50, 60, 20], { overflowY: 'auto' })), [100, 50, 60, 40]), 60, 40, 1);
  assert.deepEqual(scrolling.calls.filter(({ name }) => name === 'rect').map(({ words: numbers }) => numbers), [[100, 50, 60, 20]]);
});

test('canvases are drawn in their boxes', () => {
  const canvas = at(h('canvas', { width: 30, height: 20 }), [110, 60, 15, 10]);
  assert.deepEqual(only(canvas).slice(-1), ['drawImage canvas 30 x 20 110 60 15 10']);
  assert.ok(!only(at(h('canvas'), [0, 0, 0, 0])).some((line) => line.startsWith('drawImage')));
});

test('shapes are filled and stroked', () => {
  const shape = (tag, attributes, computed = {}, ...children) => {
    const made = at(s(tag, attributes, ...children), [100, 50, 10, 10], computed);
    return only(at(s('svg', {}, made), [100, 50, 60, 40])).slice(2);
  };
  const place = ' at 2,2,0,0';
  const filled = (path) => [`fill {${path}}${place} fillStyle=#000`];
  const blue = { fill: 'none', stroke: 'blue', strokeWidth: '2.5px' };
  assert.deepEqual(shape('rect', { x: 1, y: 2, width: 3, height: 4 }), filled('rect 1 2 3 4'));
  assert.deepEqual(shape('circle', { cx: 1, cy: 2, r: 3 }), filled('arc 1 2 3 0 6.28'));
  assert.deepEqual(shape('path', { d: 'M1 2z' }), filled('path M1 2z'));
  assert.deepEqual(shape('line', { x1: 1, y1: 2, x2: 3, y2: 4 }, blue), [`stroke {moveTo 1 2; lineTo 3 4}${place} strokeStyle=blue lineWidth=2.5 dash=`]);
  assert.deepEqual(shape('polyline', { points: '1,2 3,4 5.5,6' }, { ...blue, strokeDasharray: '4px, 2px' }), [`stroke {lineTo 1 2; lineTo 3 4; lineTo 5.5 6}${place} strokeStyle=blue lineWidth=2.5 dash=4,2`]);
  assert.deepEqual(shape('rect', { x: 1, y: 2, width: 3, height: 4 }, { stroke: 'blue', strokeWidth: '1px', fillOpacity: '0.25' }), [`fill {rect 1 2 3 4}${place} fillStyle=#000 globalAlpha=0.25`, `stroke {rect 1 2 3 4}${place} strokeStyle=blue lineWidth=1 globalAlpha=1 dash=`]);
  assert.deepEqual(shape('rect', { x: 1, y: 2, width: 3, height: 4 }, { fill: 'none' }), []);
  assert.deepEqual(shape('g', {}, {}), []);
  const text = shape('text', { x: 3, y: 4 }, { fontSize: '8px', textAnchor: 'middle' }, s('title', {}, ''));
  assert.deepEqual(text, [`fillText  3 4${place} fillStyle=#000 font=normal 400 8px serif textAlign=center textBaseline=alphabetic`]);
  const halo = shape('text', { x: 3, y: 4 }, { stroke: 'white', strokeWidth: '3px', textAnchor: 'end' });
  assert.deepEqual(halo.map((line) => line.split(' ')[0]), ['strokeText', 'fillText']);
  assert.ok(halo[0].includes('textAlign=right'), halo[0]);
  // A clip path, which is somewhere on the page.
  document.body.replaceChildren(s('svg', {}, s('clipPath', { id: 'clip-a' }, s('rect', { x: 5, y: 6, width: 7, height: 8 }))));
  const clipped = snapshotOf(at(h('div', {}, at(s('svg', {}, at(s('line', { x1: 1, y1: 1, x2: 2, y2: 2 }), [100, 50, 1, 1], { ...blue, clipPath: 'url("#clip-a")' })), [100, 50, 60, 40])), [100, 50, 60, 40]), 60, 40, 1);
  assert.deepEqual(clipped.calls.filter(({ name }) => name === 'clip').flatMap(({ words }) => words.map((path) => path.calls[0].join(' '))), ['rect 5 6 7 8']);
  assert.deepEqual(only(at(s('svg', {}, s('clipPath', {}, at(s('rect', { x: 5, y: 6, width: 7, height: 8 }), [1, 1, 1, 1]))), [100, 50, 60, 40])).slice(2), []);
  const lost = s('rect', { x: 1, y: 2, width: 3, height: 4 });
  lost.getScreenCTM = () => null;
  assert.deepEqual(only(at(s('svg', {}, lost), [100, 50, 60, 40])).slice(2), []);
});
