import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { benchSections } from '../../src/bench';
import { redrawCharts } from '../../src/charts';
import { chooseSections } from '../../src/choose';
import { judgementSection } from '../../src/judgement';
import { solveSections } from '../../src/solve';
import { asStored, linesOf } from './golden.mjs';

const shown = (sections) => {
  const list = sections.filter((one) => one !== null);
  for (const section of list) for (const place of section.querySelectorAll('.chart-place')) place.box = { width: 500, height: 300 };
  redrawCharts();
  return list;
};
const texts = (element, selector) => element.querySelectorAll(selector).map((one) => one.textContent);
const rows = (element, selector = 'tbody tr') => element.querySelectorAll(selector).map((row) => row.children.map((cell) => cell.textContent).join('; '));
const stored = (name, sections) => asStored(name, sections.flatMap((one) => linesOf(one)));

// ---- bench

const record = (given) => ({
  recipe: 'sell', matrix: 'grid', device: 'host', precision: 'f64', status: 'measured', reason: '', layout: 'sell', kernel: 'warp', backend: 'kokkos', seconds: 2e-5, gflops: 3.3, gbytes_per_second: 18, bytes_per_nonzero: 12, speedup: 1.5,
  interval: [1.4, 1.6], verdict: 'faster', break_even: 41.2, warnings: [], copy_bandwidth: 20e9, nonzeros: 1000, rows: 300, ...given,
});
const ranked = (recipe, geometric_mean, given = {}) => ({ recipe, geometric_mean, least: geometric_mean * 0.8, most: geometric_mean * 1.3, count: 2, won: 1, tied: 0, warned: 0, not_measured: 3, ...given });
const bench = () => ({
  kind: 'bench', command: '', runs: [], records: [
    record({}), record({ matrix: 'other', nonzeros: 5000, speedup: 2.5, interval: null, verdict: 'within noise', break_even: null }),
    record({ recipe: 'csr', layout: 'csr', kernel: 'plain', seconds: 4e-5, speedup: 0.7, verdict: 'slower', copy_bandwidth: 0, nonzeros: 2000 }), record({ recipe: 'csr', matrix: 'third', speedup: 1.1, verdict: 'busy machine', nonzeros: 0 }),
    record({ recipe: 'ell', status: 'unsuitable', reason: 'too wide', speedup: null, break_even: null, device: '', precision: '' }), record({ device: 'gpu', precision: 'f32', speedup: 9, nonzeros: 7000 }), record({ recipe: 'lost', status: 'wrong', reason: 'y[2]', device: 'gpu', precision: 'f32', speedup: 3, nonzeros: 900 }),
  ],
  rankings: [{ device: 'host', precision: 'f64', matrices: 3, recipes: [ranked('sell', 1.9), ranked('csr', 0.9, { won: 0, tied: 2 }), ranked('ell', 0, { count: 0 })] }, { device: 'gpu', precision: 'f32', matrices: 1, recipes: [ranked('sell', 9)] }, { device: 'gpu', precision: 'f64', matrices: 0, recipes: [ranked('none', 0, { count: 0 })] }],
});

