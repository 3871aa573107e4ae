import { downloads, time } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { action, bytes, copyButton, counted, dotsPerPixel, download, exact, h, percent, plural, s, seconds, section, significant, withDots } from '../../src/dom';
import { table } from '../../src/table';
import { modesOf } from '../../src/view';
import { linesOf } from './golden.mjs';

test('numbers for readers', () => {
  assert.deepEqual([0, 999, 1000, 1234567.6, -5000].map(counted), ['0', '999', '1,000', '1,234,568', '-5,000']);
  assert.deepEqual([plural(0, 'row'), plural(1, 'row'), plural(1200, 'row'), plural(2, 'matrix', 'matrices'), plural(1, 'matrix', 'matrices')], ['0 rows', '1 row', '1,200 rows', '2 matrices', '1 matrix']);
  const numbers = { 0: '0', 1: '1', 1.005: '1', 1.006: '1.01', 12.345: '12.3', 999.6: '1,000', 123456: '123,000', 999999: '1,000,000', 1e6: '1.00e6', '-1234567': '-1.23e6', 0.0001: '0.0001', 0.00012345: '0.000123', 0.000099: '9.90e-5', '-0.5': '-0.5' };
  for (const [number, text] of Object.entries(numbers)) assert.equal(significant(Number(number)), text);
  assert.deepEqual([significant(1234, 2), significant(0.00001234, 2), significant(Math.PI, 5)], ['1,200', '1.2e-5', '3.1416']);
  assert.deepEqual([exact(0.1), exact(-3), exact(1e21)], ['0.1', '-3', '1e+21']);
  const times = { 0: '0 s', 1: '1 s', 59.96: '60 s', 0.9996: '1 s', 0.999: '999 ms', 0.0015: '1.5 ms', 2.5e-6: '2.5 µs', 1e-6: '1 µs', 4.2e-8: '42 ns', 5e-10: '0.5 ns' };
  for (const [number, text] of Object.entries(times)) assert.equal(seconds(Number(number)), text);
  const sizes = { 0: '0 B', 1: '1 B', 1023: '1,020 B', 1024: '1 KiB', 1536: '1.5 KiB', 1048576: '1 MiB', 1073741824: '1 GiB', 1048575: '1,020 KiB' };
  for (const [number, text] of Object.entries(sizes)) assert.equal(bytes(Number(number)), text);
  assert.deepEqual([percent(0), percent(0.1234), percent(1)], ['0 %', '12.3 %', '100 %']);
});

test('elements have attributes, listeners and children', () => {
  let clicks = 0;
  const element = h('p', { class: 'a', hidden: true, disabled: false, title: undefined, tabindex: 0, click: () => ++clicks }, 'one ', h('b', {}, 'two'), null, undefined, false);
  assert.deepEqual(linesOf(element), ['<p class="a" hidden="" tabindex="0">', '  one ', '  <b> two']);
  element.click();
  assert.equal(clicks, 1);
  assert.deepEqual(linesOf(s('g', { x: 1.5 }, s('title', {}, 'T'))), ['<g x="1.5">', '  <title> T']);
  assert.deepEqual(linesOf(section('id', 'Title', 'Lead', h('p'), null)), ['<section id="id" aria-labelledby="id-title">', '  <h2 id="id-title"> Title', '  <p class="lead"> Lead', '  <p>']);
  assert.equal(section('id', 'Title', '').children.length, 1);
  const button = action('Do it', () => ++clicks);
  button.click();
  assert.deepEqual([clicks, linesOf(button)], [2, ['<button type="button" data-action="Do it" aria-label="Do it" title="Do it"> Do it']]);
  assert.equal(action('Undo', () => undefined, '↶').textContent, '↶');
});

