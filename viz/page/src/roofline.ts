// Bytes to time, beside the pattern: where the layout is on the roof of a memory, and where it was before the last changes.
import { scaleLog } from 'd3-scale';
import { palette, series } from './colours';
import type { Run } from './document';
import { h, s, significant } from './dom';
import type { Beside } from './view';

interface Spot {
  intensity: number; // flops per byte that must move
  bytes: number; // per nonzero
  name: string;
}

const most_spots = 12;

// The bytes of the layouts and of one pass over x and y; null if a layout does not take the matrix.
export function spotOf(run: Run): Spot | null {
  const { layouts, matrix } = run.report;
  if (layouts.length === 0 || layouts.some((one) => one.unsuitable !== null) || matrix.nonzeros === 0) return null;
  const of_one = layouts.filter((one) => one.precision === layouts[0].precision);
  const wholes = of_one.filter((one) => one.share === null);
  const parts = wholes.length > 0 ? wholes : of_one;
  const value = parts[0].precision === 'f32' ? 4 : 8;
  const all = parts.reduce((sum, one) => sum + one.bytes, 0) + value * (matrix.rows + matrix.columns);
  return { intensity: (2 * matrix.nonzeros) / all, bytes: all / matrix.nonzeros, name: [...new Set(parts.map((one) => one.name))].join(' and ') };
}

export class RooflinePane implements Beside {
  readonly mode = 'roofline';
  readonly element = h('div', { class: 'roofline chart' });
  private spots: Spot[]; // the newest last
  private size = { width: 0, height: 0 };

  private constructor(private readonly run: Run, spot: Spot) {
    this.spots = [spot];
  }

  static of(run: Run): RooflinePane | null {
    const spot = spotOf(run);
    return spot ? new RooflinePane(run, spot) : null;
  }

  // The points of the reports before.
  follow(before: RooflinePane): void {
    const [now] = this.spots;
    const old = before.spots.filter((one) => one.intensity !== now.intensity || one.name !== now.name);
    this.spots = [...old.slice(1 - most_spots), now];
  }

  resize(width: number, most_height: number): number {
    this.size = { width: Math.min(width, 900), height: Math.max(120, Math.min(most_height, width)) };
    return this.size.width;
  }

  caption(): string[] {
    return ['Roofline: bytes to time'];
  }

  // The bandwidth of the first device that was measured; otherwise a unit.
  private get roof(): { name: string; bytes_per_second: number; measured: boolean } {
    const is_gpu = this.run.report.kernels.some((one) => one.backend === 'cuda' || one.backend === 'cusparse');
    const device = this.run.report.devices.find((one) => one.copy_bytes_per_second > 0 && (one.kind === 'gpu') === is_gpu);
    return device ? { name: `${device.name}, ${significant(device.copy_bytes_per_second / 1e9)} GB/s`, bytes_per_second: device.copy_bytes_per_second, measured: true }
      : { name: 'for each 100 GB/s of bandwidth', bytes_per_second: 100e9, measured: false };
  }

