// Bins and lines on a canvas: what a pattern looks like under a view.
import { binAt, countAt, type Level, type Pattern, sizeOf, type Stage } from './bins';
import { css, type Palette, palette, type Rgb, steps } from './colours';

// Where the matrix lies: a frame in CSS pixels, and which part of the matrix it shows.
export interface View {
  left: number;
  top: number;
  width: number;
  height: number;
  scale: number; // 1: the whole matrix fills the frame
  x: number; // of the matrix's corner, from the frame's, in CSS pixels
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
}

// The level to draw: bins of at least about a device pixel, both ways where that goes.
export function levelFor(stage: Stage, view: View, ratio: number): Level {
  const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
  const wanted = stage.levels.findIndex(
    (level) => 2 ** level.rowBits * perRow * ratio >= 0.99 && 2 ** level.columnBits * perColumn * ratio >= 0.99);
  return stage.levels[wanted < 0 ? stage.levels.length - 1 : wanted];
}

function shadeOf(count: number, ceiling: number): number {
  const lightest = 0.14;
  if (ceiling <= 1.5) return 0.62; // single entries: one even colour
  return Math.min(1, lightest + (1 - lightest) * (Math.log(count + 0.4) - Math.log(1.4)) / (Math.log(ceiling + 0.4) - Math.log(1.4)));
}

const mix = (a: Rgb, b: Rgb, share: number): Rgb => a.map((part, i) => Math.round(part + (b[i] - part) * share)) as Rgb;

const pack = ([red, green, blue]: Rgb, alpha = 255): number => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;

// The colour of a bin; 0: nothing of what is switched on.
type Colouring = (level: Level, bin: number) => number;

export function planeColouring(colours: Palette, ceiling: number, on: boolean[]): Colouring {
  return (level, bin) => {
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
    let low = level.starts[row];
    const end = level.starts[row + 1];
    let high = end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (level.columns[middle] < firstColumn) low = middle + 1;
      else high = middle;
    }
    for (; low < end; ++low) {
      const x0 = Math.round(x + level.columns[low] * columnSize);
      if (x0 >= width) break;
      const x1 = Math.min(width, Math.max(x0 + 1, Math.round(x + (level.columns[low] + 1) * columnSize) - gap));
      draw(low, Math.max(0, x0), y0, x1, y1);
    }
  }
}

function fillBox(pixels: Uint32Array, width: number, x0: number, y0: number, x1: number, y1: number, colour: number): void {
  for (let y = y0; y < y1; ++y) pixels.fill(colour, y * width + x0, y * width + x1);
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

export function paintStage(pattern: Pattern, stage: Stage, view: View, ratio: number, on: boolean[]): Painted {
  const { canvas, context, image, pixels } = blank(view, ratio);
  const level = levelFor(stage, view, ratio);
  const colour = planeColouring(palette(), pattern.ceiling(sizeOf(level)), on);
  const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
  rectangles(level, view, ratio, perRow, perColumn, (bin, x0, y0, x1, y1) => {
    const packed = colour(level, bin);
    if (packed !== 0) fillBox(pixels, canvas.width, x0, y0, x1, y1, packed);
  });
  context.putImageData(image, 0, 0);
  return { canvas, level };
}

// What was there before (orange), what is there after (blue), and both (grey).
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
      if (!is_after && match >= 0) return; // drawn with those after
      const count = countAt(level, bin);
      const counterpart = match < 0 ? 0 : countAt(is_after ? a : b, match);
      fillBox(pixels, canvas.width, x0, y0, x1, y1, is_after ? colour(counterpart, count) : colour(count, 0));
    });
  draw(a, false);
  draw(b, true);
  context.putImageData(image, 0, 0);
  return { canvas, level: b };
}

export function rowBinOf(level: Level, bin: number): number {
  let low = 0;
  let high = level.rowBins;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (level.starts[middle] <= bin) low = middle;
    else high = middle;
  }
  return low;
}

const closest = 3; // CSS pixels between lines: more of them are a grey veil