test('a bench has a ranking for each device and precision, charts and all measurements', () => {
  const [ranking, records] = shown(benchSections(bench()));
  assert.deepEqual(texts(ranking, 'caption'), ['CPU, f64: 3 matrices', 'GPU, f32: 1 matrix', 'GPU, f64: 0 matrices']);
  assert.deepEqual(texts(ranking, 'figcaption').map((one) => one.replace('Save chart', '')), ['Ranking · CPU, f64', 'Speed-up by size · CPU, f64', 'Ranking · GPU, f32', 'Speed-up by size · GPU, f32']);
  assert.deepEqual(rows(ranking), ['sell; 1.9 ×; 1.52; 2.47; 2; 1; 0; 3', 'csr; 0.9 ×; 0.72; 1.17; 2; 0; 2; 3', 'ell; –; 0; 0; 0; 1; 0; 3', 'sell; 9 ×; 7.2; 11.7; 2; 1; 0; 3', 'none; –; 0; 0; 0; 1; 0; 3']);
  assert.deepEqual(rows(records), [
    'grid; sell; host, f64; sell warp; 20 µs; 3.3; 90 %; 12; 1.5 × (1.4 to 1.6); 42', 'other; sell; host, f64; sell warp; 20 µs; 3.3; 90 %; 12; 2.5 ×; –', 'grid; csr; host, f64; csr plain; 40 µs; 3.3; –; 12; 0.7 × (1.4 to 1.6); 42',
    'third; csr; host, f64; sell warp; 20 µs; 3.3; 90 %; 12; busy machine; 42', 'grid; ell; –; unsuitable; –; –; –; –; –; –', 'grid; sell; gpu, f32; sell warp; 20 µs; 3.3; 90 %; 12; 1.5 × (1.4 to 1.6); 42'.replace('1.5', '9'), 'grid; lost; gpu, f32; wrong; –; –; –; –; 3 × (1.4 to 1.6); 42']);
  const points = (chart) => texts(chart, '.marker title');
  const [, speedups, , gpu] = ranking.querySelectorAll('.chart');
  assert.deepEqual(points(speedups), ['grid, sell: 1,000, 1.5', 'other, sell: 5,000, 2.5', 'grid, csr: 2,000, 0.7']);
  assert.deepEqual(points(gpu), ['grid, sell: 7,000, 9']);
  assert.equal(speedups.querySelector('svg').getAttribute('aria-label'), '3 points');
  stored('bench', [ranking, records]);
  // Columns of warnings, if there are any.
  const page = bench();
  page.records[1].warnings = ['a short cache', 'noise'];
  page.rankings[0].recipes[0].warned = 1;
  const [warned, listed] = shown(benchSections(page));
  assert.deepEqual(rows(warned), ['sell; 1.9 ×; 1.52; 2.47; 2; 1; 0; 3; 50 %', 'csr; 0.9 ×; 0.72; 1.17; 2; 0; 2; 3; 0 %', 'ell; –; 0; 0; 0; 1; 0; 3; –', 'sell; 9 ×; 7.2; 11.7; 2; 1; 0; 3', 'none; –; 0; 0; 0; 1; 0; 3']);
  const marks = listed.querySelectorAll('tbody tr').map((row) => row.children.at(-1));
  assert.deepEqual(marks.slice(0, 3).map((mark) => `${mark.textContent}|${mark.getAttribute('title')}`), ['|', '2|a short cache\nnoise', '|']);
});

test('of many recipes, the chart has the six fastest', () => {
  const page = bench();
  page.rankings = [{ ...page.rankings[0], recipes: Array.from({ length: 8 }, (_, i) => ranked(`r${i}`, 9 - i, { count: i === 1 ? 0 : 1 })) }];
  page.records = page.rankings[0].recipes.map(({ recipe }) => record({ recipe, speedup: 4 }));
  const [ranking] = shown(benchSections(page));
  const chart = ranking.querySelectorAll('.chart')[1];
  assert.deepEqual(texts(chart, '.marker title').map((one) => one.split(':')[0]), ['r0', 'r2', 'r3', 'r4', 'r5', 'r6'].map((one) => `grid, ${one}`));
  assert.ok(chart.querySelector('figcaption').textContent.startsWith('Speed-up by size · CPU, f64 · the 6 fastest of 7 recipes'));
  assert.deepEqual(shown(benchSections({ kind: 'bench', runs: [] })).map((one) => one.id), ['ranking', 'records']);
});

// ---- judgement

const judged = (matrix, given = {}) => ({ matrix, status: 'measured', way: null, reason: null, seconds: 3e-5, setup_seconds: 0.2, first_seconds: 0.03, new_values_seconds: 0.004, bytes_per_nonzero: 9.5, share_of_copy: 0.66, vendor: { recipe: 'v', kernel: 'k', times_faster: 1.25, break_even: 7.1 }, workbench: { recipe: 'w', kernel: 'l', times_faster: 0.75, break_even: null }, warnings: [], ...given });
const judgement = (given = {}) => ({
  verdict: 'right', file: 'kernel.cpp', right: true, honest: true, counts: { measured: 2, unsuitable: 1, wrong: 1, failed: 0 }, slows_others: null, over_vendor: { geometric_mean: 1.25, least: 1.1, most: 1.4, matrices: 2 }, over_workbench: { geometric_mean: 0.8, least: 0.7, most: 0.9, matrices: 1 }, open: [],
  matrices: [judged('a'), judged('b', { warnings: ['busy', 'hot'], vendor: null, workbench: { recipe: 'w', kernel: 'm', times_faster: null, break_even: 3 }, setup_seconds: null, bytes_per_nonzero: undefined, share_of_copy: null }), judged('c', { status: 'wrong', way: 'wrong result', reason: 'y[1]', vendor: null, workbench: null }), judged('d', { status: 'failed', way: null, reason: null, vendor: undefined, workbench: undefined }), judged('e', { status: 'unsuitable', reason: 'too large', vendor: null, workbench: null })], ...given,
});

