// The figures that a stage is for: three large numbers, before and after it. The one that changed most for the better is first.
import { h, percent, significant } from './dom';
import type { Stage } from './bins';
import type { Figure, Run } from './document';
import type { Track } from './view';

// Names that need no explanation.
const names: Record<string, string> = { 'nonzeros inside': 'nonzeros inside partitions' };

// False for a figure that says nothing about this stage: what one layout of the whole matrix would store, once shares or tiles are
// stored apart.
export function tells({ of_whole }: Figure, { facts }: Stage): boolean {
  return !(of_whole && (facts.planes.length > 1 || facts.tiles > 0));
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
  const of_one = built.filter((one) => one.precision === precision);
  // A hybrid is listed as a whole and by its shares.
  const wholes = of_one.filter((one) => one.share === null);
  const parts = wholes.length > 0 ? wholes : of_one;
  const sum = (of: (one: (typeof parts)[0]) => number): number => parts.reduce((all, one) => all + of(one), 0);
  const nonzeros = sum((one) => one.nonzeros);
  if (nonzeros === 0) return [];
  const names_of_layouts = [...new Set(parts.map((one) => one.name))].join(' and ');
  const slots = sum((one) => one.slots);
  const padding: Headline[] = slots < nonzeros ? [] : [ // some slots serve two nonzeros
    { name: `padding in ${names_of_layouts}`, meaning: 'share of the slots of the layout without a nonzero', before: null, now: `${(100 * (1 - nonzeros / slots)).toFixed(1)} %`, gain: 0 },
  ];
  return [...padding,
    { name: `bytes per nonzero in ${names_of_layouts}`, meaning: `all arrays of the layout in ${precision}, over the nonzeros`, before: null, now: significant(sum((one) => one.bytes) / nonzeros), gain: 0 },
  ];
}

// A figure of the last stage by its name: one of the table, of which the first number counts, "padding", "bytes per nonzero" or "slots" of the layouts, or a note.
export function figureOf({ run, pattern }: Track, name: string): string | null {
  const last = pattern.stages.length - 1;
  const stored = storedFigures(run).find((one) => one.name.startsWith(`${name} in `));
  const figure = run.figures.find((one) => one.label === name);
  return stored?.now ?? figure?.texts[last]?.split(' / ')[0] ?? run.report.stages[last]?.notes[name] ?? null;
}

const padding_label = 'SELL-32 padding';

// The padding in slices of the layout; null if it has none, or the page does not store every row.
export function slicePadding({ facts, finest, rows }: Stage): number | null {
  const height = facts.cuts.find((cuts) => cuts.kind === 'slice')?.height;
  if (!height || finest.rowBits > 0 || finest.columnBits > 0) return null;
  let slots = 0;
  for (let row = 0; row < rows; row += height) {
    let longest = 0;
    for (let i = row; i < Math.min(rows, row + height); ++i) longest = Math.max(longest, finest.starts[i + 1] - finest.starts[i]);
    slots += longest * height;
  }
  return slots === 0 ? 0 : 1 - finest.starts[rows] / slots;
}

// The figures of a run; the padding is that in slices of the layout if all stages have them.
const figures_of = new WeakMap<Run, Figure[]>();
export function figuresOf({ run, pattern }: Track): Figure[] {
  let known = figures_of.get(run);
  if (!known) {
    const shares = pattern.stages.map(slicePadding);
    const height = pattern.stages[0].facts.cuts.find((cuts) => cuts.kind === 'slice')?.height;
    const has_slices = height !== undefined && height !== 32 && shares.every((one) => one !== null);
    known = run.figures.map((figure) => (figure.label !== padding_label || !has_slices ? figure : {
      ...figure, label: `SELL-${height} padding`, meaning: `share of the slots of slices of ${height} rows without a nonzero`,
      texts: shares.map((share) => `${(100 * share).toFixed(1)} %`), numbers: shares.map((share) => [share]),
    }));
    figures_of.set(run, known);
  }
  return known;
}

export function headlineOf(track: Track, number: number): Headline[] {
  const { run, pattern } = track;
  const { facts } = pattern.stages[number];
  const all = [...figuresOf(track)].sort((a, b) => a.telling - b.telling).flatMap((figure): Headline[] => {
    const [text, value] = [figure.texts[number], figure.numbers[number]?.[0] ?? null];
    if (figure.telling === 0 || text === null || value === null || !tells(figure, pattern.stages[number])) return [];
    const old = number > 0 ? figure.numbers[facts.before]?.[0] ?? null : null;
    const is_new = number > 0 && old === null;
    const ratio = old === null ? 1 : figure.more_is_better ? Math.max(value, 1e-9) / Math.max(old, 1e-9) : Math.max(old, 1e-9) / Math.max(value, 1e-9);
    const changed = old !== null && figure.texts[facts.before] !== text && Math.abs(old - value) > least_change * Math.max(Math.abs(old), Math.abs(value));
    // A figure that the stage has introduced is what it is for.
    const gain = is_new ? 100 - figure.telling : changed ? Math.log(ratio) : 0;
    return [{ name: names[figure.label] ?? figure.label.replace(/^SELL-(\d+) padding$/, 'padding in slices of $1'), meaning: figure.meaning, before: changed ? figure.texts[facts.before] : null, now: text, gain }];
  });
  // The share inside partitions is a figure already.
  const planes = (facts.planes.length > 1 ? sharesOf(track, number) : []).filter((one) => !all.some((other) => other.now === one.now));
  const is_last = number === pattern.stages.length - 1;
  const order = (list: Headline[]): Headline[] => list.map((one, i) => ({ one, i })).sort((a, b) => b.one.gain - a.one.gain || a.i - b.i).map(({ one }) => one);
  const better = order(all.filter((one) => one.gain > 0));
  const others = order(all.filter((one) => one.gain <= 0));
  const stored = (is_last ? storedFigures(run) : []).filter((one) => !all.some((other) => other.name.startsWith('padding in slices') && other.now === one.now));
  // A layout without padding says little by it.
  const telling = stored.filter((one) => one.now !== '0.0 %');
  const rest = stored.filter((one) => one.now === '0.0 %');
  const first = telling.length > 0 ? 1 : most;
  return [...better.slice(0, first), ...telling, ...planes, ...better.slice(first), ...others, ...rest].slice(0, most);
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

// No line ends between a number and its unit.
const unbroken = (figure: string): string => figure.replace(/ (?=\S+$)/, '\u00a0');

export function headline(track: Track, number: number): HTMLElement {
  return h('dl', { class: 'headline' }, ...headlineOf(track, number).map(({ name, meaning, before, now, gain }) =>
    h('div', { class: gain < 0 ? 'worse' : gain > 0 ? 'better' : '', title: meaning }, h('dt', {}, name),
      h('dd', {}, before === null ? null : h('span', { class: 'was' }, `${unbroken(before)} →`), before === null ? null : ' ', h('b', {}, unbroken(now))))));
}
