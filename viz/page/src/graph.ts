// The graph of the matrix: a vertex for each row of the input, an edge for each pair of rows that a nonzero couples.
import { between, binAt, type Pattern, pieceAt, type Region, type Stage } from './bins';
import { css, isDark, oklch, palette, pieceHues, type Rgb } from './colours';
import { counted, dotsPerPixel, plural, h } from './dom';
import { levelsOf } from './levels';
import type { Beside } from './view';

export type GraphColouring = 'partition' | 'order' | 'level' | 'length';

const piece_names: Record<string, string> = { partition: 'partition', row_block: 'row block', length_group: 'length group' };
const scale_steps = 48;
const rim = 18;
const least_number = 18; // pixels of a disc with a number in it

// The cuts of rows by which a graph can be coloured.
export function piecesOf(stage: Stage): { boundaries: number[]; kind: string; name: string } | null {
  for (const kind of ['partition', 'row_block', 'length_group']) {
    const cuts = stage.facts.cuts.find((one) => one.kind === kind && one.count > 1 && one.step === 1);
    if (cuts) return { boundaries: cuts.boundaries, kind: piece_names[kind], name: plural(cuts.count, piece_names[kind]) };
  }
  return null;
}

// Blue, teal, green, orange, red, as in the program's pictures.
function scaleColour(position: number): Rgb {
  const hues = [0, 4, 2, 1, 5].map((i) => oklch(isDark() ? 0.76 : 0.53, 0.13, palette().hues[i]));
  const at = Math.min(1, Math.max(0, position)) * (hues.length - 1);
  const first = Math.min(hues.length - 2, Math.floor(at));
  return hues[first].map((part, i) => Math.round(part + (hues[first + 1][i] - part) * (at - first))) as Rgb;
}

const scaleGradient = (): string =>
  `linear-gradient(to right, ${Array.from({ length: 9 }, (_, i) => css(scaleColour(i / 8))).join(', ')})`;

export class GraphPane implements Beside {
  readonly mode = 'graph';
  readonly canvas = document.createElement('canvas');
  readonly element = this.canvas;
  colour_by: GraphColouring | 'auto' = 'auto';
  readonly edges: [Int32Array, Int32Array];
  private readonly still = document.createElement('canvas'); // all but the mark
  private still_of = '';
  private mostly_between = false; // of the edges: they would hide the pieces
  private width = 1;
  private height = 1;
  private ratio = 1;
  private scale = 1;
  private readonly extent: { x: number; y: number };
  private readonly cells = new Map<number, number[]>(); // vertices by place, for pointing
  private readonly cell = 24; // CSS pixels

