import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { figureOf, figuresOf, headline, headlineOf, slicePadding, tells } from '../../src/headline';
import { sentenceOf } from '../../src/sentence';
import { figure, figures, layout, report, runOf, run_stages, stages, thinOf, tracksOf } from './documents.mjs';
import { linesOf } from './golden.mjs';
import { gridOf, patternOf } from './pages.mjs';

const track_of = async (given = {}) => (await tracksOf((data) => runOf(data, given)))[0];
const shortly = (track, number) => headlineOf(track, number).map(({ name, before, now, gain }) => `${name}: ${before === null ? '' : `${before} -> `}${now} ${gain.toFixed(3)}`);

test('three figures of each stage, the one that became better most first', async () => {
  const track = await track_of();
  assert.deepEqual([0, 1, 2, 3, 4].map((stage) => shortly(track, stage)), [
    ['bandwidth: 5 0.000', 'padding in slices of 8: 15.8 % 0.000', 'edge cut: 40 0.000'],
    ['warp iterations: 11 -> 10 0.095', 'edge cut: 40 -> 38 0.051', 'bandwidth: 5 -> 6 -0.182'],
    ['nonzeros inside partitions: 80.5 % 99.000', 'edge cut: 38 -> 12 1.153', 'bandwidth: 6 0.000'],
    ['warp iterations: 10 -> 9 0.105', 'nonzeros inside: 60.9 % 0.000', 'nonzeros inside partitions: 80.5 % 0.000'],
    ['warp iterations: 9 -> 8 0.118', 'padding in sell: 30.0 % 0.000', 'bytes per nonzero in sell: 18.3 0.000'],
  ]);
  assert.deepEqual(linesOf(headline(track, 1)).slice(0, 8), ['<dl class="headline">', '  <div class="better" title="what warp iterations means">', '    <dt> warp iterations', '    <dd>', '      <span class="was"> 11 →', '       ', '      <b> 10', '  <div class="better" title="what edge cut means">']);
  assert.equal(headline(track, 1).children[2].getAttribute('class'), 'worse');
  assert.equal(headline(track, 0).children[2].getAttribute('class'), '');
  assert.deepEqual(headlineOf((await tracksOf(thinOf))[0], 0), []);
});

// Of one stage with these figures, after a stage with others.
const after = async (before, now, given = {}) => track_of({
  run: { figures: Object.keys(now).map((label, i) => figure(label, [before[label] ?? null, now[label]], { telling: i + 1, more_is_better: label.startsWith('more'), ...given.figure })), report: report({ layouts: [], ...given.report }) },
  pattern: { stages: stages.slice(0, 2) },
});
test('figures that change little, are new, or are not the whole matrix', async () => {
  assert.deepEqual(shortly(await after({ a: '1000', b: '1000' }, { a: '998', b: '997' }), 1), ['b: 1000 -> 997 0.003', 'a: 998 0.000']);
  assert.deepEqual(shortly(await after({ more: '2', a: '2' }, { more: '4', a: '4' }), 1), ['more: 2 -> 4 0.693', 'a: 2 -> 4 -0.693']);
  assert.deepEqual(shortly(await after({ a: '0', more_b: '0' }, { a: '1', more_b: '1' }), 1).map((one) => one.split(' ').slice(0, 4).join(' ')), ['more_b: 0 -> 1', 'a: 0 -> 1']);
  assert.deepEqual(shortly(await after({ a: '4', b: '4' }, { a: '2', b: '5', c: '7' }), 1), ['c: 7 97.000', 'a: 4 -> 2 0.693', 'b: 4 -> 5 -0.223']);
  assert.deepEqual(shortly(await after({ a: '3', b: '3', c: '3', d: '3' }, { a: '3', b: '3', c: '3', d: '3' }), 1), ['a: 3 0.000', 'b: 3 0.000', 'c: 3 0.000']);
  assert.deepEqual(shortly(await after({ a: '3' }, { a: null }), 1), []);
  const none = await track_of({ run: { figures: [figure('a', ['1', '2', '3', '4', '5'])] } });
  assert.deepEqual(shortly(none, 1), []);
  const whole = figure('w', ['1', '1', '1', '1', '1'], { of_whole: true });
  const track = await track_of();
  assert.deepEqual(track.pattern.stages.map((stage) => tells(whole, stage)), [true, true, true, false, false]);
  assert.ok(track.pattern.stages.every((stage) => tells(figures[0], stage)));
  assert.ok(!tells(whole, { facts: { planes: ['a'], tiles: 1 } }));
});

