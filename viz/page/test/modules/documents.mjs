// Documents of all kinds for the tests. All figures differ, so that none can stand for another one.
import { gridOf, PageData } from './pages.mjs';

export const kernel = (given) => ({
  layout: 'sell', share: null, kernel: 'warp', backend: 'kokkos', precision: 'f64', baseline: false, status: 'measured', reason: null, error_over_bound: 0.02, prepare_seconds: 0.003, vector_permutation_seconds: 0.0004,
  median_seconds: 2e-5, spread: 0.05, samples: [], bytes_to_move: 4000, bytes_per_nonzero: 12.5, gflops: 3.4, gbytes_per_second: 17, share_of_copy_bandwidth: 0.85, speedup: 1.5, speedup_interval: [1.4, 1.6], verdict: 'faster',
  break_even: 1321.5, break_even_interval: null, warnings: [], ...given,
});
export const layout = (given) => ({
  name: 'sell', share: null, precision: 'f64', seconds: 0.007, unsuitable: null, nonzeros: 112, bytes: 2048, slots: 160,
  footprint: { values: { role: 'value', count: 160, bytes: 1280 }, columns: { role: 'column', count: 160, bytes: 640 }, offsets: { role: 'structure', count: 6, bytes: 24 }, widths: { role: 'structure', count: 13, bytes: 104 } }, ...given,
});
export const device = (given) => ({ kind: 'host', name: 'Host CPU', copy_bytes_per_second: 20e9, read_bytes_per_second: 23e9, ...given });
const samples = (median, count) => Array.from({ length: count }, (_, i) => median * (1 + 0.3 * (((i * 37) % 101) / 101 - 0.4)));

export const figure = (label, texts, given = {}) => ({
  label, meaning: `what ${label} means`, telling: 0, more_is_better: false, of_whole: false, texts, numbers: texts.map((text) => (text === null ? null : text.split(' / ').map((one) => parseFloat(one.replaceAll(',', ''))))), ...given,
});

const grid = gridOf(5, 6);
const by_levels = [...Array(30).keys()].sort((a, b) => (a % 5) + Math.floor(a / 5) - (b % 5) - Math.floor(b / 5) || a - b);
const sorted = [...by_levels].reverse();
const slices = () => ({ kind: 'slice', count: 4, step: 1, boundaries: [], height: 8 });
const partition = { kind: 'partition', count: 3, step: 1, boundaries: [0, 9, 18, 30] };
const groups = { kind: 'length_group', count: 2, step: 1, boundaries: [0, 20, 30] };
const segments = { kind: 'segment', count: 2, step: 1, boundaries: [0, 15, 30] };
const places = [...Array(30).keys()].flatMap((i) => i % 5).concat([...Array(30).keys()].map((i) => Math.floor(i / 5))).map((one) => 100 * one);

// Stages of a grid of 5 x 6: levels, a partition, a split into two shares, and an order of the second one.
export const stages = [
  { label: 'input', cuts: [slices()] },
  { label: 'cuthill_mckee', choices: 'from 3', order: by_levels, cuts: [slices()] },
  { label: 'metis_partition', choices: 'parts 3', order: by_levels, same_as: 1, cuts: [slices(), partition, groups] },
  { label: 'split', order: by_levels, names: ['inside', 'outside'], plane: (row, column) => (Math.abs(row - column) === 5 ? 1 : 0), cuts: [slices(), partition, segments], lengths: [3, 2, 2, 1] },
  { label: 'row_sort', choices: 'descending', order: sorted, names: ['inside', 'outside'], plane: (row, column) => (Math.abs(row - column) === 5 ? 1 : 0), cuts: [slices(), segments], lengths: [5, 4, 1, 1], before: 3 },
];
export const run_stages = [['input', null, 0, {}], ['rcm', null, 0.0021, { start: 'row 3', levels: '10' }], ['metis_partition', null, 0.0043, {}], ['split', 'f32', 0.0011, { outside: '50 nonzeros in 30 rows' }], ['row_sort', 'f64', 0.0009, {}]]
  .map(([id, precision, seconds, notes]) => ({ id, name: id, parameters: {}, precision, seconds, shared: false, notes }));

