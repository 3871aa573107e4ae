// The memory of the layout beside the pattern: the slots of the row under the pointer, and the cache lines of x that it reads.
import type { Pattern, Region, Stage } from './bins';
import { css, palette, series } from './colours';
import type { StorageMap } from './document';
import { bytes, counted, dotsPerPixel, h, plural } from './dom';
import { StorageView } from './storage';
import type { Beside } from './view';

const line_bytes = 128;
const block_rows = 32; // of a warp
const hint = 'Point at a row: its slots in memory and the lines of x that it reads are marked. A click on a nonzero keeps them marked.';

// The cache lines of x that rows read, in the order after the last stage.
export function linesOf(stage: Stage, row: number, rows: number, value_bytes: number): { reads: number; lines: Set<number> } {
  const { starts, columns } = stage.finest;
  const lines = new Set<number>();
  const end = starts[Math.min(stage.rows, row + rows)];
  for (let i = starts[row]; i < end; ++i) lines.add(Math.floor((columns[i] * value_bytes) / line_bytes));
  return { reads: end - starts[row], lines };
}

export class MemoryPane implements Beside {
  readonly mode = 'memory';
  readonly element: HTMLElement;
  private storage: StorageView | null = null; // made when it is first shown
  private readonly words = h('p', { class: 'warp-words', 'aria-live': 'polite' }, hint);
  private readonly x = h('canvas', { class: 'x-lines', role: 'img', 'aria-label': 'Cache lines of x' });
  private readonly last: Stage;
  private readonly value_bytes: number;
  private row: number | null = null;
  private width = 0;
  // Called with the region under the pointer, in the order after the last stage.
  onPoint: (region: Region | null) => void = () => undefined;

  private constructor(private readonly map: StorageMap, private readonly pattern: Pattern) {
    this.last = pattern.stages[pattern.stages.length - 1];
    this.value_bytes = map.precision === 'f32' ? 4 : 8;
    this.element = h('div', { class: 'memory-pane unmarked', tabindex: 0, role: 'group', 'aria-label': 'Memory' }, this.words,
      this.has_lines ? h('p', { class: 'x-lines' }, `x, in lines of ${line_bytes} bytes: `, h('span', { class: 'swatch', style: `background:${series(1)}` }), ' this row, ',
        h('span', { class: 'swatch faint-lines' }), ` its block of ${block_rows} rows`) : null,
      this.has_lines ? this.x : null);
  }

  static of(map: StorageMap | null, pattern: Pattern): MemoryPane | null {
    return map && map.parts.length > 0 ? new MemoryPane(map, pattern) : null;
  }

  private get has_lines(): boolean {
    return this.last.showsEntries && this.last.facts.tiles === 0;
  }

  resize(width: number, most_height: number): number {
    this.width = Math.min(width, 900);
    this.element.style.width = `${this.width}px`;
    this.element.style.height = `${most_height}px`;
    if (!this.storage) {
      this.storage = new StorageView(null, '', this.map);
      this.storage.onPoint = (region) => this.onPoint(region);
      this.element.append(this.storage.element);
    }
    else this.storage.redraw();
    this.paintLines();
    this.showMarked();
    return this.width;
  }

  draw(): void {
    this.paintLines();
  }

  caption(): string[] {
    return ['Memory of the layout'];
  }

  // `row`: in the order after the last stage.
  point(row: number | null): void {
    if (row === this.row) return;
    this.row = row;
    const whole: Region | null = row === null ? null : { row, rows: 1, column: 0, columns: this.pattern.columns };
    this.storage?.highlight(whole);
    this.paintLines();
    this.showMarked();
    this.element.classList.toggle('unmarked', row === null);
    const of_bars = this.map.by_cell ? '' : ' Dark: bars of slots whose range of rows contains it.';
    this.words.textContent = row === null ? hint : (this.has_lines ? this.wordsOf(row) : `Row ${counted(row)}.`) + of_bars;
  }

  // Scrolls to the first marked slot, within the pane only.
  private showMarked(): void {
    const marked = this.element.querySelector('.marked')?.getBoundingClientRect();
    if (!marked) return;
    const { top, bottom } = this.element.getBoundingClientRect();
    if (marked.top < top) this.element.scrollTop -= top - marked.top + 4;
    else if (marked.bottom > bottom) this.element.scrollTop += marked.bottom - bottom + 4;
  }

  private block(row: number): number {
    return Math.floor(row / block_rows) * block_rows;
  }

  private wordsOf(row: number): string {
    const own = linesOf(this.last, row, 1, this.value_bytes);
    const all = linesOf(this.last, this.block(row), block_rows, this.value_bytes);
    return `Row ${counted(row)} reads ${plural(own.reads, 'value')} of x from ${plural(own.lines.size, 'line')}: ${bytes(own.lines.size * line_bytes)} for ${bytes(own.reads * this.value_bytes)}. ` +
      `Its block of ${block_rows} rows reads ${counted(all.reads)} from ${plural(all.lines.size, 'line')}.`;
  }

  private paintLines(): void {
    const context = this.x.getContext('2d');
    if (!this.has_lines || !context || this.width === 0) return;
    const most_height = 72;
    const ratio = dotsPerPixel();
    const width = this.width - 16;
    const count = Math.max(1, Math.ceil((this.pattern.columns * this.value_bytes) / line_bytes));
    const fitting = (cell: number): number => Math.floor(width / cell) * Math.floor(most_height / cell);
    let cell = 14;
    while (cell > 2 && fitting(cell) < count) --cell;
    const across = Math.floor(width / cell);
    const cells = Math.min(count, fitting(cell));
    const height = Math.ceil(cells / across) * cell;
    this.x.width = Math.round(width * ratio);
    this.x.height = Math.round(height * ratio);
    this.x.style.width = `${width}px`;
    this.x.style.height = `${height}px`;
    context.scale(ratio, ratio);
    const gap = cell > 4 ? 1 : 0;
    const box = (at: number): void => context.fillRect((at % across) * cell, Math.floor(at / across) * cell, cell - gap, cell - gap);
    // Several lines share a cell of a large x.
    const fill = (lines: Iterable<number>): void => {
      for (const line of lines) box(Math.floor((line * cells) / count));
    };
    context.fillStyle = css(palette().grey[2], 0.5);
    for (let at = 0; at < cells; ++at) box(at);
    if (this.row === null) return;
    context.globalAlpha = 0.4;
    context.fillStyle = series(1);
    fill(linesOf(this.last, this.block(this.row), block_rows, this.value_bytes).lines);
    context.globalAlpha = 1;
    fill(linesOf(this.last, this.row, 1, this.value_bytes).lines);
  }
}