test('what the layouts store is told after the last stage', async () => {
  const last = async (layouts, given = []) => shortly(await track_of({ run: { figures: given, report: report({ layouts, stages: run_stages.slice(0, 1) }) }, pattern: { stages: stages.slice(0, 1) } }), 0);
  const more = figure('bandwidth', ['5'], { telling: 1 });
  assert.deepEqual(await last([layout({})]), ['padding in sell: 30.0 % 0.000', 'bytes per nonzero in sell: 18.3 0.000']);
  assert.deepEqual(await last([layout({})], [more, figure('x', ['4'], { telling: 2 })]), ['padding in sell: 30.0 % 0.000', 'bytes per nonzero in sell: 18.3 0.000', 'bandwidth: 5 0.000']);
  assert.deepEqual(await last([layout({ slots: 112 })], [more]), ['bytes per nonzero in sell: 18.3 0.000', 'bandwidth: 5 0.000', 'padding in sell: 0.0 % 0.000']);
  assert.deepEqual(await last([layout({ slots: 100 })]), ['bytes per nonzero in sell: 18.3 0.000']);
  assert.deepEqual(await last([layout({ unsuitable: 'no' })], [more]), ['bandwidth: 5 0.000']);
  assert.deepEqual(await last([layout({}), layout({ unsuitable: 'no' })], [more]), ['bandwidth: 5 0.000']);
  assert.deepEqual(await last([layout({ slots: 0 })], [more]), ['bandwidth: 5 0.000']);
  assert.deepEqual(await last([layout({ nonzeros: 0 })], [more]), ['bandwidth: 5 0.000']);
  const shares = [layout({ share: 'a', name: 'ell', nonzeros: 50, bytes: 500, slots: 60 }), layout({ share: 'b', name: 'coo', nonzeros: 50, bytes: 700, slots: 50 })];
  assert.deepEqual(await last(shares), ['padding in ell and coo: 9.1 % 0.000', 'bytes per nonzero in ell and coo: 12 0.000']);
  assert.deepEqual(await last([...shares, layout({ name: 'whole', nonzeros: 100, bytes: 900, slots: 200 })]), ['padding in whole: 50.0 % 0.000', 'bytes per nonzero in whole: 9 0.000']);
  assert.deepEqual(await last([layout({}), layout({ precision: 'f32', bytes: 1 })]), ['padding in sell: 30.0 % 0.000', 'bytes per nonzero in sell: 18.3 0.000']);
  assert.deepEqual(await last([shares[0], { ...shares[1], name: 'ell' }]), ['padding in ell: 9.1 % 0.000', 'bytes per nonzero in ell: 12 0.000']);
  // The layout's padding is not repeated if it is that in its slices.
  const twice = await last([layout({ nonzeros: 128, slots: 152 })], [figure('SELL-32 padding', ['10.2 %'], { telling: 1 })]);
  assert.deepEqual(twice, ['bytes per nonzero in sell: 16 0.000', 'padding in slices of 8: 15.8 % 0.000']);
  const [first] = headlineOf(await track_of({ run: { report: report({ stages: run_stages.slice(0, 1) }) }, pattern: { stages: stages.slice(0, 1) } }), 0);
  assert.equal(first.meaning, 'share of the slots of the layout without a nonzero');
});

test('a figure of the last stage by its name', async () => {
  const track = await track_of();
  assert.deepEqual(['bandwidth', 'row length min/mean/max', 'padding', 'bytes per nonzero', 'none', 'outside'].map((name) => figureOf(track, name)), ['7', '1', '30.0 %', '18.3', null, null]);
  const last_is_split = await track_of({ pattern: { stages: stages.slice(0, 4) }, run: { report: report({ stages: run_stages.slice(0, 4), layouts: [] }) } });
  assert.deepEqual(['outside', 'padding', 'bandwidth'].map((name) => figureOf(last_is_split, name)), ['50 nonzeros in 30 rows', null, '6']);
});

test('the padding in slices is counted from the rows', async () => {
  const slice = (height) => ({ kind: 'slice', count: 1, step: 1, boundaries: [], height });
  const padding = async (rows, columns, entries, height, given = {}) => {
    const { stages: [stage] } = await patternOf({ rows, columns, entries: entries.map(([row, column]) => [row, column, 1]), stages: [{ label: 'input', cuts: height === null ? [] : [slice(height)], ...given }] });
    return slicePadding(stage);
  };
  const entries = [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [4, 1], [4, 2]];
  assert.equal(await padding(5, 3, entries, 2), 1 - 7 / (2 * 3 + 2 * 1 + 2 * 2));
  assert.equal(await padding(5, 3, entries, 1), 0);
  assert.equal(await padding(5, 3, entries, 100), 1 - 7 / 300);
  assert.equal(await padding(5, 3, [], 2), 0);
  assert.equal(await padding(5, 3, entries, null), null);
  assert.equal(await padding(5, 3, entries, 2, { row_bits: 1 }), null);
  assert.equal(await padding(5, 3, entries, 2, { column_bits: 1 }), null);
});

