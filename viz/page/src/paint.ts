// Draws bins, cuts and row lengths on a canvas.
import { binAt, countAt, type Level, lowerBound, type Pattern, rowBinOf, sizeOf, type Stage } from './bins';
import { css, type Palette, palette, type Rgb, steps } from './colours';
import type { CutsFacts } from './document';

// A frame in CSS pixels, and the part of the matrix that it shows.
export interface View {
  left: number;
  top: number;
  width: number;
  height: number;
  scale: number; // 1: the whole matrix fills the frame
  x: number; // the matrix's corner relative to the frame's, in CSS pixels
  y: number;
}

export interface Axes {
  perRow: number; // CSS pixels
  perColumn: number;
}

export function axes(view: View, rows: number, columns: number): Axes {
  return { perRow: (view.height * view.scale) / Math.max(1, rows), perColumn: (view.width * view.scale) / Math.max(1, columns) };
}

export interface Switches {
  planes: boolean[];
  cuts: Record<string, boolean>;
  sample: boolean;
  levels: boolean;
}

// Clips what is drawn to the frame.
export function clipped(context: CanvasRenderingContext2D, { left, top, width, height }: Pick<View, 'left' | 'top' | 'width' | 'height'>, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  draw();
  context.restore();
}

// The finest level whose bins take at least about a device pixel along both axes.
export function levelFor(stage: Stage, view: View, ratio: number): Level {
  const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
  return stage.find(({ rowBits, columnBits }) => 2 ** rowBits * perRow * ratio >= 0.99 && 2 ** columnBits * perColumn * ratio >= 0.99);
}

function shadeOf(count: number, ceiling: number): number {
  if (ceiling <= 1.5) return 0.62; // single entries have one colour
  return Math.max(0, Math.min(1, (Math.log(count + 0.4) - Math.log(1.4)) / (Math.log(ceiling + 0.4) - Math.log(1.4))));
}

const mix = (a: Rgb, b: Rgb, share: number): Rgb => a.map((part, i) => Math.round(part + (b[i] - part) * share)) as Rgb;

const pack = ([red, green, blue]: Rgb, alpha = 255): number => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;

// The colour of a bin; 0 if no plane that is switched on has nonzeros in it.
type Colouring = (level: Level, bin: number) => number;

export function planeColouring(colours: Palette, ceiling: number, on: boolean[]): Colouring {
  const single: number[] = []; // by the nonzeros of a bin, if there is one plane
  const colour: Colouring = (level, bin) => {
    let sum = 0;
    for (let plane = 0; plane < level.planes; ++plane) if (on[plane]) sum += level.counts[bin * level.planes + plane];
    if (sum === 0) return 0;
    const step = Math.round(shadeOf(sum, ceiling) * (steps - 1));
    let colour: Rgb | null = null;
    let so_far = 0;
    for (let plane = 0; plane < level.planes; ++plane) {
      const count = on[plane] ? level.counts[bin * level.planes + plane] : 0;
      if (count === 0) continue;
      so_far += count;
      const own = colours.planes[plane][step];
      colour = colour ? mix(colour, own, count / so_far) : own;
    }
    return colour ? pack(colour) : 0;
  };
  return (level, bin) => (level.planes > 1 ? colour(level, bin) : (single[level.counts[bin]] ??= colour(level, bin)));
}

function rectangles(level: Level, view: View, ratio: number, perRow: number, perColumn: number,
                    draw: (bin: number, x0: number, y0: number, x1: number, y1: number) => void): void {
  const width = Math.round(view.width * ratio);
  const height = Math.round(view.height * ratio);
  const rowSize = 2 ** level.rowBits * perRow * ratio;
  const columnSize = 2 ** level.columnBits * perColumn * ratio;
  const x = view.x * ratio;
  const y = view.y * ratio;
  const firstRow = Math.max(0, Math.floor(-y / rowSize));
  const lastRow = Math.min(level.rowBins - 1, Math.floor((height - y) / rowSize));
  const firstColumn = Math.max(0, Math.floor(-x / columnSize));
  const gap = Math.min(rowSize, columnSize) >= 7 * ratio ? Math.max(1, Math.round(Math.min(rowSize, columnSize) * 0.06)) : 0;
  for (let row = firstRow; row <= lastRow; ++row) {
    const y0 = Math.max(0, Math.round(y + row * rowSize));
    const y1 = Math.min(height, Math.max(y0 + 1, Math.round(y + (row + 1) * rowSize) - gap));
    const end = level.starts[row + 1];
    for (let bin = lowerBound(level.columns, firstColumn, level.starts[row], end); bin < end; ++bin) {
      const x0 = Math.round(x + level.columns[bin] * columnSize);
      if (x0 >= width) break;
      const x1 = Math.min(width, Math.max(x0 + 1, Math.round(x + (level.columns[bin] + 1) * columnSize) - gap));
      draw(bin, Math.max(0, x0), y0, x1, y1);
    }
  }
}

