// The pictures of all stages for paper, which exist only while the page is printed.
import { h } from './dom';
import { listen } from './life';
import { Pane } from './pane';
import { sentenceOf } from './sentence';
import type { Track } from './view';

const width = 290; // two pictures on a line of A4, and two lines on a page
const height = 400;
const dots_per_pixel = 3;
const paper_width = '186mm'; // of A4, without its margins

interface Printed {
  readonly tracks: Track[];
  readonly element: HTMLElement;
  redraw(): void;
}

function sheetOf(track: Track, is_only: boolean): HTMLElement {
  const figures = track.pattern.stages.map((stage, number) => {
    const pane = new Pane(stage.facts.label);
    pane.resize(width, height, track.pattern.rows, track.pattern.columns, dots_per_pixel);
    pane.draw({ kind: 'stage', pattern: track.pattern, stage }, { k: 1, x: 0, y: 0 }, { planes: stage.facts.planes.map(() => true), cuts: {}, sample: false, levels: false }, null);
    return h('figure', {}, h('figcaption', {}, h('b', {}, `${number}  ${stage.facts.label}`), ' ', stage.facts.choices), pane.canvas,
      h('p', {}, sentenceOf(track, number)));
  });
  return h('div', { class: 'print-sheet' }, is_only ? null : h('h3', {}, track.run.title), h('div', { class: 'print-stages' }, ...figures));
}

export function printStages(viewer: Printed, redraw: () => void): void {
  const root = document.documentElement;
  const page = document.getElementById('page') as HTMLElement;
  let theme: string | undefined;
  const sheets = h('div', { class: 'print-only' });
  listen('beforeprint', () => {
    theme = root.dataset.theme;
    root.dataset.theme = 'light'; // paper is white
    sheets.replaceChildren(...viewer.tracks.map((track) => sheetOf(track, viewer.tracks.length === 1)));
    viewer.element.after(sheets);
    page.style.width = paper_width; // for charts, whose text would shrink with them
    redraw();
  });
  listen('afterprint', () => {
    root.dataset.theme = theme;
    sheets.remove();
    page.style.width = '';
    redraw();
  });
}
