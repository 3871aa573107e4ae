import { downloads } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { chart, forgetCharts, ratioBars, redrawCharts, sampleStrips, stackedBars, stageBars, xyChart } from '../../src/charts';
import { asStored, drawnOn, linesOf } from './golden.mjs';

// A chart of a width.
function drawn(figure, width = 500) {
  figure.querySelector('.chart-place').box = { width, height: 300 };
  redrawCharts();
  return figure;
}
const numbers = (element, selector, name) => element.querySelectorAll(selector).map((one) => Number(one.getAttribute(name)));
const texts = (element, selector) => element.querySelectorAll(selector).map((one) => one.textContent);
const xy = (given) => ({ x: 'across', y: 'up', xRange: [1, 1000], yRange: [0.1, 10], points: [], curves: [], ...given });

// The texts of the grid lines across, right of those of the other axis, and before the name of the axis.
const across = (figure) => figure.querySelectorAll('text.name').filter((one) => Number(one.getAttribute('x')) > 52).slice(0, -1);

test('axes of powers have ticks within their range', () => {
  // Those that are not close to each other.
  const ticks = (low, high, width = 500) => across(drawn(xyChart('t', 'l', xy({ xRange: [low, high] })), width)).map((one) => one.textContent).join(' ');
  assert.equal(ticks(1, 1000), '1 10 100 1,000');
  assert.equal(ticks(1, 50), '1 2 5 10 20 50');
  assert.equal(ticks(0.9, 110), '1 2 5 10 20 50 100');
  assert.equal(ticks(0.9, 210), '1 10 100');
  assert.equal(ticks(3, 8), '3 4 5 6 7 8');
  assert.equal(ticks(1.0005, 9.995), '1 2 5 10');
  assert.equal(ticks(1.1, 9), '2 3 4 5 6 7 8 9'.split(' ').filter((_, i) => i % 2 === 0).join(' '));
  assert.equal(ticks(1e-7, 1e-3, 2000), '1.00e-7 1.00e-6 1.00e-5 0.0001 0.001');
});

test('ticks of a narrow chart have fewer texts, and keep their lines', () => {
  const wide = drawn(xyChart('t', 'l', xy({ xRange: [1, 100000], xText: (x) => `about ${x}` })), 900);
  const narrow = drawn(xyChart('t', 'l', xy({ xRange: [1, 100000], xText: (x) => `about ${x}` })), 250);
  const count = (figure) => [figure.querySelectorAll('line.grid').length, across(figure).length];
  assert.deepEqual([count(wide)[0], count(narrow)[0]], [13, 13]); // 6 across, and 7 of the other axis
  assert.ok(count(narrow)[1] < count(wide)[1]);
  for (const [figure, width] of [[narrow, 250], [wide, 900]]) {
    const ends = across(figure).map((text) => [Number(text.getAttribute('x')), text.textContent.length * 4.5, text.getAttribute('text-anchor') === 'end']).map(([x, half, is_end]) => (is_end ? [x - 2 * half, x] : [x - half, x + half]));
    assert.ok(ends.every(([begin, end], i) => (i === 0 || begin >= ends[i - 1][1]) && end <= width), JSON.stringify(ends));
  }
  assert.equal(across(wide).at(-1).textContent, 'about 100000');
});

test('curves, their names and the points of a chart', () => {
  forgetCharts();
  const curve = (name, at, colour = 0) => ({ name, at, colour });
  const figure = drawn(xyChart('Title', 'label', xy({
    curves: [curve('rises', (x) => x / 100), curve('falls', (x) => 10 / x, 1), curve('flat', () => 1, null), curve('', (x) => x, 2), curve('outside', () => 1e-9, 3), { name: 'places', places: [[10, 0.5], [100, 0.6], [200, 100]], colour: 4 }, curve('near', (x) => x / 101, 5)],
    points: [{ name: 'left', x: 3, y: 1, colour: 0 }, { name: 'right', x: 800, y: 2, colour: 1, title: 'other title' }, { name: '', x: 30, y: 5, colour: -1 }, { name: 'same', x: 3, y: 1, colour: 6 }],
    keys: [{ name: 'a first key of the legend', colour: 0 }, { name: 'a second key of the legend', colour: 1 }, { name: 'a third', colour: 2 }, { name: 'others', colour: -1 }], note: 'A note.',
  })));
  asStored('chart', [...linesOf(figure), ...linesOf(drawn(xyChart('Linear', 'label', xy({ linear: true, xRange: [0, 100], curves: [{ name: 'c', places: [[0, 1], [50, 0.2], [100, 3]], colour: 0 }] })), 1200))]);
  const markers = figure.querySelectorAll('.marker');
  assert.equal(markers.length, 4 + 4);
  // All markers of points are on the paper, where their numbers put them.
  const at = (one) => /^M([\d.]+) ([\d.]+)/.exec(one.getAttribute('d')).slice(1).map(Number);
  const [first] = markers.map(at);
  const text = 0.78 * 16;
  const [left, right, bottom, top] = [Math.round(4.6 * text), 500 - text, 310 - Math.round(3.1 * text), 1.6 * text];
  assert.deepEqual(first.map((one) => one.toFixed(3)), [left + ((right - left) * Math.log(3)) / Math.log(1000) - 0.4 * text, (bottom + top) / 2].map((one) => one.toFixed(3)));
});

