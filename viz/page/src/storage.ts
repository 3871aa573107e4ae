// The arrays of the layout as memory, linked with the pattern: pointing at one shows the other.
import { css, palette, series, steps } from './colours';
import { role_colour } from './charts';
import { bytes, counted, h, percent, plural } from './dom';
import { section } from './sections';

interface Cells {
  text: string[];
  padding?: number[];
  row?: number[];
  column?: number[];
  nonzero?: number[];
  warp?: number[];
  lane?: number[];
  step?: number[];
}

interface Bins {
  width: number;
  padding: number[];
  first_row: number[];
  last_row: number[];
  first_column: number[];
  last_column: number[];
}

interface StorageArray {
  name: string;
  role: string;
  type: string;
  length: number;
  bytes: number;
  words: string;
  nonzeros: number;
  padding: number;
  like?: number;
  cells?: Cells;
  bins?: Bins;
}

interface Warp {
  warp: number;
  steps: number;
  array: number[];
  index: number[];
  row: number[];
  column: number[];
  padding: number[];
}

interface Part {
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
  shown_warps: Warp[];
}

export interface StorageMap {
  precision: string;
  by_cell: boolean;
  parts: Part[];
}

// A rectangle of the matrix as the layout got it, after the last stage.
export interface Place {
  row: number;
  column: number;
  rows: number;
  columns: number;
}

const lanes = 32;

// One array, or the reads of a warp: something that can be drawn anew, and told what is pointed at.
interface Strip {
  element: HTMLElement;
  draw: () => void;
  highlight: (place: Place | null) => void;
}

const full_colour = (role: string): string => css(palette().planes[role_colour[role] ?? 2][Math.round(steps * 0.5)]);

export class StorageView {
  readonly element: HTMLElement;
  private readonly strips: Strip[] = [];
  private readonly told = h('p', { class: 'storage-told', 'aria-live': 'polite' }, 'Point at a place in memory, or in the pattern above.');
  // The pattern hears of what is pointed at here.
  onPoint: (place: Place | null) => void = () => undefined;

  constructor(title: string, map: StorageMap) {
    const parts = map.parts.map((part) => {
      const places = part.nonzeros + part.padding;
      const facts = `${bytes(part.bytes)}; ${plural(places, 'place')} for nonzeros, ${places > 0 ? percent(part.padding / places) : '0 %'} of them padding`;
      const arrays = part.arrays.map((array) => {
        const strip = array.cells ? this.cells(array, array.cells) : this.bins(array, array.bins ?? (array.like === undefined ? undefined : part.arrays[array.like].bins));
        this.strips.push(strip);
        return strip.element;
      });
      const warps = part.shown_warps.map((warp) => {
        const strip = this.warp(part, warp);
        this.strips.push(strip);
        return strip.element;
      });
      const idle = part.lane_steps > 0 ? `Of ${plural(part.lane_steps, 'step')} of lanes in ${plural(part.warps, 'warp')}, ${percent(1 - part.reads / part.lane_steps)} read nothing.` : '';
      return h('div', { class: 'storage-part' },
        h('h3', {}, `${part.share ? `share ${part.share}: ` : ''}${part.layout} ${map.precision}`),
        h('p', { class: 'note' }, facts),
        ...arrays,
        warps.length > 0 ? h('h4', {}, `Who reads when: kernel ${part.kernel}`) : null,
        warps.length > 0 ? h('p', { class: 'note' }, `${idle} Of ${counted(part.warps)} warps ${counted(warps.length)} ${warps.length === 1 ? 'is' : 'are'} shown: a column a lane, a line a step. Blue: a nonzero; grey: padding; pale: nothing is read.`) : null,
        warps.length > 0 ? h('div', { class: 'warps' }, ...warps) : null);
    });
    const key = (role: string, name: string): HTMLElement => {
      const swatch = h('span', { class: `swatch role-${role}` });
      // Bins have other colours than cells, in which there is text.
      if (!map.by_cell && role !== 'padding') {
        const draw = (): void => void (swatch.style.background = full_colour(role));
        this.strips.push({ element: swatch, draw, highlight: () => undefined });
        draw();
      }
      return h('span', { class: 'key' }, swatch, name);
    };
    this.element = section('storage', title, 'What lies in memory, array by array.',
      h('p', { class: 'legend' }, key('value', 'values'), key('column', 'columns'), key('structure', 'structure'), key('padding', 'padding')),
      this.told, ...parts);
  }

  private tell(words: string): void {
    this.told.textContent = words;
  }

  private leave(): void {
    this.tell('Point at a place in memory, or in the pattern above.');
    this.highlight(null);
    this.onPoint(null);
  }

  // From the pattern, or from another array.
  highlight(place: Place | null): void {
    for (const strip of this.strips) strip.highlight(place);
  }

