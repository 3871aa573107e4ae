// The data that the program writes into a page: JSON, and numbered sections of bytes.

export interface BinsFacts {
  section: number;
  row_bits: number;
  column_bits: number;
  bins: number;
  one_each: boolean;
}

export interface CutsFacts {
  kind: 'partition' | 'row_block' | 'length_group' | 'segment' | 'slice'; // slice: of the layout
  count: number;
  step: number;
  boundaries: number[];
  height?: number; // of slices, whose boundaries follow from it
}

export interface StageFacts {
  label: string;
  choices: string;
  before: number;
  planes: string[];
  tiles: number;
  cuts: CutsFacts[];
  bins: BinsFacts;
  sample: number | null;
  rows: number | 'same' | null; // section of the rows' original numbers; null: not stored
  columns: number | 'same' | null;
  stored: number | null; // section of the rows of tiles
  stored_lengths?: number | null; // section of the lengths of the rows of the second share, as it stores them
}

export interface PatternFacts {
  stages: StageFacts[];
  entries: boolean; // every stage has bins of one entry
  sampled: number;
  sample_rows: number | null; // null: no nonzeros were sampled, as in the next two
  sample_columns: number | null;
  sample_values: number | null;
  values: number | null;
  places: number | null; // section of the places of the graph's vertices: all x, then all y
}

export interface Figure {
  label: string;
  meaning: string;
  telling: number;
  more_is_better: boolean;
  of_whole: boolean; // as if one layout stored the whole matrix
  texts: (string | null)[];
  numbers: (number | null)[][];
}

export interface Kernel {
  layout: string;
  share: string | null;
  kernel: string;
  backend: string;
  precision: string;
  baseline: boolean;
  status: string;
  reason: string | null;
  error_over_bound: number | null;
  prepare_seconds: number;
  vector_permutation_seconds: number;
  median_seconds: number;
  spread: number;
  samples: number[];
  bytes_to_move: number;
  bytes_per_nonzero: number;
  gflops: number;
  gbytes_per_second: number;
  share_of_copy_bandwidth: number;
  speedup: number | null;
  speedup_interval: [number, number] | null;
  verdict: string | null;
  break_even: number | null;
  break_even_interval: [number, number] | null;
  warnings: string[];
}

export interface Layout {
  name: string;
  share: string | null;
  precision: string;
  seconds: number;
  unsuitable: string | null;
  nonzeros: number;
  bytes: number;
  slots: number;
  footprint: Record<string, { role: string; count: number; bytes: number }>;
}

export interface Device {
  kind: 'host' | 'gpu';
  name: string;
  copy_bytes_per_second: number;
  read_bytes_per_second: number;
}

export interface Report {
  recipe: { name: string; source: string; file: string; resolved: string };
  matrix: MatrixFacts & { read_seconds: number };
  stages: { id: string; name: string; parameters: Record<string, string | number>; precision: string | null; seconds: number; shared: boolean; notes: Record<string, string> }[];
  layouts: Layout[];
  kernels: Kernel[];
  cache: string;
  devices: Device[];
  machine: Record<string, string>;
  versions: Record<string, string>;
  notes: string[];
  errors: string[];
}

export interface StorageCells {
  text: string[];
  padding?: number[];
  row?: number[];
  column?: number[];
  nonzero?: number[];
  warp?: number[];
  lane?: number[];
  step?: number[];
}

export interface StorageBins {
  width: number;
  padding: number[];
  first_row: number[];
  last_row: number[];
  first_column: number[];
  last_column: number[];
}

export interface StorageArray {
  name: string;
  role: string;
  type: string;
  length: number;
  bytes: number;
  words: string;
  nonzeros: number;
  padding: number;
  like?: number;
  cells?: StorageCells;
  bins?: StorageBins;
}

export interface WarpReads {
  warp: number;
  steps: number;
  array: number[];
  index: number[];
  row: number[];
  column: number[];
  padding: number[];
  sectors: { values: number[]; x: number[] }; // of 32 bytes, that each listed step reads
}

