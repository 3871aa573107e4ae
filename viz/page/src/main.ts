import { StageAddress } from './address';
import { benchSections } from './bench';
import { Pattern } from './bins';
import { forgetCharts, redrawCharts } from './charts';
import { chooseSections } from './choose';
import { awaitsData, type PageDocument, readDocument, replaceData } from './document';
import { counted, h } from './dom';
import { figureOf } from './headline';
import { endListeners, lifeSignal, listen } from './life';
import { printStages } from './print';
import { aboutSection, bytesSection, kernelsSection, metricsSection, recipeSection } from './sections';
import { solveSections } from './solve';
import { StorageView } from './storage';
import type { Track } from './view';
import { Viewer } from './viewer';

const root = document.documentElement;
const prefers_dark = matchMedia('(prefers-color-scheme: dark)');

// The browser may refuse storage to a page opened from a file.
function remembered(): string | null {
  try {
    return localStorage.getItem('spmv-theme');
  } catch {
    return null;
  }
}

function setTheme(theme: string): void {
  root.dataset.theme = theme;
}

setTheme(remembered() ?? (prefers_dark.matches ? 'dark' : 'light'));

function header(page: PageDocument, redraw: () => void): HTMLElement {
  const facts = page.solve?.matrix ?? page.choice?.matrix ?? page.runs[0]?.report.matrix;
  const title = page.title ?? page.runs.map((run) => run.title).join(' and ');
  const theme = h('button', { type: 'button', class: 'quiet', id: 'theme' });
  const name = (): void => {
    const dark = root.dataset.theme === 'dark';
    theme.textContent = dark ? '☀ Light' : '☾ Dark';
    theme.setAttribute('aria-label', dark ? 'Light theme' : 'Dark theme');
  };
  theme.addEventListener('click', () => {
    setTheme(root.dataset.theme === 'dark' ? 'light' : 'dark');
    try {
      localStorage.setItem('spmv-theme', root.dataset.theme ?? '');
    } catch {
      // The theme is not remembered.
    }
    name();
    redraw();
  });
  prefers_dark.addEventListener('change', () => {
    if (remembered() !== null) return;
    setTheme(prefers_dark.matches ? 'dark' : 'light');
    name();
    redraw();
  }, { signal: lifeSignal() });
  name();
  const sources = [...new Set(page.runs.map((run) => run.report.recipe.source).filter(Boolean))];
  const matrix = facts && facts.rows + facts.columns > 0
    ? h('p', { class: 'matrix' }, h('b', {}, facts.source), ` ${counted(facts.rows)} × ${counted(facts.columns)}, ${counted(facts.nonzeros)} nonzeros`)
    : null;
  return h('header', { class: 'top' }, h('div', { class: 'title' }, h('h1', {}, title), matrix, theme), ...sources.map((source) => h('p', { class: 'source' }, source)));
}

// Links to the sections of the page.
function contents(main: HTMLElement): HTMLElement {
  const sections = [...main.querySelectorAll<HTMLElement>(':scope > section[id]')];
  const links = sections.map((one) => h('li', {}, h('a', { href: `#${one.id}` }, one.querySelector('h2')?.textContent ?? 'Pattern')));
  return h('nav', { class: 'contents', 'aria-label': 'Contents', hidden: links.length < 2 }, h('ul', {}, ...links));
}