test('the padding of other slices takes the place of that of slices of 32', async () => {
  const track = await track_of();
  const found = figuresOf(track);
  assert.equal(figuresOf(track), found);
  assert.deepEqual(found.map(({ label }) => label), figures.map(({ label }) => label.replace('SELL-32', 'SELL-8')));
  assert.deepEqual(found[4].texts, ['15.8 %', '20.0 %', '20.0 %', '20.0 %', '20.0 %']);
  const labels = async (cuts) => figuresOf(await track_of({ pattern: { stages: stages.map((one, i) => ({ ...one, order: one.order ?? 'same', cuts: cuts(i) })) } })).map(({ label }) => label)[4];
  assert.equal(await labels(() => [{ kind: 'slice', count: 1, step: 1, boundaries: [], height: 32 }]), 'SELL-32 padding');
  assert.equal(await labels((i) => (i === 4 ? [] : [{ kind: 'slice', count: 1, step: 1, boundaries: [], height: 8 }])), 'SELL-32 padding');
  assert.equal(await labels(() => []), 'SELL-32 padding');
});

test('one sentence for each stage', async () => {
  const track = await track_of();
  assert.deepEqual([0, 1, 2, 3, 4].map((stage) => sentenceOf(track, stage)), [
    'The input has 128 nonzeros in 30 rows and 30 columns, 4.3 per row on average, and a bandwidth of 5.',
    'cuthill_mckee moved 22 of 30 rows and as many columns; the SELL-8 padding rose from 15.8 % to 20.0 % and the profile fell from 120 to 95.',
    'metis_partition divided the rows into 3 partitions, which contain 80.5 % of the nonzeros, and divided the rows into 2 length groups; the edge cut fell from 38 to 12.',
    'split divided the columns into 2 segments and divided the nonzeros into 78 inside and 50 outside; the number of warp iterations fell from 10 to 9.',
    'row_sort moved all 30 rows and as many columns; the profile rose from 95 to 130 and the bandwidth rose from 6 to 7.',
  ]);
  assert.equal(sentenceOf((await tracksOf(thinOf))[0], 0), 'The input has 4 nonzeros in 5 rows and 3 columns, 0.8 per row on average.');
  const one = async (matrix) => sentenceOf(await track_of({ run: { report: report({ matrix: { source: '', ...matrix } }), figures: [] } }), 0);
  assert.equal(await one({ rows: 1, columns: 1, nonzeros: 1 }), 'The input has 1 nonzero in 1 row and 1 column, 1 per row on average.');
  assert.equal(await one({ rows: 3, columns: 3, nonzeros: 0 }), 'The input has no nonzeros.');
  assert.equal(await one({ rows: 0, columns: 3, nonzeros: 1 }), 'The input has 1 nonzero in 0 rows and 3 columns.');
});