  redraw(): void {
    for (const strip of this.strips) strip.draw();
  }

  private frame(array: StorageArray, content: HTMLElement): HTMLElement {
    const holes = array.role !== 'structure' && array.padding > 0 ? `, ${percent(array.padding / Math.max(1, array.nonzeros + array.padding))} padding` : '';
    return h('figure', { class: 'array' },
      h('figcaption', {}, h('b', {}, array.name), ` ${counted(array.length)} × ${array.type}, ${bytes(array.bytes)}${holes}`, array.words ? h('span', { class: 'muted' }, ` · ${array.words}`) : null),
      content);
  }

  // Element by element, with what stands there.
  private cells(array: StorageArray, cells: Cells): Strip {
    const list = h('div', { class: `cells role-${array.role}`, role: 'img', 'aria-label': `${array.name}: ${cells.text.join(' ')}` });
    const spans = cells.text.map((text, i) => h('span', { class: cells.padding?.[i] ? 'cell padding' : 'cell', 'data-i': i }, text === '' ? ' ' : text));
    list.append(...spans);
    const place = (i: number): Place | null => {
      const [row, column] = [cells.row?.[i] ?? -1, cells.column?.[i] ?? -1];
      return row < 0 || column < 0 || cells.padding?.[i] ? null : { row, column, rows: 1, columns: 1 };
    };
    list.addEventListener('pointerover', (event) => {
      const i = Number((event.target as HTMLElement).dataset.i ?? -1);
      if (i < 0) return;
      const where = place(i);
      const parts = [`${array.name}[${counted(i)}] = ${cells.text[i]}`];
      if (cells.padding?.[i]) parts.push('padding');
      if (where) parts.push(`row ${counted(where.row)}, column ${counted(where.column)}`);
      if (cells.warp && cells.warp[i] >= 0) parts.push(`read by lane ${cells.lane?.[i]} of warp ${cells.warp[i]} in step ${cells.step?.[i]}`);
      this.tell(parts.join(' · '));
      this.highlight(where);
      this.onPoint(where);
    });
    list.addEventListener('pointerleave', () => this.leave());
    return {
      element: this.frame(array, list),
      draw: () => undefined,
      highlight: (wanted) => spans.forEach((span, i) => {
        const own = wanted ? place(i) : null;
        span.classList.toggle('marked', own !== null && wanted !== null && inside(own, wanted));
      }),
    };
  }

  // Some consecutive elements a column of the strip: the higher it is filled, the less of them is padding.
  private bins(array: StorageArray, bins: Bins | undefined): Strip {
    const canvas = h('canvas', { class: `bins bins-${array.role}`, role: 'img', 'aria-label': `${array.name}, ${counted(array.length)} elements` });
    let marked: Place | null = null;
    const count = bins ? bins.padding.length : 1;
    const size_of = (i: number): number => (bins ? Math.min(bins.width, array.length - i * bins.width) : array.length);
    const matches = (i: number, place: Place): boolean => bins !== undefined && bins.first_row[i] >= 0
      && bins.first_row[i] < place.row + place.rows && bins.last_row[i] >= place.row
      && bins.first_column[i] < place.column + place.columns && bins.last_column[i] >= place.column;
    const draw = (): void => {
      const width = canvas.clientWidth;
      const height = canvas.clientHeight;
      const ratio = window.devicePixelRatio || 1;
      const context = canvas.getContext('2d');
      if (width === 0 || !context) return;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      context.scale(ratio, ratio);
      const colours = palette();
      context.fillStyle = css(colours.grey[Math.round(steps * 0.14)]);
      context.fillRect(0, 0, width, height);
      const full = full_colour(array.role);
      // As many columns as there are pixels, each the mean of its bins.
      const drawn = Math.min(count, Math.floor(width));
      context.fillStyle = full;
      for (let column = 0; column < drawn; ++column) {
        const from = Math.floor((column * count) / drawn);
        const to = Math.max(from + 1, Math.floor(((column + 1) * count) / drawn));
        let filled = 1;
        let hit = false;
        if (bins) {
          let holes = 0;
          let all = 0;
          for (let i = from; i < to; ++i) {
            holes += bins.padding[i];
            all += size_of(i);
            hit = hit || (marked !== null && matches(i, marked));
          }
          filled = all > 0 ? 1 - holes / all : 1;
        }
        const x0 = (column * width) / drawn;
        const x1 = ((column + 1) * width) / drawn;
        context.fillStyle = full;
        context.fillRect(x0, height * (1 - filled), x1 - x0 + 0.3, height * filled);
        if (hit) {
          context.fillStyle = colours.ink;
          context.fillRect(x0, 0, Math.max(1.5, x1 - x0), height);
        }
      }
    };
    canvas.addEventListener('pointermove', (event) => {
      const i = Math.min(count - 1, Math.max(0, Math.floor((event.offsetX / canvas.clientWidth) * count)));
      if (!bins) {
        this.tell(`${array.name}: ${counted(array.length)} elements of the structure`);
        return;
      }
      const size = size_of(i);
      const begin = i * bins.width;
      const parts = [`${array.name}[${counted(begin)} to ${counted(begin + size - 1)}]`, `${percent(bins.padding[i] / size)} padding`];
      let place: Place | null = null;
      if (bins.first_row[i] >= 0 && bins.first_column[i] >= 0) {
        parts.push(`rows ${counted(bins.first_row[i])} to ${counted(bins.last_row[i])}, columns ${counted(bins.first_column[i])} to ${counted(bins.last_column[i])}`);
        place = { row: bins.first_row[i], column: bins.first_column[i], rows: bins.last_row[i] - bins.first_row[i] + 1, columns: bins.last_column[i] - bins.first_column[i] + 1 };
      }
      this.tell(parts.join(' · '));
      this.onPoint(place);
    });
    canvas.addEventListener('pointerleave', () => this.leave());
    new ResizeObserver(draw).observe(canvas);
    return {
      element: this.frame(array, canvas), draw,
      highlight: (place) => {
        if (place === marked) return;
        marked = place;
        draw();
      },
    };
  }

