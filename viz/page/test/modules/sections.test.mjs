import { sized } from './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { forgetCharts, redrawCharts } from '../../src/charts';
import { aboutSection, bytesSection, code, kernelsSection, metricsSection, recipeSection } from '../../src/sections';
import { device, figure, figures, kernel, layout, pageOf, report, run_stages } from './documents.mjs';
import { asStored, linesOf } from './golden.mjs';

// Charts have this width.
const shown = (element, width = 560) => {
  for (const place of element.querySelectorAll('.chart-place')) place.box = { width, height: 300 };
  redrawCharts();
  return element;
};
const run = (given = {}, title = 'demo') => ({ title, report: report(given), figures, pattern: null, storage: null });
const second = () => run({ stages: run_stages.slice(0, 2), kernels: [kernel({ kernel: 'other', samples: [5e-5, 4e-5, 6e-5], median_seconds: 5e-5, verdict: 'slower', break_even: null, gflops: 2.7, gbytes_per_second: 13.3 }), kernel({ layout: 'csr', kernel: 'plain', baseline: true, median_seconds: 3.1e-5, samples: [3e-5, 3.2e-5], verdict: null, gflops: 2.1, gbytes_per_second: 14.4 })], devices: [device({})], cache: 'warm' }, 'second');
const texts = (element, selector) => element.querySelectorAll(selector).map((one) => one.textContent);

test('figures by stage: those that change as bars, those that do not as a list', () => {
  const picked = [];
  const section = shown(metricsSection([run()], () => [2], (...words) => picked.push(words.join())));
  assert.deepEqual(texts(section, '.chart > figcaption'), ['nonzeros inside', 'bandwidth', 'SELL-32 padding', 'edge cut', 'warp iterations', 'profile', 'row length min/mean/max']);
  assert.deepEqual(texts(section, 'summary'), ['1 more figures that the stages change', '2 figures that no stage changes']);
  assert.deepEqual(texts(section, 'dd'), ['30', '7.7 %']);
  const [inside] = section.querySelectorAll('.chart');
  assert.deepEqual(texts(inside, '.value'), ['–', '–', '80.5 %', '80.5 %', '80.5 %']);
  assert.deepEqual(inside.querySelectorAll('.bar').map((bar) => bar.classList.contains('now')), [false, false, true, false, false]);
  inside.querySelectorAll('.bar')[3].dispatchEvent(new Event('click'));
  assert.deepEqual(picked, ['0,3']);
  const widths = section.querySelectorAll('.chart')[1].querySelectorAll('.ink').map((bar) => Number(bar.getAttribute('width')));
  assert.deepEqual(widths, [5, 6, 6, 6, 7].map((one) => (560 * one) / 7));
  const two = shown(metricsSection([run(), second()], () => [0, 1], () => undefined));
  asStored('figures_by_stage', [...linesOf(section), ...linesOf(two)]);
  const none = metricsSection([{ ...run(), figures: [figure('rows', ['7'])] }], () => [0], () => undefined);
  assert.deepEqual(texts(none, 'summary'), ['1 figures that no stage changes']);
  const same = metricsSection([{ ...run(), figures: figures.slice(0, 1) }], () => [0], () => undefined);
  assert.deepEqual(texts(same, 'summary'), []);
});

