// One sentence that says what a stage did to the matrix, from the figures and the pattern that the page contains.
import { originalOf, type Stage } from './bins';
import { counted, plural } from './dom';
import type { CutsFacts, Figure } from './document';
import { figuresOf, tells } from './headline';
import type { Track } from './view';

const pieces: Record<Exclude<CutsFacts['kind'], 'slice'>, [string, string]> = {
  partition: ['the rows', 'partition'], row_block: ['the rows', 'row block'], length_group: ['the rows', 'length group'],
  segment: ['the columns', 'segment'],
};

// The figures that an effect may name, with their names in a sentence.
const effects: Record<string, string> = {
  bandwidth: 'bandwidth', 'mean bandwidth': 'mean bandwidth', profile: 'profile', 'SELL-32 padding': 'SELL-32 padding',
  'nonzeros inside': 'share of nonzeros inside partitions', 'edge cut': 'edge cut', 'idle lanes in tiles': 'share of idle lanes in tiles',
  'warp iterations': 'number of warp iterations',
};
const least_change = 0.005; // relative; a smaller change is not named
const most_effects = 2;

function list(parts: string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

// The number of positions with another row or column than before; null if the page does not store it.
function moved(before: Stage, now: Stage, which: 'originalRows' | 'originalColumns', length: number): number | null {
  const facts = which === 'originalRows' ? 'rows' : 'columns';
  if (before.facts[facts] === now.facts[facts] && now.facts[facts] !== null) return 0;
  if (before[which] === null || now[which] === null) return null;
  let count = 0;
  for (let i = 0; i < length; ++i) if (originalOf(before[which], i) !== originalOf(now[which], i)) ++count;
  return count;
}

function moves(before: Stage, now: Stage): string[] {
  const rows = moved(before, now, 'originalRows', now.rows);
  const columns = moved(before, now, 'originalColumns', now.columns);
  const words = (count: number, length: number, name: string): string =>
    (count === length ? `all ${plural(length, name)}` : `${counted(count)} of ${plural(length, name)}`);
  const are_alike = rows === columns && now.rows === now.columns;
  const parts = [rows ? words(rows, now.rows, 'row') : '', columns ? (are_alike ? 'as many columns' : words(columns, now.columns, 'column')) : ''].filter(Boolean);
  if (parts.length > 0) return [`moved ${list(parts)}`];
  const is_changed = before.facts.bins.section !== now.facts.bins.section;
  if (now.facts.tiles > 0 && before.facts.stored !== now.facts.stored && is_changed) return ['reordered the rows within their tiles'];
  // Equal patterns share one section.
  return (rows === null || columns === null) && is_changed ? ['moved nonzeros'] : [];
}

function divisions(before: Stage, now: Stage, inside: string | null): string[] {
  return now.facts.cuts.filter((cuts) => !before.facts.cuts.some((one) => one.kind === cuts.kind && one.count === cuts.count)).flatMap((cuts) => {
    if (cuts.kind === 'slice') return []; // of the layout, in every stage
    const [what, piece] = pieces[cuts.kind];
    const share = cuts.kind === 'partition' && inside !== null ? `, which contain ${inside} of the nonzeros,` : '';
    return `divided ${what} into ${plural(cuts.count, piece)}${share}`;
  });
}

function shares(before: Stage, now: Stage): string[] {
  const { planes } = now.facts;
  if (planes.length < 2 || planes.join() === before.facts.planes.join()) return [];
  const { counts } = now.finest;
  const sums = planes.map(() => 0);
  for (let i = 0; i < counts.length; ++i) sums[i % planes.length] += counts[i];
  return [`divided the nonzeros into ${list(planes.map((name, i) => `${counted(sums[i])} ${name}`))}`];
}

// The figures that changed most.
function changes(figures: Figure[], before: number, now: number): string[] {
  return figures.flatMap((figure) => {
    const [a, b] = [figure.numbers[before]?.[0] ?? null, figure.numbers[now]?.[0] ?? null];
    const [old, text] = [figure.texts[before], figure.texts[now]];
    const name = effects[figure.label] ?? (/^SELL-\d+ padding$/.test(figure.label) ? figure.label : null);
    if (name === null || a === null || b === null || old === text) return [];
    const size = Math.abs(b - a) / Math.max(Math.abs(a), Math.abs(b));
    return size < least_change ? [] : [{ size, words: `the ${name} ${b > a ? 'rose' : 'fell'} from ${old} to ${text}` }];
  }).sort((a, b) => b.size - a.size).slice(0, most_effects).map((one) => one.words);
}

export function sentenceOf(track: Track, number: number): string {
  const { pattern, run } = track;
  const now = pattern.stages[number];
  const text_of = (label: string): string | null => run.figures.find((figure) => figure.label === label)?.texts[number] ?? null;
  if (number === 0) {
    const { rows, columns, nonzeros } = run.report.matrix;
    if (nonzeros === 0) return 'The input has no nonzeros.';
    const mean = rows > 0 ? `, ${(nonzeros / rows).toLocaleString('en', { maximumFractionDigits: 1 })} per row on average` : '';
    const bandwidth = text_of('bandwidth');
    return `The input has ${plural(nonzeros, 'nonzero')} in ${plural(rows, 'row')} and ${plural(columns, 'column')}${mean}${bandwidth === null ? '' : `, and a bandwidth of ${bandwidth}`}.`;
  }
  const before = pattern.stages[now.facts.before];
  const inside = text_of('nonzeros inside');
  const did = [...moves(before, now), ...divisions(before, now, inside), ...shares(before, now)];
  const effect = changes(figuresOf(track).filter((figure) => tells(figure, now)), now.facts.before, number);
  const { share } = run.report.stages[number].parameters;
  const stored = share ? `changed how the share ${share} is stored, but ` : '';
  const unchanged = effect.length === 0 ? `${stored || 'changed '}neither the pattern nor its figures` : stored ? `${stored}not the pattern` : 'did not change the pattern';
  const first = did.length > 0 ? list(did).replace(/,$/, '') : unchanged;
  // What a stage found that only the layout uses.
  const found = did.length === 0 && effect.length === 0 && !share ? Object.entries(run.report.stages[number].notes).map(([name, text]) => `${name} ${text}`) : [];
  return `${now.facts.label} ${first}${effect.length > 0 ? `; ${list(effect)}` : found.length > 0 ? `, but found ${list(found)}` : ''}.`;
}