function fillBox(pixels: Uint32Array, width: number, x0: number, y0: number, x1: number, y1: number, colour: number): void {
  const longest_loop = 8; // pixels; a call takes as long
  for (let y = y0; y < y1; ++y) {
    if (x1 - x0 > longest_loop) pixels.fill(colour, y * width + x0, y * width + x1);
    else for (let at = y * width + x0; at < y * width + x1; ++at) pixels[at] = colour;
  }
}

// The same for bins of a few pixels whose edges are within pixels: rounded edges would make some bins wider than others, and a
// diagonal look like beads. Each pixel gets the mean colour of what covers it, and is as transparent as the rest of it is empty.
function fillSoftly(level: Level, view: View, ratio: number, perRow: number, perColumn: number, width: number, height: number, pixels: Uint32Array,
                    colour: (bin: number) => number): void {
  const rowSize = 2 ** level.rowBits * perRow * ratio;
  const columnSize = 2 ** level.columnBits * perColumn * ratio;
  const [x, y] = [view.x * ratio, view.y * ratio];
  const firstColumn = Math.max(0, Math.floor(-x / columnSize));
  const sums = new Float32Array(4 * width); // of a line of pixels: coverage, and the colours weighted with it
  const line = (row: number, top: number): void => {
    const share = Math.min(top + 1, y + (row + 1) * rowSize) - Math.max(top, y + row * rowSize);
    if (share <= 0) return;
    const end = level.starts[row + 1];
    for (let bin = lowerBound(level.columns, firstColumn, level.starts[row], end); bin < end; ++bin) {
      const x0 = Math.max(0, x + level.columns[bin] * columnSize);
      const x1 = Math.min(width, x + (level.columns[bin] + 1) * columnSize);
      if (x0 >= width) break;
      const packed = colour(bin);
      if (packed === 0) continue;
      for (let at = Math.floor(x0); at < x1; ++at) {
        const covered = share * (Math.min(at + 1, x1) - Math.max(at, x0));
        sums[4 * at] += covered;
        for (let part = 0; part < 3; ++part) sums[4 * at + 1 + part] += covered * ((packed >> (8 * part)) & 255);
      }
    }
  };
  for (let top = 0; top < height; ++top) {
    const first = Math.max(0, Math.floor((top - y) / rowSize));
    const last = Math.min(level.rowBins - 1, Math.floor((top + 1 - y) / rowSize));
    sums.fill(0);
    for (let row = first; row <= last; ++row) line(row, top);
    for (let at = 0; at < width; ++at) {
      const covered = sums[4 * at];
      if (covered < 1 / 255) continue;
      const part = (i: number): number => Math.round(sums[4 * at + 1 + i] / covered);
      pixels[top * width + at] = pack([part(0), part(1), part(2)], Math.min(255, Math.round(255 * covered)));
    }
  }
}

export interface Painted {
  canvas: HTMLCanvasElement;
  level: Level;
}

function blank(view: View, ratio: number): { canvas: HTMLCanvasElement; context: CanvasRenderingContext2D; image: ImageData; pixels: Uint32Array } {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(view.width * ratio));
  canvas.height = Math.max(1, Math.round(view.height * ratio));
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const image = context.createImageData(canvas.width, canvas.height);
  return { canvas, context, image, pixels: new Uint32Array(image.data.buffer) };
}

const most_soft_pixels = 4;

// The last picture of each level, which the next report of the live page often shows, too.
const last_painted = new WeakMap<Level, { key: string; painted: Painted }>();

export function paintStage(pattern: Pattern, stage: Stage, view: View, ratio: number, on: boolean[]): Painted {
  const level = levelFor(stage, view, ratio);
  const ceiling = pattern.ceiling(sizeOf(level));
  const key = JSON.stringify([view, ratio, on, ceiling, palette().dark]);
  const last = last_painted.get(level);
  if (last?.key === key) return last.painted;
  const { canvas, context, image, pixels } = blank(view, ratio);
  const colour = planeColouring(palette(), ceiling, on);
  const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
  const size = Math.max(2 ** level.rowBits * perRow, 2 ** level.columnBits * perColumn) * ratio;
  const is_sharp = size > most_soft_pixels || Math.abs(size - Math.round(size)) * Math.max(level.rowBins, level.columnBins) < 1;
  if (is_sharp) {
    rectangles(level, view, ratio, perRow, perColumn, (bin, x0, y0, x1, y1) => {
      const packed = colour(level, bin);
      if (packed !== 0) fillBox(pixels, canvas.width, x0, y0, x1, y1, packed);
    });
  } else {
    fillSoftly(level, view, ratio, perRow, perColumn, canvas.width, canvas.height, pixels, (bin) => colour(level, bin));
  }
  context.putImageData(image, 0, 0);
  const painted = { canvas, level };
  last_painted.set(level, { key, painted });
  return painted;
}

