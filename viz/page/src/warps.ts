// A warp in time, beside the pattern: its lanes across, its steps down, with the sectors of the values and of x that each step reads,
// and their sums. It can be played.
import type { Region, Stage } from './bins';
import { css, palette, series, steps as shades } from './colours';
import type { StorageMap, StoragePart, WarpReads } from './document';
import { bytes, counted, dotsPerPixel, h, percent, plural } from './dom';
import type { Beside } from './view';

const lanes = 32;
const sector_bytes = 32;
const step_milliseconds = 350;
const bars_share = 0.3; // of the width

interface Shown {
  part: StoragePart;
  warp: WarpReads;
}

// Sums over the steps up to one.
export function sumsOf({ sectors, array, padding }: WarpReads, end: number): { values: number; x: number; used: number; padding: number; idle: number } {
  const sum = (list: number[]): number => list.slice(0, end).reduce((a, b) => a + b, 0);
  const read = array.slice(0, end * lanes);
  const idle = read.filter((one) => one < 0).length;
  const padded = read.filter((one, i) => one >= 0 && padding[i]).length;
  return { values: sum(sectors.values), x: sum(sectors.x), used: read.length - idle - padded, padding: padded, idle };
}

export class WarpsPane implements Beside {
  readonly mode = 'warps';
  readonly canvas = h('canvas', { class: 'warp-time', role: 'img' });
  readonly element: HTMLElement;
  private readonly all: Shown[];
  private readonly which: HTMLSelectElement;
  private readonly step = h('input', { type: 'range', min: 1, step: 1, 'aria-label': 'Step of the warp' });
  private readonly button = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Play the steps' }, '▶');
  private readonly words = h('p', { class: 'warp-words', 'aria-live': 'polite' });
  private timer = 0;
  private size = { width: 0, height: 0, ratio: 1 };
  // Called with the entry of the pattern under the pointer, in the order after the last stage.
  onPoint: (region: Region | null) => void = () => undefined;

  constructor(private readonly map: StorageMap) {
    this.all = map.parts.flatMap((part) => part.shown_warps.map((warp) => ({ part, warp })));
    this.which = h('select', { 'aria-label': 'Warp' }, ...this.all.map(({ part, warp }, i) =>
      h('option', { value: i }, `${part.share ? `${part.share}: ` : ''}${part.layout}, warp ${counted(warp.warp)} of ${counted(part.warps)}`)));
    this.which.addEventListener('change', () => this.choose());
    this.step.addEventListener('input', () => {
      this.pause();
      this.paint();
    });
    this.button.addEventListener('click', () => (this.timer ? this.pause() : this.play()));
    this.element = h('div', {}, h('div', { class: 'warp-tools' }, this.button, this.step, this.which), this.words, this.canvas);
    this.canvas.addEventListener('pointermove', (event) => this.onPoint(this.under(event)));
    this.canvas.addEventListener('pointerleave', () => this.onPoint(null));
    this.choose();
  }

  static of(map: StorageMap | null): WarpsPane | null {
    return map?.parts.some((part) => part.shown_warps.length > 0) ? new WarpsPane(map) : null;
  }

  private get shown(): Shown {
    return this.all[Number(this.which.value)];
  }

  private get listed(): number {
    return this.shown.warp.array.length / lanes;
  }

  // The same warp and step as in another report, as far as there are.
  follow(before: WarpsPane): void {
    if (Number(before.which.value) < this.all.length) this.which.value = before.which.value;
    this.choose();
    this.step.value = before.step.value === before.step.max ? this.step.max : before.step.value;
  }

  private choose(): void {
    this.step.max = this.step.value = String(this.listed);
    this.paint();
  }

  private play(): void {
    if (this.step.value === this.step.max) this.step.value = '1';
    else this.step.stepUp();
    this.button.textContent = '⏸';
    this.button.setAttribute('aria-label', 'Pause');
    this.paint();
    this.timer = window.setTimeout(() => (this.step.value === this.step.max || !this.element.isConnected ? this.pause() : this.play()), step_milliseconds);
  }

  private pause(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.button.textContent = '▶';
    this.button.setAttribute('aria-label', 'Play the steps');
  }

  resize(width: number, most_height: number): number {
    this.element.style.width = `${Math.min(width, 900)}px`;
    const above = this.element.clientHeight - this.canvas.clientHeight;
    this.size = { width: Math.min(width, 900), height: Math.max(80, most_height - above - 4), ratio: dotsPerPixel() };
    this.paint();
    return this.size.width;
  }

  draw(): void {
    this.paint();
  }

  // Draws each step with `draw`, and shows the step that it showed.
  readonly film = {
    count: (): number => this.listed,
    at: <Result>(step: number, draw: () => Result): Result => {
      const { value } = this.step;
      this.step.value = String(step + 1);
      try {
        return draw();
      } finally {
        this.step.value = value;
        this.paint();
      }
    },
  };

  caption(_: Stage): string[] {
    const { part, warp } = this.shown;
    return [`Warp ${counted(warp.warp)} of CUDA kernel ${part.kernel}: lanes across, steps down`];
  }

