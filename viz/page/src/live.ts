// The page of `workbench serve`: the recipe as text and as controls, and the report of its last run beside it.
import { download, h, seconds } from './dom';
import { Controls } from './live_controls';
import { RecipeCompletion, RecipeEditor } from './live_editor';
import { ReportFrames } from './live_report';
import { checkText, fragmentOf, keepMatrix, matrixFiles, runText, start, textOf, type Checked, type Problem } from './live_server';
import { RecipeText, type Change } from './live_text';

const pause_milliseconds = 120; // after the last key in the text, before it is checked and run; controls do not wait

const longest_wait_milliseconds = 250; // of the controls, for the report

const root = document.documentElement;
const prefers_dark = matchMedia('(prefers-color-scheme: dark)');
const theme_key = 'spmv-theme'; // shared with the report

function themeNow(): string {
  try {
    return localStorage.getItem(theme_key) ?? (prefers_dark.matches ? 'dark' : 'light');
  } catch {
    return prefers_dark.matches ? 'dark' : 'light';
  }
}

class LivePage {
  private readonly facts = start();
  private readonly completion = new RecipeCompletion(this.facts.catalogue);
  private readonly editor: RecipeEditor;
  private readonly controls: Controls;
  private readonly frames = new ReportFrames();
  private readonly status = h('p', { class: 'status', role: 'status' });
  private readonly errors = h('div', { class: 'problems', role: 'alert' });
  private readonly undo = this.action('Undo', () => this.step(() => this.editor.undo()));
  private readonly redo = this.action('Redo', () => this.step(() => this.editor.redo()));
  private timer = 0; // of the pause; 0: none
  private checked: { text: string; result: Checked } | null = null;
  private controls_are_old = true; // not those of the checked text
  private edits: Promise<void> = Promise.resolve();
  private pending = 0; // edits that have not changed the text yet
  private runs = 0;
  private ended = 0; // the newest run that has ended
  milliseconds = 0; // of the last run, from the change or the pause after it until the report is on the screen

  constructor(text: string) {
    this.editor = new RecipeEditor(text, this.completion, () => this.later());
    this.controls = new Controls(this.facts.catalogue, (make) => this.edit(make));
    const save = h('div', { class: 'actions', role: 'group', 'aria-label': 'Save' }, h('span', { class: 'hint' }, 'Save'),
      this.action('Recipe', () => download(new Blob([this.editor.text], { type: 'application/toml' }), this.facts.file)),
      this.action('Report', () => void this.saveReport()),
      this.action('Picture', () => this.savePicture()),
      this.action('Link', () => void this.copyLink()));
    const time = this.facts.can_time ? this.action('Time the kernels', () => void this.run(true)) : null;
    const panel = h('div', { class: 'panel' },
      h('header', {}, h('h1', {}, this.facts.file), h('div', { class: 'actions' }, this.undo, this.redo, time)),
      save, this.status, this.controls.element,
      h('section', { class: 'group', 'aria-label': 'Text' }, h('h2', {}, 'Recipe'), this.editor.view.dom, this.errors,
        h('p', { class: 'hint' }, h('kbd', {}, 'Ctrl-Space'), ' completes, ', h('kbd', {}, 'Ctrl-Z'), ' undoes, ', h('kbd', {}, 'Tab'), ' leaves the editor.')));
    document.getElementById('live')?.replaceChildren(panel, this.frames.element);
    this.listen();
    void this.listMatrices();
    void this.run(false);
  }

  private action(label: string, act: () => void): HTMLButtonElement {
    return h('button', { type: 'button', 'data-action': label, click: () => act() }, label);
  }

  private listen(): void {
    addEventListener('storage', () => this.setTheme());
    prefers_dark.addEventListener('change', () => this.setTheme());
    addEventListener('hashchange', () => void textOf(location.hash).then((text) => text !== null && text !== this.editor.text && this.editor.replaceAll(text)));
    this.setTheme();
    this.takeDrops(window);
    this.frames.onShown = (frame) => this.takeDrops(frame);
  }

  private step(change: () => void): void {
    const began = performance.now();
    change();
    void this.run(false, began);
  }

  private async listMatrices(): Promise<void> {
    this.controls.files = this.completion.files = await matrixFiles();
    this.controls_are_old = true;
    this.showControls();
  }

