// The pattern of one stage in memory: bins that zooming goes through, and what is known of single entries.
import { type BinsFacts, type PatternFacts, type StageFacts, doubles, integers, Numbers, section } from './document';

export interface Level {
  rowBits: number;
  columnBits: number;
  rowBins: number;
  columnBins: number;
  planes: number;
  starts: Uint32Array; // [rowBins + 1]
  columns: Int32Array; // [bins] ascending in a row bin
  counts: Uint32Array; // [bins][planes]
}

const binsAlong = (length: number, bits: number): number => (length === 0 ? 0 : Math.floor((length - 1) / 2 ** bits) + 1);

function readLevel(bytes: Uint8Array, facts: BinsFacts, planes: number, rows: number, columns: number): Level {
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

// Bins of twice the side, along the axis with more of them, and along the other one where it has more than half as many.
function coarser(level: Level, rows: number, columns: number): Level {
  const { planes } = level;
  const rowStep = level.rowBins > 1 && 2 * level.rowBins > level.columnBins ? 1 : 0;
  const columnStep = level.columnBins > 1 && 2 * level.columnBins > level.rowBins ? 1 : 0;
  const rowBins = binsAlong(rows, level.rowBits + rowStep);
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
  return {
    rowBits: level.rowBits + rowStep, columnBits: level.columnBits + columnStep, rowBins,
    columnBins: binsAlong(columns, level.columnBits + columnStep), planes, starts,
    columns: newColumns.slice(0, size), counts: newCounts.slice(0, size * planes),
  };
}

// The place in the level's arrays; -1 where nothing is stored.
export function binAt(level: Level, rowBin: number, columnBin: number): number {
  if (rowBin < 0 || rowBin >= level.rowBins) return -1;
  let low = level.starts[rowBin];
  let high = level.starts[rowBin + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (level.columns[middle] < columnBin) low = middle + 1;
    else high = middle;
  }
  return low < level.starts[rowBin + 1] && level.columns[low] === columnBin ? low : -1;
}

export function countAt(level: Level, bin: number): number {
  let sum = 0;
  for (let plane = 0; plane < level.planes; ++plane) sum += level.counts[bin * level.planes + plane];
  return sum;
}

// Densities above it are darkest: the 99th percentile of bins that are not empty.
function ceilingOf(level: Level): number {
  const bins = level.columns.length;
  if (bins === 0) return 1;
  const step = Math.max(1, Math.floor(bins / 20000));
  const counts: number[] = [];
  for (let bin = 0; bin < bins; bin += step) counts.push(countAt(level, bin));
  counts.sort((a, b) => a - b);
  return Math.max(1, counts[Math.floor((counts.length - 1) * 0.99)]);
}

export interface SamplePlaces {
  rows: Int32Array;
  columns: Int32Array;
}

// Rows of tiles as they are stored, found by where they are drawn.
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
    const block = this.rowCuts.length > 0 ? pieceAt(this.rowCuts, drawnRow) : 0;
    const rows = this.tiles.get(`${block},${pieceAt(this.columnCuts, column)}`);
    return rows?.[drawnRow - (this.rowCuts[block] ?? 0)] ?? drawnRow;
  }

  // Where a row of the matrix is drawn.
  drawnAt(row: number, column: number): number | null {
    const block = this.rowCuts.length > 0 ? pieceAt(this.rowCuts, row) : 0;
    const stored = this.tiles.get(`${block},${pieceAt(this.columnCuts, column)}`)?.indexOf(row) ?? -1;
    return stored < 0 ? null : stored + (this.rowCuts[block] ?? 0);
  }
}

export function pieceAt(boundaries: number[], position: number): number {
  let low = 0;
  let high = boundaries.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (boundaries[middle] <= position) low = middle;
    else high = middle;
  }
  return low;
}

export const sizeOf = (level: Level): number => level.rowBits + level.columnBits;

export class Stage {
  levels: Level[] = []; // the finest first
  private ceilings: number[] = [];
  sample: SamplePlaces | null = null;
  originalRows: Int32Array | 'same' | null = null;
  originalColumns: Int32Array | 'same' | null = null;
  private stored: StoredRows | null = null;

  constructor(readonly facts: StageFacts, readonly rows: number, readonly columns: number) {}