test('the name of a curve is above it, or below it if another curve is close above', () => {
  // From 0.1 to 10 over a height of 251 pixels or so; a factor of 1.1 is 5 pixels, one of 2 more than two lines.
  const names = (...curves) => {
    const figure = drawn(xyChart('t', 'l', xy({ curves: curves.map((at, i) => ({ name: `c${i}`, at, colour: i })) })));
    const ends = figure.querySelectorAll('.curve').map((one) => Number(one.getAttribute('points').split(' ').at(-1).split(',')[1]));
    const at = new Map(figure.querySelectorAll('.halo').map((one) => [one.textContent, Number(one.getAttribute('y'))]));
    return ends.map((end, i) => (at.has(`c${i}`) ? (at.get(`c${i}`) > end ? 'below' : 'above') : 'none')).join(' ');
  };
  assert.equal(names(() => 1), 'above');
  assert.equal(names(() => 1, () => 1.1), 'below above');
  assert.equal(names(() => 1, () => 2), 'above above');
  assert.equal(names(() => 1, () => 0.9), 'above below');
  assert.equal(names((x) => (x > 200 ? 1 : 5), (x) => (x > 500 ? 3 : 1.1)), 'above above'); // close to it, but not near its name
  assert.equal(names((x) => (x > 200 ? 1 : 5), (x) => (x > 900 ? 3 : 1.1)), 'below above');
  assert.equal(names(() => 1, (x) => (x > 10 ? 4 : 1.1)), 'above above');
  // Where a curve leaves the chart, its name is at the last place in it.
  assert.equal(names((x) => x / 20, () => 1e-5, () => 1e5), 'below none none');
});

test('names leave room for markers, which are drawn over them', () => {
  const point = (name, x, y) => ({ name, x, y, colour: 0 });
  const drawn_points = (...points) => {
    const figure = drawn(xyChart('t', 'l', xy({ points })));
    const at = figure.querySelectorAll('.marker').map((one) => /^M([\d.]+) ([\d.]+)/.exec(one.getAttribute('d')).slice(1).map(Number)).map(([x, y]) => [x + 0.4 * 12.48, y]);
    // Markers under a name, of which a letter is 7.5 pixels wide.
    const hidden = figure.querySelectorAll('.halo').flatMap((name) => at.filter(([x, y]) => {
      const [left, base] = ['x', 'y'].map((key) => Number(name.getAttribute(key)));
      return x > left && x < left + 7.5 * name.textContent.length && y > base - 10 && y < base + 2.5;
    }));
    const order = figure.querySelector('svg').children.map((one) => one.getAttribute('class')).filter((one) => one === 'halo' || one === 'marker').join(' ');
    return [hidden.length, order, figure.querySelectorAll('.halo').map((one) => Number(one.getAttribute('y')) - at[0][1])];
  };
  assert.deepEqual(drawn_points(point('a long name', 3, 1), point('', 6, 1.02), point('other', 5, 0.8)).slice(0, 2), [0, 'halo halo marker marker marker']);
  assert.deepEqual(drawn_points(point('a name', 3, 1), point('', 100, 1))[2].map((one) => one.toFixed(2)), ['4.37']); // beside its marker, if no other is near
  // Where markers are everywhere below, it stays.
  assert.deepEqual(drawn_points(point('a name', 3, 1), ...Array.from({ length: 60 }, (_, i) => point('', 4, 0.1 * 1.05 ** i)))[2].map((one) => one.toFixed(2)), ['4.37']);
});

test('a slider moves a line along the axis', () => {
  const figure = drawn(xyChart('t', 'l', xy({ cursor: { name: 'N', start: 10, words: (x) => `at ${x.toPrecision(6)}` } })));
  const range = figure.querySelector('input');
  const line = figure.querySelector('.cursor-line');
  const words = () => figure.querySelector('.cursor-words').textContent;
  assert.deepEqual([range.value, words(), Number(line.style['--share']).toFixed(6), range.getAttribute('aria-valuetext')], ['333', 'at 10.0000', (1 / 3).toFixed(6), 'at 10.0000']);
  range.value = '500';
  range.dispatchEvent(new Event('input'));
  assert.deepEqual([words(), line.style['--share']], [`at ${Math.sqrt(1000).toPrecision(6)}`, '0.5']);
  assert.deepEqual(figure.children.map((one) => one.getAttribute('class') ?? one.localName), ['figcaption', 'with-cursor', 'input', 'cursor-words']);
  assert.deepEqual(figure.querySelector('.with-cursor').children.map((one) => one.getAttribute('class')), ['chart-place', 'cursor-line']);
});