test('a text is copied with and without the clipboard', async () => {
  const button = copyButton(() => 'the text', 'it');
  assert.equal(button.getAttribute('aria-label'), 'Copy it');
  const commands = [];
  document.execCommand = (name) => commands.push(`${name} ${document.querySelector('textarea').value}`);
  button.click();
  assert.deepEqual([commands, button.textContent, document.querySelector('textarea')], [['copy the text'], 'Copied', null]);
  time.advance(1499);
  assert.equal(button.textContent, 'Copied');
  time.advance(1);
  assert.equal(button.textContent, 'Copy');
  const written = [];
  navigator.clipboard = { writeText: async (text) => void written.push(text) };
  button.click();
  await Promise.resolve().then(() => undefined);
  assert.deepEqual([written, button.textContent, commands.length], [['the text'], 'Copied', 1]);
  navigator.clipboard = { writeText: () => Promise.reject(new Error('no')) };
  button.click();
  await new Promise((done) => setImmediate(done));
  assert.equal(commands.length, 2);
});

test('dots of a canvas', () => {
  window.devicePixelRatio = 1.5;
  assert.equal(dotsPerPixel(), 1.5);
  assert.equal(withDots(2, dotsPerPixel), 2);
  assert.throws(() => withDots(3, () => { throw new Error('inside'); }), /inside/);
  assert.equal(dotsPerPixel(), 1.5);
  window.devicePixelRatio = 0;
  assert.equal(dotsPerPixel(), 1);
});

test('a download ends', () => {
  const revoked = [];
  URL.revokeObjectURL = (address) => revoked.push(address);
  download(new Blob(['abc']), 'name.png');
  assert.deepEqual(downloads, ['name.png']);
  time.advance(9999);
  assert.deepEqual(revoked, []);
  time.advance(1);
  assert.deepEqual(revoked, ['blob:3']);
});

test('tables sort by numbers, words and missing values', () => {
  const rows = [['b2', 3], ['b10', 20], ['a', null], ['c', null], ['b1', 3]].map(([text, value]) => [{ text }, { text: value === null ? '–' : `${value} s`, value, tone: 'bad', title: 'why' }, { text: 'x', value: undefined }]);
  const made = table('Caption', [{ name: 'word', left: true, title: 'first' }, { name: 'number', wraps: true }, { name: 'none' }], rows);
  const order = () => made.querySelectorAll('th[scope=row]').map((one) => one.textContent).join(' ');
  const heads = made.querySelectorAll('th[scope=col]');
  const press = (i) => (heads[i].firstElementChild.click(), [order(), heads.map((one) => one.getAttribute('aria-sort'))]);
  assert.equal(order(), 'b2 b10 a c b1');
  assert.deepEqual(press(1), ['b2 b1 b10 a c', [null, 'ascending', null]]);
  assert.deepEqual(press(1), ['b10 b2 b1 a c', [null, 'descending', null]]);
  assert.deepEqual(press(0), ['a b1 b2 b10 c', ['ascending', null, null]]);
  assert.deepEqual(press(0), ['c b10 b2 b1 a', ['descending', null, null]]);
  assert.deepEqual(press(2), ['b2 b10 a c b1', [null, null, 'ascending']]);
  assert.deepEqual(press(1), ['b2 b1 b10 a c', [null, 'ascending', null]]);
  assert.deepEqual(linesOf(made.querySelector('tbody').firstElementChild), ['<tr>', '  <th scope="row" class="left"> b2', '  <td class="wraps bad" title="why"> 3 s', '  <td> x']);
  assert.deepEqual(linesOf(made).slice(0, 6), ['<div class="table-place" tabindex="0" role="region" aria-label="Caption">', '  <table class="figures">', '    <caption> Caption', '    <thead>', '      <tr>', '        <th scope="col" class="left" title="first">']);
  const plain = table('Caption', [{ name: 'word' }], [[{ text: 'x' }]], false);
  assert.deepEqual([plain.querySelector('th').textContent, plain.querySelector('button')], ['word', null]);
});

test('the modes of a view', () => {
  const besides = [{ mode: 'graph' }, { mode: 'warps' }];
  assert.deepEqual(modesOf(false, besides), [['one', 'One'], ['beside', 'Before and after'], ['difference', 'Difference'], ['graph', 'Graph'], ['warps', 'Warps']]);
  assert.deepEqual(modesOf(true, []), [['beside', 'Side by side'], ['difference', 'Difference'], ['one', 'One']]);
});
