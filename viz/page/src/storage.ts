// The arrays of the layout in memory, linked with the pattern: pointing at one highlights the other.
import type { Region } from './bins';
import { css, palette, role_colour, series, steps } from './colours';
import type { StorageArray, StorageBins, StorageCells, StorageMap, StoragePart, WarpReads } from './document';
import { bytes, counted, dotsPerPixel, h, percent, plural, section } from './dom';

const lanes = 32;
const hint = 'Point at a place in memory, or in the pattern above.';

// One array, or the reads of one warp.
interface Strip {
  element: HTMLElement;
  draw: () => void;
  highlight: (region: Region | null) => void; // in the order of the rows and columns after the last stage
}

const entry = (row: number, column: number): Region => ({ row, column, rows: 1, columns: 1 });

const contains = (all: Region, one: Region): boolean =>
  one.row >= all.row && one.row < all.row + all.rows && one.column >= all.column && one.column < all.column + all.columns;

const full_colour = (role: string): string => css(palette().planes[role_colour[role] ?? role_colour.structure][Math.round(steps * 0.5)]);

type Paint = (context: CanvasRenderingContext2D, width: number, height: number, marked: Region | null) => void;

function canvasStrip(element: HTMLElement, canvas: HTMLCanvasElement, height_of: (width: number) => number, paint: Paint): Strip {
  let marked: Region | null = null;
  const draw = (): void => {
    const width = canvas.clientWidth;
    const height = height_of(width);
    const ratio = dotsPerPixel();
    const context = canvas.getContext('2d');
    if (width === 0 || !context) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    paint(context, width, height, marked);
  };
  new ResizeObserver(draw).observe(canvas);
  const highlight = (region: Region | null): void => {
    if (region === marked) return;
    marked = region;
    draw();
  };
  return { element, draw, highlight };
}

export class StorageView {
  readonly element: HTMLElement;
  private readonly strips: Strip[] = [];
  private readonly readout = h('p', { class: 'storage-readout', 'aria-live': 'polite' }, hint);
  // Called with the region under the pointer.
  onPoint: (region: Region | null) => void = () => undefined;

  // `id`: of a section of the page; null: the arrays alone.
  constructor(id: string | null, title: string, map: StorageMap) {
    const parts = map.parts.map((part) => this.part(part, map.precision));
    const key = (role: string, name: string): HTMLElement => {
      const swatch = h('span', { class: `swatch role-${role}` });
      // Bins are darker than cells, which contain text.
      if (!map.by_cell && role !== 'padding') {
        const draw = (): void => void (swatch.style.background = full_colour(role));
        this.strips.push({ element: swatch, draw, highlight: () => undefined });
        draw();
      }
      return h('span', { class: 'key' }, swatch, name);
    };
    this.element = id === null ? h('div', {}, ...parts.map(({ arrays }) => arrays)) : section(id, title, 'The arrays of the layout as they are stored. The line above each array shows its bytes relative to the largest array of the layout.',
      h('p', { class: 'legend' }, key('value', 'values'), key('column', 'columns'), key('structure', 'structure'), key('padding', 'padding')),
      this.readout, ...parts.map(({ arrays, reads }) => h('div', { class: 'storage-part' }, arrays, ...reads)));
  }

  highlight(region: Region | null): void {
    for (const strip of this.strips) strip.highlight(region);
  }

  redraw(): void {
    for (const strip of this.strips) strip.draw();
  }

  private part(part: StoragePart, precision: string): { arrays: HTMLElement; reads: HTMLElement[] } {
    const add = (strip: Strip): HTMLElement => {
      this.strips.push(strip);
      return strip.element;
    };
    const slots = part.nonzeros + part.padding;
    const most_bytes = Math.max(1, ...part.arrays.map((array) => array.bytes));
    const facts = `${bytes(part.bytes)}; ${plural(slots, 'slot')} for nonzeros, ${slots > 0 ? percent(part.padding / slots) : '0 %'} of them padding`;
    const arrays = part.arrays.map((array) =>
      add(array.cells ? this.cells(array, array.cells, most_bytes) : this.bins(array, most_bytes, array.bins ?? (array.like === undefined ? undefined : part.arrays[array.like].bins))));
    const warps = part.shown_warps.map((warp) => add(this.warp(part, warp)));
    const idle = part.lane_steps > 0 ? `${percent(1 - part.reads / part.lane_steps)} of ${plural(part.lane_steps, 'lane step')} in ${plural(part.warps, 'warp')} are idle. ` : '';
    const reads = warps.length === 0 ? [] : [
      h('h4', {}, `Reads of the CUDA kernel ${part.kernel}`),
      h('p', { class: 'note' }, `${idle}${counted(warps.length)} of ${plural(part.warps, 'warp')} ${warps.length === 1 ? 'is' : 'are'} shown: lanes 0 to 31 from left to right, a line for each step. Blue: nonzero; grey: padding; pale: idle. The schedule of the kernel states them, also where it does not run.`),
      h('div', { class: 'warps' }, ...warps),
    ];
    return { arrays: h('div', { class: 'arrays' }, h('h3', {}, `${part.share ? `share ${part.share}: ` : ''}${part.layout} ${precision}`), h('p', { class: 'note' }, facts), ...arrays), reads };
  }