export const figures = [
  figure('bandwidth', ['5', '6', '6', '6', '7'], { telling: 2 }), figure('profile', ['120', '95', '95', '95', '130']), figure('row length min/mean/max', ['3 / 4.5 / 5', '3 / 4.5 / 5', '3 / 4.5 / 5', '2 / 4.5 / 5', '1 / 4.5 / 5']),
  figure('nonzeros inside', [null, null, '80.5 %', '80.5 %', '80.5 %'], { telling: 1, more_is_better: true }), figure('SELL-32 padding', ['10.2 %', '9.1 %', '9.1 %', '9.1 %', '4.3 %'], { telling: 3, of_whole: true }),
  figure('edge cut', ['40', '38', '12', '12', '12'], { telling: 4 }), figure('rows', ['30', '30', '30', '30', '30']), figure('ELL padding', ['7.7 %', '7.7 %', '7.7 %', '7.7 %', '7.7 %'], { of_whole: true }), figure('warp iterations', ['11', '10', '10', '9', '8'], { telling: 5 }),
];

export const report = (given = {}) => ({
  recipe: { name: 'demo', source: 'A. Author, "A paper", 2020', file: 'recipes/demo.toml', resolved: '[recipe]\nname = "demo"\n' }, matrix: { source: 'laplace2d nx=5 ny=6', rows: 30, columns: 30, nonzeros: 128, read_seconds: 0.01 }, stages: run_stages,
  layouts: [layout({})], kernels: [
    kernel({ samples: samples(2e-5, 40) }),
    kernel({ layout: 'csr', kernel: 'plain', baseline: true, median_seconds: 3e-5, samples: samples(3e-5, 700), spread: 0.12, gflops: 2.2, gbytes_per_second: 15, share_of_copy_bandwidth: 0.7, bytes_per_nonzero: 14, speedup: 1, speedup_interval: null, verdict: null, break_even: null, error_over_bound: 0.001, warnings: ['the machine was busy'] }),
    kernel({ kernel: 'vector', median_seconds: 6e-5, samples: [...samples(6e-5, 9), 9e-4, 8e-4], speedup: 0.5, verdict: 'slower', break_even: null, gflops: 1.1, gbytes_per_second: 7, error_over_bound: null }),
    kernel({ kernel: 'cuda_warp', backend: 'cuda', precision: 'f32', median_seconds: 1e-6, samples: samples(1e-6, 11), gflops: 60, gbytes_per_second: 250, speedup: 1.02, verdict: 'within noise', break_even: -1, share: 'inside' }),
    kernel({ kernel: 'lost', status: 'wrong', reason: 'y[3] is 7', samples: [] }), kernel({ layout: 'ell', kernel: 'thin', status: 'unsuitable', reason: 'too wide', samples: [] }),
    kernel({ kernel: 'late', median_seconds: 4e-5, verdict: 'busy machine', samples: samples(4e-5, 5), break_even: 1154.5, gflops: 1.9, gbytes_per_second: 11 }),
  ],
  cache: 'cold', devices: [device({}), device({ kind: 'gpu', name: 'GPU A', copy_bytes_per_second: 900e9, read_bytes_per_second: 905e9 })], machine: { cpu: 'Some CPU', memory_bytes: '68719476736', cores_used: '4' }, versions: { workbench: '1.2.3', eigen: '3.4' }, notes: ['a note'], errors: [], ...given,
});