  private warp(part: Part, warp: Warp): Strip {
    const listed = warp.array.length / lanes;
    const canvas = h('canvas', { class: 'warp', role: 'img', 'aria-label': `warp ${warp.warp}, ${warp.steps} steps`, style: `aspect-ratio: ${lanes} / ${Math.max(1, listed)}` });
    let marked: Place | null = null;
    const draw = (): void => {
      const width = canvas.clientWidth;
      const ratio = window.devicePixelRatio || 1;
      const context = canvas.getContext('2d');
      if (width === 0 || !context) return;
      const cell = width / lanes;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(cell * listed * ratio);
      context.scale(ratio, ratio);
      const colours = palette();
      const gap = cell > 5 ? 1 : 0;
      for (let i = 0; i < warp.array.length; ++i) {
        const [x, y] = [(i % lanes) * cell, Math.floor(i / lanes) * cell];
        const reads = warp.array[i] >= 0;
        context.fillStyle = !reads ? css(colours.grey[2], 0.35) : warp.padding[i] ? css(colours.grey[Math.round(steps * 0.35)]) : series(0);
        context.fillRect(x, y, cell - gap, cell - gap);
        const hit = marked && reads && !warp.padding[i] && warp.row[i] >= 0 && warp.column[i] >= 0
          && inside({ row: warp.row[i], column: warp.column[i], rows: 1, columns: 1 }, marked);
        if (hit) {
          context.fillStyle = colours.ink;
          context.fillRect(x, y, cell, cell);
        }
      }
    };
    canvas.addEventListener('pointermove', (event) => {
      const cell = canvas.clientWidth / lanes;
      const lane = Math.min(lanes - 1, Math.floor(event.offsetX / cell));
      const step = Math.min(listed - 1, Math.floor(event.offsetY / cell));
      const i = step * lanes + lane;
      const where = `lane ${lane} of warp ${warp.warp} in step ${step}`;
      if (warp.array[i] < 0) {
        this.tell(`${where} reads nothing`);
        this.highlight(null);
        this.onPoint(null);
        return;
      }
      const place = warp.row[i] >= 0 && warp.column[i] >= 0 && !warp.padding[i] ? { row: warp.row[i], column: warp.column[i], rows: 1, columns: 1 } : null;
      const slot = `${part.arrays[warp.array[i]].name}[${counted(warp.index[i])}]`;
      this.tell(`${where} reads ${slot}${warp.padding[i] ? ', padding' : ''}${place ? ` · row ${counted(place.row)}, column ${counted(place.column)}` : ''}`);
      this.highlight(place);
      this.onPoint(place);
    });
    canvas.addEventListener('pointerleave', () => this.leave());
    new ResizeObserver(draw).observe(canvas);
    const idle = warp.array.filter((array) => array < 0).length;
    const caption = `warp ${counted(warp.warp)}: ${plural(warp.steps, 'step')}${listed < warp.steps ? `, the first ${listed} of them shown` : ''}, ${percent(warp.array.length > 0 ? idle / warp.array.length : 0)} idle`;
    return {
      element: h('figure', { class: 'warp-figure' }, h('figcaption', {}, caption), canvas), draw,
      highlight: (place) => {
        if (place === marked) return;
        marked = place;
        draw();
      },
    };
  }
}

function inside(one: Place, all: Place): boolean {
  return one.row >= all.row && one.row < all.row + all.rows && one.column >= all.column && one.column < all.column + all.columns;
}