export interface StoragePart {
  share: string;
  layout: string;
  kernel: string;
  nonzeros: number;
  padding: number;
  bytes: number;
  warps: number;
  reads: number;
  lane_steps: number;
  arrays: StorageArray[];
  shown_warps: WarpReads[];
}

export interface StorageMap {
  precision: string;
  by_cell: boolean;
  parts: StoragePart[];
}

export interface Run {
  title: string;
  report: Report;
  figures: Figure[];
  pattern: PatternFacts | null;
  storage: StorageMap | null;
}

export interface BenchRecord {
  recipe: string;
  matrix: string;
  device: string;
  precision: string;
  status: string;
  reason: string;
  layout: string;
  kernel: string;
  backend: string;
  seconds: number;
  gflops: number;
  gbytes_per_second: number;
  bytes_per_nonzero: number;
  speedup: number | null;
  interval: [number, number] | null;
  verdict: string;
  break_even: number | null;
  warnings: string[];
  copy_bandwidth: number;
  nonzeros: number | null;
  rows: number | null;
}

export interface Ranking {
  device: string;
  precision: string;
  matrices: number;
  recipes: { recipe: string; geometric_mean: number; least: number; most: number; count: number; won: number; tied: number; warned: number; not_measured: number }[];
}

export interface Ratios {
  geometric_mean: number;
  least: number;
  most: number;
  matrices: number;
}

export interface JudgedOther {
  recipe: string;
  kernel: string;
  times_faster: number | null;
  break_even: number | null;
}

export interface JudgedMatrix {
  matrix: string;
  status: string;
  way: string | null;
  reason: string | null;
  seconds?: number;
  setup_seconds?: number | null;
  first_seconds?: number | null;
  new_values_seconds?: number | null;
  bytes_per_nonzero?: number;
  share_of_copy?: number | null;
  vendor?: JudgedOther | null;
  workbench?: JudgedOther | null;
  warnings?: string[];
}

export interface Judgement {
  verdict: string;
  file: string;
  right: boolean;
  honest: boolean;
  counts: { measured: number; unsuitable: number; wrong: number; failed: number };
  slows_others: number | null;
  over_vendor: Ratios | null;
  over_workbench: Ratios | null;
  open: string[];
  matrices: JudgedMatrix[];
}

export interface MatrixFacts {
  source: string;
  rows: number;
  columns: number;
  nonzeros: number;
}

// A solve in solve.json. It has no times if the kernel was wrong or unsuitable.
export interface Solved {
  recipe: string;
  baseline: boolean;
  tuned: boolean;
  layout: string;
  kernel: string;
  kernel_status: string;
  kernel_reason: string;
  stage_seconds: number;
  build_seconds: number;
  copy_seconds: number;
  notes: string[];
  end?: string;
  reason?: string;
  iterations?: number;
  solver_seconds?: number;
  vector_seconds?: number;
  solve_seconds?: number;
  solve_speedup?: number | null;
  solve_speedup_interval?: [number, number] | null;
  within_noise?: boolean | null;
  once_seconds?: number;
  each_seconds?: number;
  total_seconds?: number;
  iteration_seconds?: number;
  pays_after_solves?: number | null;
  residuals?: (number | null)[];
}

export interface Solve {
  matrix: MatrixFacts;
  method: string;
  preconditioner: string;
  precision: string;
  right_hand_side: string;
  right_sides: number;
  tolerance: number;
  device: string;
  solves: Solved[];
  advice: { recipe: string; baseline: boolean; from_solves: number }[];
  errors: { text: string }[];
  machine: Record<string, string>;
  versions: Record<string, string>;
  notes: string[];
  warnings: string[];
}

export interface Ranked {
  recipe: string;
  stages: string[];
  layout: string;
  kernel: string;
  median_seconds: number;
  predicted_seconds: number;
  speedup: number | null;
  speedup_interval: [number, number] | null;
  verdict: string;
  price_seconds: number;
  break_even: number | null;
  resolved: string;
}

// What `workbench choose --json` writes.
export interface Choice {
  matrix: MatrixFacts;
  precision: string;
  vectors: number;
  device: string;
  stay: boolean;
  warnings: string[];
  without_stage: { stage: string; median_seconds: number | null; reason: string | null }[];
  ranking: Ranked[];
  not_timed: { recipe: string; reason: string }[];
}

