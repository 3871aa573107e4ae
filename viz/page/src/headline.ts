// The figures that a stage is for: three large numbers, before and after it. The one that changed most for the better is first.
import { h, percent, significant } from './dom';
import type { Stage } from './bins';
import type { Run } from './document';
import type { Track } from './view';

// The figures that may be named, and whether less of them is better. `whole`: of the matrix as if one layout stored all of it,
// which says nothing once shares or tiles are stored apart. `square`: about the distance from the diagonal of a square matrix.
// No name: not here.
const known: Record<string, { name: string; less: boolean; whole?: boolean; square?: boolean }> = {
  'nonzeros inside': { name: 'nonzeros inside partitions', less: false },
  'idle lanes in tiles': { name: 'idle lanes in tiles', less: true },
  bandwidth: { name: 'bandwidth', less: true, square: true },
  'edge cut': { name: 'edge cut', less: true },
  'SELL-32 padding': { name: 'padding in slices of 32', less: true, whole: true },
  'mean bandwidth': { name: 'mean bandwidth', less: true, square: true },
  profile: { name: '', less: true, square: true },
  'warp iterations': { name: 'warp iterations', less: true, whole: true },
};
// False for a figure that says nothing about this stage.
export function tells(label: string, { facts, rows, columns }: Stage): boolean {
  const about = known[label];
  return !(about?.whole && (facts.planes.length > 1 || facts.tiles > 0)) && !(about?.square && rows !== columns);
}

const most = 3;
const least_change = 0.002; // relative

export interface Headline {
  name: string;
  meaning: string;
  before: string | null; // null: there was no such figure, or it did not change
  now: string;
  gain: number; // logarithm of the improvement; below 0: it became worse
}

// What the layouts store: padding and bytes, after the last stage.
function storedFigures(run: Run): Headline[] {
  const built = run.report.layouts.filter((one) => one.unsuitable === null && one.slots > 0);
  if (built.length === 0 || run.report.layouts.some((one) => one.unsuitable !== null)) return [];
  const precision = built[0].precision;
  const parts = built.filter((one) => one.precision === precision);
  const sum = (of: (one: (typeof parts)[0]) => number): number => parts.reduce((all, one) => all + of(one), 0);
  const nonzeros = sum((one) => one.nonzeros);
  if (nonzeros === 0) return [];
  const names = [...new Set(parts.map((one) => one.name))].join(' and ');
  return [
    { name: `padding in ${names}`, meaning: 'share of the slots of the layout without a nonzero', before: null, now: `${(100 * (1 - nonzeros / sum((one) => one.slots))).toFixed(1)} %`, gain: 0 },
    { name: `bytes per nonzero in ${names}`, meaning: `all arrays of the layout in ${precision}, over the nonzeros`, before: null, now: significant(sum((one) => one.bytes) / nonzeros), gain: 0 },
  ];
}

export function headlineOf(track: Track, number: number): Headline[] {
  const { run, pattern } = track;
  const { facts } = pattern.stages[number];
  const all = run.figures.flatMap((figure): Headline[] => {
    const about = known[figure.label];
    const [text, value] = [figure.texts[number], figure.numbers[number]?.[0] ?? null];
    if (!about?.name || text === null || value === null || !tells(figure.label, pattern.stages[number])) return [];
    const old = number > 0 ? figure.numbers[facts.before]?.[0] ?? null : null;
    const is_new = number > 0 && old === null;
    const ratio = old === null ? 1 : about.less ? Math.max(old, 1e-9) / Math.max(value, 1e-9) : Math.max(value, 1e-9) / Math.max(old, 1e-9);
    const changed = old !== null && figure.texts[facts.before] !== text && Math.abs(old - value) > least_change * Math.max(Math.abs(old), Math.abs(value));
    // A figure that the stage has introduced is what it is for.
    const gain = is_new ? 100 - figure.telling : changed ? Math.log(ratio) : 0;
    return [{ name: about.name, meaning: figure.meaning, before: changed ? figure.texts[facts.before] : null, now: text, gain }];
  });
  const planes = facts.planes.length > 1 ? sharesOf(track, number) : [];
  const is_last = number === pattern.stages.length - 1;
  const order = (list: Headline[]): Headline[] => list.map((one, i) => ({ one, i })).sort((a, b) => b.one.gain - a.one.gain || a.i - b.i).map(({ one }) => one);
  const better = order(all.filter((one) => one.gain > 0));
  const others = order(all.filter((one) => one.gain <= 0));
  const stored = is_last ? storedFigures(run) : [];
  return [...better.slice(0, stored.length > 0 ? 1 : most), ...stored, ...planes, ...better.slice(1), ...others].slice(0, most);
}

// The share of the nonzeros that each part of a split has, the largest first.
function sharesOf(track: Track, number: number): Headline[] {
  const stage = track.pattern.stages[number];
  const { planes } = stage.facts;
  const sums = planes.map(() => 0);
  stage.finest.counts.forEach((count, i) => (sums[i % planes.length] += count));
  const all = sums.reduce((a, b) => a + b, 0);
  return planes.map((name, i) => ({ name: `nonzeros ${name}`, meaning: 'share of all nonzeros', before: null, now: percent(sums[i] / Math.max(1, all)), gain: sums[i] }))
    .sort((a, b) => b.gain - a.gain).slice(0, 1).map((one) => ({ ...one, gain: 0 }));
}

export function headline(track: Track, number: number): HTMLElement {
  return h('dl', { class: 'headline' }, ...headlineOf(track, number).map(({ name, meaning, before, now, gain }) =>
    h('div', { class: gain < 0 ? 'worse' : gain > 0 ? 'better' : '', title: meaning }, h('dt', {}, name),
      h('dd', {}, before === null ? null : h('span', { class: 'was' }, `${before} →`), before === null ? null : ' ', h('b', {}, now)))));
}