const lane_list = (steps, of) => Array.from({ length: 32 * steps }, (_, i) => of(i, i % 32, Math.floor(i / 32)));
export const warp = (number, steps, shown = steps) => ({
  warp: number, steps, array: lane_list(shown, (i) => (i % 7 === 6 ? -1 : 0)), index: lane_list(shown, (i) => i + 3), row: lane_list(shown, (i, lane) => (i % 5 === 4 ? -1 : lane % 30)), column: lane_list(shown, (i, lane, step) => (lane + step) % 30),
  padding: lane_list(shown, (i) => (i % 5 === 4 ? 1 : 0)), sectors: { values: Array.from({ length: shown }, (_, i) => 8 + i), x: Array.from({ length: shown }, (_, i) => 20 - 3 * i) },
});
const cells = { text: ['4', '-1', '', '7', '2'], padding: [0, 0, 1, 0, 0], row: [0, 0, -1, 1, 2], column: [0, 1, -1, 3, 2], warp: [0, 0, -1, 1, 1], lane: [0, 1, -1, 0, 5], step: [0, 0, -1, 2, 3] };
const bins = { width: 4, padding: [0, 1, 4, 2], first_row: [0, 3, -1, 8], last_row: [2, 7, -1, 9], first_column: [1, 0, -1, 4], last_column: [5, 9, -1, 6] };
export const storage = (by_cell = true, given = {}) => ({
  precision: 'f64', by_cell, parts: [
    { share: '', layout: 'sell', kernel: 'warp', nonzeros: 112, padding: 48, bytes: 2048, warps: 3, reads: 150, lane_steps: 192, shown_warps: [warp(0, 3), warp(2, 6, 4)], arrays: [
      { name: 'values', role: 'value', type: 'f64', length: 5, bytes: 1280, words: 'slice by slice', nonzeros: 112, padding: 48, ...(by_cell ? { cells } : { length: 14, bins }) },
      { name: 'columns', role: 'column', type: 'u32', length: 14, bytes: 640, words: '', nonzeros: 112, padding: 48, like: 0 },
      { name: 'offsets', role: 'structure', type: 'u32', length: 6, bytes: 24, words: 'of slices', nonzeros: 0, padding: 0, ...(by_cell ? { cells: { text: ['0', '9'] } } : {}) },
      { name: 'none', role: 'structure', type: 'u8', length: 0, bytes: 0, words: '', nonzeros: 0, padding: 0 },
    ] },
    { share: 'outside', layout: 'coo', kernel: 'atomic', nonzeros: 16, padding: 0, bytes: 192, warps: 1, reads: 16, lane_steps: 0, shown_warps: [], arrays: [{ name: 'rows', role: 'structure', type: 'u32', length: 16, bytes: 64, words: '', nonzeros: 16, padding: 0, bins: { ...bins, width: 5 } }] },
  ], ...given,
});

// A run with all of it, and the page of some runs; the data are given to the page.
export function runOf(data, given = {}) {
  const pattern = data.pattern({ rows: 30, columns: 30, entries: grid, places, sampled: grid.filter((_, i) => i % 17 === 0), stages: structuredClone(stages.map(({ plane, ...rest }) => rest)).map((one, i) => ({ ...one, order: stages[i].order ?? 'same', plane: stages[i].plane })), ...given.pattern });
  return { title: 'demo', report: report(), figures, pattern, storage: storage(), ...given.run };
}
export const pageOf = (kind, runs, given = {}) => ({ kind, command: `workbench ${kind} recipes/demo.toml`, runs, ...given });

// A small run without stages, of a matrix that is not square.
export function thinOf(data) {
  const entries = [[0, 1, 2.5], [2, 0, -1], [4, 2, 1e-7], [4, 1, 12345.678]];
  const pattern = data.pattern({ rows: 5, columns: 3, entries, stages: [{ label: 'input' }] });
  return { title: 'thin', report: report({ matrix: { source: 'thin.mtx', rows: 5, columns: 3, nonzeros: 4, read_seconds: 0 }, stages: run_stages.slice(0, 1), layouts: [], kernels: [], devices: [], notes: [], recipe: { name: 'thin', source: '', file: 'thin.toml', resolved: 'x' } }), figures: [figure('bandwidth', [null])], pattern, storage: null };
}

export async function tracksOf(...makers) {
  const { Pattern } = await import('../../src/bins');
  const data = new PageData();
  const runs = makers.map((make) => make(data));
  data.give(pageOf(runs.length > 1 ? 'compare' : 'run', runs));
  const tracks = [];
  for (const run of runs) {
    const pattern = new Pattern(structuredClone(run.pattern), run.report.matrix.rows, run.report.matrix.columns);
    await pattern.read();
    await pattern.readValues();
    tracks.push({ run, pattern, position: 0 });
  }
  return tracks;
}
