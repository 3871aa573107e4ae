// Zooming and panning of pictures with the wheel, a pointer, fingers or keys.
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type ZoomBehavior } from 'd3-zoom';
import type { Level } from './bins';
import { h } from './dom';
import type { Pane, Transform } from './pane';

const reduced_motion = matchMedia('(prefers-reduced-motion: reduce)');
const animation_milliseconds = 220;

function zoomOf(pane: Pane, scale: () => number, moved: (next: Transform) => void): ZoomBehavior<HTMLCanvasElement, unknown> {
  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .scaleExtent([1, 1])
    .on('zoom', (event: { transform: { k: number; x: number; y: number }; sourceEvent: Event | null }) => {
      if (!event.sourceEvent) return;
      const { left, top, width, height } = pane.view;
      const { k, x, y } = event.transform;
      // d3 transforms the canvas, but the frame begins at (left, top).
      moved({ k, x: (x + left * (k - 1)) / width, y: (y + top * (k - 1)) / height });
    });
  behaviour.filter((event: Event) => {
    const wheel = event.type === 'wheel';
    const touches = (event as TouchEvent).touches?.length ?? 0;
    // One finger scrolls the page unless the picture is zoomed.
    if (event.type === 'touchstart' && touches < 2 && scale() === 1) return false;
    if (!wheel) return !(event as MouseEvent).button;
    // The wheel scrolls the page unless the picture has the focus or Ctrl is pressed.
    const { ctrlKey, metaKey, deltaY } = event as WheelEvent;
    if (ctrlKey || metaKey) return true;
    return document.activeElement === pane.canvas && (scale() > 1 || deltaY < 0);
  });
  select(pane.canvas).call(behaviour).on('dblclick.zoom', null);
  return behaviour;
}

export function zoomButtons(by: (factor: number) => void, fit: () => void): HTMLElement {
  return h('div', { class: 'segments', role: 'group', 'aria-label': 'Zoom' },
    h('button', { type: 'button', 'aria-label': 'Zoom out', title: 'Zoom out (-)', click: () => by(0.5) }, '−'),
    h('button', { type: 'button', 'aria-label': 'Whole matrix', title: 'Whole matrix (0)', click: () => fit() }, 'Fit'),
    h('button', { type: 'button', 'aria-label': 'Zoom in', title: 'Zoom in (+)', click: () => by(2) }, '+'));
}

// The part of the matrix that all pictures show.
export class Zoom {
  transform: Transform = { k: 1, x: 0, y: 0 };
  private readonly behaviours: ZoomBehavior<HTMLCanvasElement, unknown>[] = [];
  private animations = 0;

  // `finest`: the finest level of each shown stage. `moved`: called after each change; true if the transform is another one.
  constructor(private readonly panes: readonly Pane[], private readonly shape: { rows: number; columns: number },
    private readonly finest: () => Level[], private readonly moved: (is_new: boolean) => void) {}

  listen(pane: Pane, number: number): void {
    this.behaviours.push(zoomOf(pane, () => this.transform.k, (next) => this.set(next, number)));
  }

  get scale(): number {
    return this.transform.k;
  }

  get still(): boolean {
    return this.animations === 0;
  }

  // A row, or the finest bin of a shown stage, takes at most this many pixels.
  private get most(): number {
    const most_pixels = 64;
    const { width, height } = this.panes[1].view;
    return Math.max(4, ...this.finest().map((level) => Math.min((most_pixels * level.columnBins) / width, (most_pixels * level.rowBins) / height)));
  }

  // `from`: the number of the picture whose own behaviour has the transform.
  set(wanted = this.transform, from = -1): void {
    const { most, transform } = this;
    const k = Math.min(most, Math.max(1, wanted.k));
    const clamp = (at: number): number => Math.min(0, Math.max(1 - k, at));
    this.transform = { k, x: clamp(wanted.x), y: clamp(wanted.y) };
    this.panes.forEach((pane, i) => {
      const { left, top, width, height } = pane.view;
      const own = zoomIdentity.translate(this.transform.x * width - left * (k - 1), this.transform.y * height - top * (k - 1)).scale(k);
      // d3 stores the transform in the element; its own setter would fire events.
      (pane.canvas as unknown as { __zoom: unknown }).__zoom = own;
      if (i !== from) this.behaviours[i].scaleExtent([1, most]);
    });
    this.moved(this.transform.k !== transform.k || this.transform.x !== transform.x || this.transform.y !== transform.y);
  }

  // The same scale, if it is still possible.
  again(): void {
    this.set(this.around(this.transform.k));
  }

  by(factor: number): void {
    this.to(this.around(this.transform.k * factor));
  }

  fit(): void {
    this.to({ k: 1, x: 0, y: 0 });
  }

  // Another scale around the centre of the frame.
  private around(scale: number): Transform {
    const { k, x, y } = this.transform;
    const next = Math.min(this.most, Math.max(1, scale));
    return { k: next, x: 0.5 - ((0.5 - x) / k) * next, y: 0.5 - ((0.5 - y) / k) * next };
  }

  panBy(x: number, y: number): void {
    this.set({ ...this.transform, x: this.transform.x + x, y: this.transform.y + y });
  }

  private to(wanted: Transform): void {
    if (reduced_motion.matches) return this.set(wanted);
    const from = { ...this.transform };
    const begin = performance.now();
    const step = (now: number): void => {
      const t = Math.min(1, Math.max(0, (now - begin) / animation_milliseconds));
      const k = from.k * (wanted.k / from.k) ** t;
      // The offset follows the scale, so that the centre moves along a straight line.
      const share = Math.abs(wanted.k - from.k) < 1e-9 ? t : (k - from.k) / (wanted.k - from.k);
      this.set(t < 1 ? { k, x: from.x + (wanted.x - from.x) * share, y: from.y + (wanted.y - from.y) * share } : wanted);
      if (t < 1) requestAnimationFrame(step);
      else --this.animations;
    };
    ++this.animations;
    requestAnimationFrame(step);
  }

  showPlace(row: number, column: number, k: number): void {
    const { rows, columns } = this.shape;
    const next = Math.min(this.most, Math.max(1, k));
    this.to({ k: next, x: 0.5 - ((column + 0.5) / columns) * next, y: 0.5 - ((row + 0.5) / rows) * next });
  }

  // Pans until the place is within the frame and not at its edge.
  bringIntoView(row: number, column: number): void {
    const { rows, columns } = this.shape;
    const { k, x, y } = this.transform;
    const within = (at: number, share: number): number => Math.min(0.95 - share * k, Math.max(0.05 - share * k, at));
    if (k > 1) this.set({ k, x: within(x, (column + 0.5) / columns), y: within(y, (row + 0.5) / rows) });
  }
}
