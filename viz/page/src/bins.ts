// The pattern of one stage: levels of bins for zooming, and original numbers and values of entries.
import { type BinsFacts, type CutsFacts, type PatternFacts, type StageFacts, doubles, integers, madeOnce, Numbers, sectionBytes } from './document';

// A rectangle of the matrix.
export interface Region {
  row: number;
  column: number;
  rows: number;
  columns: number;
}

// The first position in [low, high) of an ascending list whose value is at least `wanted`; `high` if there is none.
export function lowerBound(list: ArrayLike<number>, wanted: number, low: number, high: number): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Shape {
  rowBits: number;
  columnBits: number;
  rowBins: number;
  columnBins: number;
}

export interface Level extends Shape {
  planes: number;
  starts: Uint32Array; // [rowBins + 1]
  columns: Int32Array; // [bins] ascending within a row bin
  counts: Uint32Array; // [bins][planes]
}

const binsAlong = (length: number, bits: number): number => (length === 0 ? 0 : Math.floor((length - 1) / 2 ** bits) + 1);

export function readLevel(bytes: Uint8Array, facts: BinsFacts, planes: number, rows: number, columns: number): Level {
  const rowBins = binsAlong(rows, facts.row_bits);
  const level: Level = {
    rowBits: facts.row_bits, columnBits: facts.column_bits, rowBins, columnBins: binsAlong(columns, facts.column_bits), planes,
    starts: new Uint32Array(rowBins + 1), columns: new Int32Array(facts.bins), counts: new Uint32Array(facts.bins * planes),
  };
  const numbers = new Numbers(bytes);
  let at = 0;
  for (let row = 0; row < rowBins; ++row) {
    const count = numbers.next();
    let next = 0;
    for (let i = 0; i < count; ++i, ++at) {
      level.columns[at] = next + numbers.next();
      next = level.columns[at] + 1;
      if (!facts.one_each) {
        for (let plane = 0; plane < planes; ++plane) level.counts[at * planes + plane] = numbers.next();
      } else {
        level.counts[at * planes + (planes > 1 ? numbers.next() : 0)] = 1;
      }
    }
    level.starts[row + 1] = at;
  }
  return level;
}

// The next shape: bins of twice the side along the axis with more bins, and along the other if it has more than half as many.
function coarserShape({ rowBits, columnBits, rowBins, columnBins }: Shape, rows: number, columns: number): Shape {
  const row_bits = rowBits + (2 * rowBins > columnBins ? 1 : 0);
  const column_bits = columnBits + (2 * columnBins > rowBins ? 1 : 0);
  return { rowBits: row_bits, columnBits: column_bits, rowBins: binsAlong(rows, row_bits), columnBins: binsAlong(columns, column_bits) };
}

// The next level, for any number of columns.
function coarser(level: Level, shape: Shape): Level {
  const { planes } = level;
  const rowStep = shape.rowBits - level.rowBits;
  const columnStep = shape.columnBits - level.columnBits;
  const { rowBins } = shape;
  const starts = new Uint32Array(rowBins + 1);
  const newColumns = new Int32Array(level.columns.length);
  const newCounts = new Uint32Array(level.counts.length);
  let size = 0;
  for (let row = 0; row < rowBins; ++row) {
    const first = row << rowStep;
    let a = level.starts[first];
    const aEnd = level.starts[first + 1];
    let b = aEnd;
    const bEnd = rowStep && first + 1 < level.rowBins ? level.starts[first + 2] : b;
    const begin = size;
    while (a < aEnd || b < bEnd) {
      const next = b >= bEnd || (a < aEnd && level.columns[a] <= level.columns[b]) ? a++ : b++;
      const column = level.columns[next] >> columnStep;
      if (size === begin || newColumns[size - 1] !== column) newColumns[size++] = column;
      for (let plane = 0; plane < planes; ++plane) newCounts[(size - 1) * planes + plane] += level.counts[next * planes + plane];
    }
    starts[row + 1] = size;
  }
  return { ...shape, planes, starts, columns: newColumns.slice(0, size), counts: newCounts.slice(0, size * planes) };
}

const most_dense_bins = 1 << 20; // bins of a row that are counted in an array