  async read(): Promise<void> {
    const { facts } = this;
    this.levels = [readLevel(await section(facts.bins.section), facts.bins, facts.planes.length, this.rows, this.columns)];
    for (let last = this.levels[0]; last.rowBins > 64 || last.columnBins > 64; this.levels.push(last)) {
      last = coarser(last, this.rows, this.columns);
    }
    this.ceilings = this.levels.map(ceilingOf);
    if (facts.sample !== null) {
      // Both lists lie one after the other, each in byte planes of its own.
      const bytes = await section(facts.sample);
      const half = bytes.length / 2;
      this.sample = { rows: integers(bytes.subarray(0, half)), columns: integers(bytes.subarray(half)) };
    }
    this.originalRows = await readOrder(facts.rows, this.rows);
    this.originalColumns = await readOrder(facts.columns, this.columns);
    if (facts.stored !== null) {
      const boundaries = (kind: string): number[] => facts.cuts.find((cuts) => cuts.kind === kind)?.boundaries ?? [];
      this.stored = new StoredRows(await section(facts.stored), boundaries('row_block'), boundaries('segment'));
    }
  }

  get finest(): Level {
    return this.levels[0];
  }
  get showsEntries(): boolean {
    return this.finest.rowBits === 0 && this.finest.columnBits === 0;
  }
  // By its size: of a matrix that is not square one of the sides may stay as it is.
  level(size: number): Level {
    return this.levels.find((level) => sizeOf(level) >= size) ?? this.levels[this.levels.length - 1];
  }
  ceiling(level: Level): number {
    return this.ceilings[this.levels.indexOf(level)] ?? 1;
  }
  // The row of the matrix that is drawn here.
  rowAt(drawnRow: number, column: number): number | null {
    if (this.facts.tiles === 0) return drawnRow;
    return this.stored ? this.stored.rowAt(drawnRow, column) : null;
  }
  // Where it is drawn.
  drawnRow(row: number, column: number): number | null {
    if (this.facts.tiles === 0) return row;
    return this.stored ? this.stored.drawnAt(row, column) : null;
  }
}

// Which row or column of the second stage is this one of the first? null: that is not kept.
export function between(from: Stage, to: Stage, which: 'originalRows' | 'originalColumns', position: number): number | null {
  if (from === to || from.facts[which === 'originalRows' ? 'rows' : 'columns'] === to.facts[which === 'originalRows' ? 'rows' : 'columns']) {
    if (from === to || from[which] !== null) return position;
  }
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
  const numbers = new Numbers(await section(which));
  const order = new Int32Array(length);
  let expected = 0;
  for (let i = 0; i < length; ++i) {
    order[i] = expected + numbers.difference();
    expected = order[i] + 1;
  }
  return order;
}

export const originalOf = (order: Int32Array | 'same' | null, position: number): number | null =>
  order === null ? null : order === 'same' ? position : order[position];

export interface Sample {
  rows: Int32Array;
  columns: Int32Array;
  values: Float64Array;
}

// All stages of a run.
export class Pattern {
  stages: Stage[];
  sample: Sample | null = null;
  private values: Float64Array | null = null;

  constructor(readonly facts: PatternFacts, readonly rows: number, readonly columns: number) {
    this.stages = facts.stages.map((stage) => new Stage(stage, rows, columns));
  }

  async read(): Promise<void> {
    for (const stage of this.stages) await stage.read();
    const { sample_rows, sample_columns, sample_values, values } = this.facts;
    if (sample_rows !== null && sample_columns !== null && sample_values !== null) {
      this.sample = {
        rows: integers(await section(sample_rows)), columns: integers(await section(sample_columns)),
        values: doubles(await section(sample_values)),
      };
    }
    if (values !== null) this.values = doubles(await section(values));
  }

  get has_values(): boolean {
    return this.values !== null;
  }

  // By the input's row and column; null where it is not kept.
  value(row: number, column: number): number | null {
    if (!this.values) return null;
    const bin = binAt(this.stages[0].finest, row, column);
    return bin < 0 ? null : this.values[bin];
  }

  // One scale for all stages, so that they can be compared.
  ceiling(size: number): number {
    return Math.max(...this.stages.map((stage) => stage.ceiling(stage.level(size))));
  }
}
