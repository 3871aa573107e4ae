// The sections of a search: the answer, time against price, its tree, the model.
import { type Curve, type Point, xyChart } from './charts';
import { recipeColours } from './colours';
import type { Choice, PageDocument, Ranked } from './document';
import { counted, h, plural, seconds, section, significant } from './dom';
import { code } from './sections';
import { type Cell, table } from './table';

const chainOf = (one: Ranked): string => one.stages.join(' → ') || 'order of the input';
const is_baseline = (one: Ranked): boolean => one.verdict === 'baseline';
const fastestFirst = (list: Ranked[]): Ranked[] => [...list].sort((a, b) => a.median_seconds - b.median_seconds);

function headline({ ranking: [first], stay }: Choice): HTMLElement {
  const figures = stay ? [] : [
    ['speed-up over CSR', first.speedup === null ? '–' : `${significant(first.speedup)} ×`], ['products until it pays', first.break_even === null ? '–' : counted(Math.ceil(first.break_even))], ['price', seconds(first.price_seconds)],
  ];
  return h('dl', { class: 'headline' }, ...figures.map(([name, text]) => h('div', { class: 'better' }, h('dt', {}, name), h('dd', {}, h('b', {}, text)))));
}

function rowsOf(list: Ranked[]): Cell[][] {
  return list.map((one): Cell[] => {
    const interval = one.speedup_interval;
    return [
      { text: one.recipe }, { text: `${one.layout} ${one.kernel}` }, { text: seconds(one.median_seconds), value: one.median_seconds },
      { text: one.predicted_seconds > 0 ? seconds(one.predicted_seconds) : '–', value: one.predicted_seconds > 0 ? one.predicted_seconds : null },
      { text: is_baseline(one) ? 'baseline' : one.speedup === null ? '–' : `${significant(one.speedup)} ×${interval ? ` (${significant(interval[0])} to ${significant(interval[1])})` : ''}`, value: one.speedup, tone: one.verdict === 'faster' ? 'good' : one.verdict === 'slower' ? 'bad' : undefined },
      { text: is_baseline(one) ? '–' : seconds(one.price_seconds), value: one.price_seconds },
      { text: one.break_even === null ? '–' : counted(Math.ceil(one.break_even)), value: one.break_even },
    ];
  });
}

const headings = [{ name: 'recipe', left: true }, { name: 'kernel', left: true }, { name: 'time' }, { name: 'predicted' }, { name: 'speed-up', wraps: true, title: 'over CSR in the order of the input, timed in turns with it' }, { name: 'price' }, { name: 'pays after', title: 'products' }];

// Recipes with the same stages, and those of them with the same layouts, the fastest first.
function tree(choice: Choice): HTMLElement[] {
  const all = fastestFirst(choice.ranking);
  const best = all[0].median_seconds;
  const groups = (list: Ranked[], nameOf: (one: Ranked) => string): [string, Ranked[]][] => [...new Set(list.map(nameOf))].map((name) => [name, list.filter((one) => nameOf(one) === name)]);
  const branch = (name: string, list: Ranked[], ...content: HTMLElement[]): HTMLElement => {
    const chosen = list.includes(choice.ranking[0]);
    return h('details', { class: chosen ? 'branch best' : 'branch', open: chosen },
      h('summary', {}, h('span', { class: 'scale' }, h('span', { style: `width:${(100 * best) / list[0].median_seconds}%` })), h('b', {}, name), ` ${seconds(list[0].median_seconds)}, ${plural(list.length, 'recipe')}`), ...content);
  };
  return groups(all, chainOf).map(([chain, of_chain]) => branch(chain, of_chain,
    ...groups(of_chain, (one) => one.layout).map(([layout, list]) => branch(layout, list, table(`${chain}, ${layout}`, headings, rowsOf(list), list.length > 1)))));
}

function range(values: number[]): [number, number] {
  return [Math.min(...values) / 1.5, Math.max(...values) * 1.5];
}

type Colours = (name: string) => number;

function keysOf({ ranking }: Choice, colours: Colours): { name: string; colour: number }[] {
  const shown = ranking.filter((one) => colours(one.recipe) >= 0).map((one) => ({ name: one.recipe, colour: colours(one.recipe) }));
  return shown.length < ranking.length ? [...shown, { name: 'others', colour: -1 }] : shown;
}

