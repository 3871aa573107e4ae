// The pattern of a run, or of two: stages on a slider, one picture or two, zoom, what lies under the pointer.
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type ZoomBehavior } from 'd3-zoom';
import { between, binAt, countAt, originalOf, type Pattern, pieceAt, sizeOf, type Stage } from './bins';
import { css, palette, steps } from './colours';
import type { Run } from './document';
import { counted, exact, h, plural, seconds } from './dom';
import { type Mark, Pane, type Scene, type Transform } from './pane';
import { axes, rowBinOf, type Switches } from './paint';
import type { Place } from './storage';

type Mode = 'one' | 'beside' | 'difference';

const cut_names: Record<string, string> = {
  partition: 'partitions', row_block: 'row blocks', length_group: 'length groups', segment: 'segments',
};
const move_milliseconds = 900;
const calm = matchMedia('(prefers-reduced-motion: reduce)');

export interface Track {
  run: Run;
  pattern: Pattern;
  position: number; // between two stages while nonzeros move
}

export class Viewer {
  readonly element: HTMLElement;
  private readonly body: HTMLElement;
  private mode: Mode;
  private active = 0; // the run that keys move
  private readonly panes: [Pane, Pane];
  private readonly frames: HTMLElement[] = [];
  private transform: Transform = { k: 1, x: 0, y: 0 };
  private readonly switches: Switches = { planes: [], cuts: {}, sample: false };
  private mark: Mark | null = null;
  private readonly readout = h('dl', { class: 'readout', 'aria-live': 'polite' });
  private readonly legend = h('div', { class: 'legend' });
  private readonly facts = h('div', { class: 'stage-facts' });
  private readonly stage_notes = h('div', {});
  private readonly toggles = h('fieldset', { class: 'toggles' });
  private readonly note = h('p', { class: 'note' });
  private readonly sliders: HTMLElement[] = [];
  private readonly ranges: HTMLInputElement[] = [];
  private readonly mode_buttons = new Map<Mode, HTMLButtonElement>();
  private readonly zooms: ZoomBehavior<HTMLCanvasElement, unknown>[] = [];
  private pending = false;
  private running = 0;
  private zooming = 0;
  private moving = false;
  private toggle_key = '';
  private before_input = false;
  // The storage map, where there is one, hears of what is pointed at.
  onPoint: (track: number, place: Place | null) => void = () => undefined;
  onStage: (track: number, stage: number) => void = () => undefined;

  constructor(readonly tracks: Track[]) {
    this.mode = tracks.length > 1 ? 'beside' : 'one';
    this.panes = [new Pane('The pattern before'), new Pane('The pattern of the nonzeros')];
    const mode_group = h('div', { class: 'segments', role: 'group', 'aria-label': 'What to show' });
    const words: [Mode, string][] = tracks.length > 1
      ? [['beside', 'Side by side'], ['difference', 'Difference'], ['one', 'One']]
      : [['one', 'One'], ['beside', 'Before and after'], ['difference', 'Difference']];
    for (const [mode, word] of words) {
      const button = h('button', { type: 'button', 'data-mode': mode, click: () => this.setMode(mode) }, word);
      this.mode_buttons.set(mode, button);
      mode_group.append(button);
    }
    const zoom_group = h('div', { class: 'segments', role: 'group', 'aria-label': 'Zoom' },
      h('button', { type: 'button', 'aria-label': 'Zoom out', title: 'Zoom out (-)', click: () => this.zoomBy(0.5) }, '−'),
      h('button', { type: 'button', 'aria-label': 'Whole matrix', title: 'Whole matrix (0)', click: () => this.zoomTo({ k: 1, x: 0, y: 0 }) }, 'Fit'),
      h('button', { type: 'button', 'aria-label': 'Zoom in', title: 'Zoom in (+)', click: () => this.zoomBy(2) }, '+'));
    tracks.forEach((track, i) => this.sliders.push(this.makeSlider(track, i)));
    const pictures = h('div', { class: 'panes' });
    this.panes.forEach((pane, i) => {
      const frame = h('figure', { class: 'pane' }, h('figcaption', {}), pane.canvas);
      this.frames.push(frame);
      pictures.append(frame);
      this.listen(pane, i);
    });
    const only_input = tracks.length === 1 && tracks[0].pattern.stages.length < 2;
    mode_group.hidden = only_input;
    this.body = h('div', { class: 'viewer-body' },
      h('div', { class: 'viewer-main' },
        h('div', { class: 'tools' }, mode_group, zoom_group), pictures, this.legend, this.note),
      h('aside', { class: 'side', 'aria-label': 'The stage' },
        this.facts, h('div', { class: 'side-part' }, this.readout, this.toggles, this.stage_notes)));
    this.element = h('div', { class: 'viewer' }, h('div', { class: 'stage-bar', hidden: only_input }, ...this.sliders), this.body);
    new ResizeObserver(() => this.resize()).observe(this.element);
    addEventListener('resize', () => this.resize());
    this.setMode(this.mode);
    this.point(null);
  }