// A level of at most most_dense_bins columns from any finer one.
function binned(level: Level, shape: Shape): Level {
  const { planes } = level;
  const rowStep = shape.rowBits - level.rowBits;
  const columnStep = shape.columnBits - level.columnBits;
  const starts = new Uint32Array(shape.rowBins + 1);
  const columns = new Int32Array(level.columns.length);
  const counts = new Uint32Array(level.counts.length);
  const sums = new Uint32Array(shape.columnBins * planes);
  let size = 0;
  for (let row = 0; row < shape.rowBins; ++row) {
    const begin = size;
    const end = level.starts[Math.min(level.rowBins, (row + 1) * 2 ** rowStep)];
    for (let bin = level.starts[row * 2 ** rowStep]; bin < end; ++bin) {
      const column = level.columns[bin] >> columnStep;
      let before = 0;
      for (let plane = 0; plane < planes; ++plane) {
        before += sums[column * planes + plane];
        sums[column * planes + plane] += level.counts[bin * planes + plane];
      }
      if (before === 0) columns[size++] = column;
    }
    columns.subarray(begin, size).sort();
    for (let bin = begin; bin < size; ++bin) {
      for (let plane = 0; plane < planes; ++plane) {
        counts[bin * planes + plane] = sums[columns[bin] * planes + plane];
        sums[columns[bin] * planes + plane] = 0;
      }
    }
    starts[row + 1] = size;
  }
  return { ...shape, planes, starts, columns: columns.slice(0, size), counts: counts.slice(0, size * planes) };
}

// The index in the level's arrays; -1 if the bin is empty or outside of the matrix, where `starts` has no numbers.
export function binAt(level: Level, rowBin: number, columnBin: number): number {
  const end = level.starts[rowBin + 1];
  const at = lowerBound(level.columns, columnBin, level.starts[rowBin], end);
  return at < end && level.columns[at] === columnBin ? at : -1;
}

export const rowBinOf = (level: Level, bin: number): number => lowerBound(level.starts, bin + 1, 1, level.rowBins) - 1;

export function countAt(level: Level, bin: number): number {
  let sum = 0;
  for (let plane = 0; plane < level.planes; ++plane) sum += level.counts[bin * level.planes + plane];
  return sum;
}

// The density from which on bins are darkest: the 99th percentile of the bins that are not empty.
function ceilingOf(level: Level): number {
  const bins = level.columns.length;
  if (bins === 0) return 1;
  const step = Math.max(1, Math.floor(bins / 20000));
  const counts = new Uint32Array(Math.ceil(bins / step));
  for (let i = 0; i < counts.length; ++i) counts[i] = countAt(level, i * step);
  counts.sort();
  return Math.max(1, counts[Math.floor((counts.length - 1) * 0.99)]);
}

export interface SamplePlaces {
  rows: Int32Array;
  columns: Int32Array;
}

// The rows of tiles in storage order.
class StoredRows {
  private readonly tiles = new Map<string, Int32Array>();
  constructor(bytes: Uint8Array, private readonly rowCuts: number[], private readonly columnCuts: number[]) {
    const numbers = new Numbers(bytes);
    const count = numbers.next();
    for (let tile = 0; tile < count; ++tile) {
      const block = numbers.next();
      const segment = numbers.next();
      const rows = new Int32Array(numbers.next());
      let before = (rowCuts[block] ?? 0) - 1;
      for (let i = 0; i < rows.length; ++i) {
        before = before + 1 + numbers.difference();
        rows[i] = before;
      }
      this.tiles.set(`${block},${segment}`, rows);
    }
  }

  rowAt(drawnRow: number, column: number): number {
    const block = pieceAt(this.rowCuts, drawnRow);
    const rows = this.tiles.get(`${block},${pieceAt(this.columnCuts, column)}`);
    return rows?.[drawnRow - (this.rowCuts[block] ?? 0)] ?? drawnRow;
  }

  drawnAt(row: number, column: number): number | null {
    const block = pieceAt(this.rowCuts, row);
    const stored = this.tiles.get(`${block},${pieceAt(this.columnCuts, column)}`)?.indexOf(row) ?? -1;
    return stored < 0 ? null : stored + (this.rowCuts[block] ?? 0);
  }
}

// The piece of a position; 0 if there are no boundaries.
export function pieceAt(boundaries: number[], position: number): number {
  return lowerBound(boundaries, position + 1, 1, boundaries.length - 1) - 1;
}

