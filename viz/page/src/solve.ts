// The sections of a solve: the advice, time over the number of solves, prices, residuals.
import { type Curve, type Point, xyChart } from './charts';
import { recipeColours } from './colours';
import type { PageDocument, Solve, Solved } from './document';
import { counted, h, seconds, section, significant } from './dom';
import { type Cell, table } from './table';

interface Iterated extends Solved {
  once_seconds: number;
  each_seconds: number;
}

const iterated = (one: Solved): one is Iterated => one.once_seconds !== undefined && one.each_seconds !== undefined;
const converged = (one: Solved): boolean => one.end === 'converged';
const timeAfter = (one: Iterated, solves: number): number => one.once_seconds + solves * one.each_seconds;

const keysOf = (list: Solved[], colours: (name: string) => number): { name: string; colour: number }[] => list.map((one) => ({ name: one.recipe, colour: colours(one.recipe) }));

function timeBySolves(solve: Solve, colours: (name: string) => number): HTMLElement | null {
  const solved = solve.solves.filter(iterated).filter((one) => converged(one) && !one.tuned);
  if (solved.length === 0) return null;
  const changes = solve.advice.slice(1);
  const far = Math.max(1000, ...changes.map((one) => 10 * one.from_solves));
  const xRange: [number, number] = [1, 10 ** Math.ceil(Math.log10(far))];
  const curves: Curve[] = solved.map((one) => ({ name: '', at: (solves) => timeAfter(one, solves), colour: colours(one.recipe) }));
  const points: Point[] = changes.flatMap(({ recipe, from_solves }) => {
    const one = solved.find((other) => other.recipe === recipe);
    return one ? [{ name: `${recipe} from ${counted(from_solves)} solves on`, x: from_solves, y: timeAfter(one, from_solves), colour: colours(recipe) }] : [];
  });
  const ends = solved.flatMap((one) => xRange.map((solves) => timeAfter(one, solves)));
  return xyChart('Time in all by number of solves', solved.map((one) => one.recipe).join(', '), {
    x: 'solves with this matrix', y: 'time in all, set-up included', xText: counted, yText: seconds, xRange, yRange: [Math.min(...ends) / 1.3, Math.max(...ends) * 1.3], points, curves, keys: keysOf(solved, colours),
    cursor: {
      name: 'Number of solves', start: changes[0]?.from_solves ?? 1,
      words: (x) => {
        const solves = Math.max(1, Math.round(x));
        const times = [...solved].sort((a, b) => timeAfter(a, solves) - timeAfter(b, solves)).map((one) => `${one.recipe} ${seconds(timeAfter(one, solves))}`);
        return `${solves === 1 ? 'One solve' : `${counted(solves)} solves`}, the fastest first: ${times.join(', ')}.`;
      },
    },
    note: 'Set-up once, then b, the iterations and x in each solve. A mark shows where another recipe begins to take the least time beyond noise.',
  });
}

const most_places = 400;

function residuals(solve: Solve, colours: (name: string) => number, by_time: boolean): HTMLElement | null {
  const shown = solve.solves.filter(iterated).filter((one) => (one.residuals?.length ?? 0) > 1);
  if (shown.length === 0) return null;
  const at = (one: Iterated, i: number): number => (by_time ? one.total_seconds! - one.solve_seconds! + i * one.iteration_seconds! : i);
  const curves: Curve[] = shown.map((one) => {
    const list = one.residuals!;
    const step = Math.max(1, Math.floor(list.length / most_places));
    const places = list.flatMap((residual, i): [number, number][] => (residual !== null && residual > 0 && (i % step === 0 || i === list.length - 1) ? [[at(one, i), residual]] : []));
    return { name: '', places, colour: colours(one.recipe) };
  });
  const all = curves.flatMap((curve) => curve.places ?? []);
  const [last, low, high] = [Math.max(...all.map(([x]) => x)), Math.min(...all.map(([, y]) => y)), Math.max(...all.map(([, y]) => y))];
  return xyChart(by_time ? 'Residual by time' : 'Residual by iteration', shown.map((one) => one.recipe).join(', '), {
    x: by_time ? 'time, set-up included' : 'iterations', y: '|r| / |b|', xText: by_time ? seconds : counted, yText: (y) => y.toExponential(0), xRange: [0, last], yRange: [low / 2, high * 2], linear: true, points: [], curves, keys: keysOf(shown, colours),
    note: by_time ? '' : 'Curves coincide where recipes compute the same.',
  });
}

