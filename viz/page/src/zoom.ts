// Zooming and panning of a picture with the wheel, a pointer or fingers.
import { select } from 'd3-selection';
import { zoom, type ZoomBehavior } from 'd3-zoom';
import { h } from './dom';
import type { Pane, Transform } from './pane';

export function zoomOf(pane: Pane, scale: () => number, moved: (next: Transform) => void): ZoomBehavior<HTMLCanvasElement, unknown> {
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
