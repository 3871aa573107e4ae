// The sections of a bench: ranking, charts, all measurements.
import { ratioBars, xyChart, type Point } from './charts';
import type { BenchRecord, PageDocument, Ranking } from './document';
import { counted, h, percent, seconds, section, significant } from './dom';
import { judgementSection } from './judgement';
import { type Cell, table } from './table';

const same = (a: { device: string; precision: string }, b: { device: string; precision: string }): boolean => a.device === b.device && a.precision === b.precision;

const where = (ranking: Ranking): string => `${ranking.device === 'gpu' ? 'GPU' : 'CPU'}, ${ranking.precision}`;

function rankingTable(ranking: Ranking): HTMLElement {
  const has_warnings = ranking.recipes.some((one) => one.warned > 0);
  return table(`${where(ranking)}: ${counted(ranking.matrices)} ${ranking.matrices === 1 ? 'matrix' : 'matrices'}`, [
    { name: 'recipe', left: true }, { name: 'speed-up, geometric mean' }, { name: 'least' }, { name: 'most' }, { name: 'measured' },
    { name: 'won', title: 'matrices where its interval is above those of all others' }, { name: 'tied', title: 'matrices where its interval overlaps that of the fastest' }, { name: 'not measured' },
    ...(has_warnings ? [{ name: 'warned', title: 'share of the measured matrices on which a warning says that its time, or that of the baseline, says little' }] : []),
  ], ranking.recipes.map((one): Cell[] => [
    { text: one.recipe }, { text: one.count > 0 ? `${significant(one.geometric_mean)} ×` : '–', value: one.count > 0 ? one.geometric_mean : null },
    { text: significant(one.least), value: one.least }, { text: significant(one.most), value: one.most }, { text: counted(one.count), value: one.count },
    { text: counted(one.won), value: one.won }, { text: counted(one.tied), value: one.tied }, { text: counted(one.not_measured), value: one.not_measured },
    ...(has_warnings ? [one.count > 0 ? { text: percent(one.warned / one.count), value: one.warned / one.count } : { text: '–', value: null }] : []),
  ]));
}

const most_colours = 6; // that can be told apart

function speedupChart(ranking: Ranking, records: BenchRecord[]): HTMLElement | null {
  const measured = ranking.recipes.filter((one) => one.count > 0).map((one) => one.recipe);
  const best = measured.slice(0, most_colours);
  const points: Point[] = records.flatMap((record) => {
    const colour = best.indexOf(record.recipe);
    return colour < 0 || record.speedup === null || !record.nonzeros ? [] : [{ name: '', title: `${record.matrix}, ${record.recipe}`, x: record.nonzeros, y: record.speedup, colour }];
  });
  if (points.length === 0) return null;
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const of = best.length < measured.length ? ` · the ${best.length} fastest of ${measured.length} recipes` : '';
  return xyChart(`Speed-up by size · ${where(ranking)}${of}`, `${points.length} points`, {
    x: 'nonzeros', y: 'speed-up over the baseline', xText: (x) => counted(x), xRange: [Math.min(...xs) / 2, Math.max(...xs) * 2], yRange: [Math.min(0.5, ...ys) / 1.3, Math.max(2, ...ys) * 1.3],
    points, curves: [{ name: 'baseline', at: () => 1, colour: null }], keys: best.map((name, colour) => ({ name, colour })),
  });
}

export function benchSections(page: PageDocument): (HTMLElement | null)[] {
  const records = page.records ?? [];
  const rankings = page.rankings ?? [];
  const charts = rankings.flatMap((ranking) => {
    const rows = ranking.recipes.filter((one) => one.count > 0).map((one) => ({ name: one.recipe, value: one.geometric_mean, low: one.least, high: one.most, text: `${significant(one.geometric_mean)} ×` }));
    const own = records.filter((record) => same(record, ranking) && record.status === 'measured');
    return [rows.length > 0 ? ratioBars(`Ranking · ${where(ranking)}`, rows, 'The point is the geometric mean over the matrices; the line spans the least to the most.') : null, speedupChart(ranking, own)];
  });
  const has_warnings = records.some((record) => record.warnings.length > 0);
  const rows = records.map((record): Cell[] => {
    const ok = record.status === 'measured';
    return [
      { text: record.matrix }, { text: record.recipe }, { text: [record.device, record.precision].filter(Boolean).join(', ') || '–' },
      { text: ok ? `${record.layout} ${record.kernel}` : record.status, tone: ok ? undefined : 'bad', title: record.reason },
      { text: ok ? seconds(record.seconds) : '–', value: ok ? record.seconds : null },
      { text: ok ? significant(record.gflops) : '–', value: ok ? record.gflops : null },
      { text: ok && record.copy_bandwidth > 0 ? percent((record.gbytes_per_second * 1e9) / record.copy_bandwidth) : '–', value: ok ? record.gbytes_per_second : null },
      { text: ok ? significant(record.bytes_per_nonzero) : '–', value: ok ? record.bytes_per_nonzero : null },
      { text: record.speedup === null ? '–' : record.verdict === 'busy machine' ? record.verdict : `${significant(record.speedup)} ×${record.interval ? ` (${significant(record.interval[0])} to ${significant(record.interval[1])})` : ''}`, value: record.speedup,
        tone: record.verdict === 'faster' ? 'good' : record.verdict === 'slower' ? 'bad' : undefined },
      { text: record.break_even === null ? '–' : counted(Math.ceil(record.break_even)), value: record.break_even },
      ...(has_warnings ? [{ text: record.warnings.length > 0 ? counted(record.warnings.length) : '', value: record.warnings.length, title: record.warnings.join('\n') }] : []),
    ];
  });
  return [
    page.judgement ? judgementSection(page.judgement) : null,
    section('ranking', 'Ranking', 'Each recipe is represented by its fastest kernel with a right result.', h('div', { class: 'grid charts' }, ...charts.filter((one) => one !== null)), ...rankings.map(rankingTable)),
    section('records', 'All measurements', 'Click on a heading to sort.', table('Measurements', [
      { name: 'matrix', left: true }, { name: 'recipe', left: true }, { name: 'on', left: true }, { name: 'kernel', left: true }, { name: 'time' }, { name: 'GFLOP/s' }, { name: 'of copy' }, { name: 'B/nonzero' }, { name: 'speed-up', wraps: true }, { name: 'break-even' }, ...(has_warnings ? [{ name: 'warnings', title: 'point at a number to read them' }] : []),
    ], rows)),
  ];
}