test('sentences of stages that do other things', async () => {
  const grid = gridOf(5, 6);
  const turned = [...Array(30).keys()].reverse();
  const swapped = [1, 0, ...Array.from({ length: 28 }, (_, i) => i + 2)];
  // The sentence of the second stage.
  const of = async (second, given = {}, first = {}) => {
    const track = await track_of({
      pattern: { stages: [{ label: 'input', ...first }, { label: 'it', ...second }], ...given.pattern },
      run: { figures: given.figures ?? [], report: report({ stages: [run_stages[0], { ...run_stages[1], notes: {}, ...given.stage }], ...given.report }) },
    });
    return sentenceOf(track, 1);
  };
  assert.equal(await of({ same_as: 0 }), 'it changed neither the pattern nor its figures.');
  assert.equal(await of({ same_as: 0 }, { stage: { notes: { levels: '10', start: 'row 3' } } }), 'it changed neither the pattern nor its figures, but found levels 10 and start row 3.');
  assert.equal(await of({ same_as: 0 }, { stage: { notes: { levels: '10' }, parameters: { share: 'outside' } } }), 'it changed how the share outside is stored, but neither the pattern nor its figures.');
  assert.equal(await of({ same_as: 0 }, { stage: { parameters: { share: 'outside' } }, figures: [figure('bandwidth', ['5', '6'])] }), 'it changed how the share outside is stored, but not the pattern; the bandwidth rose from 5 to 6.');
  assert.equal(await of({ same_as: 0 }, { figures: [figure('bandwidth', ['5', '6'])], stage: { notes: { levels: '10' } } }), 'it did not change the pattern; the bandwidth rose from 5 to 6.');
  assert.equal(await of({ order: turned, column_order: 'same' }), 'it moved all 30 rows.');
  assert.equal(await of({ order: 'same', column_order: swapped }), 'it moved 2 of 30 columns.');
  assert.equal(await of({ order: swapped }), 'it moved 2 of 30 rows and as many columns.');
  assert.equal(await of({ order: swapped, column_order: turned }), 'it moved 2 of 30 rows and all 30 columns.');
  assert.equal(await of({ order: turned, rows: null, columns: null }), 'it moved nonzeros.');
  assert.equal(await of({ order: turned, columns: null, rows: 'same' }), 'it moved nonzeros.');
  assert.equal(await of({ same_as: 0, rows: null, columns: null }), 'it changed neither the pattern nor its figures.');
  const entries = [[0, 0, 1], [3, 1, 2]];
  const thin = async (second) => of(second, { pattern: { rows: 4, columns: 2, entries, sampled: [], places: null }, report: { matrix: { source: '', rows: 4, columns: 2, nonzeros: 2 } } });
  assert.equal(await thin({ order: [1, 0, 2, 3], column_order: [1, 0] }), 'it moved 2 of 4 rows and all 2 columns.');
  assert.equal(await thin({ order: [3, 1, 2, 0], column_order: 'same' }), 'it moved 2 of 4 rows.');
  const cuts = (...all) => ({ same_as: 0, cuts: all.map(([kind, count]) => ({ kind, count, step: 1, boundaries: [0, 15, 30] })) });
  assert.equal(await of(cuts(['row_block', 2])), 'it divided the rows into 2 row blocks.');
  assert.equal(await of(cuts(['segment', 1], ['length_group', 5], ['slice', 3])), 'it divided the columns into 1 segment and divided the rows into 5 length groups.');
  assert.equal(await of(cuts(['partition', 2], ['row_block', 2], ['segment', 3])), 'it divided the rows into 2 partitions, divided the rows into 2 row blocks and divided the columns into 3 segments.');
  assert.equal(await of(cuts(['partition', 2]), { figures: [figure('nonzeros inside', [null, '70 %'])] }), 'it divided the rows into 2 partitions, which contain 70 % of the nonzeros.');
  assert.equal(await of(cuts(['partition', 2]), {}, { cuts: cuts(['partition', 2]).cuts }), 'it changed neither the pattern nor its figures.');
  assert.equal(await of(cuts(['partition', 2]), {}, { cuts: cuts(['partition', 3]).cuts }), 'it divided the rows into 2 partitions.');
  const shares = { names: ['a', 'b', 'c'], plane: (row) => row % 3 };
  assert.match(await of(shares), /^it divided the nonzeros into \d+ a, \d+ b and \d+ c\.$/);
  assert.equal(await of({ ...shares, same_as: 0 }, {}, shares), 'it changed neither the pattern nor its figures.');
  assert.match(await of({ ...shares, names: ['a', 'b', 'd'] }, {}, shares), /^it divided the nonzeros into/);
  const tiles = { cuts: cuts(['row_block', 2], ['segment', 2]).cuts, stage_tiles: [{ block: 0, segment: 0, rows: [1, 0] }] };
  assert.equal(await of({ ...tiles, same_as: null, row_bits: 0 }, {}, { cuts: tiles.cuts }), 'it reordered the rows within their tiles.');
  assert.equal(await of({ ...tiles, same_as: 0 }, {}, { cuts: tiles.cuts }), 'it changed neither the pattern nor its figures.');
  const changes = async (...list) => (await of({ same_as: 0 }, { figures: list.map(([label, before, now]) => figure(label, [before, now])) })).replace('it did not change the pattern; ', '');
  assert.equal(await changes(['bandwidth', '100', '99'], ['profile', '100', '50'], ['edge cut', '10', '40']), 'the edge cut rose from 10 to 40 and the profile fell from 100 to 50.');
  assert.equal(await changes(['bandwidth', '1000', '996'], ['mean bandwidth', '1000', '995']), 'the mean bandwidth fell from 1000 to 995.');
  assert.equal(await changes(['nonzeros inside', '10 %', '20 %']), 'the share of nonzeros inside partitions rose from 10 % to 20 %.');
  assert.equal(await changes(['SELL-16 padding', '10 %', '20 %'], ['SELL-32 padding', '10 %', '30 %'], ['other', '1', '2']), 'the SELL-32 padding rose from 10 % to 30 % and the SELL-16 padding rose from 10 % to 20 %.');
  assert.equal(await changes(['bandwidth', null, '3'], ['profile', '3', null]), 'it changed neither the pattern nor its figures.');
  const whole = { figures: [figure('bandwidth', ['5', '6'], { of_whole: true })] };
  assert.equal(await of({ same_as: 0 }, whole), 'it did not change the pattern; the bandwidth rose from 5 to 6.');
  assert.match(await of(shares, whole), /^it divided the nonzeros into \d+ a, \d+ b and \d+ c\.$/);
  assert.equal(grid.length, 128);
});