test('the judgement of a kernel', () => {
  const section = judgementSection(judgement());
  assert.deepEqual(texts(section, 'dd'), ['right', '2 of 5', '1.25 ×', '0.8 ×']);
  assert.deepEqual(texts(section, 'caption'), ['What was wrong', 'Unsuitable', 'Times beside the best of others']);
  assert.deepEqual(rows(section), ['c; wrong result; y[1]', 'd; ; ', 'e; too large', 'a; 30 µs; v k; 1.25 ×; 8; w l; 0.75 ×; –; 200 ms; 30 ms; 4 ms; 9.5; 66 %; ', 'b; 30 µs; –; –; –; w m; –; 3; –; 30 ms; 4 ms; –; –; noise']);
  assert.equal(section.querySelector('.lead').textContent, 'While the kernel ran, network, files and other processes were out of its reach.');
  const lead = (given) => judgementSection(judgement(given)).querySelector('.lead').textContent;
  assert.equal(lead({ open: ['network', 'files'], slows_others: 2 }), 'While the kernel ran: network; files.');
  assert.ok(lead({ slows_others: 2.5 }).endsWith('The baseline takes 2.5 times as long beside this kernel as without it: the kernel slows others.'));
  const tone = (given) => judgementSection(judgement(given)).querySelector('.headline').children[0].getAttribute('class');
  assert.deepEqual([tone({}), tone({ honest: false }), tone({ right: false })], ['better', 'worse', 'worse']);
  const empty = judgementSection(judgement({ matrices: [judged('x', { vendor: null, workbench: null, warnings: undefined })], over_vendor: null, over_workbench: null }));
  assert.deepEqual(texts(empty, 'caption'), []);
  assert.deepEqual(texts(empty, 'dd').slice(2), ['–', '–']);
  stored('judgement', [section, empty, ...shown(benchSections({ kind: 'bench', runs: [], judgement: judgement({ matrices: [judged('only', { warnings: undefined })] }) })).slice(0, 1)]);
});

// ---- solve

const solved = (recipe, given = {}) => ({ recipe, baseline: false, tuned: false, layout: 'sell', kernel: 'warp', kernel_status: 'measured', kernel_reason: '', stage_seconds: 0.5, build_seconds: 0.25, copy_seconds: 0.125, notes: [], end: 'converged', reason: '', iterations: 3, solver_seconds: 0.01, vector_seconds: 0.002, solve_seconds: 0.03, solve_speedup: 1.4, solve_speedup_interval: [1.3, 1.5], within_noise: false, once_seconds: 0.9, each_seconds: 0.033, total_seconds: 0.95, iteration_seconds: 0.0099, pays_after_solves: 12.3, residuals: [1, 0.1, 0.01, 0.001], ...given });
const solve = (given = {}) => ({
  matrix: {}, method: 'cg', preconditioner: 'jacobi', precision: 'f64', right_hand_side: 'ones', right_sides: 1, tolerance: 1e-8, device: 'host', advice: [{ recipe: 'csr', from_solves: 1 }, { recipe: 'sell', from_solves: 13 }], errors: [{ text: 'an error' }], machine: {}, versions: {}, notes: ['a note'], warnings: ['a warning'],
  solves: [solved('csr', { baseline: true, once_seconds: 0.1, each_seconds: 0.09, solve_speedup: null, solve_speedup_interval: null, pays_after_solves: null, notes: ['took long'] }), solved('sell'), solved('slow', { solve_speedup: 0.6, solve_speedup_interval: null, pays_after_solves: null, once_seconds: 0.2, each_seconds: 0.2, residuals: [1, null, 0, 0.5] }), solved('same', { within_noise: true, pays_after_solves: null, each_seconds: 0.034 }),
    solved('tuned', { tuned: true, residuals: [1] }), solved('stuck', { end: 'stagnated', reason: 'no progress', residuals: [1, 0.9], pays_after_solves: null, solve_speedup: null }), { ...solved('wrong'), kernel_status: 'wrong', kernel_reason: 'y[4]', layout: '', kernel: '', end: undefined, once_seconds: undefined, iterations: undefined, solve_speedup: undefined, total_seconds: undefined, pays_after_solves: undefined, residuals: undefined }], ...given,
});