  // A matrix file can be dropped anywhere, also on the report; without this the browser would leave the page for it.
  private takeDrops(target: Window): void {
    const has_files = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent): void => {
      if (!has_files(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    };
    const drop = (event: DragEvent): void => {
      if (!has_files(event)) return;
      event.preventDefault();
      event.stopPropagation(); // the editor would insert the file
      const file = event.dataTransfer?.files[0];
      if (file) void this.take(file);
    };
    target.addEventListener('dragover', over, true);
    target.addEventListener('drop', drop, true);
  }

  private async take(file: File): Promise<void> {
    this.say(`Reading ${file.name} …`);
    root.dataset.busy = 'true';
    try {
      const { path, error } = await keepMatrix(file);
      if (path === undefined) {
        this.showProblems([], error ?? '');
        this.say(`${file.name} was not taken.`);
        delete root.dataset.busy;
        return;
      }
      await this.listMatrices();
      this.controls.take(path);
    } catch (error) {
      this.say(String(error));
      delete root.dataset.busy;
    }
  }

  private setTheme(): void {
    root.dataset.theme = themeNow();
  }

  // ---- From a change to the report.

  private later(): void {
    clearTimeout(this.timer);
    this.showDepths();
    root.dataset.busy = 'true';
    this.timer = window.setTimeout(() => void this.run(false), pause_milliseconds);
  }

  // Nothing is going on any more, unless a run is due or has not ended.
  private rest(): void {
    if (this.pending === 0 && this.timer === 0 && this.ended === this.runs) delete root.dataset.busy;
  }

  private showDepths(): void {
    const [back, forth] = this.editor.depths;
    this.undo.disabled = back === 0;
    this.redo.disabled = forth === 0;
  }

  private async check(): Promise<Checked> {
    const { text } = this.editor;
    if (this.checked?.text === text) return this.checked.result;
    const result = await checkText(text);
    if (text === this.editor.text) {
      this.checked = { text, result };
      this.editor.show(result.problems);
      this.showProblems(result.problems, result.message);
      this.controls_are_old = true;
    }
    return result;
  }

  // Making the controls takes longer than a short run, so that it follows the report if that is soon there.
  private showControls(): void {
    if (!this.controls_are_old || !this.checked) return;
    const { text, result } = this.checked;
    this.controls_are_old = false;
    this.showDepths();
    if (result.outline) this.controls.show(new RecipeText(text, result.outline));
  }

  private async run(timed: boolean, began = performance.now()): Promise<void> {
    clearTimeout(this.timer);
    this.timer = 0;
    const number = ++this.runs;
    performance.clearMarks(); // test/live_speed.mjs reads them
    performance.mark('began', { startTime: began });
    root.dataset.busy = 'true';
    const controls = window.setTimeout(() => this.showControls(), longest_wait_milliseconds);
    try {
      // The server runs the text at once: it refuses one with errors, which the check lists.
      const running = runText(this.editor.text, timed, number);
      running.catch(() => undefined); // reported below
      const { problems } = await this.check();
      if (number !== this.runs) return;
      performance.mark('checked');
      if (problems.length > 0) {
        this.say(problems.length === 1 ? 'The recipe has an error; the report is that of the last valid one.' : `The recipe has ${problems.length} errors; the report is that of the last valid one.`);
        this.frames.dim(true);
        return;
      }
      this.say(timed ? 'Timing …' : 'Running …');
      const result = await running;
      if (number !== this.runs || result.replaced) return;
      performance.mark('ran');
      if (result.page === undefined) {
        this.showProblems([], result.error ?? '');
        this.say('The recipe did not run on this matrix; the report is that of the last run.');
        this.frames.dim(true);
        return;
      }
      if (!(await this.frames.show(result.page)) || number !== this.runs) return;
      this.frames.dim(false);
      performance.mark('shown');
      this.milliseconds = performance.now() - began;
      this.say(`${timed ? 'Timed' : 'Ran'} in ${seconds(this.milliseconds / 1000)}.`);
    } catch (error) {
      if (number !== this.runs) return;
      this.frames.dim(true);
      this.say(error instanceof TypeError ? 'The server does not answer: it may have ended.' : String(error));
    } finally {
      clearTimeout(controls);
      this.showControls();
      this.ended = Math.max(this.ended, number);
      this.rest();
    }
  }

  private say(text: string): void {
    this.status.textContent = text;
  }

  // The errors as the terminal shows them, with the line and a caret; each leads to its place.
  private showProblems(problems: Problem[], message: string): void {
    this.errors.replaceChildren();
    if (message === '') return;
    this.errors.append(h('pre', {}, message));
    for (const problem of problems.slice(0, 20)) {
      if (problem.line === 0) continue;
      this.errors.append(h('button', { type: 'button', class: 'quiet', click: () => this.editor.goTo(problem) }, `Go to line ${problem.line}`));
    }
  }

  // Controls know places only in a text that was checked; edits happen one after another.
  private edit(make: (text: RecipeText) => Change | null): void {
    const began = performance.now();
    root.dataset.busy = 'true';
    ++this.pending;
    this.edits = this.edits.then(async () => {
      const { outline } = await this.check();
      const change = outline && make(new RecipeText(this.editor.text, outline));
      if (!change) return;
      this.editor.change(change);
      void this.run(false, began);
    }).catch((error: unknown) => this.say(String(error))).finally(() => {
      --this.pending;
      this.rest();
    });
  }

  // ---- Saving.

  private named(ending: string): string {
    return this.facts.file.replace(/\.toml$/, '') + ending;
  }

  private async saveReport(): Promise<void> {
    const response = await fetch(`page/${this.frames.page}`);
    if (response.ok) download(await response.blob(), this.named('.html'));
    else this.say('There is no report to save.');
  }

  private savePicture(): void {
    const picture = this.frames.picture();
    if (!picture) return this.say('There is no picture to save.');
    picture.toBlob((blob) => blob && download(blob, this.named('.png')));
  }

  private async copyLink(): Promise<void> {
    history.replaceState(null, '', await fragmentOf(this.editor.text));
    try {
      await navigator.clipboard.writeText(location.href);
      this.say('The address, which now contains the recipe, was copied.');
    } catch {
      this.say('The address of this page now contains the recipe.');
    }
  }
}

async function begin(): Promise<void> {
  const page = new LivePage((await textOf(location.hash)) ?? start().text);
  // For tests: the time of the last run.
  (window as unknown as { spmvLive: object }).spmvLive = { milliseconds: () => page.milliseconds };
}

void begin();
