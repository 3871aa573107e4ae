// One picture of the pattern: a canvas with axes.
import { countAt, originalOf, type Pattern, type Region, type Stage } from './bins';
import { css, palette } from './colours';
import { counted, dotsPerPixel, exact } from './dom';
import { drawFollowed, type Place } from './followed';
import { drawLevels } from './levels';
import { axes, clipped, drawCuts, drawRowLengths, drawStoredLengths, type LeftOut, type Painted, paintDifference, paintStage, type Switches, type View } from './paint';

export interface Transform {
  k: number;
  x: number; // the matrix's corner, as a share of the frame's width and height
  y: number;
}

export type Scene =
  | { kind: 'stage'; pattern: Pattern; stage: Stage }
  | { kind: 'move'; pattern: Pattern; from: Stage; to: Stage; share: number }
  | { kind: 'difference'; patterns: [Pattern, Pattern]; from: Stage; to: Stage };

const strip = { gap: 10, width: 44, stored: 36 };
const font = (size: number): string => `${size}px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif`;

const textSize = (): number => Math.max(11, Math.min(22, Math.round(parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.78)));

export class Pane {
  readonly canvas = document.createElement('canvas');
  view: View = { left: 0, top: 0, width: 1, height: 1, scale: 1, x: 0, y: 0 };
  painted: Painted | null = null; // the bins that are visible
  left_out: LeftOut[] = [];
  levels: number | null = null; // that are drawn
  followed: Place[] = [];
  private readonly cache = new Map<string, Painted>();
  private cache_of = '';
  private width = 0;
  private height = 0;
  private ratio = 1;
  private text = 12;
  private has_lengths = true;
  has_stored = false; // a second strip, of the rows that the second share stores