test('a solve has advice, prices and residuals', () => {
  const [advice, prices, residuals] = shown(solveSections({ kind: 'solve', runs: [], solve: solve(), sentences: ['Least time', 'Then sell'] }));
  assert.equal(advice.querySelector('.lead').textContent, 'cg with Jacobi, f64, |b − A x| / |b| below 1e-8, on host; b: ones');
  assert.deepEqual(advice.querySelectorAll('section > p').map((one) => `${one.getAttribute('class') ?? ''} ${one.textContent}`), ['lead cg with Jacobi, f64, |b − A x| / |b| below 1e-8, on host; b: ones', 'answer Least time', ' Then sell']);
  assert.deepEqual(rows(prices), [
    'csr; sell warp; converged; 3; 950 ms; baseline; –; 500 ms; 250 ms; 125 ms; 10 ms; 2 ms; 9.9 ms; 30 ms', 'sell; sell warp; converged; 3; 950 ms; 1.4 × (1.3 to 1.5); 13; 500 ms; 250 ms; 125 ms; 10 ms; 2 ms; 9.9 ms; 30 ms',
    'slow; sell warp; converged; 3; 950 ms; 0.6 ×; never; 500 ms; 250 ms; 125 ms; 10 ms; 2 ms; 9.9 ms; 30 ms', 'same; sell warp; converged; 3; 950 ms; 1.4 × (1.3 to 1.5), within noise; –; 500 ms; 250 ms; 125 ms; 10 ms; 2 ms; 9.9 ms; 30 ms',
    'tuned; sell warp; converged; 3; 950 ms; 1.4 × (1.3 to 1.5); 13; 500 ms; 250 ms; 125 ms; 10 ms; 2 ms; 9.9 ms; 30 ms', 'stuck; sell warp; stagnated; 3; 950 ms; –; –; 500 ms; 250 ms; 125 ms; 10 ms; 2 ms; 9.9 ms; 30 ms',
    'wrong; –; wrong; –; –; –; –; 500 ms; 250 ms; 125 ms; 10 ms; 2 ms; 9.9 ms; 30 ms']);
  assert.deepEqual(texts(prices, '.warnings li'), ['a warning', 'a note', 'an error', 'csr: took long', 'stuck: no progress', 'wrong: y[4]']);
  const words = () => advice.querySelector('.cursor-words').textContent;
  assert.equal(words(), '13 solves, the fastest first: csr 1.27 s, sell 1.33 s, same 1.34 s, slow 2.8 s.');
  const slider = advice.querySelector('input');
  slider.value = '0';
  slider.dispatchEvent(new Event('input'));
  assert.ok(words().startsWith('One solve, the fastest first: csr 190 ms, slow 400 ms'), words());
  assert.deepEqual(texts(advice, '.halo'), ['sell from 13 solves on']);
  assert.equal(advice.querySelectorAll('.curve').length, 4);
  const [by_time, by_iteration] = residuals.querySelectorAll('.chart');
  assert.deepEqual(by_iteration.querySelectorAll('.curve').map((one) => one.getAttribute('points').split(' ').length), [4, 4, 2, 4, 2]);
  assert.equal(by_time.querySelector('svg').getAttribute('aria-label'), 'csr, sell, slow, same, stuck');
  stored('solve', [advice, prices, residuals]);
});

test('a page names the baseline "the baseline" if a recipe has the same name', () => {
  const [first, second] = [solved('csr', { baseline: true, once_seconds: 0.05, each_seconds: 0.3 }), solved('csr', { notes: ['new'] })];
  const [advice, prices, residuals] = shown(solveSections({ kind: 'solve', runs: [], solve: solve({ solves: [first, second], advice: [{ recipe: 'csr', baseline: true, from_solves: 1 }, { recipe: 'csr', baseline: false, from_solves: 5 }] }), sentences: ['a', 'b'] }));
  for (const chart of [advice, residuals]) assert.equal(new Set(chart.querySelectorAll('.curve').map((one) => one.getAttribute('stroke'))).size, 2);
  assert.deepEqual([texts(advice, '.halo'), rows(prices).map((row) => row.split(';')[0])], [['csr from 5 solves on'], ['the baseline', 'csr']]);
  assert.equal(advice.querySelector('.cursor-words').textContent, '5 solves, the fastest first: csr 1.06 s, the baseline 1.55 s.');
});

