// The pattern of one or two runs: stages on a slider, one or two pictures, zoom.
import { zoomIdentity, type ZoomBehavior } from 'd3-zoom';
import type { Pattern, Stage } from './bins';
import { counted, download, h } from './dom';
import { colouringMenu, type GraphColouring, GraphPane, piecesOf, scaleGradient } from './graph';
import { listen } from './life';
import { Pane, type Scene, type Transform } from './pane';
import type { Switches } from './paint';
import { Panels } from './panels';
import { withCaptions } from './picture';
import { Player } from './player';
import { Reader } from './reader';
import { type Mode, modesOf, type PatternView, type Track } from './view';
import { zoomButtons, zoomOf } from './zoom';

const move_milliseconds = 900;
const slide_pixels = 1920;
const reduced_motion = matchMedia('(prefers-reduced-motion: reduce)');

export class Viewer implements PatternView {
  readonly element: HTMLElement;
  private readonly body: HTMLElement;
  mode: Mode;
  active = 0; // the run whose stages the keys change
  readonly panes: [Pane, Pane];
  private readonly graph: GraphPane | null;
  private colour_by: GraphColouring | 'auto' = 'auto';
  private readonly colouring: HTMLSelectElement;
  private readonly frames: HTMLElement[] = [];
  private readonly pictures = h('div', { class: 'panes' });
  private is_lecture = false;
  private ratio: number | undefined; // device pixels of a CSS pixel in the pictures; undefined: those of the screen
  private readonly graph_frame = h('figure', { class: 'pane', hidden: true });
  private transform: Transform = { k: 1, x: 0, y: 0 };
  readonly switches: Switches = { planes: [], cuts: {}, sample: false };
  readonly reader = new Reader(this);
  private readonly panels = new Panels(this);
  private readonly sliders: HTMLElement[] = [];
  private readonly ranges: HTMLInputElement[] = [];
  private readonly players: Player[] = [];
  private readonly mode_buttons = new Map<Mode, HTMLButtonElement>();
  private readonly zooms: ZoomBehavior<HTMLCanvasElement, unknown>[] = [];
  private pending = false;
  private running = 0;
  private zooming = 0;
  private goal: number | null = null; // the stage to which nonzeros move; null: nothing moves
  before_input = false;
  onStage: (track: number, stage: number) => void = () => undefined;

  constructor(readonly tracks: Track[]) {
    this.mode = tracks.length > 1 ? 'beside' : 'one';
    this.active = tracks.reduce((most, track, i) => (track.pattern.stages.length > tracks[most].pattern.stages.length ? i : most), 0);
    this.panes = [new Pane('The pattern before'), new Pane('The pattern of the nonzeros')];
    for (const pane of this.panes) pane.has_stored = tracks.some((track) => track.pattern.stages.some((stage) => stage.storedLengths !== null));
    const { pattern } = tracks[0];
    this.graph = tracks.length === 1 && pattern.places && pattern.stages[0].showsEntries ? new GraphPane(pattern, pattern.places) : null;
    this.colouring = colouringMenu((by) => {
      this.colour_by = by;
      this.update();
    });
    const mode_group = h('div', { class: 'segments', role: 'group', 'aria-label': 'What to show' });
    for (const [mode, word] of modesOf(tracks.length > 1, this.graph !== null)) {
      const button = h('button', { type: 'button', 'data-mode': mode, click: () => this.setMode(mode) }, word);
      this.mode_buttons.set(mode, button);
      mode_group.append(button);
    }
    const zoom_group = zoomButtons((factor) => this.zoomBy(factor), () => this.zoomTo({ k: 1, x: 0, y: 0 }));
    const full = h('button', { type: 'button', title: 'Full screen (f)', click: () => this.toggleFullScreen() }, 'Full screen');
    full.hidden = !document.fullscreenEnabled;
    const save = h('button', { type: 'button', title: 'Save the picture as PNG', click: () => this.save() }, 'Save picture');
    tracks.forEach((track, i) => this.sliders.push(this.makeSlider(track, i)));
    if (this.graph) {
      this.graph_frame.append(h('figcaption', {}), h('div', { class: 'canvas-place' }, this.graph.canvas));
      this.pictures.append(this.graph_frame);
      this.reader.listenToGraph(this.graph);
    }
    this.panes.forEach((pane, i) => {
      const frame = h('figure', { class: 'pane' }, h('figcaption', {}), h('div', { class: 'canvas-place' }, pane.canvas));
      this.frames.push(frame);
      this.pictures.append(frame);
      this.listen(pane, i);
    });
    const only_input = tracks.length === 1 && tracks[0].pattern.stages.length < 2;
    mode_group.hidden = only_input && !this.graph;
    this.body = h('div', { class: 'viewer-body' },
      h('div', { class: 'viewer-main' },
        this.panels.sentence, this.pictures,
        h('div', { class: 'below' }, h('div', { class: 'tools' }, mode_group, this.colouring, zoom_group, h('div', { class: 'segments saving' }, save), h('div', { class: 'segments' }, full)), this.panels.legend),
        this.panels.note, this.reader.spoken),
      h('aside', { class: 'side', 'aria-label': 'The stage' },
        this.panels.facts, h('div', { class: 'side-part' }, this.reader.element, this.panels.toggles, this.panels.stage_notes)));
    this.element = h('div', { class: 'viewer' }, h('div', { class: 'stage-bar', hidden: only_input }, ...this.sliders), this.body);
    new ResizeObserver(() => this.resize()).observe(this.element);
    listen('resize', () => this.resize());
    this.setMode(this.mode);
    this.reader.nothing();
  }

