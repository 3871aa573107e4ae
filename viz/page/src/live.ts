// The page of `workbench serve`: the recipe as text and as controls, and the report of its last run beside it.
import { action, h, seconds } from './dom';
import { Controls } from './live_controls';
import { RecipeCompletion, RecipeEditor } from './live_editor';
import { StartPage } from './live_gallery';
import { ReportFrame, type View } from './live_report';
import { Runs } from './live_runs';
import { saveMenu } from './live_save';
import { LessonPanel } from './live_lesson';
import { readLesson, type Question } from './lesson_text';
import { checkText, keepMatrix, matrixFiles, linkOf, start, useFile, type Checked, type Link, type LiveFile, type Problem, type Ran } from './live_server';
import { quoted, RecipeText, type Change, type Where } from './live_text';

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

const titleOf = ({ file, lesson }: LiveFile): string => (lesson ? readLesson(lesson).title : file);

class LivePage {
  private readonly facts = start();
  private file: LiveFile = this.facts.files[0];
  private lesson: LessonPanel | null = null;
  private readonly lesson_place = h('div', { class: 'lesson-place' });
  private readonly side_buttons = this.choice('panel', ['lesson', 'controls', 'text'], (side) => this.showSide(side));
  private rests: (() => void)[] = []; // to be called when nothing is going on any more
  private readonly completion = new RecipeCompletion(this.facts.catalogue);
  private readonly editor: RecipeEditor;
  private readonly controls: Controls;
  private readonly frame: ReportFrame;
  private readonly runs: Runs;
  private readonly status = h('p', { class: 'status', role: 'status' });
  private readonly errors = h('div', { class: 'problems', role: 'alert' });
  private readonly undo = action('Undo', () => this.step(() => this.editor.undo()), '↶');
  private readonly redo = action('Redo', () => this.step(() => this.editor.redo()), '↷');
  private readonly panel: HTMLElement;
  private menu: HTMLSelectElement | null = null; // of the files
  private readonly start = new StartPage(this.facts.files, titleOf, {
    matrix: (lines) => this.beginWith(lines),
    draw: () => this.beginWith('rows'),
    file: (path) => this.beginWith({ path }),
    open: (file) => this.openAndBegin(file),
  });
  private timer = 0; // of the pause; 0: none
  private checked: { text: string; result: Checked } | null = null;
  private was_checked = true; // by the server, not only by the slider that has made the text
  private running = 0; // the timer of "Running"
  private controls_are_old = true; // not those of the checked text
  private edits: Promise<void> = Promise.resolve();
  private pending = 0; // edits that have not changed the text yet
  private remark = ''; // on the link that was opened
  private before_slide: string | null = null; // the text before a slider began to move; null: none moves
  private began = 0; // when the newest change was made
  shown = 0; // pictures, so far
  milliseconds = 0; // of the last run, from the change or the pause after it until the report is on the screen

  constructor(link: Link | null) {
    this.editor = new RecipeEditor(this.completion, (is_own) => {
      this.leaveLink();
      if (!is_own) this.later();
    });
    this.controls = new Controls(this.facts.catalogue, {
      edit: (make, stage) => this.edit(make, stage),
      slide: (where, key, value, written, stage) => this.slide(where, key, value, written, stage),
      rest: () => this.rest(),
      goTo: (stage) => this.frame.showStage(stage),
      examples: () => this.start.show(this.controls.files),
    });
    this.frame = new ReportFrame((frame) => {
      this.takeDrops(frame);
      frame.addEventListener('keydown', (event) => this.key(event));
    });
    this.runs = new Runs({
      text: () => this.editor.text,
      began: () => this.beganToRun(),
      ended: (ran, timed, ran_text) => this.showRun(ran, timed, ran_text),
      failed: (error, again) => this.failed(error, again),
      rested: () => this.mayRest(),
    });
    const time = this.facts.can_time ? action('Time the kernels', () => this.timeKernels(), 'Time') : null;
    const more = saveMenu({ text: () => this.editor.text, file: () => this.file, frame: this.frame, say: (words) => this.say(words) });
    const text_pane = h('section', { class: 'text', 'aria-label': 'Text' }, this.editor.view.dom);
    this.panel = h('div', { class: 'panel' },
      h('header', {}, this.heading()),
      h('div', { class: 'actions views' }, this.side_buttons, h('div', { class: 'actions' }, action('Where to begin', () => this.start.show(this.controls.files), '⌂'), this.undo, this.redo, more),
        this.choice('view', ['lecture', 'report'], (view) => this.frame.view(view as View)), time, this.status),
      this.errors, this.lesson_place, this.controls.element, text_pane);
    document.getElementById('live')?.replaceChildren(this.panel, this.frame.element, this.start.element);
    this.lesson_place.addEventListener('step', () => this.panel.classList.toggle('asks', this.lesson?.hidesControls === true));
    this.frame.view('lecture');
    this.listen();
    if (link) this.openLink(link);
    else this.openAndBegin(this.file);
    if (this.facts.begins && !link) void this.listMatrices().then(() => this.start.show(this.controls.files));
  }