test('solves without advice, without curves, and with many iterations', () => {
  const sections = (given) => shown(solveSections({ kind: 'solve', runs: [], solve: solve(given), sentences: ['a', 'b'] }));
  assert.deepEqual(texts(sections({ advice: [] })[0], '.halo'), []);
  assert.ok(sections({ advice: [] })[0].querySelector('.cursor-words').textContent.startsWith('One solve'));
  assert.ok(sections({ right_sides: 4, right_hand_side: 'random' })[0].querySelector('.lead').textContent.endsWith('; 4 right-hand sides together: random'));
  const none = sections({ solves: [solved('x', { once_seconds: undefined })], preconditioner: 'none', warnings: [], notes: [], errors: [], advice: [] });
  assert.deepEqual([none.map((one) => one.id), none[0].querySelector('.chart'), none[1].querySelector('ul'), none[0].querySelector('.lead').textContent.startsWith('cg, f64')], [['advice', 'prices'], null, null, true]);
  const unknown = sections({ advice: [{ recipe: 'csr', from_solves: 1 }, { recipe: 'gone', from_solves: 200 }] })[0];
  assert.deepEqual([texts(unknown, '.halo'), texts(unknown, 'text.name').includes('10,000')], [[], true]);
  const long = sections({ solves: [solved('long', { residuals: Array.from({ length: 1202 }, (_, i) => 0.99 ** i) })] })[2];
  const [first] = long.querySelectorAll('.chart')[1].querySelectorAll('.curve').map((one) => one.getAttribute('points').split(' '));
  assert.equal(first.length, 402); // every third, and the last
  assert.deepEqual(solveSections({ kind: 'solve', runs: [] }), []);
  const short = sections({ solves: [solved('a', { residuals: undefined }), solved('b', { residuals: [1] }), solved('c')] })[2];
  assert.equal(short.querySelector('svg').getAttribute('aria-label'), 'c');
  const tuned = sections({ solves: [solved('t', { tuned: true }), solved('s', { end: 'stagnated' })] })[0];
  assert.equal(tuned.querySelector('.chart'), null);
});

// ---- choose

const choice_of = (recipe, given = {}) => ({ recipe, stages: ['rcm'], layout: 'sell', kernel: 'warp', median_seconds: 2e-5, predicted_seconds: 1.9e-5, speedup: 1.6, speedup_interval: [1.5, 1.7], verdict: 'faster', price_seconds: 0.02, break_even: 610.5, resolved: `name = ${recipe}`, ...given });
const choice = (given = {}) => ({
  matrix: {}, precision: 'f64', vectors: 1, device: 'host', stay: false, warnings: ['be careful'], without_stage: [{ stage: 'rcm', median_seconds: 3e-5, reason: null }, { stage: 'sort', median_seconds: null, reason: 'cannot be left out' }, { stage: 'other', median_seconds: null, reason: null }],
  ranking: [choice_of('best'), choice_of('second', { kernel: 'vector', median_seconds: 2.5e-5, price_seconds: 0.01, predicted_seconds: 4e-5 }), choice_of('ell', { layout: 'ell', median_seconds: 4e-5, price_seconds: 0.05, verdict: 'slower', speedup: 0.8, speedup_interval: null, break_even: null, predicted_seconds: 0 }), choice_of('csr', { stages: [], layout: 'csr', verdict: 'baseline', median_seconds: 3.2e-5, price_seconds: 0, speedup: 1, break_even: null }), choice_of('odd', { stages: ['rcm', 'sort'], median_seconds: 2.2e-5, price_seconds: 0.004, speedup: null })],
  not_timed: [{ recipe: 'huge', reason: 'too large' }], ...given,
});