  async readValues(): Promise<void> {
    await Promise.all(this.tracks.map(({ pattern }) => pattern.readValues()));
    this.update();
  }

  // Shows what the viewer of an earlier run of the same recipe showed, as far as there is the same.
  follow(before: Viewer): void {
    if (this.mode_buttons.has(before.mode) && this.tracks.length === before.tracks.length) this.setMode(before.mode);
    this.colouring.value = this.colour_by = before.colour_by;
    before.tracks.forEach((_, track) => {
      if (before.current(track) < (this.tracks[track]?.pattern.stages.length ?? 0)) this.show(track, before.current(track));
    });
  }

  stage(track: number): Stage {
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
      this.stop();
      this.setPosition(number, Number(range.value));
    });
    range.addEventListener('change', () => this.moveTo(number, Math.round(Number(range.value))));
    // The page handles the other arrow keys; all other keys, such as Tab, do what they do everywhere.
    range.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      this.active = number;
      const now = this.current(number);
      const goals: Record<string, number> = { Home: 0, End: count - 1, ArrowUp: now + 1, PageUp: now + 1, ArrowDown: now - 1, PageDown: now - 1 };
      if (!(event.key in goals)) return;
      event.preventDefault();
      this.moveTo(number, goals[event.key]);
    });
    this.ranges.push(range);
    const player = new Player({
      last: count - 1, position: () => track.position, jump: (to) => this.setPosition(number, to),
      move: (to, done) => this.animate(number, to, done), stop: () => this.stop(),
    });
    this.players.push(player);
    const ticks = h('ol', { class: 'ticks' });
    track.pattern.facts.stages.forEach((stage, i) => {
      ticks.append(h('li', {}, h('button', { type: 'button', 'data-stage': i, click: () => this.moveTo(number, i) },
        h('span', { class: 'tick-number' }, String(i)), h('span', { class: 'tick-name' }, stage.label.replaceAll('_', '_\u200b')))));
    });
    const title = this.tracks.length > 1 ? h('p', { class: 'track-title' }, track.run.title) : null;
    return h('div', { class: 'track', style: `--stages: ${Math.max(1, count)}` }, title,
      h('div', { class: 'track-row' }, count > 1 && player.button, h('div', { class: 'track-line' }, count > 1 && range, ticks)));
  }

  // Ends every animation of the stages where it is. Returns true if stages were being played.
  stop(): boolean {
    cancelAnimationFrame(this.running);
    this.goal = null;
    return this.players.filter((player) => player.pause()).length > 0;
  }

  moveTo(track: number, stage: number): void {
    this.stop();
    this.animate(track, stage, () => undefined);
  }

  // Shows a stage without an animation.
  show(track: number, stage: number): void {
    if (track >= this.tracks.length) return;
    this.stop();
    this.active = track;
    this.setPosition(track, Math.min(this.tracks[track].pattern.stages.length - 1, stage));
  }

  // Animates the nonzeros to their places in the stage.
  private animate(track: number, stage: number, done: () => void): void {
    this.active = track;
    cancelAnimationFrame(this.running);
    const one = this.tracks[track];
    const to = Math.min(one.pattern.stages.length - 1, Math.max(0, stage));
    let from = one.position;
    if (Math.abs(to - from) > 1) from = to - Math.sign(to - from); // animates only the last step
    this.goal = null;
    if (reduced_motion.matches || Math.abs(to - from) < 1e-9) {
      this.setPosition(track, to);
      done();
      return;
    }
    this.goal = to;
    const begin = performance.now();
    const whole = move_milliseconds * Math.abs(to - from);
    const step = (now: number): void => {
      const share = Math.min(1, Math.max(0, (now - begin) / whole));
      this.setPosition(track, share < 1 ? from + (to - from) * share : to);
      if (share < 1) {
        this.running = requestAnimationFrame(step);
      } else {
        this.goal = null;
        done();
      }
    };
    this.running = requestAnimationFrame(step);
  }

  step(by: number): void {
    this.moveTo(this.active, (this.goal ?? this.current()) + by); // also if a key is pressed twice
  }

  current(track = this.active): number {
    return Math.round(this.tracks[track].position);
  }

  private setPosition(track: number, position: number): void {
    const before = Math.round(this.tracks[track].position);
    this.tracks[track].position = position;
    const now = Math.round(position);
    if (now !== before) {
      this.setTransform(this.around(this.transform.k)); // the stage may have coarser bins
      this.reader.again();
      this.onStage(track, now);
    }
    this.update();
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    for (const [one, button] of this.mode_buttons) button.setAttribute('aria-pressed', String(one === mode));
    this.colouring.hidden = mode !== 'graph';
    this.resize();
    this.update();
  }

  private drawGraph(): void {
    const caption = this.graph_frame.firstElementChild;
    if (!this.graph || !caption || this.mode !== 'graph') return;
    const stage = this.stage(0);
    const by = this.colour_by !== 'auto' ? this.colour_by : piecesOf(stage) ? 'partition' : 'order';
    this.graph.draw(stage, by, this.reader.mark);
    const words = this.graph.words(stage, by);
    const gradient = h('span', { class: 'ramp', style: `background:${scaleGradient()}`, hidden: by === 'partition' && piecesOf(stage) !== null });
    caption.replaceChildren(`${words} `, gradient);
    this.graph.canvas.setAttribute('aria-label', words);
  }

  // ---- Zoom, shared by both pictures.

  private listen(pane: Pane, number: number): void {
    this.zooms.push(zoomOf(pane, () => this.transform.k, (next) => this.setTransform(next, number)));
    pane.canvas.addEventListener('dblclick', (event) => {
      const place = this.reader.placeOf(pane, event);
      if (place) this.showPlace(place.row, place.column, this.transform.k * 4);
    });
    this.reader.listen(pane);
  }

  get shape(): { rows: number; columns: number } {
    const { rows, columns } = this.tracks[0].pattern;
    return { rows, columns };
  }

  // A row, or the finest bin of a shown stage, takes at most this many pixels.
  private get mostZoom(): number {
    const most_pixels = 64;
    const { width, height } = this.panes[1].view;
    const levels = this.tracks.map((_, track) => this.stage(track).finest);
    return Math.max(4, ...levels.map((level) => Math.min((most_pixels * level.columnBins) / width, (most_pixels * level.rowBins) / height)));
  }

  private setTransform(wanted: Transform, from = -1): void {
    const k = Math.min(this.mostZoom, Math.max(1, wanted.k));
    const clamp = (at: number): number => Math.min(0, Math.max(1 - k, at));
    const next = { k, x: clamp(wanted.x), y: clamp(wanted.y) };
    if (next.k !== this.transform.k || next.x !== this.transform.x || next.y !== this.transform.y) this.reader.forgetFinger();
    this.transform = next;
    this.panes.forEach((pane, i) => {
      const { left, top, width, height } = pane.view;
      const own = zoomIdentity.translate(this.transform.x * width - left * (k - 1), this.transform.y * height - top * (k - 1)).scale(k);
      // d3 stores the transform in the element; its own setter would fire events.
      (pane.canvas as unknown as { __zoom: unknown }).__zoom = own;
      if (i !== from) this.zooms[i].scaleExtent([1, this.mostZoom]);
    });
    this.update();
  }

  zoomBy(factor: number): void {
    this.zoomTo(this.around(this.transform.k * factor));
  }

  // Another scale around the centre of the frame.
  private around(scale: number): Transform {
    const { k, x, y } = this.transform;
    const next = Math.min(this.mostZoom, Math.max(1, scale));
    return { k: next, x: 0.5 - ((0.5 - x) / k) * next, y: 0.5 - ((0.5 - y) / k) * next };
  }

  panBy(x: number, y: number): void {
    this.setTransform({ ...this.transform, x: this.transform.x + x, y: this.transform.y + y });
  }

  zoomTo(wanted: Transform): void {
    if (reduced_motion.matches) return this.setTransform(wanted);
    const from = { ...this.transform };
    const begin = performance.now();
    const step = (now: number): void => {
      const t = Math.min(1, Math.max(0, (now - begin) / 220));
      const k = from.k * (wanted.k / from.k) ** t;
      // The offset follows the scale, so that the centre moves along a straight line.
      const share = Math.abs(wanted.k - from.k) < 1e-9 ? t : (k - from.k) / (wanted.k - from.k);
      this.setTransform(t < 1 ? { k, x: from.x + (wanted.x - from.x) * share, y: from.y + (wanted.y - from.y) * share } : wanted);
      if (t < 1) requestAnimationFrame(step);
      else --this.zooming;
    };
    ++this.zooming;
    requestAnimationFrame(step);
  }

  still(): boolean {
    return !this.pending && this.goal === null && this.zooming === 0 && this.tracks.every((track) => Number.isInteger(track.position));
  }

  // The frame of the right picture, valid while the whole matrix is visible.
  frame(): { left: number; top: number; width: number; height: number; rows: number; columns: number } {
    const { left, top, width, height } = this.panes[1].view;
    return { left, top, width, height, ...this.shape };
  }

  // The place of a vertex in the picture of the graph.
  vertex(number: number): [number, number] | null {
    return this.graph?.at(number) ?? null;
  }

  get scale(): number {
    return this.transform.k;
  }

  showPlace(row: number, column: number, k: number): void {
    const { rows, columns } = this.shape;
    const next = Math.min(this.mostZoom, Math.max(1, k));
    this.zoomTo({ k: next, x: 0.5 - ((column + 0.5) / columns) * next, y: 0.5 - ((row + 0.5) / rows) * next });
  }

  // Pans until the place is within the frame and not at its edge.
  bringIntoView(row: number, column: number): void {
    const { rows, columns } = this.shape;
    const { k, x, y } = this.transform;
    const within = (at: number, share: number): number => Math.min(0.95 - share * k, Math.max(0.05 - share * k, at));
    if (k > 1) this.setTransform({ k, x: within(x, (column + 0.5) / columns), y: within(y, (row + 0.5) / rows) });
  }

  // The stage that a picture shows.
  stageOn(pane: Pane): { track: number; stage: Stage; pattern: Pattern } {
    const is_left = pane === this.panes[0];
    if (this.tracks.length > 1) {
      const track = this.mode === 'one' ? this.active : is_left ? 0 : 1;
      return { track, stage: this.stage(track), pattern: this.tracks[track].pattern };
    }
    return { track: 0, stage: is_left ? this.beforeOf(0) : this.stage(0), pattern: this.tracks[0].pattern };
  }

  // ---- Drawing.

  private resize(): void {
    const with_graph = this.mode === 'graph';
    const beside = this.mode === 'beside' || with_graph;
    this.frames[0].hidden = this.mode !== 'beside';
    this.graph_frame.hidden = !with_graph;
    const body = this.body.clientWidth;
    if (body === 0) return;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const stacked = body < 56 * rem; // the panels are below the picture
    const narrow = body < 640;
    const gap = 24;
    this.element.classList.toggle('lecture', this.lecture);
    this.body.classList.toggle('apart', !stacked && !this.lecture);
    this.pictures.classList.toggle('single', this.tracks.length === 1 && this.mode === 'one');
    const available = stacked || this.lecture ? body : body - 20 * rem;
    const count = beside ? 2 : 1;
    const is_column = beside && narrow;
    const { rows, columns } = this.shape;
    // Returns the height of the picture, with the text above it or beside it.
    const fit = (with_text_beside: boolean): number => {
      this.element.classList.toggle('text-beside', with_text_beside);
      const across = available - (with_text_beside ? 15 * rem : 0);
      const width = is_column ? across : Math.floor((across - gap * (count - 1)) / count);
      const captions = this.pictures.classList.contains('single') ? 0 : 1.6 * rem;
      // The whole picture is in the window, with what stands above it on the page.
      const room = this.lecture ? this.pictures.clientHeight : innerHeight - this.pictures.getBoundingClientRect().top - scrollY - 0.5 * rem;
      const most = Math.max(this.lecture ? 60 : 300, (is_column && this.lecture ? (room - gap) / 2 : room) - captions);
      const [needed] = this.panes.map((pane) => pane.resize(width, most, rows, columns, this.ratio));
      const graph = with_graph && this.graph ? this.graph.resize(width, most) : needed;
      const main = beside && !narrow ? graph + needed + gap : needed;
      this.body.style.gridTemplateColumns = stacked || this.lecture ? 'minmax(0, 1fr)' : `${Math.max(main, 30 * rem)}px minmax(0, 1fr)`;
      return this.panes[1].view.height;
    };
    if (this.lecture && !stacked && fit(true) >= fit(false)) fit(true);
    else if (!this.lecture || stacked) fit(false);
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
    this.panels.updateToggles();
    this.drawGraph();
    this.panes.forEach((pane, i) => {
      if (i === 0 && this.mode !== 'beside') return;
      const scene = this.sceneOf(i);
      pane.draw(scene, this.transform, this.switches, this.reader.mark);
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
    this.panels.update();
    this.reader.placeTip();
  }

  // ---- Full screen, a lecture, and saving.

  // Only the stages, three figures, a sentence and the picture, as large as the window allows.
  get lecture(): boolean {
    return this.is_lecture || document.fullscreenElement === this.element;
  }

  set lecture(on: boolean) {
    this.is_lecture = on;
    this.resize();
  }

  toggleFullScreen(): void {
    if (document.fullscreenElement) void document.exitFullscreen();
    else if (document.fullscreenEnabled) void this.element.requestFullscreen();
  }

  // The visible pictures with their captions, as wide as a slide.
  picture(): HTMLCanvasElement {
    const shown = [this.graph_frame, ...this.frames].filter((frame) => !frame.hidden);
    const canvases = shown.map((frame) => frame.querySelector('canvas') as HTMLCanvasElement);
    const width = canvases.reduce((sum, canvas) => sum + canvas.clientWidth, 0);
    this.ratio = this.mode === 'graph' ? undefined : Math.max(devicePixelRatio, slide_pixels / Math.max(1, width));
    this.resize();
    this.drawAll();
    const picture = withCaptions(shown.map((frame, i) => ({ canvas: canvases[i], caption: frame.firstElementChild?.textContent ?? '' })),
      this.tracks.length > 1 ? '' : this.tracks[0].run.title);
    this.ratio = undefined;
    this.resize();
    this.drawAll();
    return picture;
  }

  private save(): void {
    const stages = this.tracks.map((track, i) => `${track.run.title}_${this.current(i)}_${this.stage(i).facts.label}`);
    this.picture().toBlob((blob) => blob && download(blob, `${stages.join('_').replace(/[^\w.-]+/g, '_')}.png`));
  }

  redraw(): void {
    this.panels.forget();
    this.resize();
    this.update();
  }
}