  private stage(track: number): Stage {
    const { pattern, position } = this.tracks[track];
    return pattern.stages[Math.round(position)];
  }

  private beforeOf(track: number): Stage {
    const { pattern, position } = this.tracks[track];
    return pattern.stages[this.before_input ? 0 : pattern.facts.stages[Math.round(position)].before];
  }

  private makeSlider(track: Track, number: number): HTMLElement {
    const count = track.pattern.stages.length;
    const range = h('input', {
      type: 'range', min: 0, max: Math.max(0, count - 1), step: 'any', value: track.position,
      'aria-label': this.tracks.length > 1 ? `Stage of ${track.run.title}` : 'Stage',
      disabled: count < 2,
    });
    range.addEventListener('input', () => {
      this.active = number;
      cancelAnimationFrame(this.running);
      this.moving = false;
      this.setPosition(number, Number(range.value));
    });
    range.addEventListener('change', () => this.moveTo(number, Math.round(Number(range.value))));
    range.addEventListener('keydown', (event) => event.preventDefault()); // the page's keys do it
    this.ranges.push(range);
    const play = h('button', { type: 'button', class: 'play', 'aria-label': 'Play all stages', title: 'Play all stages', click: () => this.play(number) }, '▶');
    const ticks = h('ol', { class: 'ticks' });
    track.pattern.facts.stages.forEach((stage, i) => {
      ticks.append(h('li', {}, h('button', { type: 'button', 'data-stage': i, click: () => this.moveTo(number, i) },
        h('span', { class: 'tick-number' }, String(i)), h('span', { class: 'tick-name' }, stage.label.replaceAll('_', '_\u200b')))));
    });
    const title = this.tracks.length > 1 ? h('p', { class: 'track-title' }, track.run.title) : null;
    return h('div', { class: 'track', style: `--stages: ${Math.max(1, count)}` }, title,
      h('div', { class: 'track-row' }, count > 1 && play, h('div', { class: 'track-line' }, count > 1 && range, ticks)));
  }

  private play(track: number): void {
    this.active = track;
    const last = this.tracks[track].pattern.stages.length - 1;
    const from = Math.round(this.tracks[track].position) >= last ? 0 : Math.round(this.tracks[track].position);
    this.setPosition(track, from);
    const next = (i: number): void => {
      if (i > last) return;
      this.moveTo(track, i, () => setTimeout(() => Math.abs(this.tracks[track].position - i) < 1e-6 && next(i + 1), 700));
    };
    next(from + 1);
  }

  // Nonzeros move to their new places.
  moveTo(track: number, stage: number, done: () => void = () => undefined): void {
    this.active = track;
    cancelAnimationFrame(this.running);
    const one = this.tracks[track];
    const to = Math.min(one.pattern.stages.length - 1, Math.max(0, stage));
    let from = one.position;
    if (Math.abs(to - from) > 1) from = to - Math.sign(to - from); // only the last step of a long way
    this.moving = false;
    if (calm.matches || Math.abs(to - from) < 1e-9) {
      this.setPosition(track, to);
      done();
      return;
    }
    this.moving = true;
    const begin = performance.now();
    const whole = move_milliseconds * Math.abs(to - from);
    const step = (now: number): void => {
      const share = Math.min(1, Math.max(0, (now - begin) / whole));
      this.setPosition(track, share < 1 ? from + (to - from) * share : to);
      if (share < 1) {
        this.running = requestAnimationFrame(step);
      } else {
        this.moving = false;
        done();
      }
    };
    this.running = requestAnimationFrame(step);
  }