  // `in_memory`: highlights the region in the arrays, too.
  private point(words: string, region: Region | null, in_memory = true): void {
    this.readout.textContent = words;
    if (in_memory) this.highlight(region);
    this.onPoint(region);
  }

  private listen(element: HTMLElement, event: 'pointermove' | 'pointerover', read: (event: PointerEvent) => void): void {
    element.addEventListener(event, read);
    element.addEventListener('pointerleave', () => this.point(hint, null));
  }

  // The bars of arrays are equally wide; a line shows the bytes in proportion to `most_bytes`, those of the largest array of the layout.
  private frame(array: StorageArray, most_bytes: number, content: HTMLElement): HTMLElement {
    const padding = array.role !== 'structure' && array.padding > 0 ? `, ${percent(array.padding / Math.max(1, array.nonzeros + array.padding))} padding` : '';
    return h('figure', { class: 'array', 'data-role': array.role },
      h('figcaption', {}, h('b', {}, array.name), ` ${counted(array.length)} × ${array.type}, ${bytes(array.bytes).replace(' ', '\u00a0')}${padding}`, array.words ? h('span', { class: 'muted' }, ` · ${array.words}`) : null),
      array.bytes > 0 ? h('div', { class: 'size-line', title: `${percent(array.bytes / most_bytes)} of the bytes of the largest array`, style: `width: ${(100 * array.bytes) / most_bytes}%` }) : null,
      array.length > 0 ? content : h('p', { class: 'note' }, 'empty'));
  }

  private cells(array: StorageArray, cells: StorageCells, most_bytes: number): Strip {
    const list = h('div', { class: `cells role-${array.role}`, role: 'img', 'aria-label': `${array.name}: ${cells.text.join(' ')}` });
    const spans = cells.text.map((text, i) => h('span', { class: cells.padding?.[i] ? 'cell padding' : 'cell', 'data-i': i }, text === '' ? ' ' : text));
    list.append(...spans);
    const region = (i: number): Region | null => {
      const [row, column] = [cells.row?.[i] ?? -1, cells.column?.[i] ?? -1];
      return row < 0 || column < 0 || cells.padding?.[i] ? null : entry(row, column);
    };
    this.listen(list, 'pointerover', (event) => {
      const i = Number((event.target as HTMLElement).dataset.i ?? -1);
      if (i < 0) return;
      const where = region(i);
      const parts = [`${array.name}[${counted(i)}] = ${cells.text[i]}`];
      if (cells.padding?.[i]) parts.push('padding');
      if (where) parts.push(`row ${counted(where.row)}, column ${counted(where.column)}`);
      if (cells.warp && cells.warp[i] >= 0) parts.push(`read by lane ${cells.lane?.[i]} of warp ${cells.warp[i]} in step ${cells.step?.[i]}`);
      this.point(parts.join(' · '), where);
    });
    return {
      element: this.frame(array, most_bytes, list),
      draw: () => undefined,
      highlight: (wanted) => spans.forEach((span, i) => {
        const own = wanted ? region(i) : null;
        span.classList.toggle('marked', own !== null && wanted !== null && contains(wanted, own));
      }),
    };
  }

