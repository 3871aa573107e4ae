// Documents and patterns for the tests, encoded as the program does.
import { replaceData } from '../../src/document';
import { Pattern } from '../../src/bins';

// ---- Sections of bytes.

const parts_of = (number) => (number < 128 ? [number] : [(number % 128) + 128, ...parts_of(Math.floor(number / 128))]);
export const numbers = (list) => Uint8Array.from(list.flatMap(parts_of));
const signed = (difference) => (difference >= 0 ? 2 * difference : -2 * difference - 1);

function planes(list, size, write) {
  const view = new DataView(new ArrayBuffer(list.length * size));
  list.forEach((one, i) => write(view, i * size, one));
  const whole = new Uint8Array(view.buffer);
  return Uint8Array.from({ length: whole.length }, (_, k) => whole[(k % list.length) * size + Math.floor(k / list.length)]);
}
export const integersOf = (list) => planes(list, 4, (view, at, one) => view.setInt32(at, one, true));
export const doublesOf = (list) => planes(list, 8, (view, at, one) => view.setFloat64(at, one, true));
export function orderOf(order) {
  let expected = 0;
  return numbers(order.map((one) => {
    const difference = one - expected;
    expected = one + 1;
    return signed(difference);
  }));
}

// Bins of entries [row, column, plane], as the finest level of a page.
export function binsOf(entries, { rows, columns, row_bits = 0, column_bits = 0, planes: count = 1 }) {
  const bins = new Map();
  for (const [row, column, plane = 0] of entries) {
    const key = `${row >> row_bits},${column >> column_bits}`;
    if (!bins.has(key)) bins.set(key, { row: row >> row_bits, column: column >> column_bits, counts: Array.from({ length: count }, () => 0) });
    ++bins.get(key).counts[plane];
  }
  const all = [...bins.values()].sort((a, b) => a.row - b.row || a.column - b.column);
  const one_each = all.every(({ counts }) => counts.reduce((a, b) => a + b) === 1);
  const by_row = new Map();
  for (const one of all) by_row.set(one.row, [...(by_row.get(one.row) ?? []), one]);
  const list = [];
  for (let row = 0; row < Math.ceil(rows / 2 ** row_bits); ++row) {
    const own = by_row.get(row) ?? [];
    list.push(own.length);
    own.forEach(({ column, counts }, i) => {
      list.push(i === 0 ? column : column - own[i - 1].column - 1);
      if (!one_each) list.push(...counts);
      else if (count > 1) list.push(counts.indexOf(1));
    });
  }
  return { bytes: numbers(list), facts: { row_bits, column_bits, bins: all.length, one_each }, planes: count, rows, columns };
}

// ---- Patterns. A stage is given by its order ('same', or the input's number of each position), and what StageFacts has.

export class PageData {
  constructor() {
    this.sections = [];
  }

  add(bytes) {
    return this.sections.push(bytes) - 1;
  }

  // `entries`: [row, column, value] of the input.
  pattern({ rows, columns, entries, stages, sampled = [], places = null, values = true }) {
    const facts = { stages: [], entries: true, sampled: sampled.length, sample_rows: null, sample_columns: null, sample_values: null, values: null, places: places && this.add(integersOf(places)) };
    const at = (order) => {
      const inverse = [];
      if (Array.isArray(order)) order.forEach((old, now) => { inverse[old] = now; });
      return (old) => inverse[old] ?? old;
    };
    const orders = new Map();
    const stored = (order) => {
      if (!Array.isArray(order)) return order;
      if (!orders.has(order)) orders.set(order, this.add(orderOf(order)));
      return orders.get(order);
    };
    for (const { label, order = 'same', column_order = order, row_bits = 0, column_bits = 0, plane = () => 0, names = ['nonzeros'], cuts = [], stage_tiles = null, lengths = null, same_as = null, binned = null, ...rest } of stages) {
      const [to_row, to_column] = [at(order), at(column_order)];
      const now = entries.map(([row, column]) => [to_row(row), to_column(column), plane(row, column)]);
      const { bytes, facts: bins } = binned ?? binsOf(now, { rows, columns, row_bits, column_bits, planes: names.length });
      facts.entries &&= row_bits + column_bits === 0;
      facts.stages.push({
        label, choices: '', before: Math.max(0, facts.stages.length - 1), planes: names, tiles: stage_tiles ? stage_tiles.length : 0, cuts, bins: { section: same_as === null ? this.add(bytes) : facts.stages[same_as].bins.section, ...bins },
        sample: sampled.length === 0 ? null : this.add(Uint8Array.from([...integersOf(sampled.map(([row]) => to_row(row))), ...integersOf(sampled.map(([, column]) => to_column(column)))])),
        rows: stored(order), columns: stored(column_order), stored: stage_tiles && this.add(numbers([stage_tiles.length, ...stage_tiles.flatMap(({ block, segment, rows: list }) => {
          let before = (cuts.find(({ kind }) => kind === 'row_block')?.boundaries[block] ?? 0) - 1;
          return [block, segment, list.length, ...list.map((row) => {
            const difference = row - before - 1;
            before = row;
            return signed(difference);
          })];
        })])), stored_lengths: lengths && this.add(numbers(lengths)), ...rest,
      });
    }
    if (sampled.length > 0) [facts.sample_rows, facts.sample_columns, facts.sample_values] = [integersOf(sampled.map(([row]) => row)), integersOf(sampled.map(([, column]) => column)), doublesOf(sampled.map(([, , value]) => value))].map((one) => this.add(one));
    if (values) facts.values = this.add(doublesOf([...entries].sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , value]) => value)));
    return facts;
  }

  give(page = {}) {
    const text = (words) => new TextEncoder().encode(words);
    const parts = [text('A title'), text(JSON.stringify(page)), ...this.sections];
    replaceData(parts);
    return parts;
  }
}

// A pattern that was read, with its values.
export async function patternOf(what) {
  const data = new PageData();
  const facts = data.pattern(what);
  data.give();
  const pattern = new Pattern(structuredClone(facts), what.rows, what.columns);
  await pattern.read();
  await pattern.readValues();
  return pattern;
}

// The entries of a grid of nx times ny with its diagonal, row by row; each value is another one.
export function gridOf(nx, ny) {
  const entries = [];
  for (let i = 0; i < nx * ny; ++i) {
    for (const other of [i - nx, i % nx > 0 ? i - 1 : -1, i, i % nx < nx - 1 ? i + 1 : -1, i + nx]) if (other >= 0 && other < nx * ny) entries.push([i, other, i + other / 100]);
  }
  return entries;
}

// Pseudo-random numbers below `below`.
export function randomly(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}