  step(by: number): void {
    this.moveTo(this.active, Math.round(this.tracks[this.active].position) + by);
  }

  current(track = this.active): number {
    return Math.round(this.tracks[track].position);
  }

  private setPosition(track: number, position: number): void {
    const before = Math.round(this.tracks[track].position);
    this.tracks[track].position = position;
    const now = Math.round(position);
    if (now !== before) {
      this.point(null);
      this.onStage(track, now);
    }
    this.update();
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    for (const [one, button] of this.mode_buttons) button.setAttribute('aria-pressed', String(one === mode));
    this.resize();
    this.update();
  }

  // ---- Zoom: one for both pictures.

  private listen(pane: Pane, number: number): void {
    const behaviour = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent([1, 1])
      .on('zoom', (event: { transform: { k: number; x: number; y: number }; sourceEvent: Event | null }) => {
        if (!event.sourceEvent) return;
        const { left, top, width, height } = pane.view;
        const { k, x, y } = event.transform;
        // d3 moves points of the canvas, the frame begins further in.
        this.setTransform({ k, x: (x + left * (k - 1)) / width, y: (y + top * (k - 1)) / height }, number);
      });
    behaviour.filter((event: Event) => {
      const wheel = event.type === 'wheel';
      const touches = (event as TouchEvent).touches?.length ?? 0;
      // One finger scrolls the page while the whole matrix is shown.
      if (event.type === 'touchstart' && touches < 2 && this.transform.k === 1) return false;
      if (!wheel) return !(event as MouseEvent).button;
      // The wheel scrolls the page, unless the picture was clicked before, or the key says zoom.
      const { ctrlKey, metaKey, deltaY } = event as WheelEvent;
      if (ctrlKey || metaKey) return true;
      return document.activeElement === pane.canvas && (this.transform.k > 1 || deltaY < 0);
    });
    this.zooms.push(behaviour);
    select(pane.canvas).call(behaviour).on('dblclick.zoom', null);
    pane.canvas.addEventListener('dblclick', (event) => {
      const place = this.placeOf(pane, event);
      if (place) this.showPlace(place.row, place.column, this.transform.k * 4);
    });
    pane.canvas.addEventListener('pointermove', (event) => this.hover(pane, event));
    pane.canvas.addEventListener('pointerdown', (event) => this.hover(pane, event));
    pane.canvas.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && this.point(null));
  }

  private get shape(): { rows: number; columns: number } {
    const { rows, columns } = this.tracks[0].pattern;
    return { rows, columns };
  }

  private get mostZoom(): number {
    const { rows, columns } = this.shape;
    const { width, height } = this.panes[1].view;
    return Math.max(4, Math.min(64 / (width / Math.max(1, columns)), 64 / (height / Math.max(1, rows))));
  }

  private setTransform(wanted: Transform, from = -1): void {
    const k = Math.min(this.mostZoom, Math.max(1, wanted.k));
    const clamp = (at: number): number => Math.min(0, Math.max(1 - k, at));
    this.transform = { k, x: clamp(wanted.x), y: clamp(wanted.y) };
    this.panes.forEach((pane, i) => {
      const { left, top, width, height } = pane.view;
      const own = zoomIdentity.translate(this.transform.x * width - left * (k - 1), this.transform.y * height - top * (k - 1)).scale(k);
      // Without events of its own: d3 keeps the transform as a property of the element.
      (pane.canvas as unknown as { __zoom: unknown }).__zoom = own;
      if (i !== from) this.zooms[i].scaleExtent([1, this.mostZoom]);
    });
    this.update();
  }

  zoomBy(factor: number): void {
    const { k, x, y } = this.transform;
    const next = Math.min(this.mostZoom, Math.max(1, k * factor));
    // About the middle of the frame.
    this.zoomTo({ k: next, x: 0.5 - ((0.5 - x) / k) * next, y: 0.5 - ((0.5 - y) / k) * next });
  }

  panBy(x: number, y: number): void {
    this.setTransform({ ...this.transform, x: this.transform.x + x, y: this.transform.y + y });
  }

  zoomTo(wanted: Transform): void {
    if (calm.matches) return this.setTransform(wanted);
    const from = { ...this.transform };
    const begin = performance.now();
    const step = (now: number): void => {
      const t = Math.min(1, Math.max(0, (now - begin) / 220));
      const k = from.k * (wanted.k / from.k) ** t;
      // The middle goes along with the scale, so that nothing swings.
      const share = Math.abs(wanted.k - from.k) < 1e-9 ? t : (k - from.k) / (wanted.k - from.k);
      this.setTransform(t < 1 ? { k, x: from.x + (wanted.x - from.x) * share, y: from.y + (wanted.y - from.y) * share } : wanted);
      if (t < 1) requestAnimationFrame(step);
      else --this.zooming;
    };
    ++this.zooming;
    requestAnimationFrame(step);
  }

  still(): boolean {
    return !this.pending && !this.moving && this.zooming === 0 && this.tracks.every((track) => Number.isInteger(track.position));
  }

  // Of the right picture, while the whole matrix is shown.
  frame(): { left: number; top: number; width: number; height: number; rows: number; columns: number } {
    const { left, top, width, height } = this.panes[1].view;
    return { left, top, width, height, ...this.shape };
  }

  get scale(): number {
    return this.transform.k;
  }

  showPlace(row: number, column: number, k: number): void {
    const { rows, columns } = this.shape;
    const next = Math.min(this.mostZoom, Math.max(1, k));
    this.zoomTo({ k: next, x: 0.5 - ((column + 0.5) / columns) * next, y: 0.5 - ((row + 0.5) / rows) * next });
  }

  // ---- What lies under the pointer.

  private placeOf(pane: Pane, event: MouseEvent): { row: number; column: number } | null {
    const box = pane.canvas.getBoundingClientRect();
    const { rows, columns } = this.shape;
    return pane.placeAt(event.clientX - box.left, event.clientY - box.top, rows, columns);
  }

  private stageOn(pane: Pane): { track: number; stage: Stage; pattern: Pattern } {
    const is_left = pane === this.panes[0];
    if (this.tracks.length > 1) {
      const track = this.mode === 'one' ? this.active : is_left ? 0 : 1;
      return { track, stage: this.stage(track), pattern: this.tracks[track].pattern };
    }
    return { track: 0, stage: is_left ? this.beforeOf(0) : this.stage(0), pattern: this.tracks[0].pattern };
  }

  private hover(pane: Pane, event: MouseEvent): void {
    const place = this.placeOf(pane, event);
    if (!place) return this.point(null);
    const { track, stage, pattern } = this.stageOn(pane);
    const level = pane.painted?.level ?? stage.finest;
    const { perRow, perColumn } = axes(pane.view, stage.rows, stage.columns);
    // The nearest bin with something in it, a few pixels around.
    let best = -1;
    let distance = Infinity;
    const reach = 5;
    const bins_in_reach = (size: number): number => (size > 2 * reach ? 0 : Math.min(40, Math.ceil(reach / size)));
    const rowReach = bins_in_reach(perRow * 2 ** level.rowBits);
    const columnReach = bins_in_reach(perColumn * 2 ** level.columnBits);
    const row = Math.floor(place.row / 2 ** level.rowBits);
    const column = Math.floor(place.column / 2 ** level.columnBits);
    for (let i = -rowReach; i <= rowReach; ++i) {
      for (let j = -columnReach; j <= columnReach; ++j) {
        const bin = binAt(level, row + i, column + j);
        if (bin >= 0 && i * i + j * j < distance) {
          distance = i * i + j * j;
          best = bin;
        }
      }
    }
    if (best < 0) {
      this.mark = null;
      this.tell([['row', counted(Math.floor(place.row))], ['column', counted(Math.floor(place.column))], ['', 'nothing is stored here']]);
      this.onPoint(track, null);
    } else {
      this.tellBin(track, stage, pattern, level === stage.finest && stage.showsEntries, rowBinOf(level, best), level.columns[best],
                   2 ** level.rowBits, 2 ** level.columnBits, countAt(level, best), level.planes > 1 ? this.planesOf(stage, level.counts, best) : '');
    }
    this.update();
  }

  private planesOf(stage: Stage, counts: Uint32Array, bin: number): string {
    const planes = stage.facts.planes.length;
    const there = stage.facts.planes.map((name, i) => ({ name, count: counts[bin * planes + i] })).filter((one) => one.count > 0);
    return there.length === 1 ? there[0].name : there.map((one) => `${counted(one.count)} ${one.name}`).join(', ');
  }

  private tellBin(track: number, stage: Stage, pattern: Pattern, is_entry: boolean, rowBin: number, columnBin: number, rows: number, columns: number,
                  count: number, share: string): void {
    const lines: [string, string][] = [];
    const row = rowBin * rows;
    const column = columnBin * columns;
    const lastRow = Math.min(stage.rows, row + rows) - 1;
    const lastColumn = Math.min(stage.columns, column + columns) - 1;
    this.mark = { row, column, rows: lastRow - row + 1, columns: lastColumn - column + 1 };
    if (is_entry) {
      const matrixRow = stage.rowAt(row, column);
      const originalRow = matrixRow === null ? null : originalOf(stage.originalRows, matrixRow);
      const originalColumn = originalOf(stage.originalColumns, column);
      const origin = (original: number | null, now: number | null): string =>
        original === null ? ', originally not kept' : original === now ? ', as originally' : `, originally ${counted(original)}`;
      if (matrixRow !== null && matrixRow !== row) lines.push(['stored at', `line ${counted(row)}`]);
      lines.push(['row', matrixRow === null ? `stored at line ${counted(row)}` : counted(matrixRow) + origin(originalRow, matrixRow)]);
      lines.push(['column', counted(column) + origin(originalColumn, column)]);
      const value = originalRow === null || originalColumn === null ? null : pattern.value(originalRow, originalColumn);
      lines.push(['value', value === null ? 'not kept in this page' : exact(value)]);
      if (matrixRow !== null && stage === this.stage(track)) this.tellStorage(track, matrixRow, column);
    } else {
      const range = (from: number, to: number): string => (from === to ? counted(from) : `${counted(from)} to ${counted(to)}`);
      lines.push(['rows', range(row, lastRow)], ['columns', range(column, lastColumn)]);
      lines.push(['holds', `${plural(count, 'nonzero')} in ${counted(lastRow - row + 1)} × ${counted(lastColumn - column + 1)} places`]);
      const sampled = this.sampledIn(stage, pattern);
      if (sampled) lines.push(['one of them', sampled]);
      const is_last = stage.facts.tiles === 0 && stage === this.tracks[track].pattern.stages[this.tracks[track].pattern.stages.length - 1];
      this.onPoint(track, is_last ? this.mark : null);
    }
    if (share) lines.push(['share', share]);
    const partition = stage.facts.cuts.find((cuts) => cuts.kind === 'partition' && cuts.step === 1);
    if (partition && partition.count > 1) {
      const [a, b] = [pieceAt(partition.boundaries, row), pieceAt(partition.boundaries, column)];
      lines.push(['partition', a === b ? counted(a) : `${counted(a)}, its column in ${counted(b)}`]);
    }
    this.tell(lines);
  }

  // A followed nonzero in the marked bin: of it everything is known.
  private sampledIn(stage: Stage, pattern: Pattern): string | null {
    const { sample } = pattern;
    if (!stage.sample || !sample || !this.mark) return null;
    const { row, column, rows, columns } = this.mark;
    for (let i = 0; i < stage.sample.rows.length; ++i) {
      const [r, c] = [stage.sample.rows[i], stage.sample.columns[i]];
      if (r >= row && r < row + rows && c >= column && c < column + columns) {
        return `row ${counted(r)}, column ${counted(c)} (originally ${counted(sample.rows[i])}, ${counted(sample.columns[i])}): ${exact(sample.values[i])}`;
      }
    }
    return null;
  }

  // From the storage map of a run: a place in the matrix after the last stage.
  pointAt(track: number, place: Place | null): void {
    if (place === null) {
      this.mark = null;
      return this.update();
    }
    const { pattern } = this.tracks[track];
    const last = pattern.stages[pattern.stages.length - 1];
    const stage = this.stage(track);
    const { rows, columns } = place;
    if (rows > 1 || columns > 1) {
      // A range of rows is one only in the order that the layout has.
      this.mark = stage.facts.rows === last.facts.rows && stage.facts.columns === last.facts.columns && stage.facts.tiles === 0 ? place : null;
      return this.update();
    }
    const row = between(last, stage, 'originalRows', place.row);
    const column = between(last, stage, 'originalColumns', place.column);
    const drawn = row === null || column === null ? null : stage.drawnRow(row, column);
    this.mark = drawn === null || column === null ? null : { row: drawn, column, rows: 1, columns: 1 };
    this.update();
  }

  // What the pattern points at, for the storage map: in the order after the last stage.
  private tellStorage(track: number, row: number, column: number): void {
    const { pattern } = this.tracks[track];
    const last = pattern.stages[pattern.stages.length - 1];
    const stage = this.stage(track);
    const there = between(stage, last, 'originalRows', row);
    const beside = between(stage, last, 'originalColumns', column);
    this.onPoint(track, there === null || beside === null ? null : { row: there, column: beside, rows: 1, columns: 1 });
  }

  private point(nothing: null): void {
    this.mark = nothing;
    this.tell([['', matchMedia('(hover: none)').matches ? 'Tap a place to read it.' : 'Point at a place to read it.']]);
    this.tracks.forEach((_, track) => this.onPoint(track, null));
    this.update();
  }

  private tell(lines: [string, string][]): void {
    this.readout.replaceChildren(...lines.flatMap(([name, text]) => (name ? [h('dt', {}, name), h('dd', {}, text)] : [h('dd', { class: 'alone' }, text)])));
  }

  // ---- Drawing.

  private resize(): void {
    const beside = this.mode === 'beside';
    this.frames[0].hidden = !beside;
    const body = this.body.clientWidth;
    if (body === 0) return;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const stacked = body < 56 * rem; // the facts lie below the picture
    const narrow = body < 640;
    const gap = 24;
    const room = stacked ? body : body - 20 * rem;
    const width = beside && !narrow ? Math.floor((room - gap) / 2) : room;
    const most = Math.max(300, stacked ? innerHeight * 0.9 : innerHeight - 19.5 * rem);
    const { rows, columns } = this.shape;
    const [needed] = this.panes.map((pane) => pane.resize(width, most, rows, columns));
    const main = beside && !narrow ? 2 * needed + gap : needed;
    this.body.style.gridTemplateColumns = stacked ? 'minmax(0, 1fr)' : `${Math.max(main, 30 * rem)}px minmax(0, 1fr)`;
    this.setTransform(this.transform);
  }

  private sceneOf(pane: number): Scene {
    const compares = this.tracks.length > 1;
    if (this.mode === 'difference') {
      return compares
        ? { kind: 'difference', patterns: [this.tracks[0].pattern, this.tracks[1].pattern], from: this.stage(0), to: this.stage(1) }
        : { kind: 'difference', patterns: [this.tracks[0].pattern, this.tracks[0].pattern], from: this.beforeOf(0), to: this.stage(0) };
    }
    if (pane === 0 && !compares) return { kind: 'stage', pattern: this.tracks[0].pattern, stage: this.beforeOf(0) };
    const track = this.tracks[compares ? (this.mode === 'one' ? this.active : pane) : 0];
    const low = Math.floor(track.position);
    const share = track.position - low;
    if (share < 1e-6 || share > 1 - 1e-6) {
      return { kind: 'stage', pattern: track.pattern, stage: track.pattern.stages[Math.round(track.position)] };
    }
    return { kind: 'move', pattern: track.pattern, from: track.pattern.stages[low], to: track.pattern.stages[low + 1], share };
  }

  update(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawAll();
    });
  }

  private drawAll(): void {
    this.updateToggles();
    this.panes.forEach((pane, i) => {
      if (i === 0 && this.mode !== 'beside') return;
      const scene = this.sceneOf(i);
      pane.draw(scene, this.transform, this.switches, this.mark);
      const stage = scene.kind === 'stage' ? scene.stage : scene.to;
      const number = (pattern: Pattern, one: Stage): string => `${pattern.stages.indexOf(one)}  ${one.facts.label}`;
      const words = scene.kind === 'difference'
        ? `${number(scene.patterns[0], scene.from)} → ${number(scene.patterns[1], scene.to)}`
        : `${this.tracks.length > 1 ? `${this.tracks[this.mode === 'one' ? this.active : i].run.title}: ` : ''}${number(scene.pattern, stage)}`;
      const caption = this.frames[i].firstElementChild as HTMLElement;
      if (caption.textContent !== words) caption.textContent = words;
      pane.canvas.setAttribute('aria-label', `The pattern of ${words}: ${counted(stage.rows)} rows, ${counted(stage.columns)} columns`);
    });
    this.tracks.forEach((track, i) => {
      const range = this.ranges[i];
      if (document.activeElement !== range || Math.abs(Number(range.value) - track.position) > 1e-6) range.value = String(track.position);
      range.setAttribute('aria-valuetext', this.stage(i).facts.label);
      this.sliders[i].querySelectorAll('button[data-stage]').forEach((button, number) =>
        button.setAttribute('aria-current', String(number === Math.round(track.position))));
      this.sliders[i].classList.toggle('active', this.tracks.length > 1 && i === this.active);
    });
    this.updateFacts();
    this.updateLegend();
    this.updateNote();
  }

  private updateToggles(): void {
    const stages = this.tracks.map((_, i) => this.stage(i));
    const kinds = [...new Set(stages.flatMap((stage) => stage.facts.cuts.map((cuts) => cuts.kind)))];
    const shown = stages[this.tracks.length > 1 ? 1 : 0];
    const planes = shown.facts.planes.length > 1 ? shown.facts.planes : [];
    const has_sample = this.tracks.some((track) => track.pattern.facts.sampled > 0 && track.pattern.stages.length > 1);
    const key = JSON.stringify([kinds, planes, has_sample, palette().dark]);
    if (key === this.toggle_key) return;
    this.toggle_key = key;
    this.switches.planes = shown.facts.planes.map((_, i) => this.switches.planes[i] ?? true);
    while (this.switches.planes.length < 6) this.switches.planes.push(true);
    const box = (name: string, on: boolean, change: (on: boolean) => void, colour?: string): HTMLElement => {
      const input = h('input', { type: 'checkbox', checked: on, name });
      input.addEventListener('change', () => {
        change(input.checked);
        this.update();
      });
      return h('label', {}, input, colour ? h('span', { class: 'swatch', style: `background:${colour}` }) : null, name);
    };
    const list: HTMLElement[] = [];
    for (const kind of kinds) {
      list.push(box(cut_names[kind] ?? kind, this.switches.cuts[kind] ?? true, (on) => (this.switches.cuts[kind] = on)));
    }
    planes.forEach((name, i) => {
      const colour = css(palette().planes[i][Math.round(steps * 0.6)]);
      list.push(box(name, this.switches.planes[i], (on) => (this.switches.planes[i] = on), colour));
    });
    if (has_sample) list.push(box('followed nonzeros', this.switches.sample, (on) => (this.switches.sample = on)));
    if (this.tracks.length === 1 && this.tracks[0].pattern.stages.length > 2) {
      list.push(box('compare with the input', this.before_input, (on) => (this.before_input = on)));
    }
    this.toggles.hidden = list.length === 0;
    this.toggles.replaceChildren(h('legend', {}, 'Show'), ...list);
  }

  private facts_key = '';

  private updateFacts(): void {
    const key = this.tracks.map((track) => Math.round(track.position)).join();
    if (key === this.facts_key) return;
    this.facts_key = key;
    this.facts.replaceChildren(...this.tracks.flatMap((track, t) => {
      const number = Math.round(track.position);
      const stage = track.pattern.facts.stages[number];
      const outcome = track.run.report.stages[number];
      const told = track.run.figures.filter((figure) => figure.telling > 0 || figure.label === 'profile')
        .sort((a, b) => (a.telling || 99) - (b.telling || 99));
      const rows = told.flatMap((figure) => {
        const now = figure.texts[number];
        const before = number > 0 ? figure.texts[stage.before] : null;
        if (now === null) return [];
        const changed = before !== null && before !== now;
        return [h('tr', { class: number > 0 && !changed ? 'same' : '' }, h('th', { scope: 'row', title: figure.meaning }, figure.label),
          h('td', {}, changed ? h('span', { class: 'was' }, before) : null, changed ? ' → ' : null, h('span', {}, now)))];
      });
      return [
        h('h3', {}, this.tracks.length > 1 ? h('span', { class: 'track-name' }, `${this.tracks[t].run.title} `) : null,
          h('span', { class: 'stage-number' }, `${number} `), stage.label),
        h('p', { class: 'choices' }, number === 0 ? track.run.report.matrix.source : [stage.choices, seconds(outcome.seconds)].filter(Boolean).join(' · ')),
        h('table', { class: 'facts' }, h('tbody', {}, ...rows)),
      ];
    }));
    const notes = this.tracks.flatMap((track) => Object.entries(track.run.report.stages[Math.round(track.position)].notes));
    this.stage_notes.replaceChildren(notes.length > 0
      ? h('ul', { class: 'stage-notes' }, ...notes.map(([name, text]) => h('li', {}, `${name}: ${text}`))) : '');
  }

  private legend_key = '';

  private updateLegend(): void {
    const colours = palette();
    const stage = this.stage(this.tracks.length > 1 ? 1 : 0);
    const painted = this.panes[1].painted;
    const bits = painted ? painted.level.rowBits : 0;
    const level_size = painted ? sizeOf(painted.level) : 0;
    const ceiling = Math.max(...this.tracks.map((track) => track.pattern.ceiling(level_size)));
    const key = JSON.stringify([colours.dark, stage.facts.planes, this.mode, ceiling, painted?.level.columnBits, bits]);
    if (key === this.legend_key) return;
    this.legend_key = key;
    const gradient = (list: [number, number, number][]): string => `linear-gradient(to right, ${list.filter((_, i) => i % 9 === 0).map((one) => css(one)).join(', ')})`;
    const single = ceiling <= 1.5;
    const swatch = (name: string, ramp: [number, number, number][]): HTMLElement =>
      h('span', { class: 'key' }, h('span', { class: single ? 'swatch' : 'ramp', style: `background:${single ? css(ramp[Math.round(steps * 0.62)]) : gradient(ramp)}` }), name);
    const keys = this.mode === 'difference'
      ? [swatch('only before', colours.planes[1]), swatch('both', colours.grey), swatch('only after', colours.planes[0])]
      : stage.facts.planes.map((name, i) => swatch(name, colours.planes[i]));
    const size = painted ? `${counted(2 ** bits)} × ${counted(2 ** painted.level.columnBits)}` : '';
    this.legend.replaceChildren(...keys, h('span', { class: 'muted' },
      single && level_size === 0 ? 'entry by entry' : `1 to ${counted(ceiling)} or more in ${size} places`));
  }

  private updateNote(): void {
    const stage = this.stage(this.tracks.length > 1 ? 1 : 0);
    const parts: string[] = [];
    const { finest } = stage;
    if (!stage.showsEntries) {
      parts.push(`The finest that fits into this page is ${counted(2 ** finest.rowBits)} × ${counted(2 ** finest.columnBits)} places a bin.`);
    }
    const { sampled } = this.tracks[0].pattern.facts;
    if (sampled > 0 && this.tracks.some((track) => track.pattern.stages.length > 1)) {
      parts.push(`${plural(sampled, 'nonzero')} of ${counted(this.tracks[0].run.report.matrix.nonzeros)} ${sampled === 1 ? 'is' : 'are'} seen to move, one a row, of rows drawn at random.`);
    }
    if (stage.facts.tiles > 0) parts.push(`Rows lie where their ${stage.facts.tiles === 1 ? 'tile stores' : `${counted(stage.facts.tiles)} tiles store`} them.`);
    for (const cuts of stage.facts.cuts) {
      if (cuts.step > 1) parts.push(`Of ${counted(cuts.count)} ${cut_names[cuts.kind]} each ${counted(cuts.step)}th boundary is kept.`);
    }
    if (this.panes[1].lines_left_out) parts.push('Boundaries that would touch each other are left out: zoom in.');
    const words = parts.join(' ');
    if (this.note.textContent !== words) this.note.textContent = words;
  }

  redraw(): void {
    this.toggle_key = '';
    this.legend_key = '';
    this.resize();
    this.update();
  }
}