export const sizeOf = (level: Shape): number => level.rowBits + level.columnBits;

// The levels of a stage, each made when it is first needed.
class Levels {
  readonly shapes: Shape[]; // the finest first
  private readonly made: (Level | undefined)[];
  private readonly ceilings: number[] = [];

  constructor(finest: Level, rows: number, columns: number) {
    this.made = [finest];
    this.shapes = [finest];
    for (let last: Shape = finest; last.rowBins > 64 || last.columnBins > 64; this.shapes.push(last)) last = coarserShape(last, rows, columns);
  }

  at(number: number): Level {
    const shape = this.shapes[number];
    const known = this.made[number];
    if (known) return known;
    const finer = shape.columnBins <= most_dense_bins ? this.made.slice(0, number).filter((level) => level !== undefined).at(-1) : undefined;
    const level = finer ? binned(finer, shape) : coarser(this.at(number - 1), shape);
    this.made[number] = level;
    return level;
  }

  has(level: Level): boolean {
    return this.made.includes(level);
  }

  // The finest level that suits.
  find(suits: (shape: Shape) => boolean): Level {
    const found = this.shapes.findIndex(suits);
    return this.at(found < 0 ? this.shapes.length - 1 : found);
  }

  ceiling(level: Level): number {
    return (this.ceilings[this.made.indexOf(level)] ??= ceilingOf(level));
  }
}

export class Stage {
  private levels: Levels | null = null;
  sample: SamplePlaces | null = null;
  originalRows: Int32Array | 'same' | null = null;
  originalColumns: Int32Array | 'same' | null = null;
  private stored: StoredRows | null = null;
  storedLengths: number[] | null = null; // of the rows of the second share, as it stores them

  constructor(readonly facts: StageFacts, readonly rows: number, readonly columns: number) {}

  async read(): Promise<void> {
    const { facts } = this;
    const bytes = await sectionBytes(facts.bins.section);
    const { section, ...shape } = facts.bins;
    // Stages with the same bins share their levels.
    this.levels = madeOnce(bytes, JSON.stringify([shape, facts.planes.length, this.rows, this.columns]),
      () => new Levels(readLevel(bytes, facts.bins, facts.planes.length, this.rows, this.columns), this.rows, this.columns));
    if (facts.sample !== null) {
      // The rows, then the columns, each in byte planes.
      const bytes = await sectionBytes(facts.sample);
      const half = bytes.length / 2;
      this.sample = madeOnce(bytes, 'sample', () => ({ rows: integers(bytes.subarray(0, half)), columns: integers(bytes.subarray(half)) }));
    }
    if (typeof facts.stored_lengths === 'number') {
      const bytes = await sectionBytes(facts.stored_lengths);
      this.storedLengths = madeOnce(bytes, 'lengths', () => {
        const numbers = new Numbers(bytes);
        const lengths: number[] = [];
        while (!numbers.ended) lengths.push(numbers.next());
        return lengths;
      });
    }
    this.originalRows = await readOrder(facts.rows, this.rows);
    this.originalColumns = await readOrder(facts.columns, this.columns);
    if (facts.stored !== null) {
      const boundaries = (kind: string): number[] => facts.cuts.find((cuts) => cuts.kind === kind)?.boundaries ?? [];
      this.stored = new StoredRows(await sectionBytes(facts.stored), boundaries('row_block'), boundaries('segment'));
    }
  }

  private get known(): Levels {
    if (!this.levels) throw new Error('the stage was not read');
    return this.levels;
  }
  get finest(): Level {
    return this.known.at(0);
  }
  get showsEntries(): boolean {
    return this.finest.rowBits === 0 && this.finest.columnBits === 0;
  }
  // The finest level that suits.
  find(suits: (shape: Shape) => boolean): Level {
    return this.known.find(suits);
  }
  // The finest level of at least this size (sizeOf).
  level(size: number): Level {
    return this.find((shape) => sizeOf(shape) >= size);
  }
  has(level: Level): boolean {
    return this.known.has(level);
  }
  ceiling(level: Level): number {
    return this.known.ceiling(level);
  }
  // The row of the matrix drawn at this place; null if it is not stored in the page.
  rowAt(drawnRow: number, column: number): number | null {
    if (this.facts.tiles === 0) return drawnRow;
    return this.stored ? this.stored.rowAt(drawnRow, column) : null;
  }
  // The inverse of rowAt.
  drawnRow(row: number, column: number): number | null {
    if (this.facts.tiles === 0) return row;
    return this.stored ? this.stored.drawnAt(row, column) : null;
  }
}