function listenToKeys(viewer: Viewer): void {
  listen('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const is_range = target instanceof HTMLInputElement && target.type === 'range' && target.closest('.track-line') !== null;
    if (!is_range && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && (target as HTMLInputElement).type !== 'checkbox') return;
    const on_picture = target instanceof HTMLCanvasElement || event.shiftKey;
    const pan = 0.25;
    const actions: Record<string, () => void> = {
      ArrowRight: () => (event.shiftKey ? viewer.zoom.panBy(-pan, 0) : viewer.step(1)),
      ArrowLeft: () => (event.shiftKey ? viewer.zoom.panBy(pan, 0) : viewer.step(-1)),
      '+': () => viewer.zoom.by(2),
      '=': () => viewer.zoom.by(2),
      '-': () => viewer.zoom.by(0.5),
      '0': () => viewer.zoom.fit(),
      f: () => viewer.toggleFullScreen(),
      Escape: () => void viewer.stop(),
    };
    if (on_picture && viewer.zoom.scale > 1) {
      actions.ArrowUp = () => viewer.zoom.panBy(0, pan);
      actions.ArrowDown = () => viewer.zoom.panBy(0, -pan);
    }
    // Arrow keys scroll tables and code.
    if (target.closest('.table-place, pre') && event.key.startsWith('Arrow')) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

async function tracksOf(page: PageDocument): Promise<Track[]> {
  const tracks: Track[] = [];
  for (const run of page.runs) {
    if (!run.pattern) continue;
    const pattern = new Pattern(run.pattern, run.report.matrix.rows, run.report.matrix.columns);
    await pattern.read();
    tracks.push({ run, pattern, position: 0 });
  }
  return tracks;
}

let shown_viewer: Viewer | null = null;

// Until the next frame is on the screen; browsers draw none of a page that is hidden.
function drawn(): Promise<void> {
  const longest_milliseconds = 250;
  return new Promise((done) => {
    setTimeout(done, document.hidden ? 0 : longest_milliseconds);
    requestAnimationFrame(() => setTimeout(done));
  });
}

type View = 'lecture' | 'report';

// The report of another run in the place of this one; much faster than a new page. Resolves when its picture is on the screen.
// `stage`: the stage to show; null: the one that is shown.
async function showAnother(parts: Uint8Array[], stage: number | null): Promise<void> {
  replaceData(parts);
  await show(heights(), stage);
  await drawn();
  void shown_viewer?.readValues();
}

function setView(view: View): void {
  root.dataset.view = view;
  if (shown_viewer) shown_viewer.lecture = view === 'lecture';
  if (view === 'report') addSections();
}

// The heights of the sections, by their ids.
function heights(): Map<string, number> {
  return new Map([...document.querySelectorAll<HTMLElement>('main > section:not(#pattern)')].map((one) => [one.id, one.offsetHeight]));
}

// `before`: the heights of the sections below the picture, of the report that this one follows. Sections that are not visible are
// laid out later, and take these heights until then.
async function show(before = new Map<string, number>(), stage: number | null = null): Promise<void> {
  const page = await readDocument();
  const tracks = await tracksOf(page); // before anything is shown, so that one report follows another without a gap
  const viewer_before = shown_viewer;
  const scroll = scrollY;
  endListeners();
  forgetCharts();
  const place = document.getElementById('page') as HTMLElement;
  let viewer: Viewer | null = null;
  const redraw = (): void => {
    viewer?.redraw();
    for (const storage of storages) storage.redraw();
    redrawCharts();
  };
  const main = h('main', { id: 'main' });
  place.replaceChildren(header(page, redraw), main, h('footer', {}, h('p', {}, 'Written by SpMV workbench. This file contains all its data and makes no network requests.')));

  const errors = page.runs.flatMap((run) => run.report.errors);
  const notes = [...new Set(page.runs.flatMap((run) => run.report.notes))];
  if (errors.length > 0) main.append(h('ul', { class: 'errors', role: 'alert' }, ...errors.map((error) => h('li', {}, error))));

  shown_viewer = null;
  if (tracks.length > 0) {
    const shown = new Viewer(tracks);
    viewer = shown_viewer = shown;
    const keys = h('p', { class: 'note keys' }, h('kbd', {}, '←'), ' ', h('kbd', {}, '→'), ' stages, ', h('kbd', {}, '+'), ' ', h('kbd', {}, '−'), ' ', h('kbd', {}, '0'),
      ' zoom, ', h('kbd', {}, 'F'), ' full screen, ', h('kbd', {}, 'Esc'), ' pauses, ', h('kbd', {}, 'Shift'), ' with arrows: pan. In the picture, ', h('kbd', {}, 'Enter'), ' sets a cursor; arrows move it, with ', h('kbd', {}, 'Shift'), ' to the next nonzero; ', h('kbd', {}, 'Space'), ' or a click follows a nonzero through the stages; ', h('kbd', {}, 'Esc'),
      ' removes the cursor. Click the picture, then scroll to zoom; drag to pan; double-click to zoom in.');
    main.append(h('section', { id: 'pattern', 'aria-label': 'The pattern, stage by stage' }, shown.element, keys));
    shown.lecture = root.dataset.view === 'lecture';
    listenToKeys(shown);
    const place_in_address = new StageAddress(shown);
    shown.onStage = () => {
      redrawCharts();
      place_in_address.changed();
    };
    // The address may still name the stage of the report before.
    if (viewer_before) shown.follow(viewer_before);
    if (stage !== null) shown.show(0, stage);
    printStages(shown, redraw);
    // For tests and the live page: the places of the matrix and of vertices in the pictures, their scale, whether all animations have ended, the picture, the animation, figures, and the height of slices.
    (window as unknown as { spmvPage: object }).spmvPage = { frame: () => shown.frame(), still: () => shown.still(), moveTo: (stage: number) => shown.moveTo(0, stage), show: (stage: number) => shown.show(0, stage), picture: () => shown.picture(), movie: (progress: (share: number) => void) => shown.movie(progress), figure: (name: string) => figureOf(tracks[0], name), vertex: (number: number) => shown.vertex(number), scale: () => shown.zoom.scale, slices: () => tracks[0].pattern.facts.stages.at(-1)?.cuts.find((cuts) => cuts.kind === 'slice')?.height };
  }
  const storages: StorageView[] = [];
  // A lecture does without the sections below the picture, and is faster without them.
  addSections = () => {
    addSections = () => undefined;
    sectionsBelow(page, main, tracks, viewer, storages, notes);
    for (const one of main.querySelectorAll<HTMLElement>(':scope > section:not(#pattern)')) {
      const height = before.get(one.id);
      if (height !== undefined) one.setAttribute('style', `content-visibility: auto; contain-intrinsic-size: auto ${height}px`);
    }
  };
  if (root.dataset.view !== 'lecture') addSections();
  if (before.size > 0) scrollTo(0, scroll);
}

let addSections: () => void = () => undefined;

function sectionsBelow(page: PageDocument, main: HTMLElement, tracks: Track[], viewer: Viewer | null, storages: StorageView[], notes: string[]): void {
  page.runs.forEach((run, i) => {
    if (!run.storage) return;
    const storage = new StorageView(storages.length === 0 ? 'storage' : `storage-${storages.length + 1}`, page.runs.length > 1 ? `Memory of ${run.title}` : 'Memory', run.storage);
    storages.push(storage);
    main.append(storage.element);
    const track = tracks.findIndex((one) => one.run === page.runs[i]);
    if (track < 0 || !viewer) return;
    storage.onPoint = (region) => viewer?.reader.pointAt(track, region);
    const { reader } = viewer;
    const before = reader.onPoint;
    reader.onPoint = (which, region) => {
      before(which, region);
      if (which === track) storage.highlight(region);
    };
  });
  const current = (): number[] => page.runs.map((_, i) => (viewer && tracks[i] ? viewer.current(i) : -1));
  const pick = (run: number, stage: number): void => viewer?.moveTo(run, stage);
  const of_study = { bench: benchSections, solve: solveSections, choose: chooseSections };
  const parts = page.kind in of_study
    ? [...of_study[page.kind as keyof typeof of_study](page), recipeSection(page), aboutSection(page)]
    : [
      page.runs.some((run) => run.figures.length > 0) ? metricsSection(page.runs, current, pick) : null,
      kernelsSection(page.runs), bytesSection(page.runs), recipeSection(page), aboutSection(page),
    ];
  if (notes.length > 0) main.append(h('ul', { class: 'notes' }, ...notes.map((note) => h('li', {}, note))));
  main.append(...parts.filter((part) => part !== null));
  main.before(contents(main));
}

(window as unknown as { spmvReport: object }).spmvReport = { show: showAnother, view: setView }; // for the live page

if (awaitsData()) root.dataset.ready = 'true';
else show().then(() => shown_viewer?.readValues()).then(drawn).then(() => (root.dataset.ready = 'true')).catch((error: unknown) => {
  document.getElementById('page')?.replaceChildren(h('p', { class: 'errors', role: 'alert' }, `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
  throw error;
});