  // The name of the recipe, or a menu of the lessons and recipes with which the server was started.
  private heading(): HTMLElement {
    const { files } = this.facts;
    if (files.length === 1) return h('h1', {}, titleOf(files[0]));
    const menu = h('select', { 'aria-label': 'Lesson or recipe', 'data-name': 'file' }, ...files.map((one, i) => h('option', { value: i, selected: one === this.file }, titleOf(one))));
    menu.addEventListener('change', () => this.openAndBegin(files[Number(menu.value)]));
    this.menu = menu;
    return menu;
  }

  // Another matrix for the recipe, or in place of a lesson for the first recipe; its controls are shown.
  private beginWith(matrix: Parameters<Controls['begin']>[0]): void {
    const recipe = this.facts.files.find((one) => one.lesson === '');
    if (this.lesson && recipe) this.open(recipe);
    this.showSide('controls');
    this.controls.begin(matrix);
  }

  private openAndBegin(file: LiveFile): void {
    this.leaveLink();
    this.open(file);
    this.begin();
  }

  private openLink({ text, path }: Link): void {
    const file = this.facts.files.find((one) => one.path === path);
    this.open(file ?? this.file, text);
    this.remark = file || path === '' ? '' : ` The link is to ${path}, which this server was not given.`;
    this.showSide('controls');
    this.run();
  }

  // A changed recipe is not that of the address.
  private leaveLink(): void {
    this.remark = '';
    if (location.hash !== '') history.replaceState(null, '', location.pathname);
  }

  // Runs the recipe as it was opened; that of a lesson with the matrix of its question.
  private begin(): void {
    const matrix = this.lesson?.question.matrix;
    if (matrix) return void this.runWith({ matrix }, 0, (text) => this.editor.begin(text)).catch((error: unknown) => this.failed(error, false));
    this.frame.goTo(this.lesson ? 0 : Infinity);
    this.run();
  }

  // `text`: of the recipe.
  private open(file: LiveFile, text = file.text): void {
    this.file = file;
    this.frame.blank();
    this.editor.begin(text);
    if (this.menu) this.menu.value = String(this.facts.files.indexOf(file));
    useFile(file);
    this.lesson = file.lesson ? new LessonPanel(file.lesson, {
      runWith: (question) => this.runWith(question),
      figure: (name) => this.frame.figure(name),
      runs: () => !this.frame.isBlank,
      showStage: (stage) => this.frame.showStage(stage),
      point: (control) => this.controls.point(control),
    }) : null;
    this.lesson_place.replaceChildren(...(this.lesson ? [this.lesson.element] : []));
    this.panel.classList.toggle('asks', this.lesson !== null);
    this.side_buttons.querySelector<HTMLElement>('[data-choice=lesson]')?.toggleAttribute('hidden', this.lesson === null);
    this.showSide(this.lesson ? 'lesson' : 'controls');
    void this.listMatrices();
  }

  // The recipe of the lesson with the changes of a question; resolves when its report is shown.
  private async runWith({ matrix, set }: Question, stage = Infinity, write = (text: string): void => this.editor.replaceAll(text)): Promise<void> {
    this.isBusy();
    const { file } = this;
    let { text } = file;
    const change = async (make: (now: RecipeText) => Change | null): Promise<void> => {
      const { outline, message } = await checkText(text);
      const made = outline && make(new RecipeText(text, outline));
      if (!made) throw new Error(message || 'the recipe of the lesson lacks what its question sets');
      text = text.slice(0, made.from) + made.insert + text.slice(made.to);
    };
    const written = (value: string | number): string => (typeof value === 'number' ? String(value) : quoted(value));
    if (matrix) await change((now) => now.replaceTable(now.outline.matrix, ['[matrix]', ...Object.entries(matrix).map(([key, value]) => `${key} = ${written(value)}`)]));
    for (const [path, value] of Object.entries(set ?? {})) {
      await change((now) => {
        const table = now.tableOf(path);
        return table && now.setValue(table, path.slice(path.lastIndexOf('.') + 1), written(value));
      });
    }
    if (file !== this.file) return; // another one was opened
    if (text !== this.editor.text) write(text);
    this.frame.goTo(stage);
    const rested = new Promise<void>((done) => this.rests.push(done));
    this.run();
    await rested;
  }