export interface PageDocument {
  kind: 'run' | 'compare' | 'bench' | 'solve' | 'choose';
  command: string;
  title?: string;
  runs: Run[];
  records?: BenchRecord[];
  rankings?: Ranking[];
  judgement?: Judgement; // of a bench with one kernel
  solve?: Solve;
  choice?: Choice;
  sentences?: string[]; // the advice of a solve, or the answer of a search and its extent
  correlation?: number | null; // of the ranks of predicted and measured times
}

let given: Uint8Array[] | null = null; // title, document and sections that were given instead of those in the file

async function inflated(id: string): Promise<Uint8Array> {
  if (given) return given[id === 'document' ? 1 : 2 + Number(id.slice('section-'.length))];
  const element = document.getElementById(id);
  if (!element) return Promise.reject(new Error(`the page has no part '${id}'`));
  const bytes = inflate(element.textContent ?? '');
  element.textContent = ''; // frees half of the memory
  return bytes;
}

async function inflate(text: string): Promise<Uint8Array> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  const stream = new DecompressionStream('deflate'); // without a Blob, which would take a way through another process
  const writer = stream.writable.getWriter();
  const [inflated] = await Promise.all([new Response(stream.readable).arrayBuffer(), writer.write(bytes).then(() => writer.close())]);
  return new Uint8Array(inflated);
}

export async function readDocument(): Promise<PageDocument> {
  return JSON.parse(new TextDecoder().decode(await inflated('document'))) as PageDocument;
}

// True if the page was sent without data, which will be given.
export const awaitsData = (): boolean => given === null && document.getElementById('document') === null;

// Replaces the data of this page: title, document and sections.
export function replaceData(parts: Uint8Array[]): void {
  given = parts;
  sections.clear();
  document.title = new TextDecoder().decode(parts[0]);
}

const made = new WeakMap<Uint8Array, Map<string, unknown>>();

// What `make` makes of bytes that are known by their identity, and of all that the key tells; it is made only once.
export function madeOnce<Made>(bytes: Uint8Array, key: string, make: () => Made): Made {
  let of_bytes = made.get(bytes);
  if (!of_bytes) made.set(bytes, (of_bytes = new Map()));
  if (!of_bytes.has(key)) of_bytes.set(key, make());
  return of_bytes.get(key) as Made;
}

const sections = new Map<number, Promise<Uint8Array>>();

export function sectionBytes(number: number): Promise<Uint8Array> {
  let bytes = sections.get(number);
  if (!bytes) {
    bytes = inflated(`section-${number}`);
    sections.set(number, bytes);
  }
  return bytes;
}

// Numbers of seven bits a byte, least significant first.
export class Numbers {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  get ended(): boolean {
    return this.at >= this.bytes.length;
  }

  next(): number {
    let number = 0;
    let weight = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      number += (byte & 127) * weight;
      if (byte < 128) return number;
      weight *= 128;
    }
  }

  difference(): number {
    const twice = this.next();
    return twice % 2 === 0 ? twice / 2 : -(twice + 1) / 2;
  }
}

// Stored as the first bytes of all numbers, then their second bytes, and so on, which deflate compresses better.
function fromBytePlanes(bytes: Uint8Array, size: number): DataView {
  const count = bytes.length / size;
  const whole = new Uint8Array(bytes.length);
  for (let place = 0; place < size; ++place) {
    for (let i = 0; i < count; ++i) whole[i * size + place] = bytes[place * count + i];
  }
  return new DataView(whole.buffer);
}

export function integers(bytes: Uint8Array): Int32Array {
  const view = fromBytePlanes(bytes, 4);
  const result = new Int32Array(bytes.length / 4);
  for (let i = 0; i < result.length; ++i) result[i] = view.getInt32(4 * i, true);
  return result;
}

export function doubles(bytes: Uint8Array): Float64Array {
  const view = fromBytePlanes(bytes, 8);
  const result = new Float64Array(bytes.length / 8);
  for (let i = 0; i < result.length; ++i) result[i] = view.getFloat64(8 * i, true);
  return result;
}