// The row or column of stage `to` at which position `position` of stage `from` is; null if the page does not store it.
export function between(from: Stage, to: Stage, which: 'originalRows' | 'originalColumns', position: number): number | null {
  if (from === to) return position;
  const original = originalOf(from[which], position);
  const order = to[which];
  if (original === null || order === null) return null;
  if (order === 'same') return original;
  let known = inverses.get(order);
  if (!known) {
    known = new Int32Array(order.length);
    for (let i = 0; i < order.length; ++i) known[order[i]] = i;
    inverses.set(order, known);
  }
  return known[original];
}

const inverses = new WeakMap<Int32Array, Int32Array>();

async function readOrder(which: number | 'same' | null, length: number): Promise<Int32Array | 'same' | null> {
  if (which === null || which === 'same') return which;
  const bytes = await sectionBytes(which);
  return madeOnce(bytes, `order of ${length}`, () => {
    const numbers = new Numbers(bytes);
    const order = new Int32Array(length);
    let expected = 0;
    for (let i = 0; i < length; ++i) {
      order[i] = expected + numbers.difference();
      expected = order[i] + 1;
    }
    return order;
  });
}

export const originalOf = (order: Int32Array | 'same' | null, position: number): number | null =>
  order === null ? null : order === 'same' ? position : order[position];

const boundariesOf = ({ count, height = 1 }: CutsFacts, rows: number): number[] =>
  Array.from({ length: count + 1 }, (_, slice) => Math.min(rows, slice * height));

export interface Sample {
  rows: Int32Array;
  columns: Int32Array;
  values: Float64Array;
}

export class Pattern {
  stages: Stage[];
  sample: Sample | null = null;
  places: Int32Array | null = null; // of the graph's vertices: all x, then all y
  private values: Float64Array | null = null;

  constructor(readonly facts: PatternFacts, readonly rows: number, readonly columns: number) {
    const slices = facts.stages.flatMap((stage) => stage.cuts).filter((cuts) => cuts.height !== undefined);
    const boundaries = slices.length > 0 ? boundariesOf(slices[0], rows) : [];
    for (const cuts of slices) cuts.boundaries = boundaries;
    this.stages = facts.stages.map((stage) => new Stage(stage, rows, columns));
  }

  async read(): Promise<void> {
    // All sections are inflated at the same time.
    const { sample_rows, sample_columns, sample_values, places } = this.facts;
    const of_stages = this.facts.stages.flatMap(({ bins, sample, rows, columns, stored, stored_lengths }) => [bins.section, sample, rows, columns, stored, stored_lengths]);
    const sections = [sample_rows, sample_columns, sample_values, places, ...of_stages].filter((one): one is number => typeof one === 'number');
    await Promise.all(sections.map(sectionBytes));
    for (const stage of this.stages) await stage.read();
    if (sample_rows !== null) {
      this.sample = {
        rows: integers(await sectionBytes(sample_rows)), columns: integers(await sectionBytes(sample_columns!)),
        values: doubles(await sectionBytes(sample_values!)),
      };
    }
    if (places !== null) this.places = integers(await sectionBytes(places));
  }

  // The values are large, and the page needs them only where somebody points or zooms.
  async readValues(): Promise<void> {
    if (this.facts.values === null) return;
    const bytes = await sectionBytes(this.facts.values);
    this.values = madeOnce(bytes, 'values', () => doubles(bytes));
  }

  get has_values(): boolean {
    return this.facts.values !== null;
  }

  // `row` and `column` are those of the input; null if the page does not store the value.
  value(row: number | null, column: number | null): number | null {
    if (!this.values || row === null || column === null) return null;
    const bin = binAt(this.stages[0].finest, row, column);
    return bin < 0 ? null : this.values[bin];
  }

  // One scale for all stages makes them comparable.
  ceiling(size: number): number {
    return Math.max(...this.stages.map((stage) => stage.ceiling(stage.level(size))));
  }
}