function priceTable(solve: Solve): HTMLElement {
  const time = (value: number | null | undefined): Cell => ({ text: typeof value === 'number' ? seconds(value) : '–', value: value ?? null });
  const rows = solve.solves.map((one): Cell[] => {
    const { solve_speedup: speedup, solve_speedup_interval: interval } = one;
    const faster = !one.within_noise && speedup ? (speedup > 1 ? 'good' : 'bad') : undefined;
    const from = one.pays_after_solves;
    return [
      { text: one.recipe }, { text: `${one.layout} ${one.kernel}`.trim() || '–' },
      { text: one.end ?? one.kernel_status, tone: one.end === 'converged' ? undefined : 'bad', title: one.reason || one.kernel_reason },
      { text: one.iterations === undefined ? '–' : counted(one.iterations), value: one.iterations ?? null },
      time(one.total_seconds),
      { text: one.baseline ? 'baseline' : speedup ? `${significant(speedup)} ×${interval ? ` (${significant(interval[0])} to ${significant(interval[1])})` : ''}${one.within_noise ? ', within noise' : ''}` : '–', value: speedup ?? null, tone: faster },
      { text: one.baseline ? '–' : typeof from === 'number' ? counted(Math.ceil(from)) : iterated(one) && converged(one) && !one.within_noise ? 'never' : '–', value: from ?? null },
      time(one.stage_seconds), time(one.build_seconds), time(one.copy_seconds), time(one.solver_seconds), time(one.vector_seconds), time(one.iteration_seconds), time(one.solve_seconds),
    ];
  });
  return table('Prices and times', [
    { name: 'recipe', left: true }, { name: 'kernel', left: true }, { name: 'ended', left: true }, { name: 'iterations' }, { name: 'one solve in all', title: 'set-up included', wraps: true },
    { name: 'speed-up', title: 'of the solve without set-up, over the baseline, with the 95 % confidence interval of the median', wraps: true }, { name: 'pays after', title: 'solves after which the set-up has paid for itself' },
    { name: 'stages' }, { name: 'building' }, { name: 'copying' }, { name: 'vectors', title: 'the solver and its vectors, once' },
    { name: 'b and x', title: 'bringing and permuting b and x, in each solve' }, { name: 'iteration' }, { name: 'solve', title: 'the iterations' },
  ], rows);
}

// The baseline is called so where a recipe has its name.
function labelled(solve: Solve): Solve {
  const name = solve.solves.find((one) => one.baseline)?.recipe;
  const is_shared = solve.solves.filter((one) => one.recipe === name).length > 1;
  const label = <T extends { recipe: string; baseline: boolean }>(one: T): T => (is_shared && one.baseline ? { ...one, recipe: 'the baseline' } : one);
  return { ...solve, solves: solve.solves.map(label), advice: solve.advice.map(label) };
}

export function solveSections(page: PageDocument): (HTMLElement | null)[] {
  if (!page.solve) return [];
  const solve = labelled(page.solve);
  const colours = recipeColours(solve.solves.map((one) => ({ name: one.recipe, is_baseline: one.baseline })));
  const facts = `${solve.method}${solve.preconditioner === 'jacobi' ? ' with Jacobi' : ''}, ${solve.precision}, |b − A x| / |b| below ${solve.tolerance}, on ${solve.device}; ${solve.right_sides > 1 ? `${solve.right_sides} right-hand sides together` : 'b'}: ${solve.right_hand_side}`;
  const notes = [...solve.warnings, ...solve.notes, ...solve.errors.map(({ text }) => text), ...solve.solves.flatMap((one) => [one.reason || one.kernel_reason, ...one.notes].filter((text) => text !== '').map((text) => `${one.recipe}: ${text}`))];
  const charts = [residuals(solve, colours, true), residuals(solve, colours, false)].filter((one) => one !== null);
  return [
    section('advice', 'Which recipe', facts, ...(page.sentences ?? []).map((sentence, i) => h('p', { class: i === 0 ? 'answer' : '' }, sentence)), timeBySolves(solve, colours)),
    section('prices', 'Prices', 'Set-up is paid once for a matrix, b and x in each solve.', priceTable(solve), notes.length > 0 ? h('ul', { class: 'warnings' }, ...notes.map((note) => h('li', {}, note))) : null),
    charts.length > 0 ? section('residuals', 'Residuals', '', h('div', { class: 'grid charts' }, ...charts)) : null,
  ];
}
