// The pattern of one or two runs: stages on a slider, one or two pictures, zoom.
import { between, type Pattern, type Stage } from './bins';
import { counted, download, h, percent } from './dom';
import { type Place, toggled } from './followed';
import { colouringMenu, GraphPane } from './graph';
import { legendOf } from './legend';
import { canHaveLevels } from './levels';
import { listen } from './life';
import { MemoryPane } from './memory';
import { type Film, filmOfStages, filmOfSteps, gifOf } from './movie';
import { Pane, type Scene } from './pane';
import type { Switches } from './paint';
import { Panels } from './panels';
import { Reader } from './reader';
import { RooflinePane } from './roofline';
import { drawSlide, pictureOf, roomOf, slide, textsOf, type SlidePicture } from './slide';
import { StageBar } from './stage_bar';
import { type Beside, type Mode, modesOf, type PatternView, type Track } from './view';
import { WarpsPane } from './warps';
import { Zoom, zoomButtons } from './zoom';

const move_milliseconds = 900;
const reduced_motion = matchMedia('(prefers-reduced-motion: reduce)');

export class Viewer implements PatternView {
  readonly element: HTMLElement;
  private readonly body: HTMLElement;
  mode: Mode;
  active = 0; // the run whose stages the keys change
  readonly panes: [Pane, Pane];
  private readonly graph: GraphPane | null;
  private readonly levels: HTMLButtonElement;
  private memory: MemoryPane | null = null;
  private warps: WarpsPane | null = null;
  private roofline: RooflinePane | null = null;
  private readonly besides: { pane: Beside; frame: HTMLElement }[] = [];
  private readonly colouring: HTMLSelectElement;
  private readonly frames: HTMLElement[] = [];
  private readonly pictures = h('div', { class: 'panes' });
  private is_lecture = false;
  private readonly slide_panes = [new Pane(''), new Pane('')];
  readonly switches: Switches = { planes: [], cuts: {}, sample: false, levels: false };
  readonly reader = new Reader(this);
  readonly zoom: Zoom;
  private readonly panels = new Panels(this);
  private readonly bars: StageBar[];
  private readonly mode_buttons = new Map<Mode, HTMLButtonElement>();
  private readonly film_button = h('button', { type: 'button', click: () => void this.saveMovie() }, 'Save GIF');
  private pending = false;
  private running = 0;
  private goal: number | null = null; // the stage to which nonzeros move; null: nothing moves
  before_input = false;
  onStage: (track: number, stage: number) => void = () => undefined;