  get text(): string {
    return this.editor.text;
  }

  // Buttons of which one is pressed.
  private choice(name: string, words: string[], choose: (word: string) => void): HTMLElement {
    const buttons = words.map((word) => h('button', { type: 'button', 'data-choice': word, 'aria-pressed': String(word === words[0]), click: () => {
      for (const one of buttons) one.setAttribute('aria-pressed', String(one.dataset.choice === word));
      choose(word);
    } }, word[0].toUpperCase() + word.slice(1)));
    return h('div', { class: 'segments', role: 'group', 'aria-label': name }, ...buttons);
  }

  private showSide(side: string): void {
    this.panel.dataset.side = side;
    for (const one of this.side_buttons.children) one.setAttribute('aria-pressed', String((one as HTMLElement).dataset.choice === side));
    this.editor.view.requestMeasure();
  }

  private listen(): void {
    addEventListener('storage', () => this.setTheme());
    prefers_dark.addEventListener('change', () => this.setTheme());
    addEventListener('hashchange', () => void linkOf(location.hash).then((link) => link && this.openLink(link)));
    addEventListener('keydown', (event) => this.key(event));
    this.setTheme();
    this.takeDrops(window);
  }

  // Undo works outside the editor as well, and keys that no control takes are for the picture.
  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement | null;
    const is_writing = target?.closest?.('.cm-editor, input[type=text], textarea') ?? null;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey && (key === 'z' || key === 'y')) {
      if (is_writing) return;
      event.preventDefault();
      this.step(() => (key === 'y' || event.shiftKey ? this.editor.redo() : this.editor.undo()));
    } else if (target === document.body && !event.ctrlKey && !event.metaKey && !event.altKey) {
      this.frame.press(event);
    }
  }

  private step(change: () => void): void {
    change();
    this.run();
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
    this.isBusy();
    try {
      const { path, error } = await keepMatrix(file);
      if (path === undefined) {
        this.showProblems([], error ?? '');
        this.say(`${file.name} was not taken.`);
        delete root.dataset.busy;
        return;
      }
      await this.listMatrices();
      this.controls.begin({ path });
    } catch (error) {
      this.say(String(error));
      delete root.dataset.busy;
    }
  }

  private setTheme(): void {
    root.dataset.theme = themeNow();
  }

  // ---- From a change to the report.

  private isBusy(): void {
    root.dataset.busy = 'true';
    this.showDepths();
  }

  // Nothing is going on any more, unless a run is due or has not ended.
  private mayRest(): void {
    if (this.pending > 0 || this.timer !== 0 || this.before_slide !== null || this.runs.busy) return;
    this.showControls();
    delete root.dataset.busy;
    for (const rested of this.rests.splice(0)) rested();
    this.lesson?.refresh();
  }

  private later(): void {
    clearTimeout(this.timer);
    this.isBusy();
    this.timer = window.setTimeout(() => this.run(), pause_milliseconds);
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
      this.was_checked = true;
      this.editor.show(result.problems);
      this.showProblems(result.problems, result.message);
      this.controls_are_old = true;
    }
    return result;
  }

  // Not while a slider moves, which would be another one then.
  private showControls(): void {
    if (!this.controls_are_old || !this.checked || this.before_slide !== null || this.checked.text !== this.editor.text) return;
    const { text, result } = this.checked;
    this.controls_are_old = false;
    this.showDepths();
    if (result.outline) this.controls.show(new RecipeText(text, result.outline));
  }

  // Runs the text. The server does so at once, and refuses one with errors, which the check lists.
  private run(timed = false, began = performance.now()): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.isBusy();
    this.began = began;
    this.runs.now(timed);
    ++this.pending; // controls of an older text would change it
    this.check().then(() => {
      setTimeout(() => this.showControls(), longest_wait_milliseconds); // after the report, if that is soon there
    }).catch(() => undefined).finally(() => { // the run also fails
      --this.pending;
      this.mayRest();
    });
  }

  private timeKernels(): void {
    this.run(true);
    this.panel.querySelector<HTMLElement>('[data-choice=report]')?.click();
    this.frame.goToSection('kernels');
  }

  private beganToRun(): void {
    performance.clearMarks(); // test/live_speed.mjs reads them
    performance.mark('began', { startTime: this.began });
    clearTimeout(this.running);
    this.running = window.setTimeout(() => this.runs.busy && this.say('Running …'), longest_wait_milliseconds);
  }

  private async showRun(ran: Ran, timed: boolean, text: string): Promise<void> {
    const { began } = this;
    performance.mark('ran');
    if (this.frame.isBlank && text !== this.editor.text) return; // of the file before
    if (ran.page === undefined || !ran.parts) {
      if (text !== this.editor.text) return;
      this.frame.dim(true);
      if (!this.was_checked) this.checked = null;
      const { problems } = await this.check();
      if (problems.length > 0) return this.saysErrors(problems.length);
      this.showProblems([], ran.error ?? '');
      this.say(`The recipe did not run on this matrix${this.frame.isBlank ? '' : '; the picture is that of the last run'}.`);
      return;
    }
    await this.frame.show(ran.page, ran.parts);
    performance.mark('shown');
    ++this.shown;
    if (this.checked?.text === this.editor.text && this.checked.result.problems.length > 0) return;
    this.frame.dim(false);
    this.showProblems([], '');
    this.milliseconds = performance.now() - began;
    clearTimeout(this.running);
    this.say(`${timed ? 'Timed' : 'Ran'} in ${seconds(this.milliseconds / 1000)}.${this.remark}`);
  }

  private saysErrors(count: number): void {
    this.frame.dim(true);
    this.say(`The recipe has ${count === 1 ? 'an error' : `${count} errors`}${this.frame.isBlank ? '' : '; the picture is that of the last valid one'}.`);
  }

  private failed(error: unknown, again: boolean): void {
    this.frame.dim(true);
    clearTimeout(this.running);
    const text = error instanceof Error ? error.message : String(error);
    this.say(again ? `${text}; trying again …` : text);
  }

  private say(text: string): void {
    this.status.textContent = text;
  }

  // The errors that have a line stand below it; others, and a way to the lines, above the controls.
  private showProblems(problems: Problem[], message: string): void {
    this.errors.replaceChildren();
    if (message === '') return;
    const placed = problems.filter((one) => one.line > 0);
    if (placed.length < problems.length || problems.length === 0) this.errors.append(h('pre', {}, message));
    for (const problem of placed.slice(0, 5)) {
      this.errors.append(h('button', { type: 'button', class: 'quiet', click: () => {
        this.panel.querySelector<HTMLElement>('[data-choice=text]')?.click();
        this.editor.goTo(problem);
      } }, `Line ${problem.line}: ${problem.message}`));
    }
  }

  // Controls know places only in a text that was checked; edits happen one after another.
  private edit(make: (text: RecipeText) => Change | null, stage: number | null): void {
    const began = performance.now();
    this.rest();
    this.isBusy();
    ++this.pending;
    this.edits = this.edits.then(async () => {
      const { outline } = await this.check();
      const change = outline && make(new RecipeText(this.editor.text, outline));
      if (!change) return;
      this.editor.change(change);
      if (stage !== null) this.frame.goTo(stage);
      this.run(false, began);
    }).catch((error: unknown) => this.say(error instanceof Error ? error.message : String(error))).finally(() => {
      --this.pending;
      this.mayRest();
    });
  }

  // The text follows a moving slider, and the picture follows the text as fast as it can.
  private slide(where: Where, key: string, value: number, written: string, stage: number | null): void {
    const text = this.editor.text;
    const outline = this.checked?.text === text ? this.checked.result.outline : null;
    if (!outline) return this.edit((now) => now.setValue(where(now.outline), key, written), stage);
    this.before_slide ??= text;
    const next = new RecipeText(text, outline).setPlainValue(where, key, value, written);
    this.editor.change(next.change, false);
    this.checked = { text: this.editor.text, result: { problems: [], message: '', outline: next.outline } };
    this.controls_are_old = true;
    this.was_checked = false;
    this.began = performance.now();
    this.isBusy();
    if (stage !== null) this.frame.goTo(stage);
    this.runs.soon();
  }

  // A movement of a slider is one step of undo.
  private rest(): void {
    const before = this.before_slide;
    this.before_slide = null;
    if (before !== null) this.editor.recordSince(before);
    this.showDepths();
    this.mayRest();
  }
}

async function begin(): Promise<void> {
  const page = new LivePage(await linkOf(location.hash));
  // For tests: the time of the last run, the recipe, and the number of pictures that were shown.
  (window as unknown as { spmvLive: object }).spmvLive = { milliseconds: () => page.milliseconds, text: () => page.text, shown: () => page.shown };
}

void begin();