test('kernels: a table, charts, and what was wrong', () => {
  forgetCharts();
  const section = shown(kernelsSection([run()]));
  const cells = section.querySelectorAll('tbody tr').map((row) => row.children.map((cell) => cell.textContent));
  assert.deepEqual(cells[0], ['sell warp', 'kokkos, f64', '20 µs', '1.5 × (1.4 to 1.6)', '1,322', '5 %', '3.4', '17', '85 %', '12.5', '0.02']);
  assert.deepEqual(cells.map((row) => row.slice(3, 5)), [['1.5 × (1.4 to 1.6)', '1,322'], ['baseline', '–'], ['0.5 × (1.4 to 1.6)', 'never'], ['1.02 × (1.4 to 1.6), within noise', '-1'], ['–', '–'], ['–', '–'], ['busy machine', '1,155']]);
  assert.deepEqual(cells.map((row) => row[0]), ['sell warp', 'csr plain', 'sell vector', 'inside: sell cuda_warp', 'sell lost', 'ell thin', 'sell late']);
  assert.deepEqual(cells.map((row) => row[2]).slice(4, 6), ['WRONG RESULT', 'unsuitable']);
  assert.deepEqual(texts(section, '.reasons li'), ['sell lost: y[3] is 7', 'ell thin: too wide']);
  assert.deepEqual(texts(section, '.warnings li'), ['the machine was busy']);
  assert.deepEqual(texts(section, 'figcaption').map((one) => one.replace('Save chart', '')), ['Every timed product', 'Roofline · Host CPU', 'Break-even · f64', 'Roofline · GPU A']);
  // The slider of the break-even begins where the first kernel is even.
  const slider = section.querySelector('input[type=range]');
  const words = () => section.querySelector('.cursor-words').textContent;
  const price = 0.0021 + 0.0043 + 0.0009 + 0.007 + 0.003 + 0.0004;
  // There it takes as long as the baseline, by the gain of its break-even: price / 1321.5 for warp, price / 1154.5 for late.
  const warp = price + 1155 * (3e-5 - price / 1321.5);
  assert.equal(words(), `After 1,155 products: warp ${(warp * 1e3).toPrecision(3)} ms, baseline csr 34.6 ms, late 34.6 ms, vector 87 ms.`);
  slider.value = '0';
  slider.dispatchEvent(new Event('input'));
  assert.ok(words().startsWith('After 1 products: warp 17.7 ms, baseline csr 30 µs'), words());
  slider.value = '1000';
  slider.dispatchEvent(new Event('input'));
  assert.ok(words().startsWith('After 100,000 products: '), words());
  assert.equal(slider.getAttribute('aria-valuetext'), words());
  assert.equal(section.querySelector('.cursor-line').style['--share'], '1');
  asStored('kernels', [...linesOf(section), ...linesOf(shown(kernelsSection([run(), second()]), 333))]);
});

test('kernels: what is left out', () => {
  assert.equal(kernelsSection([run({ kernels: [] })]), null);
  const titles = (given) => texts(kernelsSection([run(given)]), 'figcaption').map((one) => one.replace('Save chart', ''));
  const [warp, base] = report().kernels;
  assert.deepEqual(titles({ kernels: [warp] }), ['Every timed product', 'Roofline · Host CPU']);
  assert.deepEqual(titles({ kernels: [base] }), ['Every timed product', 'Roofline · Host CPU']);
  assert.deepEqual(titles({ kernels: [warp, base] }), ['Every timed product', 'Roofline · Host CPU', 'Break-even']);
  assert.deepEqual(titles({ kernels: [{ ...warp, share: 'inside' }, base] }), ['Every timed product', 'Roofline · Host CPU']);
  assert.deepEqual(titles({ kernels: [warp, base], devices: [device({ copy_bytes_per_second: 0 })] }), ['Every timed product', 'Break-even']);
  assert.deepEqual(titles({ kernels: [{ ...warp, status: 'wrong', reason: 'x' }] }), []);
  assert.deepEqual(titles({ kernels: [{ ...warp, bytes_to_move: 0 }, { ...base, gflops: 0 }] }), ['Every timed product', 'Break-even']);
  const gpu = { devices: [device({ kind: 'gpu', name: 'G' })], kernels: [{ ...warp, backend: 'cusparse' }, { ...base, backend: 'cuda' }] };
  assert.deepEqual(titles(gpu), ['Every timed product', 'Roofline · G', 'Break-even · GPU']);
  const plain = shown(kernelsSection([run({ kernels: [{ ...warp, verdict: 'slower', break_even: null, warnings: [] }, { ...base, warnings: [] }] })]));
  assert.equal(plain.querySelector('.warnings'), null);
  assert.equal(plain.querySelector('.reasons'), null);
  assert.ok(texts(plain, '.note').some((one) => one.startsWith('No kernel is significantly faster')));
  assert.ok(plain.querySelector('.cursor-words').textContent.startsWith('After 101 products') || plain.querySelector('.cursor-words').textContent.startsWith('After 100 products'), plain.querySelector('.cursor-words').textContent);
  // The price has the layout as a whole, in the precision of the kernel, and the stages of that precision.
  const priced = shown(kernelsSection([run({ kernels: [warp, base], layouts: [layout({ precision: 'f32', seconds: 50 }), layout({ share: 'a', seconds: 100 }), layout({}), layout({ seconds: 200 })] })]));
  assert.ok(priced.querySelector('.cursor-words').textContent.includes('warp 39.7 ms'), priced.querySelector('.cursor-words').textContent);
  // A kernel without a price pays at once, which an axis of powers cannot show.
  const free = shown(kernelsSection([run({ kernels: [{ ...warp, break_even: 0 }, { ...warp, kernel: 'other', break_even: 1054.5 }, base] })]));
  assert.ok(free.querySelector('.cursor-words').textContent.startsWith('After 1,055 products'), free.querySelector('.cursor-words').textContent);
  assert.deepEqual(texts(free, '.halo').filter((one) => one.startsWith('even')), ['even after 1,055']);
  // At most five kernels and the baseline, and each name once.
  const many = Array.from({ length: 7 }, (_, i) => ({ ...warp, kernel: `k${i}`, median_seconds: 1e-5 * (i + 1) }));
  const even = (kernels) => kernelsSection([run({ kernels })]).querySelector('.cursor-words').textContent;
  assert.deepEqual(even([...many, { ...base, median_seconds: 1 }, many[0]]).match(/k\d|baseline \w+/g).join(), 'k0,k1,k2,k3,baseline csr');
});