// Returns whether some lines were left out because they are too close.
export function drawCuts(context: CanvasRenderingContext2D, stage: Stage, view: View, on: Record<string, boolean>): boolean {
  const colours = palette();
  const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
  let left_out = false;
  context.save();
  context.beginPath();
  context.rect(view.left, view.top, view.width, view.height);
  context.clip();
  context.translate(view.left, view.top);
  for (const cuts of stage.facts.cuts) {
    if (on[cuts.kind] === false) continue;
    const is_partition = cuts.kind === 'partition';
    const line = (position: number, across: boolean, alpha: number): void => {
      const at = Math.round(across ? view.y + position * perRow : view.x + position * perColumn) + 0.5;
      context.globalAlpha = alpha;
      context.beginPath();
      context.moveTo(across ? Math.max(0, view.x) : at, across ? at : Math.max(0, view.y));
      context.lineTo(across ? Math.min(view.width, view.x + view.width * view.scale) : at,
                     across ? at : Math.min(view.height, view.y + view.height * view.scale));
      context.stroke();
    };
    context.strokeStyle = colours.ink;
    context.lineWidth = 1;
    context.setLineDash(cuts.kind === 'length_group' ? [5, 4] : cuts.kind === 'row_block' ? [1, 3] : []);
    for (const across of [true, false]) {
      if (across ? cuts.kind === 'segment' : cuts.kind === 'row_block' || cuts.kind === 'length_group') continue;
      const length = across ? view.height : view.width;
      let last = -Infinity;
      for (const boundary of cuts.boundaries) {
        const at = across ? view.y + boundary * perRow : view.x + boundary * perColumn;
        if (at < -1 || at > length + 1) continue;
        if (at - last < closest) {
          left_out = true;
          continue;
        }
        last = at;
        line(boundary, across, is_partition ? 0.28 : 0.33);
      }
    }
    if (!is_partition) continue;
    context.globalAlpha = 0.85;
    context.lineWidth = 1.25;
    for (let piece = 0; piece + 1 < cuts.boundaries.length; ++piece) {
      const [from, to] = [cuts.boundaries[piece], cuts.boundaries[piece + 1]];
      const height = (to - from) * perRow;
      if (height < closest) continue;
      context.strokeRect(view.x + from * perColumn, view.y + from * perRow, (to - from) * perColumn, height);
    }
  }
  context.restore();
  return left_out;
}

// The mean row length of each row bin, as bars beside the pattern.
export function drawRowLengths(context: CanvasRenderingContext2D, stage: Stage, level: Level, view: View, left: number, width: number): void {
  const colours = palette();
  const { perRow } = axes(view, stage.rows, stage.columns);
  const size = 2 ** level.rowBits;
  const means: number[] = [];
  let longest = 0;
  for (let row = 0; row < level.rowBins; ++row) {
    let sum = 0;
    for (let bin = level.starts[row]; bin < level.starts[row + 1]; ++bin) sum += countAt(level, bin);
    const mean = sum / Math.min(size, stage.rows - row * size);
    means.push(mean);
    longest = Math.max(longest, mean);
  }
  if (longest === 0) return;
  context.save();
  context.beginPath();
  context.rect(left, view.top, width, view.height);
  context.clip();
  context.fillStyle = css(colours.planes[0][Math.round(steps * 0.55)]);
  for (let row = 0; row < level.rowBins; ++row) {
    // Whole pixels: halves would overlap and look like a pattern.
    const y0 = Math.round(view.top + view.y + row * size * perRow);
    const y1 = Math.max(y0 + 1, Math.round(view.top + view.y + (row + 1) * size * perRow));
    if (y1 < view.top || y0 > view.top + view.height) continue;
    const gap = y1 - y0 >= 6 ? 1 : 0;
    context.fillRect(left, y0, (width * means[row]) / longest, y1 - y0 - gap);
  }
  context.restore();
  context.fillStyle = colours.muted;
  context.textAlign = 'left';
}