  constructor(readonly tracks: Track[]) {
    this.mode = tracks.length > 1 ? 'beside' : 'one';
    this.active = tracks.reduce((most, track, i) => (track.pattern.stages.length > tracks[most].pattern.stages.length ? i : most), 0);
    this.panes = [new Pane('The pattern before'), new Pane('The pattern of the nonzeros')];
    this.zoom = new Zoom(this.panes, this.shape, () => tracks.map((_, track) => this.stage(track).finest), (is_new) => {
      if (is_new) this.reader.forgetFinger();
      this.update();
    });
    for (const pane of this.panes) pane.has_stored = tracks.some((track) => track.pattern.stages.some((stage) => stage.storedLengths !== null));
    const { pattern } = tracks[0];
    this.graph = tracks.length === 1 && pattern.places && pattern.stages[0].showsEntries ? new GraphPane(pattern, pattern.places) : null;
    this.colouring = colouringMenu((by) => {
      if (this.graph) this.graph.colour_by = by;
      this.update();
    });
    const mode_group = h('div', { class: 'segments', role: 'group', 'aria-label': 'What to show' });
    const besides = tracks.length === 1 ? this.makeBesides(tracks[0]) : [];
    for (const [mode, word] of modesOf(tracks.length > 1, besides)) {
      const button = h('button', { type: 'button', 'data-mode': mode, click: () => this.setMode(mode) }, word);
      this.mode_buttons.set(mode, button);
      mode_group.append(button);
    }
    const zoom_group = zoomButtons((factor) => this.zoom.by(factor), () => this.zoom.fit());
    const full = h('button', { type: 'button', title: 'Full screen (f)', click: () => this.toggleFullScreen() }, 'Full screen');
    full.hidden = !document.fullscreenEnabled;
    const save = h('button', { type: 'button', title: 'Save the view as PNG', click: () => this.save() }, 'Save picture');
    this.bars = tracks.map((track, i) => this.makeBar(track, i));
    for (const pane of besides) {
      const frame = h('figure', { class: 'pane', hidden: true }, h('figcaption', {}), h('div', { class: 'canvas-place' }, pane.element));
      this.besides.push({ pane, frame });
      this.pictures.append(frame);
    }
    if (this.graph) this.reader.listenToGraph(this.graph);
    this.panes.forEach((pane, i) => {
      const frame = h('figure', { class: 'pane' }, h('figcaption', {}), h('div', { class: 'canvas-place' }, pane.canvas));
      this.frames.push(frame);
      this.pictures.append(frame);
      this.listen(pane, i);
    });
    this.levels = h('button', { type: 'button', 'aria-pressed': 'false', title: 'The levels of Cuthill-McKee as bands', click: () => this.setLevels(!this.switches.levels) }, 'Levels');
    this.levels.hidden = !tracks.some((track) => track.pattern.stages.some(canHaveLevels));
    const only_input = tracks.length === 1 && tracks[0].pattern.stages.length < 2;
    mode_group.hidden = only_input && besides.length === 0;
    const below = h('div', { class: 'below' }, h('div', { class: 'tools' }, mode_group, this.colouring, h('div', { class: 'segments', hidden: this.levels.hidden }, this.levels), zoom_group, h('div', { class: 'segments saving' }, save, this.film_button), h('div', { class: 'segments' }, full)), this.panels.legend);
    this.body = h('div', { class: 'viewer-body' },
      h('div', { class: 'viewer-main' }, this.panels.sentence, this.pictures, below, this.panels.note, this.reader.spoken),
      h('aside', { class: 'side', 'aria-label': 'The stage' },
        this.panels.facts, h('div', { class: 'side-part' }, this.reader.element, this.panels.toggles, this.panels.stage_notes)));
    this.element = h('div', { class: 'viewer' }, h('div', { class: 'stage-bar', hidden: only_input }, ...this.bars.map((bar) => bar.element)), this.body);
    const observer = new ResizeObserver(() => this.resize());
    for (const one of [this.element, below]) observer.observe(one); // a longer legend leaves less room for the picture
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
    this.setLevels(before.switches.levels);
    if (before.shape.rows === this.shape.rows && before.shape.columns === this.shape.columns) for (const [i, pane] of this.panes.entries()) pane.followed = before.panes[i].followed;
    this.reader.onRow(null);
    if (this.warps && before.warps) this.warps.follow(before.warps);
    if (this.roofline && before.roofline) this.roofline.follow(before.roofline);
    if (this.graph && before.graph) this.colouring.value = this.graph.colour_by = before.graph.colour_by;
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

  private makeBesides({ run, pattern }: Track): Beside[] {
    this.memory = MemoryPane.of(run.storage, pattern);
    this.warps = WarpsPane.of(run.storage);
    this.roofline = RooflinePane.of(run);
    this.reader.onRow = (row) => this.pointInMemory(row);
    for (const pane of [this.memory, this.warps]) if (pane) pane.onPoint = (region) => this.reader.pointAt(0, region);
    return [this.graph, this.memory, this.warps, this.roofline].filter((one) => one !== null);
  }

  private makeBar(track: Track, number: number): StageBar {
    return new StageBar(track, this.tracks.length > 1 ? track.run.title : null, {
      choose: () => (this.active = number),
      set: (position) => this.setPosition(number, position),
      moveTo: (stage) => this.moveTo(number, stage),
      animate: (stage, done) => this.animate(number, stage, done),
      stop: () => this.stop(),
    });
  }

  // Ends every animation of the stages where it is. Returns true if stages were being played.
  stop(): boolean {
    cancelAnimationFrame(this.running);
    this.goal = null;
    return this.bars.filter((bar) => bar.pause()).length > 0;
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
      this.zoom.again(); // the stage may have coarser bins
      this.reader.again();
      this.onStage(track, now);
    }
    this.update();
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    for (const [one, button] of this.mode_buttons) button.setAttribute('aria-pressed', String(one === mode));
    this.colouring.hidden = mode !== 'graph';
    this.film_button.hidden = this.film === null;
    this.reader.onRow(null);
    this.film_button.title = `Save ${this.beside?.pane.film ? 'the steps of the warp' : 'all stages'} as an animated GIF`;
    this.resize();
    this.update();
  }