  // Each bar stands for consecutive elements; its height is the share that is not padding.
  private bins(array: StorageArray, most_bytes: number, bins: StorageBins | undefined): Strip {
    const canvas = h('canvas', { class: `bins bins-${array.role}`, role: 'img', 'aria-label': `${array.name}, ${counted(array.length)} elements` });
    const count = bins ? bins.padding.length : 1;
    const size_of = (i: number): number => (bins ? Math.min(bins.width, array.length - i * bins.width) : array.length);
    this.listen(canvas, 'pointermove', (event) => {
      if (!bins) return void (this.readout.textContent = `${array.name}: ${counted(array.length)} elements of the structure`);
      const i = Math.min(count - 1, Math.max(0, Math.floor((event.offsetX / canvas.clientWidth) * count)));
      const [size, begin] = [size_of(i), i * bins.width];
      const parts = [`${array.name}[${counted(begin)} to ${counted(begin + size - 1)}]`, `${percent(bins.padding[i] / size)} padding`];
      const region = regionOf(bins, i);
      if (region) parts.push(`rows ${counted(bins.first_row[i])} to ${counted(bins.last_row[i])}, columns ${counted(bins.first_column[i])} to ${counted(bins.last_column[i])}`);
      this.point(parts.join(' · '), region, false);
    });
    return canvasStrip(this.frame(array, most_bytes, canvas), canvas, () => canvas.clientHeight, (context, width, height, marked) => {
      const colours = palette();
      context.fillStyle = css(colours.grey[Math.round(steps * 0.14)]);
      context.fillRect(0, 0, width, height);
      const bars = Math.min(count, Math.floor(width)); // at most one a pixel
      for (let bar = 0; bar < bars; ++bar) {
        const from = Math.floor((bar * count) / bars);
        const to = Math.max(from + 1, Math.floor(((bar + 1) * count) / bars));
        let [padding, all, hit] = [0, 0, false];
        for (let i = from; bins && i < to; ++i) {
          padding += bins.padding[i];
          all += size_of(i);
          hit ||= marked !== null && overlaps(bins, i, marked);
        }
        const filled = all > 0 ? 1 - padding / all : 1;
        const [x0, x1] = [(bar * width) / bars, ((bar + 1) * width) / bars];
        context.fillStyle = full_colour(array.role);
        context.fillRect(x0, height * (1 - filled), x1 - x0 + 0.3, height * filled);
        if (!hit) continue;
        context.fillStyle = colours.ink;
        context.fillRect(x0, 0, Math.max(1.5, x1 - x0), height);
      }
    });
  }

  private warp(part: StoragePart, warp: WarpReads): Strip {
    const listed = warp.array.length / lanes;
    const canvas = h('canvas', { class: 'warp', role: 'img', 'aria-label': `warp ${warp.warp}, ${warp.steps} steps`, style: `aspect-ratio: ${lanes} / ${Math.max(1, listed)}` });
    const region = (i: number): Region | null =>
      warp.array[i] >= 0 && !warp.padding[i] && warp.row[i] >= 0 && warp.column[i] >= 0 ? entry(warp.row[i], warp.column[i]) : null;
    this.listen(canvas, 'pointermove', (event) => {
      const cell = canvas.clientWidth / lanes;
      const lane = Math.min(lanes - 1, Math.floor(event.offsetX / cell));
      const step = Math.min(listed - 1, Math.floor(event.offsetY / cell));
      const i = step * lanes + lane;
      const where = `lane ${lane} of warp ${warp.warp} in step ${step}`;
      if (warp.array[i] < 0) return this.point(`${where} is idle`, null);
      const read = region(i);
      const slot = `${part.arrays[warp.array[i]].name}[${counted(warp.index[i])}]`;
      this.point(`${where} reads ${slot}${warp.padding[i] ? ', padding' : ''}${read ? ` · row ${counted(read.row)}, column ${counted(read.column)}` : ''}`, read);
    });
    const idle = warp.array.filter((array) => array < 0).length;
    const padding = warp.array.filter((array, i) => array >= 0 && warp.padding[i]).length;
    const share = (lane_steps: number): string => percent(warp.array.length > 0 ? lane_steps / warp.array.length : 0);
    const caption = `warp ${counted(warp.warp)}: ${plural(warp.steps, 'step')}${listed < warp.steps ? `, the first ${listed} of them shown` : ''}, ${share(padding)} padding, ${share(idle)} idle`;
    const element = h('figure', { class: 'warp-figure' }, h('figcaption', {}, caption), canvas);
    return canvasStrip(element, canvas, (width) => (width / lanes) * listed, (context, width, _, marked) => {
      const colours = palette();
      const cell = width / lanes;
      const gap = cell > 5 ? 1 : 0;
      for (let i = 0; i < warp.array.length; ++i) {
        const [x, y] = [(i % lanes) * cell, Math.floor(i / lanes) * cell];
        context.fillStyle = warp.array[i] < 0 ? css(colours.grey[2], 0.35) : warp.padding[i] ? css(colours.grey[Math.round(steps * 0.35)]) : series(0);
        context.fillRect(x, y, cell - gap, cell - gap);
        const read = region(i);
        if (!marked || !read || !contains(marked, read)) continue;
        context.fillStyle = colours.ink;
        context.fillRect(x, y, cell, cell);
      }
    });
  }
}

function regionOf(bins: StorageBins, i: number): Region | null {
  const [row, column] = [bins.first_row[i], bins.first_column[i]];
  return row < 0 || column < 0 ? null : { row, column, rows: bins.last_row[i] - row + 1, columns: bins.last_column[i] - column + 1 };
}

function overlaps(bins: StorageBins, i: number, region: Region): boolean {
  return bins.first_row[i] >= 0 && bins.first_row[i] < region.row + region.rows && bins.last_row[i] >= region.row
    && bins.first_column[i] < region.column + region.columns && bins.last_column[i] >= region.column;
}