  draw(): void {
    const { width, height } = this.size;
    if (width === 0) return;
    const { roof, spots } = this;
    const text = 14;
    const box = { left: 56, right: width - 12, top: 30, bottom: height - 44 };
    const intensities = [2 / 24, 2 / 4, ...spots.map((one) => one.intensity)];
    const x = scaleLog().domain([Math.min(...intensities) / 1.3, Math.max(...intensities) * 1.3]).range([box.left, box.right]);
    const flops = (intensity: number): number => (intensity * roof.bytes_per_second) / 1e9;
    const y = scaleLog().domain([flops(x.domain()[0]), flops(x.domain()[1])]).range([box.bottom, box.top]);
    const svg: SVGElement[] = [];
    // The ideal bytes of a nonzero: a value, with columns of 32, 16, 8 and no bits.
    let after = -Infinity;
    for (const size of [24, 16, 12, 10, 9, 8, 6, 4]) {
      const at = x(2 / size);
      if (at < Math.max(box.left, after) || at > box.right) continue;
      after = at + text * 1.8;
      svg.push(s('line', { x1: at, x2: at, y1: box.top, y2: box.bottom, class: 'grid' }),
        s('text', { x: at, y: box.bottom + text * 1.2, 'text-anchor': 'middle', class: 'name' }, String(size)));
    }
    svg.push(s('text', { x: (box.left + box.right) / 2, y: height - 8, 'text-anchor': 'middle', class: 'name' }, 'bytes per nonzero, x and y included'));
    // Powers of ten first, then 2 and 5, as far as there is room.
    const rank = (tick: number): number => [1, 2, 5].indexOf(Math.round(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9))) >>> 0;
    const chosen: number[] = [];
    for (const tick of y.ticks(5).filter((one) => y(one) <= box.bottom && y(one) >= box.top).sort((a, b) => rank(a) - rank(b))) {
      if (chosen.some((one) => Math.abs(y(one) - y(tick)) < text * 1.3)) continue;
      chosen.push(tick);
      svg.push(s('line', { x1: box.left, x2: box.right, y1: y(tick), y2: y(tick), class: 'grid' }),
        s('text', { x: box.left - 6, y: y(tick) + text * 0.35, 'text-anchor': 'end', class: 'name' }, significant(tick, 2)));
    }
    svg.push(s('text', { x: 0, y: text, class: 'name' }, `GFLOP/s, ${roof.name}`),
      s('line', { x1: box.left, y1: box.bottom, x2: box.right, y2: box.top, stroke: palette().muted, 'stroke-width': 2 }));
    spots.forEach((spot, i) => {
      const is_last = i === spots.length - 1;
      const [cx, cy] = [x(spot.intensity), y(flops(spot.intensity))];
      svg.push(s('circle', { cx, cy, r: is_last ? 8 : 4, fill: series(0), 'fill-opacity': is_last ? 1 : 0.25 + (0.4 * i) / spots.length },
        s('title', {}, `${spot.name}: ${significant(spot.bytes)} bytes per nonzero, ${significant(flops(spot.intensity))} GFLOP/s`)));
      if (!is_last) return;
      // Below the line and above the axis, or above the line, or shorter, in the corner below the line.
      const [widest, tall] = [text * 11.7, text * 2.6];
      const lift = Math.max(0, cy + 14 + text * 3.2 - box.bottom);
      const from = cx + 16 + (lift * (box.right - box.left)) / (box.bottom - box.top);
      const place = from + widest <= box.right ? { x: from, y: cy + 14 - lift, anchor: 'start' }
        : cx - 16 - widest >= box.left && cy - tall - text >= box.top ? { x: cx - 16, y: cy - tall, anchor: 'end' }
          : { x: box.right, y: box.bottom - 8 - tall, anchor: 'end' };
      const label = (line: number, words: string, of: string): SVGElement =>
        s('text', { x: place.x, y: place.y + line * text * 1.3, 'text-anchor': place.anchor, class: of }, words);
      svg.push(label(0, spot.name, 'value halo'), label(1, `${significant(spot.bytes)} ${place.x === box.right ? 'B/nonzero' : 'bytes per nonzero'}`, 'halo'),
        label(2, `${significant(flops(spot.intensity))} GFLOP/s at most`, 'halo'));
    });
    for (const kernel of roof.measured ? this.run.report.kernels : []) {
      if (kernel.status !== 'measured' || kernel.share !== null || kernel.gflops <= 0) continue;
      const at = { cx: x(kernel.gflops / kernel.gbytes_per_second), cy: y(kernel.gflops) };
      if (at.cy > box.bottom || at.cx < box.left || at.cx > box.right) continue;
      svg.push(s('rect', { x: at.cx - 5, y: at.cy - 5, width: 10, height: 10, fill: series(kernel.baseline ? 1 : 2) }, s('title', {}, `${kernel.layout} ${kernel.kernel}, measured: ${significant(kernel.gflops)} GFLOP/s`)));
    }
    const label = spots.map((one) => `${one.name} ${significant(one.bytes)} bytes per nonzero`).join(', ');
    this.element.replaceChildren(s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Roofline: ${label}`, 'font-size': text }, ...svg));
  }
}