function frontier(choice: Choice, colours: Colours): HTMLElement | null {
  const { ranking } = choice;
  const priced = ranking.filter((one) => one.price_seconds > 0);
  if (priced.length === 0) return null;
  const xRange = range(priced.map((one) => one.price_seconds));
  const fastest = (price: number): number => Math.min(...ranking.filter((one) => is_baseline(one) || one.price_seconds <= price).map((one) => one.median_seconds));
  const steps: [number, number][] = [xRange[0], ...priced.map((one) => one.price_seconds).sort((a, b) => a - b), xRange[1]].flatMap((price, i, all): [number, number][] => [...(i > 0 ? [[price, fastest(all[i - 1])] as [number, number]] : []), [price, fastest(price)]]);
  const points: Point[] = priced.map((one) => ({ name: '', title: one.recipe, x: one.price_seconds, y: one.median_seconds, colour: colours(one.recipe) }));
  return xyChart('Time against price', points.map((point) => point.title).join(', '), {
    x: 'price: stages, layout, copies, permuting x and y once', y: 'time of a product', xText: seconds, yText: seconds, xRange, yRange: range(ranking.map((one) => one.median_seconds)), points, keys: keysOf(choice, colours),
    curves: [{ name: '', places: steps, colour: null }], note: 'Each marker is a recipe; the line is the least time for each price. A recipe above the line is slower than a cheaper one.',
  });
}

function model(choice: Choice, correlation: number | null, colours: Colours): HTMLElement | null {
  const { ranking } = choice;
  const predicted = ranking.filter((one) => one.predicted_seconds > 0);
  if (predicted.length === 0) return null;
  const both = range(predicted.flatMap((one) => [one.predicted_seconds, one.median_seconds]));
  const points: Point[] = predicted.map((one) => ({ name: '', title: one.recipe, x: one.predicted_seconds, y: one.median_seconds, colour: colours(one.recipe) }));
  const right: Curve = { name: 'measured = predicted', at: (x) => x, colour: null };
  return xyChart('Model against measurement', points.map((point) => point.title).join(', '), {
    x: 'predicted when the recipe was chosen to be tried', y: 'measured', xText: seconds, yText: seconds, xRange: both, yRange: both, points, curves: [right], keys: keysOf(choice, colours),
    note: `${plural(predicted.length, 'recipe')}${correlation === null ? '' : `, rank correlation ${correlation.toFixed(2)}`}.`,
  });
}

function stagesWorth({ without_stage, ranking }: Choice): HTMLElement | null {
  if (without_stage.length === 0) return null;
  const reasons = without_stage.some((one) => one.median_seconds === null); // words among the figures
  return table('What each stage is worth', [{ name: 'left out', left: true }, { name: 'time' }, { name: 'times as long', left: reasons, wraps: true }], without_stage.map((one): Cell[] => [
    { text: one.stage }, { text: one.median_seconds === null ? '–' : seconds(one.median_seconds), value: one.median_seconds },
    one.median_seconds === null ? { text: one.reason ?? '', value: null } : { text: `${significant(one.median_seconds / ranking[0].median_seconds)} ×`, value: one.median_seconds },
  ]), false);
}

export function chooseSections(page: PageDocument): (HTMLElement | null)[] {
  const { choice } = page;
  if (!choice) return [];
  const colours = recipeColours(choice.ranking.map((one) => ({ name: one.recipe, is_baseline: is_baseline(one) })));
  const [answer, search] = page.sentences ?? [];
  const charts = [frontier(choice, colours), model(choice, page.correlation ?? null, colours)].filter((one) => one !== null);
  const worth = stagesWorth(choice);
  return [
    section('answer', 'Which recipe', `${choice.precision} on ${choice.device}, cold cache${choice.vectors > 1 ? `, ${choice.vectors} vectors` : ''}. ${search ?? ''}`, h('p', { class: 'answer' }, answer ?? ''), headline(choice),
      choice.warnings.length > 0 ? h('ul', { class: 'warnings' }, ...choice.warnings.map((warning) => h('li', {}, warning))) : null, worth,
      h('details', {}, h('summary', {}, 'The chosen recipe'), code(choice.ranking[0].resolved, 'the recipe'))),
    section('charts', 'Times, prices and the model', '', h('div', { class: 'grid charts' }, ...charts)),
    section('tree', 'The search', 'The stages, the layouts after them, and the recipes with both. Each branch has the time of its fastest recipe; the bar is its speed relative to the fastest recipe.', ...tree(choice),
      choice.not_timed.length > 0 ? h('details', {}, h('summary', {}, `${plural(choice.not_timed.length, 'recipe')} not timed`),
        table('Not timed', [{ name: 'recipe', left: true }, { name: 'why', left: true, wraps: true }], choice.not_timed.map((one): Cell[] => [{ text: one.recipe }, { text: one.reason }]))) : null),
  ];
}