  private setLevels(on: boolean): void {
    this.switches.levels = on;
    this.levels.setAttribute('aria-pressed', String(on));
    this.update();
  }

  // Follows a nonzero, given by its numbers in the input, through the stages, or no longer.
  followNonzero(place: Place): void {
    const next = toggled(this.panes[1].followed, place);
    for (const pane of this.panes) pane.followed = next;
    this.update();
  }

  // `row`: under the pointer; null: the row of the nonzero that was followed last is marked.
  private pointInMemory(row: number | null): void {
    const { stages } = this.tracks[0].pattern;
    const [newest] = this.panes[1].followed.slice(-1);
    const kept = newest ? between(stages[0], stages[stages.length - 1], 'originalRows', newest.row) : null;
    if (this.mode === 'memory') this.memory?.point(row ?? kept);
  }

  // What is shown beside the pattern.
  private get beside(): { pane: Beside; frame: HTMLElement } | undefined {
    return this.besides.find(({ pane }) => pane.mode === this.mode);
  }

  private drawBeside(): void {
    const { beside } = this;
    if (!beside) return;
    beside.pane.draw(this.stage(0), this.reader.mark);
    beside.frame.firstElementChild?.replaceChildren(...beside.pane.caption(this.stage(0)));
  }

  private listen(pane: Pane, number: number): void {
    this.zoom.listen(pane, number);
    pane.canvas.addEventListener('dblclick', (event) => {
      const place = this.reader.placeOf(pane, event);
      if (place) this.zoom.showPlace(place.row, place.column, this.zoom.scale * 4);
    });
    this.reader.listen(pane);
  }

  get shape(): { rows: number; columns: number } {
    const { rows, columns } = this.tracks[0].pattern;
    return { rows, columns };
  }