// Orange: only before; blue: only after; grey: both.
export function paintDifference(before: Stage, after: Stage, ceiling: (size: number) => number, view: View, ratio: number): Painted {
  const { canvas, context, image, pixels } = blank(view, ratio);
  const own = levelFor(after, view, ratio);
  const size = Math.max(sizeOf(own), sizeOf(before.level(sizeOf(own))));
  const a = before.level(size);
  const b = after.level(size);
  const top = ceiling(size);
  const colours = palette();
  const { perRow, perColumn } = axes(view, after.rows, after.columns);
  const colour = (gone: number, come: number): number => {
    const step = Math.round(shadeOf(Math.max(gone, come), top) * (steps - 1));
    const share = come / (come + gone);
    const own_hue = colours.planes[share > 0.5 ? 0 : 1][step];
    return pack(mix(colours.grey[Math.round(step * 0.55)], own_hue, Math.abs(2 * share - 1)));
  };
  const draw = (level: Level, is_after: boolean): void =>
    rectangles(level, view, ratio, perRow, perColumn, (bin, x0, y0, x1, y1) => {
      const rowBin = rowBinOf(level, bin);
      const match = binAt(is_after ? a : b, rowBin, level.columns[bin]);
      if (!is_after && match >= 0) return; // drawn in the second pass
      const count = countAt(level, bin);
      const counterpart = match < 0 ? 0 : countAt(is_after ? a : b, match);
      fillBox(pixels, canvas.width, x0, y0, x1, y1, is_after ? colour(counterpart, count) : colour(count, 0));
    });
  draw(a, false);
  draw(b, true);
  context.putImageData(image, 0, 0);
  return { canvas, level: b };
}

const closest = 3; // CSS pixels between lines; denser lines would look like a grey area

// Cuts whose lines are too close to each other, but for `drawn` ones.
export interface LeftOut {
  cuts: CutsFacts;
  drawn: number;
}

// Draws no lines of a kind that would touch each other: those that remained would show a pattern that is not there. Returns null if
// all were drawn; a last piece that is shorter does not count.
function drawCutLines(context: CanvasRenderingContext2D, cuts: CutsFacts, view: View, { perRow, perColumn }: Axes): LeftOut | null {
  context.lineWidth = 1;
  context.globalAlpha = cuts.kind === 'partition' ? 0.28 : 0.33;
  context.setLineDash(cuts.kind === 'length_group' ? [5, 4] : cuts.kind === 'row_block' ? [1, 3] : []);
  let [drawn, missing] = [0, 0];
  for (const across of [true, false]) {
    if (across ? cuts.kind === 'segment' : cuts.kind !== 'segment' && cuts.kind !== 'partition') continue;
    const length = across ? view.height : view.width;
    const all = [...new Set(cuts.boundaries)].map((boundary) => (across ? view.y + boundary * perRow : view.x + boundary * perColumn)).filter((at) => at >= -1 && at <= length + 1);
    const apart = all.filter((at, i) => i === 0 || at - all[i - 1] >= closest);
    if (cuts.step > 1 || apart.length < all.length / 2) {
      missing += all.length;
      continue;
    }
    if (apart.length < all.length - 1) missing += all.length - apart.length;
    drawn += apart.length;
    for (const position of apart) {
      const at = Math.round(position) + 0.5;
      context.beginPath();
      context.moveTo(across ? Math.max(0, view.x) : at, across ? at : Math.max(0, view.y));
      context.lineTo(across ? Math.min(view.width, view.x + view.width * view.scale) : at,
                     across ? at : Math.min(view.height, view.y + view.height * view.scale));
      context.stroke();
    }
  }
  return missing > 0 ? { cuts, drawn } : null;
}

function drawDiagonalBlocks(context: CanvasRenderingContext2D, boundaries: number[], view: View, { perRow, perColumn }: Axes): void {
  context.globalAlpha = 0.85;
  context.lineWidth = 1.25;
  for (let piece = 0; piece + 1 < boundaries.length; ++piece) {
    const [from, to] = [boundaries[piece], boundaries[piece + 1]];
    const height = (to - from) * perRow;
    if (height >= closest) context.strokeRect(view.x + from * perColumn, view.y + from * perRow, (to - from) * perColumn, height);
  }
}