  constructor(label: string) {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'application'); // arrow keys move a cursor in it
    this.canvas.setAttribute('aria-roledescription', 'picture');
    this.canvas.setAttribute('aria-label', label);
  }

  // Fits the frame for a matrix of this shape into the available space; flat matrices are stretched. Returns the needed width.
  resize(width: number, most_height: number, rows: number, columns: number, ratio = dotsPerPixel(), text = textSize()): number {
    this.ratio = Math.min(ratio, 6);
    this.text = text;
    const shape = Math.min(4, Math.max(0.25, columns / Math.max(1, rows)));
    // The widest number of a row, so that none is cut.
    const left = Math.ceil(Math.max(this.text * 2, this.widthOf(counted(Math.max(0, rows - 1))) + 12));
    const top = Math.ceil(this.text * 1.8);
    this.has_lengths = width >= 480;
    const right = this.has_lengths ? strip.gap + strip.width + (this.has_stored ? strip.gap + strip.stored : 0) : 2;
    let inner = width - left - right;
    let height = inner / shape;
    if (height + top > most_height) {
      height = Math.max(60, most_height - top - 2);
      inner = Math.min(inner, height * shape);
    }
    this.width = Math.min(width, Math.ceil(left + inner + right));
    this.height = Math.ceil(height + top + 2);
    this.view = { ...this.view, left, top, width: Math.floor(inner), height: Math.floor(height) };
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    return this.width;
  }

  private widthOf(text: string): number {
    const context = this.canvas.getContext('2d');
    if (!context) return this.text * 4;
    context.font = font(this.text);
    return context.measureText(text).width;
  }

  private forget(key: string): void {
    if (key === this.cache_of) return;
    this.cache.clear();
    this.cache_of = key;
  }

  private paint(pattern: Pattern, stage: Stage, on: boolean[]): Painted {
    const key = `${stage.facts.label} ${pattern.stages.indexOf(stage)} ${on.join()}`;
    let known = this.cache.get(key);
    if (!known) {
      known = paintStage(pattern, stage, this.view, this.ratio, on);
      if (this.cache.size > 3) this.cache.clear();
      this.cache.set(key, known);
    }
    return known;
  }

  draw(scene: Scene, transform: Transform, switches: Switches, mark: Region | null): void {
    const { view } = this;
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const colours = palette();
    view.scale = transform.k;
    view.x = transform.x * view.width;
    view.y = transform.y * view.height;
    this.forget(JSON.stringify([view, this.ratio, colours.dark]));
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.fillStyle = css(colours.paper);
    context.fillRect(view.left, view.top, view.width, view.height);

    const stage = scene.kind === 'stage' ? scene.stage : scene.kind === 'move' ? (scene.share < 0.5 ? scene.from : scene.to) : scene.to;
    const on = switches.planes;
    this.levels = switches.levels && scene.kind === 'stage' ? drawLevels(context, stage, view) : null;
    const put = (painted: Painted, alpha: number): void => {
      context.globalAlpha = alpha;
      context.drawImage(painted.canvas, view.left, view.top, view.width, view.height);
      context.globalAlpha = 1;
    };
    if (scene.kind === 'stage') {
      this.painted = this.paint(scene.pattern, scene.stage, on);
      put(this.painted, 1);
    } else if (scene.kind === 'move') {
      this.painted = this.paint(scene.pattern, stage, on);
      put(this.paint(scene.pattern, scene.from, on), 0.7 * (1 - scene.share) ** 2);
      put(this.paint(scene.pattern, scene.to, on), 0.7 * scene.share ** 2);
    } else {
      const ceiling = (bits: number): number => Math.max(...scene.patterns.map((pattern) => pattern.ceiling(bits)));
      const key = `difference ${scene.patterns[0].stages.indexOf(scene.from)} ${scene.patterns[1].stages.indexOf(scene.to)}`;
      this.painted = this.cache.get(key) ?? paintDifference(scene.from, scene.to, ceiling, view, this.ratio);
      this.cache.set(key, this.painted);
      put(this.painted, 1);
    }
    this.left_out = drawCuts(context, stage, view, switches.cuts);
    this.drawValues(context, scene, stage);
    if (scene.kind === 'move' || (switches.sample && scene.kind === 'stage')) this.drawSample(context, scene);
    if (scene.kind !== 'difference' && this.followed.length > 0) {
      const [from, to] = scene.kind === 'move' ? [scene.from, scene.to] : [scene.stage, scene.stage];
      drawFollowed(context, this.followed, scene.pattern, from, to, scene.kind === 'move' ? scene.share : 0, view, `600 ${font(this.text)}`);
    }
    if (mark) this.drawMark(context, stage, mark);
    context.strokeStyle = colours.faint;
    context.lineWidth = 1;
    context.strokeRect(view.left - 0.5, view.top - 0.5, view.width + 1, view.height + 1);
    this.drawAxes(context, stage);
    if (this.has_lengths && scene.kind !== 'difference' && this.painted) {
      drawRowLengths(context, stage, this.painted.level, view, view.left + view.width + strip.gap, strip.width, switches.cuts);
      context.font = font(this.text * 0.85);
      context.fillStyle = colours.muted;
      context.textAlign = 'left';
      context.textBaseline = 'alphabetic';
      const left = view.left + view.width + strip.gap;
      context.fillText('length', left, view.top - this.text * 0.5, strip.width);
      if (stage.storedLengths && this.has_stored) {
        drawStoredLengths(context, stage.storedLengths, this.painted.level, view, stage.rows, left + strip.width + strip.gap, strip.stored);
        context.fillStyle = colours.muted;
        context.fillText(stage.facts.planes.at(-1) ?? '', left + strip.width + strip.gap, view.top - this.text * 0.5, strip.stored);
      }
    }
  }

  private drawSample(context: CanvasRenderingContext2D, scene: Scene): void {
    if (scene.kind === 'difference') return;
    const { view } = this;
    const from = scene.kind === 'move' ? scene.from : scene.stage;
    const to = scene.kind === 'move' ? scene.to : scene.stage;
    if (!from.sample || !to.sample) return;
    const t = scene.kind === 'move' ? scene.share : 0;
    const eased = t * t * (3 - 2 * t);
    const { perRow, perColumn } = axes(view, to.rows, to.columns);
    const size = Math.max(2, Math.min(Math.min(perRow, perColumn), 6));
    const [a, b] = [from.sample, to.sample];
    clipped(context, view, () => {
      context.fillStyle = scene.kind === 'move' ? palette().accent : palette().ink;
      context.globalAlpha = scene.kind === 'move' ? 0.85 : 0.6;
      for (let i = 0; i < b.rows.length; ++i) {
        const row = a.rows[i] + (b.rows[i] - a.rows[i]) * eased + 0.5;
        const column = a.columns[i] + (b.columns[i] - a.columns[i]) * eased + 0.5;
        context.fillRect(view.left + view.x + column * perColumn - size / 2, view.top + view.y + row * perRow - size / 2, size, size);
      }
    });
  }

  // The values of entries, or the numbers of nonzeros of the finest bins, if they are large enough.
  private drawValues(context: CanvasRenderingContext2D, scene: Scene, stage: Stage): void {
    const level = stage.finest;
    if (scene.kind !== 'stage' || this.painted?.level !== level) return;
    const { view } = this;
    const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
    const [high, wide] = [perRow * 2 ** level.rowBits, perColumn * 2 ** level.columnBits];
    if (high < this.text * 1.6 || wide < this.text * 3.2) return;
    const first = Math.max(0, Math.floor(-view.y / high));
    const last = Math.min(level.rowBins - 1, Math.floor((view.height - view.y) / high));
    clipped(context, view, () => {
      context.font = font(this.text);
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.fillStyle = palette().dark ? '#0b0d10' : '#ffffff';
      for (let row = first; row <= last; ++row) {
        for (let bin = level.starts[row]; bin < level.starts[row + 1]; ++bin) {
          const x = view.x + (level.columns[bin] + 0.5) * wide;
          if (x < -wide || x > view.width + wide) continue;
          const number = stage.showsEntries ? valueAt(scene.pattern, stage, row, level.columns[bin]) : countAt(level, bin);
          if (number === null) continue;
          const whole = exact(number);
          const text = context.measureText(whole).width < wide * 0.9 ? whole : Number(number.toPrecision(2)).toString();
          if (context.measureText(text).width < wide * 0.96) context.fillText(text, view.left + x, view.top + view.y + (row + 0.5) * high);
        }
      }
    });
  }

  private drawMark(context: CanvasRenderingContext2D, stage: Stage, mark: Region): void {
    const { view } = this;
    const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
    const x = view.left + view.x + mark.column * perColumn;
    const y = view.top + view.y + mark.row * perRow;
    const width = Math.max(4, mark.columns * perColumn);
    const height = Math.max(4, mark.rows * perRow);
    clipped(context, view, () => {
      context.strokeStyle = palette().ink;
      context.globalAlpha = 0.25;
      context.beginPath();
      context.moveTo(view.left, y + height / 2);
      context.lineTo(view.left + view.width, y + height / 2);
      context.moveTo(x + width / 2, view.top);
      context.lineTo(x + width / 2, view.top + view.height);
      context.stroke();
      context.globalAlpha = 1;
      context.lineWidth = 2;
      context.strokeRect(x - 1, y - 1, width + 2, height + 2);
    });
  }

  private drawAxes(context: CanvasRenderingContext2D, stage: Stage): void {
    const { view, text } = this;
    const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
    context.font = font(text);
    context.fillStyle = palette().muted;
    context.strokeStyle = palette().faint;
    const marks = (length: number, per: number, offset: number, pixels: number, space: number): number[] => {
      const first = Math.max(0, -offset / per);
      const last = Math.min(length - 1, (pixels - offset) / per);
      let step = 1;
      for (let i = 0; step * per < space; ++i) step *= [2, 2.5, 2][i % 3];
      const list: number[] = [];
      for (let at = Math.ceil(first / step) * step; at <= last + 1e-9; at += step) list.push(Math.round(at));
      return list;
    };
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    const rows = marks(stage.rows, perRow, view.y, view.height, text * 3);
    const row_names = shortened(rows);
    for (const [i, row] of rows.entries()) {
      const y = view.top + view.y + (row + (perRow >= text ? 0.5 : 0)) * perRow;
      if (y < view.top || y > view.top + view.height) continue;
      context.fillText(row_names[i], view.left - 7, y);
    }
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
    // A number at the right edge ends with the frame, because the strip of lengths has its name beside it.
    const right = view.left + view.width;
    let free = 0;
    const columns = marks(stage.columns, perColumn, view.x, view.width, text * 5);
    const column_names = shortened(columns);
    for (const [i, column] of columns.entries()) {
      const x = view.left + view.x + (column + (perColumn >= text * 2 ? 0.5 : 0)) * perColumn;
      if (x < view.left - 1 || x > right + 1) continue;
      const label = column_names[i];
      const { width } = context.measureText(label);
      const at = Math.max(0, Math.min(x - width / 2, right - width));
      if (at < free) continue;
      context.fillText(label, at, view.top - text * 0.5);
      free = at + width + text * 0.5;
    }
  }

  // The row and column under a point of the canvas; null outside of the matrix.
  placeAt(x: number, y: number, rows: number, columns: number): { row: number; column: number } | null {
    const { view } = this;
    const { perRow, perColumn } = axes(view, rows, columns);
    if (x < view.left || y < view.top || x >= view.left + view.width || y >= view.top + view.height) return null;
    const row = (y - view.top - view.y) / perRow;
    const column = (x - view.left - view.x) / perColumn;
    return row < 0 || column < 0 || row >= rows || column >= columns ? null : { row, column };
  }
}

function valueAt(pattern: Pattern, stage: Stage, row: number, column: number): number | null {
  const matrixRow = stage.rowAt(row, column);
  return matrixRow === null ? null : pattern.value(originalOf(stage.originalRows, matrixRow), originalOf(stage.originalColumns, column));
}

// The numbers of an axis, all in thousands or millions if they are that large.
function shortened(numbers: number[]): string[] {
  const last = Math.max(0, ...numbers);
  const [unit, name] = last >= 1e6 && numbers.every((one) => one % 1e5 === 0) ? [1e6, 'M'] : last >= 1e4 && numbers.every((one) => one % 100 === 0) ? [1e3, 'k'] : [1, ''];
  return numbers.map((one) => (one === 0 ? '0' : `${(one / unit).toLocaleString('en', { maximumFractionDigits: 1 })}${name}`));
}