  // The place of the grid in the canvas: sides of a cell, and where it begins.
  private get grid(): { cell: number; high: number; left: number; top: number } {
    const { width, height } = this.size;
    const [left, top] = [34, 20];
    const cell = (width * (1 - bars_share) - left) / lanes;
    return { cell, high: Math.min(cell * 2.5, (height - top - 2) / Math.max(1, this.listed)), left, top };
  }

  private under(event: PointerEvent): Region | null {
    const { cell, high, left, top } = this.grid;
    const lane = Math.floor((event.offsetX - left) / cell);
    const step = Math.floor((event.offsetY - top) / high);
    const { warp } = this.shown;
    const i = step * lanes + lane;
    if (lane < 0 || lane >= lanes || step < 0 || step >= this.listed || warp.array[i] < 0 || warp.padding[i] || warp.column[i] < 0) return null;
    return { row: warp.row[i], column: warp.column[i], rows: 1, columns: 1 };
  }

  private paint(): void {
    const { canvas } = this;
    const { width, height, ratio } = this.size;
    const now = Number(this.step.value);
    this.say(now);
    const context = canvas.getContext('2d');
    if (!context || width === 0) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.scale(ratio, ratio);
    const { warp } = this.shown;
    const { cell, high, left, top } = this.grid;
    const colours = palette();
    const gap = Math.min(cell, high) > 5 ? 1 : 0;
    for (let i = 0; i < warp.array.length; ++i) {
      const step = Math.floor(i / lanes);
      context.globalAlpha = step < now ? 1 : 0.15;
      context.fillStyle = warp.array[i] < 0 ? css(colours.grey[2], 0.35) : warp.padding[i] ? css(colours.grey[Math.round(shades * 0.35)]) : series(0);
      context.fillRect(left + (i % lanes) * cell, top + step * high, cell - gap, high - gap);
    }
    this.paintBars(context, now, left + lanes * cell + 12, width);
    context.globalAlpha = 1;
    context.strokeStyle = colours.ink;
    context.strokeRect(left - 1, top + (now - 1) * high - 0.5, lanes * cell + 1, high);
    context.fillStyle = colours.muted;
    context.font = '12px system-ui, sans-serif';
    context.textAlign = 'center';
    for (const lane of [0, 8, 16, 24, 31]) context.fillText(String(lane), left + (lane + 0.5) * cell, top - 6);
    context.textAlign = 'right';
    const every = Math.max(1, Math.ceil(16 / high));
    for (let step = 0; step < this.listed; step += every) context.fillText(String(step), left - 6, top + step * high + Math.min(high, 14) - 2);
  }

  // The sectors of each step: of the values above, of x below.
  private paintBars(context: CanvasRenderingContext2D, now: number, left: number, right: number): void {
    const { sectors } = this.shown.warp;
    const { high, top } = this.grid;
    const per = (right - left - 26) / lanes; // at most one sector per lane
    context.font = '12px system-ui, sans-serif';
    context.textAlign = 'left';
    context.fillStyle = palette().muted;
    context.globalAlpha = 1;
    context.fillText('sectors', left, top - 6);
    for (let step = 0; step < this.listed; ++step) {
      context.globalAlpha = step < now ? 1 : 0.15;
      const y = top + step * high;
      const bar = Math.max(1, (high - 2) / 2);
      context.fillStyle = series(0);
      context.fillRect(left, y, sectors.values[step] * per, bar);
      context.fillStyle = series(1);
      context.fillRect(left, y + bar, sectors.x[step] * per, bar);
      if (high < 13) continue;
      context.fillStyle = palette().muted;
      context.fillText(`${sectors.values[step]}+${sectors.x[step]}`, left + Math.max(sectors.values[step], sectors.x[step]) * per + 4, y + high * 0.75, 40);
    }
  }

  private say(now: number): void {
    const share = (part: number): string => percent(part / (now * lanes)).replace(' ', '\u00a0');
    const { part, warp } = this.shown;
    const { values, x, used, padding, idle } = sumsOf(warp, now);
    const all = now * lanes;
    const value_bytes = this.map.precision === 'f32' ? 4 : 8;
    const is_whole = now === warp.steps;
    const until = is_whole ? `All ${plural(warp.steps, 'step')}` : `After step ${now - 1} of ${counted(warp.steps)}`;
    const key = (colour: string, text: string): HTMLElement => h('span', { class: 'key' }, h('span', { class: 'swatch', style: `background:${colour}` }), text);
    this.words.replaceChildren(`${until}: ${counted(used)} nonzeros of ${counted(all)} lane steps, `,
      key(css(palette().grey[Math.round(shades * 0.35)]), `${share(padding)} padding`), `, ${share(idle)} idle. Sectors of ${sector_bytes} bytes: `,
      key(series(0), `${counted(values)} of values`), ', ', key(series(1), `${counted(x)} of x`),
      `, ${bytes((values + x) * sector_bytes)} for ${bytes(2 * used * value_bytes)} of use.`);
    this.canvas.setAttribute('aria-label', `Warp ${warp.warp} of kernel ${part.kernel}: ${this.words.textContent}`);
  }
}