// Returns the cuts of which lines were left out because they are too close.
export function drawCuts(context: CanvasRenderingContext2D, stage: Stage, view: View, on: Record<string, boolean>): LeftOut[] {
  const scales = axes(view, stage.rows, stage.columns);
  const left_out: LeftOut[] = [];
  clipped(context, view, () => {
    context.translate(view.left, view.top);
    context.strokeStyle = palette().ink;
    for (const cuts of stage.facts.cuts.filter((one) => on[one.kind] !== false)) {
      const missing = drawCutLines(context, cuts, view, scales);
      if (missing) left_out.push(missing);
      if (cuts.kind === 'partition') drawDiagonalBlocks(context, cuts.boundaries, view, scales);
    }
  });
  return left_out;
}

// Draws the mean row length of each row bin as a bar beside the pattern. Slices are outlined, as wide as their padded rows where
// each row has a bar.
export function drawRowLengths(context: CanvasRenderingContext2D, stage: Stage, level: Level, view: View, left: number, width: number, on: Record<string, boolean>): void {
  const { perRow } = axes(view, stage.rows, stage.columns);
  const size = 2 ** level.rowBits;
  const means = Array.from({ length: level.rowBins }, (_, row) => {
    let sum = 0;
    for (let bin = level.starts[row]; bin < level.starts[row + 1]; ++bin) sum += countAt(level, bin);
    return sum / Math.min(size, stage.rows - row * size);
  });
  const longest = means.reduce((a, b) => Math.max(a, b), 0);
  if (longest === 0) return;
  // Bars of almost equal rows would be one solid area: only their ends are dark.
  const alike = means.every((mean) => mean > 0.75 * longest);
  clipped(context, { ...view, left, width }, () => {
    context.fillStyle = palette().faint;
    context.fillRect(left, view.top, 1, view.height);
    const dark = css(palette().planes[0][Math.round(steps * 0.55)]);
    means.forEach((mean, row) => {
      // Rounded to whole pixels, because half covered ones would overlap.
      const y0 = Math.round(view.top + view.y + row * size * perRow);
      const y1 = Math.max(y0 + 1, Math.round(view.top + view.y + (row + 1) * size * perRow));
      if (y1 < view.top || y0 > view.top + view.height) return;
      const length = (width * mean) / longest;
      const shown = alike ? Math.min(length, 3) : length;
      const high = y1 - y0 - (y1 - y0 >= 6 ? 1 : 0);
      context.fillStyle = palette().faint;
      context.fillRect(left, y0, length - shown, high);
      context.fillStyle = dark;
      context.fillRect(left + length - shown, y0, shown, high);
    });
    const slices = stage.facts.cuts.find((one) => one.kind === 'slice' && one.step === 1 && on.slice !== false);
    if (!slices || slices.boundaries.length < 2 || slices.boundaries[1] * perRow < closest) return;
    context.strokeStyle = palette().ink;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    for (let slice = 0; slice + 1 < slices.boundaries.length; ++slice) {
      const [from, to] = [slices.boundaries[slice], slices.boundaries[slice + 1]];
      const [y0, y1] = [view.top + view.y + from * perRow, view.top + view.y + to * perRow];
      if (y1 < view.top || y0 > view.top + view.height) continue;
      const padded = size === 1 ? means.slice(from, to).reduce((a, b) => Math.max(a, b), 0) / longest : 1;
      context.strokeRect(left - 0.5, Math.round(y0) + 0.5, Math.round(width * padded) - (padded === 1 ? 1 : 0), Math.round(y1) - Math.round(y0));
    }
  });
}

// Draws the mean length of the rows of the second share, in the order in which it stores them, from the top.
export function drawStoredLengths(context: CanvasRenderingContext2D, lengths: number[], level: Level, view: View, rows: number, left: number, width: number): void {
  const { perRow } = axes(view, rows, 1);
  const size = 2 ** level.rowBits;
  const means = Array.from({ length: Math.ceil(lengths.length / size) }, (_, bin) => {
    const own = lengths.slice(bin * size, (bin + 1) * size);
    return own.reduce((a, b) => a + b, 0) / own.length;
  });
  const longest = means.reduce((a, b) => Math.max(a, b), 0);
  if (longest === 0) return;
  clipped(context, { ...view, left, width }, () => {
    context.fillStyle = palette().faint;
    context.fillRect(left, view.top, 1, view.height);
    context.fillStyle = css(palette().planes[1][Math.round(steps * 0.55)]);
    means.forEach((mean, bin) => {
      const y0 = Math.round(view.top + view.y + bin * size * perRow);
      const y1 = Math.max(y0 + 1, Math.round(view.top + view.y + (bin + 1) * size * perRow));
      context.fillRect(left, y0, (width * mean) / longest, y1 - y0 - (y1 - y0 >= 6 ? 1 : 0));
    });
  });
}