test('bytes by array', () => {
  const hybrid = layout({ name: 'ell', share: 'inside', precision: 'f32', bytes: 512, slots: 0, nonzeros: 50, footprint: { columns: { role: 'column', count: 8, bytes: 200 }, values: { role: 'value', count: 9, bytes: 300 }, extra: { role: 'column', count: 3, bytes: 12 } } });
  const section = shown(bytesSection([run({ layouts: [layout({}), hybrid, layout({ name: 'dia', unsuitable: 'too many diagonals', bytes: 0 })] })]));
  assert.deepEqual(texts(section, '.reasons li'), ['demo: dia f64: too many diagonals']);
  assert.deepEqual(section.querySelectorAll('tbody tr').map((row) => row.children.map((cell) => cell.textContent).join('; ')), [
    'sell f64; values; value; 160; 1.25 KiB; 62.5 %', 'sell f64; columns; column; 160; 640 B; 31.3 %', 'sell f64; offsets; structure; 6; 24 B; 1.17 %', 'sell f64; widths; structure; 13; 104 B; 5.08 %',
    'share inside: ell f32; columns; column; 8; 200 B; 39.1 %', 'share inside: ell f32; values; value; 9; 300 B; 58.6 %', 'share inside: ell f32; extra; column; 3; 12 B; 2.34 %',
  ]);
  asStored('bytes', [...linesOf(section), ...linesOf(shown(bytesSection([run()]))), ...linesOf(bytesSection([run({ layouts: [layout({})] }), run({ layouts: [hybrid] }, 'second')]).querySelector('details'))]);
  assert.equal(bytesSection([run({ layouts: [] })]), null);
  assert.equal(bytesSection([run({ layouts: [layout({ bytes: 0 })] })]), null);
  const bad = bytesSection([run({ layouts: [layout({ unsuitable: 'no' })] })]);
  assert.deepEqual([bad.querySelector('.chart'), bad.querySelector('details'), texts(bad, 'li')], [null, null, ['demo: sell f64: no']]);
  const many = layout({ footprint: Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`a${i}`, { role: 'value', count: 1, bytes: 1 }])) });
  assert.deepEqual([many, layout({ footprint: Object.fromEntries(Object.entries(many.footprint).slice(1)) })].map((one) => bytesSection([run({ layouts: [one] })]).querySelector('details').open), [false, true]);
});

test('the recipe, the command and the machine', () => {
  const one = pageOf('run', [run()]);
  const two = pageOf('compare', [run(), second()], { command: '' });
  asStored('recipes_and_machine', [...linesOf(recipeSection(one)), ...linesOf(recipeSection(two)), ...linesOf(aboutSection(one)), ...linesOf(aboutSection({ ...one, solve: { machine: { host_bytes: '2048' }, versions: { a: 'b' }, devices: ['not these'] } }))]);
  assert.equal(aboutSection(pageOf('bench', [])), null);
  assert.equal(code('text', 'it').querySelector('pre').textContent, 'text');
});

test('charts are drawn again when their width changes, and not when they are hidden', () => {
  forgetCharts();
  sized.length = 0;
  const section = bytesSection([run()]);
  const place = section.querySelector('.chart-place');
  redrawCharts();
  assert.equal(place.childElementCount, 0);
  place.box = { width: 200 };
  sized[0]();
  const [first] = place.children;
  assert.equal(first.getAttribute('width'), '200');
  sized[0]();
  assert.equal(place.children[0], first);
  place.box = { width: 210 };
  sized[0]();
  assert.equal(place.children[0].getAttribute('width'), '210');
  forgetCharts();
  place.replaceChildren();
  redrawCharts();
  assert.equal(place.childElementCount, 0);
});