test('a search has the answer, charts and its tree', () => {
  const [answer, charts, tree] = shown(chooseSections({ kind: 'choose', runs: [], choice: choice(), sentences: ['Take best', 'Five were timed.'], correlation: 0.756 }));
  assert.equal(answer.querySelector('.lead').textContent, 'f64 on host, cold cache. Five were timed.');
  assert.deepEqual(texts(answer, 'dd'), ['1.6 ×', '611', '20 ms']);
  assert.deepEqual(rows(answer), ['rcm; 30 µs; 1.5 ×', 'sort; –; cannot be left out', 'other; –; ']);
  assert.deepEqual(texts(answer, '.warnings li'), ['be careful']);
  assert.deepEqual(texts(tree, 'summary'), ['rcm 20 µs, 3 recipes', 'sell 20 µs, 2 recipes', 'ell 40 µs, 1 recipe', 'rcm → sort 22 µs, 1 recipe', 'sell 22 µs, 1 recipe', 'order of the input 32 µs, 1 recipe', 'csr 32 µs, 1 recipe', '1 recipe not timed']);
  assert.deepEqual(tree.querySelectorAll('details').map((one) => one.open), [true, true, false, false, false, false, false, false]);
  assert.deepEqual(rows(tree).slice(0, 5), ['best; sell warp; 20 µs; 19 µs; 1.6 × (1.5 to 1.7); 20 ms; 611', 'second; sell vector; 25 µs; 40 µs; 1.6 × (1.5 to 1.7); 10 ms; 611', 'ell; ell warp; 40 µs; –; 0.8 ×; 50 ms; –', 'odd; sell warp; 22 µs; 19 µs; –; 4 ms; 611', 'csr; csr warp; 32 µs; 19 µs; baseline; –; –']);
  assert.deepEqual(texts(charts, '.note'), ['Each marker is a recipe; the line is the least time for each price. A recipe above the line is slower than a cheaper one.', '4 recipes, rank correlation 0.76.']);
  assert.deepEqual(texts(charts.querySelectorAll('.chart')[0], 'title').map((one) => one.split(':')[0]), ['best', 'second', 'ell', 'odd']);
  stored('choose', [answer, charts, tree]);
});

test('what stages are worth is on the right, unless there are reasons among the figures', () => {
  const heading = (...without_stage) => shown(chooseSections({ kind: 'choose', runs: [], choice: choice({ without_stage }) }))[0].querySelectorAll('thead th')[2];
  const [timed, not_timed] = [{ stage: 'rcm', median_seconds: 3e-5, reason: null }, { stage: 'sort', median_seconds: null, reason: 'cannot be left out' }];
  assert.deepEqual([[timed], [not_timed], [timed, not_timed], [timed, timed]].map((list) => heading(...list).classList.contains('left')), [false, true, true, false]);
});

test('a search that stays, with several vectors and without prices or predictions', () => {
  const sections = (given, page = {}) => shown(chooseSections({ kind: 'choose', runs: [], choice: choice(given), ...page }));
  const [answer, charts, tree] = sections({ stay: true, vectors: 4, warnings: [], without_stage: [], not_timed: [], ranking: [choice_of('csr', { verdict: 'baseline', price_seconds: 0, predicted_seconds: 0, speedup: null, break_even: null })] });
  assert.deepEqual([texts(answer, 'dd'), answer.querySelector('.lead').textContent, answer.querySelector('ul'), answer.querySelector('.answer').textContent, answer.querySelector('table')], [[], 'f64 on host, cold cache, 4 vectors. ', null, '', null]);
  assert.deepEqual([texts(charts, 'figcaption'), texts(tree, 'summary')], [[], ['rcm 20 µs, 1 recipe', 'sell 20 µs, 1 recipe']]);
  assert.deepEqual(texts(sections({ ranking: [choice_of('a', { speedup: null, break_even: null })] })[0], 'dd'), ['–', '–', '20 ms']);
  const [, many] = sections({ ranking: Array.from({ length: 8 }, (_, i) => choice_of(`r${i}`, { median_seconds: 1e-5 * (i + 1), price_seconds: 0.01 * (8 - i) })) }, { correlation: null });
  assert.deepEqual(texts(many.querySelectorAll('.chart')[0], 'text').slice(-6), ['r0', 'r1', 'r2', 'r3', 'r4', 'others']);
  assert.ok(texts(many, '.note')[1] === '8 recipes.');
  assert.deepEqual(chooseSections({ kind: 'choose', runs: [] }), []);
  const two = sections({ not_timed: [{ recipe: 'a', reason: 'x' }, { recipe: 'b', reason: 'y' }] })[2];
  assert.ok(texts(two, 'summary').includes('2 recipes not timed'));
});