test('a chart is saved as a picture as wide as a slide', () => {
  forgetCharts();
  const figure = drawn(xyChart('Time: a/b', 'l', xy({})));
  figure.box = { left: 0, top: 0, width: 450, height: 300 };
  const made = [];
  const create = document.createElement;
  document.createElement = (tag) => {
    const element = create(tag);
    if (tag === 'canvas') made.push(element);
    return element;
  };
  figure.querySelector('button').click();
  document.createElement = create;
  assert.deepEqual(downloads.splice(0), ['Time_a_b.png']);
  const [whole, snapshot] = made;
  // 1800 pixels for 450, and margins of 60.
  assert.deepEqual([whole.width, whole.height, snapshot.width, snapshot.height], [1920, 1200 + 120, 450 * 4, 1200]);
  assert.deepEqual(drawnOn(whole.calls), ['fillRect 0 0 1920 1320 fillStyle=#fff globalAlpha=1', 'drawImage canvas 1800 x 1200 60 60']);
});

test('bars of stages, samples, parts and ratios', () => {
  forgetCharts();
  const picked = [];
  const bars = drawn(stageBars('t', 'm', [['a', 'b'], ['c']], [[{ text: '1', value: 1 }, { text: '–', value: null }], [{ text: '0', value: 0 }]], () => [1, 0], (...words) => picked.push(words.join())));
  assert.deepEqual([numbers(bars, '.ink', 'width'), bars.querySelectorAll('.bar').map((bar) => bar.getAttribute('class'))], [[500, 0, 1.5], ['bar', 'bar now', 'bar now']]);
  assert.equal(bars.querySelector('svg').getAttribute('aria-label'), 't: a 1, b –; c 0');
  bars.querySelectorAll('.bar')[2].dispatchEvent(new Event('click'));
  assert.deepEqual(picked, ['1,0']);
  const zero = drawn(stageBars('t', 'm', [['a']], [[{ text: '0', value: 0 }]], () => [0], () => undefined));
  assert.deepEqual(numbers(zero, '.ink', 'width'), [1.5]);
  const dots = (name, list, given = {}) => ({ name, detail: 'd', median: 2, low: 1, high: 3, samples: list, colour: 0, ...given });
  const strips = drawn(sampleStrips('t', [dots('a', [1, 2, 3, 50, 60]), dots('b', Array.from({ length: 1201 }, (_, i) => 1 + i / 1000), { median: 1.5, low: 1.1, high: 100 })], 'n'));
  assert.equal(strips.querySelectorAll('circle').length, 5 + 401); // of more than 600 samples, every third
  const few = drawn(sampleStrips('t', [dots('a', [1, 2, 3, 50, 60])], ''));
  assert.deepEqual(texts(few, 'text[text-anchor=end]'), ['4 s', '2 further right →']);
  assert.equal(few.querySelectorAll('circle').length, 3);
  const parts = [{ name: 'p', size: 3, role: 'value' }, { name: 'q', size: 1, role: 'odd' }];
  const stacked = drawn(stackedBars('t', [{ name: 'r', detail: 'd', parts }, { name: 's', detail: 'e', parts: [{ name: 'z', size: 0, role: 'column' }] }], (size) => `${size} B`));
  assert.deepEqual([numbers(stacked, 'rect', 'x'), numbers(stacked, 'rect', 'width'), texts(stacked, 'title')], [[0, 375, 0], [374, 124, 0.5], ['p: 3 B', 'q: 1 B', 'z: 0 B']]);
  const empty = drawn(stackedBars('t', [{ name: 's', detail: 'e', parts: [] }], String));
  assert.equal(empty.querySelectorAll('rect').length, 0);
  const ratio = drawn(ratioBars('t', [{ name: 'x', value: 2, low: 1.5, high: 3, text: '2 ×' }, { name: 'y', value: 0.5, low: 0.4, high: 0.6, text: '0.5 ×' }], 'n'));
  const [low, high] = [0.4 * 0.95, 3 * 1.05];
  const x = (value) => 12.48 + ((500 - 2 * 12.48) * Math.log(value / low)) / Math.log(high / low);
  assert.deepEqual(numbers(ratio, 'circle', 'cx').map((one) => one.toFixed(3)), [2, 0.5].map((value) => x(value).toFixed(3)));
  assert.equal(numbers(ratio, 'line.axis', 'x1')[0].toFixed(3), x(1).toFixed(3));
  asStored('bars', [bars, strips, few, stacked, ratio, drawn(ratioBars('t', [{ name: 'x', value: 20, low: 15, high: 30, text: '20 ×' }], ''))].flatMap((one) => linesOf(one)));
  assert.equal(chart('t', 'l', () => ({ svg: [], height: 5 })).querySelector('.note'), null);
});