  constructor(private readonly pattern: Pattern, private readonly places: Int32Array) {
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'Graph');
    const { finest } = pattern.stages[0];
    const from: number[] = [];
    const to: number[] = [];
    for (let row = 0; row < pattern.rows; ++row) {
      for (let bin = finest.starts[row]; bin < finest.starts[row + 1]; ++bin) {
        const column = finest.columns[bin];
        if (row < column || (row > column && binAt(finest, column, row) < 0)) {
          from.push(row);
          to.push(column);
        }
      }
    }
    this.edges = [Int32Array.from(from), Int32Array.from(to)];
    const along = (first: number): number => places.subarray(first, first + pattern.rows).reduce((a, b) => Math.max(a, b), 1);
    this.extent = { x: along(0), y: along(pattern.rows) };
  }

  // Returns the needed width.
  resize(width: number, most_height: number): number {
    this.ratio = Math.min(dotsPerPixel(), 3);
    const { x, y } = this.extent;
    this.scale = Math.min((width - 2 * rim) / x, (most_height - 2 * rim) / y);
    this.width = Math.ceil(x * this.scale + 2 * rim);
    this.height = Math.ceil(y * this.scale + 2 * rim);
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = Math.round(this.width * this.ratio);
      canvas.height = Math.round(this.height * this.ratio);
    }
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.still_of = '';
    this.cells.clear();
    for (let vertex = 0; vertex < this.pattern.rows; ++vertex) {
      const key = this.cellOf(...this.at(vertex));
      const known = this.cells.get(key);
      if (known) known.push(vertex);
      else this.cells.set(key, [vertex]);
    }
    return this.width;
  }

  // In CSS pixels.
  at(vertex: number): [number, number] {
    return [rim + this.places[vertex] * this.scale, rim + this.places[this.pattern.rows + vertex] * this.scale];
  }

  private cellOf(x: number, y: number): number {
    return Math.floor(x / this.cell) + 4096 * Math.floor(y / this.cell);
  }

  // The vertex nearest to a point, within a cell's side.
  vertexAt(x: number, y: number): number | null {
    let best: number | null = null;
    let least = this.cell ** 2;
    for (const dx of [-this.cell, 0, this.cell]) {
      for (const dy of [-this.cell, 0, this.cell]) {
        for (const vertex of this.cells.get(this.cellOf(x + dx, y + dy)) ?? []) {
          const [a, b] = this.at(vertex);
          const square = (a - x) ** 2 + (b - y) ** 2;
          if (square < least) [best, least] = [vertex, square];
        }
      }
    }
    return best;
  }

  neighboursOf(vertex: number): number {
    const [from, to] = this.edges;
    let count = 0;
    for (let i = 0; i < from.length; ++i) if (from[i] === vertex || to[i] === vertex) ++count;
    return count;
  }

  // ---- Colours.

  // For each vertex the number of its colour, and for each piece the same; the colours.
  private colours(stage: Stage, by: GraphColouring): { of: Uint8Array; list: string[]; piece: Int32Array | null } {
    const { rows } = this.pattern;
    const row_of = (vertex: number): number => between(this.pattern.stages[0], stage, 'originalRows', vertex) ?? vertex;
    const pieces = by === 'partition' ? piecesOf(stage) : null;
    const of = new Uint8Array(rows);
    if (pieces) {
      const piece = Int32Array.from({ length: rows }, (_, vertex) => pieceAt(pieces.boundaries, row_of(vertex)));
      const hue = this.huesOf(piece, pieces.boundaries.length - 1);
      for (let vertex = 0; vertex < rows; ++vertex) of[vertex] = hue[piece[vertex]];
      return { of, list: pieceHues(), piece };
    }
    const { starts } = this.pattern.stages[0].finest;
    const level = by === 'level' ? levelsOf(stage) : null;
    const size = (vertex: number): number => level?.[row_of(vertex)] ?? (by === 'length' ? starts[vertex + 1] - starts[vertex] : row_of(vertex));
    let [low, high] = [Infinity, -Infinity];
    for (let vertex = 0; vertex < rows; ++vertex) [low, high] = [Math.min(low, size(vertex)), Math.max(high, size(vertex))];
    for (let vertex = 0; vertex < rows; ++vertex) of[vertex] = Math.round(((size(vertex) - low) / Math.max(1, high - low)) * (scale_steps - 1));
    return { of, list: Array.from({ length: scale_steps }, (_, i) => css(scaleColour(i / (scale_steps - 1)))), piece: null };
  }

  // Adjacent pieces have different hues if six suffice for it.
  private huesOf(piece: Int32Array, count: number): Uint8Array {
    const adjacent = Array.from({ length: count }, () => new Set<number>());
    const [from, to] = this.edges;
    for (let i = 0; i < from.length; ++i) {
      const [a, b] = [piece[from[i]], piece[to[i]]];
      if (a !== b) adjacent[Math.max(a, b)].add(Math.min(a, b));
    }
    const hue = new Uint8Array(count);
    const many = pieceHues().length;
    for (let one = 0; one < count; ++one) {
      const used = new Set([...adjacent[one]].map((other) => hue[other]));
      let next = 0;
      while (next < many && used.has((one + next) % many)) ++next;
      hue[one] = (one + next) % many;
    }
    return hue;
  }

  private colouring(stage: Stage): GraphColouring {
    return this.colour_by !== 'auto' ? this.colour_by : piecesOf(stage) ? 'partition' : 'order';
  }

  caption(stage: Stage): (Node | string)[] {
    const by = this.colouring(stage);
    const words = this.words(stage, by);
    this.canvas.setAttribute('aria-label', words);
    const has_scale = by !== 'partition' || piecesOf(stage) === null;
    return has_scale ? [`${words} `, h('span', { class: 'ramp', style: `background:${scaleGradient()}` })] : [words];
  }

  private words(stage: Stage, by: GraphColouring): string {
    const pieces = by === 'partition' ? piecesOf(stage) : null;
    if (pieces) return `Graph: ${pieces.name}; ${this.mostly_between ? 'most edges are between them' : `edges between them are ${isDark() ? 'white' : 'dark'}`}`;
    if (by === 'level') return 'Graph, by level: the edges from the first row';
    return by === 'length' ? 'Graph, by the nonzeros of each row' : `Graph, by row: 0 to ${counted(Math.max(0, this.pattern.rows - 1))}`;
  }

  // ---- Drawing.

  draw(stage: Stage, mark: Region | null): void {
    const by = this.colouring(stage);
    const key = JSON.stringify([this.pattern.stages.indexOf(stage), by, isDark(), this.width, this.height, this.ratio]);
    if (key !== this.still_of) {
      this.drawAll(stage, by);
      this.still_of = key;
    }
    const context = this.canvas.getContext('2d');
    if (!context) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.still, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (mark) this.drawMark(context, stage, mark);
  }

  private drawAll(stage: Stage, by: GraphColouring): void {
    const context = this.still.getContext('2d');
    if (!context) return;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = css(palette().paper);
    context.fillRect(0, 0, this.width, this.height);
    const { of, list, piece } = this.colours(stage, by);
    const spacing = Math.sqrt((this.width * this.height) / Math.max(1, this.pattern.rows));
    const paths = list.map(() => new Path2D());
    const between_pieces = new Path2D();
    const [from, to] = this.edges;
    this.mostly_between = piece !== null && from.filter((vertex, i) => piece[vertex] !== piece[to[i]]).length > from.length / 2;
    for (let i = 0; i < from.length; ++i) {
      const is_between = piece && piece[from[i]] !== piece[to[i]];
      const path = is_between ? (this.mostly_between ? paths[of[from[i]]] : between_pieces) : paths[(of[from[i]] + of[to[i]]) >> 1];
      path.moveTo(...this.at(from[i]));
      path.lineTo(...this.at(to[i]));
    }
    context.lineWidth = Math.min(2.5, Math.max(0.5, spacing * 0.08));
    paths.forEach((path, i) => {
      context.strokeStyle = list[i];
      context.stroke(path);
    });
    context.strokeStyle = palette().ink;
    context.stroke(between_pieces);
    const radius = Math.max(0.8, Math.min(spacing * 0.44 >= least_number ? 15 : 9, spacing * 0.22));
    const discs = list.map(() => new Path2D());
    // Where discs would be smaller than edges are wide, only vertices without edges have one.
    const has_edge = new Uint8Array(this.pattern.rows);
    if (radius < 1) for (const ends of this.edges) for (const vertex of ends) has_edge[vertex] = 1;
    for (let vertex = 0; vertex < this.pattern.rows; ++vertex) {
      if (has_edge[vertex] === 1) continue;
      const [x, y] = this.at(vertex);
      discs[of[vertex]].moveTo(x + radius, y);
      discs[of[vertex]].arc(x, y, radius, 0, 2 * Math.PI);
    }
    discs.forEach((path, i) => {
      context.fillStyle = list[i];
      context.fill(path);
    });
    const room = spacing * 0.44; // of a number, in a disc
    if (room >= least_number) this.drawNumbers(context, stage, Math.min(room, 22));
  }

  // The number of the row in the disc of each vertex.
  private drawNumbers(context: CanvasRenderingContext2D, stage: Stage, size: number): void {
    context.font = `${Math.round(size * 0.62)}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillStyle = css(palette().paper);
    for (let vertex = 0; vertex < this.pattern.rows; ++vertex) {
      const row = between(this.pattern.stages[0], stage, 'originalRows', vertex);
      if (row !== null) context.fillText(String(row), ...this.at(vertex));
    }
  }

  // The edges of the nonzeros in a region of the stage's pattern, or the vertices of its rows if it has none.
  private drawMark(context: CanvasRenderingContext2D, stage: Stage, mark: Region): void {
    const original = (which: 'originalRows' | 'originalColumns', at: number): number | null => between(stage, this.pattern.stages[0], which, at);
    const vertices = new Set<number>();
    context.strokeStyle = palette().ink;
    context.lineWidth = 4;
    context.beginPath();
    for (let row = mark.row; row < Math.min(mark.row + mark.rows, stage.rows); ++row) {
      for (let column = mark.column; column < mark.column + mark.columns; ++column) {
        const drawn = stage.rowAt(row, column);
        if (drawn === null || (mark.rows * mark.columns > 1 && binAt(stage.finest, row, column) < 0)) continue;
        const [a, b] = [original('originalRows', drawn), original('originalColumns', column)];
        if (a === null || b === null) continue;
        vertices.add(a).add(b);
        if (binAt(stage.finest, row, column) < 0) continue;
        context.moveTo(...this.at(a));
        context.lineTo(...this.at(b));
      }
    }
    context.stroke();
    for (const vertex of vertices) {
      const [x, y] = this.at(vertex);
      context.beginPath();
      context.arc(x, y, 5, 0, 2 * Math.PI);
      context.fillStyle = css(palette().paper);
      context.fill();
      context.lineWidth = 2.5;
      context.stroke();
    }
  }
}

export function colouringMenu(chosen: (by: GraphColouring | 'auto') => void): HTMLSelectElement {
  const menu = h('select', { 'aria-label': 'Colours of the graph', hidden: true },
    ...[['auto', 'Colours: automatic'], ['partition', 'by partition'], ['order', 'by row order'], ['level', 'by level'], ['length', 'by row length']].map(
      ([value, name]) => h('option', { value }, name)));
  menu.addEventListener('change', () => chosen(menu.value as GraphColouring | 'auto'));
  return menu;
}