  still(): boolean {
    return !this.pending && this.goal === null && this.zoom.still && this.tracks.every((track) => Number.isInteger(track.position));
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

  bringIntoView(row: number, column: number): void {
    this.zoom.bringIntoView(row, column);
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
    const shown = this.beside?.pane;
    const beside = this.mode === 'beside' || shown !== undefined;
    this.frames[0].hidden = this.mode !== 'beside';
    for (const { pane, frame } of this.besides) frame.hidden = pane !== shown;
    const body = this.body.clientWidth;
    if (body === 0) return;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const stacked = body < 56 * rem; // the panels are below the picture
    const narrow = body < 640 && innerHeight > innerWidth;
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
      const [needed] = this.panes.map((pane) => pane.resize(width, most, rows, columns));
      const first = shown ? shown.resize(width, most) : needed;
      if (this.beside) this.beside.frame.style.width = `${first}px`;
      const main = beside && !narrow ? first + needed + gap : needed;
      this.body.style.gridTemplateColumns = stacked || this.lecture ? 'minmax(0, 1fr)' : `${Math.max(main, 30 * rem)}px minmax(0, 1fr)`;
      return this.panes[1].view.height;
    };
    if (this.lecture && !stacked && fit(true) >= fit(false)) fit(true);
    else if (!this.lecture || stacked) fit(false);
    this.zoom.set();
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

  private captionOf(scene: Scene, pane: number): string {
    const number = (pattern: Pattern, one: Stage): string => `${pattern.stages.indexOf(one)}  ${one.facts.label}`;
    if (scene.kind === 'difference') return `${number(scene.patterns[0], scene.from)} → ${number(scene.patterns[1], scene.to)}`;
    const title = this.tracks.length > 1 ? `${this.tracks[this.mode === 'one' ? this.active : pane].run.title}: ` : '';
    return `${title}${number(scene.pattern, scene.kind === 'stage' ? scene.stage : scene.to)}`;
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
    this.drawBeside();
    this.panes.forEach((pane, i) => {
      if (i === 0 && this.mode !== 'beside') return;
      const scene = this.sceneOf(i);
      pane.draw(scene, this.zoom.transform, this.switches, this.reader.mark);
      const stage = scene.kind === 'stage' ? scene.stage : scene.to;
      const words = this.captionOf(scene, i);
      const caption = this.frames[i].firstElementChild as HTMLElement;
      if (caption.textContent !== words) caption.textContent = words;
      pane.canvas.setAttribute('aria-label', `The pattern of ${words}: ${counted(stage.rows)} rows, ${counted(stage.columns)} columns`);
    });
    this.bars.forEach((bar, i) => bar.update(this.stage(i).facts.label, this.tracks.length > 1 && i === this.active));
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

  // The view as a slide.
  picture(): HTMLCanvasElement {
    const { beside } = this;
    const { width, height } = roomOf(this.mode === 'beside' || beside ? 2 : 1);
    const pictures: SlidePicture[] = [];
    if (beside) {
      pictures.push(pictureOf(beside.pane, this.stage(0), this.reader.mark));
      this.resize();
      this.drawBeside();
    }
    const { rows, columns } = this.shape;
    for (const [i, one] of this.slide_panes.entries()) {
      if (i === 0 && this.mode !== 'beside') continue;
      const scene = this.sceneOf(i);
      one.followed = this.panes[i].followed;
      one.has_stored = this.panes[i].has_stored;
      one.resize(width, height, rows, columns, slide.ratio, slide.text);
      one.draw(scene, this.zoom.transform, this.switches, this.reader.mark);
      pictures.push({ canvas: one.canvas, caption: this.tracks.length > 1 || this.mode !== 'one' ? this.captionOf(scene, i) : '' });
    }
    return drawSlide(pictures, textsOf(this.tracks, this.active, legendOf(this, this.slide_panes[1])));
  }

  // The number of the last stage, of the run that has most.
  private get last(): number {
    return Math.max(...this.tracks.map(({ pattern }) => pattern.stages.length - 1));
  }

  // The steps of the view if it has any, otherwise all stages; null if there is nothing to animate. The page shows what it showed meanwhile.
  private get film(): Film | null {
    const steps = this.beside?.pane.film;
    if (steps) return filmOfSteps(steps.count(), (step) => steps.at(step, () => this.picture()));
    return this.last === 0 ? null : filmOfStages(this.last + 1, (position) => {
      const shown = this.tracks.map((track) => track.position);
      for (const track of this.tracks) track.position = Math.min(position, track.pattern.stages.length - 1);
      const picture = this.picture();
      this.tracks.forEach((track, i) => (track.position = shown[i]));
      return picture;
    });
  }

  // The view as an animated GIF; null if nothing moves in it.
  async movie(progress: (share: number) => void): Promise<Blob | null> {
    const { film } = this;
    return film && gifOf(film, progress);
  }

  private nameOf(parts: string[]): string {
    return [...parts, ...(this.beside ? [this.mode] : [])].join('_').replace(/[^\w.-]+/g, '_');
  }

  private save(): void {
    const parts = this.tracks.map((track, i) => `${track.run.title}_${this.current(i)}_${this.stage(i).facts.label}`);
    this.picture().toBlob((blob) => blob && download(blob, `${this.nameOf(parts)}.png`));
  }

  private async saveMovie(): Promise<void> {
    const button = this.film_button;
    button.disabled = true;
    const words = button.textContent;
    const gif = await this.movie((share) => (button.textContent = `GIF ${percent(Math.round(100 * share) / 100)}`));
    if (gif) download(gif, `${this.nameOf(this.tracks.map(({ run }) => run.title))}.gif`);
    button.textContent = words;
    button.disabled = false;
  }

  redraw(): void {
    this.panels.forget();
    this.resize();
    this.update();
  }
}
