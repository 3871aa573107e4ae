// Controls for the values of a recipe, made from the declarations of the catalogue. Each changes the text.
import { h } from './dom';
import { makeMovable } from './live_cards';
import type { Catalogue, Declaration } from './live_server';
import { slider } from './live_slider';
import { quoted, RecipeText, valueOf, type Change, type Table, type Where } from './live_text';

export interface Edits {
  // `stage`: the one to show afterwards; null: the one that is shown.
  edit(make: (text: RecipeText) => Change | null, stage: number | null): void;
  // A moving slider sets a value again and again, until it rests.
  slide(where: Where, key: string, value: number, written: string, stage: number | null): void;
  rest(): void;
  goTo(stage: number): void;
  examples(): void; // shows where to begin
}

const last_stage = Infinity;

const most_slots = 32; // rows and columns of a matrix that is drawn

export class Controls {
  readonly element = h('div', { class: 'controls' });
  files: string[] = [];
  private names = 0;
  private readonly opened = new Set<string>(); // owners whose other values are shown
  private chosen = ''; // the owner whose values are shown if there is no room for all
  private is_moving = false; // a card is dragged

  constructor(private readonly catalogue: Catalogue, private readonly edits: Edits) {
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  // Keeps the focus on the control of the same name.
  show(text: RecipeText): void {
    if (this.is_moving) return;
    const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.name : undefined;
    this.names = 0;
    this.element.replaceChildren(this.matrix(text), this.stages(text), this.layouts(text));
    this.fit();
    if (focused !== undefined) this.element.querySelector<HTMLElement>(`[data-name="${CSS.escape(focused)}"]`)?.focus();
  }

  // Shows the values of one owner alone where those of all do not fit.
  private fit(): void {
    const { element } = this;
    const scroll = element.scrollTop;
    element.classList.remove('tight');
    element.classList.toggle('tight', element.scrollHeight > element.clientHeight + 1);
    element.scrollTop = scroll;
    const cards = [...element.querySelectorAll<HTMLElement>('.card')];
    const card = cards.find((one) => one.dataset.owner === this.chosen) ?? cards.find((one) => one.dataset.owner?.startsWith('stage')) ?? cards.at(-1);
    for (const one of cards) one.classList.toggle('chosen', one === card);
  }

  private choose(owner: string): void {
    this.chosen = owner;
    this.fit();
  }

  // Makes a control visible, and marks it.
  point(name: string): void {
    const control = this.element.querySelector<HTMLElement>(`[data-name="${CSS.escape(name)}"]`);
    if (!control) return;
    this.choose(control.closest<HTMLElement>('.card')?.dataset.owner ?? '');
    control.closest('details')?.setAttribute('open', '');
    control.scrollIntoView({ block: 'nearest' });
    control.classList.add('pointed');
  }

  private edit(make: (text: RecipeText) => Change | null, stage: number | null = null): void {
    this.edits.edit(make, stage);
  }

  private group(title: string, ...parts: (Node | null)[]): HTMLElement {
    return h('section', { class: 'group', 'aria-label': title }, ...parts);
  }

  private card(owner: string, ...parts: (Node | null)[]): HTMLElement {
    return h('div', { class: 'card', 'data-owner': owner, focusin: () => this.chosen !== owner && this.choose(owner) }, ...parts);
  }

  private button(label: string, name: string, sign: string, act: () => void, disabled = false): HTMLButtonElement {
    return h('button', { type: 'button', class: 'quiet', 'aria-label': label, title: label, 'data-name': name, disabled, click: act }, sign);
  }

  // ---- The matrix.

  private matrix(text: RecipeText): HTMLElement {
    const { matrix } = text.outline;
    const path = valueOf(matrix, 'path');
    const generator = this.catalogue.generators.find((one) => one.name === valueOf(matrix, 'generate'));
    const drawn = text.placeOf(matrix, 'rows') !== null && !generator;
    const chosen = generator ? `generate:${generator.name}` : typeof path === 'string' ? `path:${path}` : drawn ? 'rows' : '';
    const option = (value: string, label: string, title = ''): HTMLOptionElement => h('option', { value, title, selected: value === chosen }, label);
    const files = typeof path === 'string' && !this.files.includes(path) ? [path, ...this.files] : this.files;
    const select = h('select', { 'aria-label': 'Matrix', 'data-name': 'matrix' },
      chosen === '' && option('', 'no matrix'),
      h('optgroup', { label: 'Generators' }, ...this.catalogue.generators.map((one) => option(`generate:${one.name}`, one.name, one.summary))),
      h('optgroup', { label: 'Files' }, ...files.map((file) => option(`path:${file}`, file))),
      h('optgroup', { label: 'Small' }, option('rows', 'draw a small matrix')));
    select.addEventListener('change', () => this.edit((now) => now.replaceTable(now.outline.matrix, this.newMatrix(select.value))));
    return this.group('Matrix', this.card('matrix', h('div', { class: 'card-head' }, h('span', { class: 'kind' }, 'matrix'), select, this.button('Examples of matrices, lessons and files', 'matrix examples', '▦', () => this.edits.examples())),
      generator ? this.parameters(generator.parameters, matrix, (outline) => outline.matrix, 'matrix', text, null) : null,
      drawn ? this.drawing(text) : null));
  }

  // Chooses a matrix: the lines of its table, a file, or a small one that is drawn.
  begin(choice: string[] | { path: string } | 'rows'): void {
    const lines = Array.isArray(choice) ? choice : this.newMatrix(choice === 'rows' ? choice : `path:${choice.path}`);
    this.edit((now) => now.replaceTable(now.outline.matrix, lines));
  }

  private newMatrix(choice: string): string[] {
    if (choice === 'rows') return ['[matrix]', 'rows = [', ...[0, 1, 2, 3, 4, 5].map((i) => `  "${[0, 1, 2, 3, 4, 5].map((j) => (Math.abs(i - j) <= 1 ? '1' : '.')).join(' ')}",`), ']'];
    const [key, ...rest] = choice.split(':');
    const name = rest.join(':');
    const lines = ['[matrix]', `${key} = ${quoted(name)}`];
    const generator = key === 'generate' ? this.catalogue.generators.find((one) => one.name === name) : undefined;
    const parameters = generator?.parameters ?? [];
    return [...lines, ...requiredLines(parameters, 4, parameters.some((one) => one.name === 'nz') ? { nx: 8 } : first_sizes)];
  }

  // A grid of switches: a click adds or removes an entry.
  private drawing(text: RecipeText): HTMLElement | null {
    const place = text.placeOf(text.outline.matrix, 'rows');
    if (!place) return null;
    const rows = drawnRows(text, place);
    const columns = rows[0]?.length ?? 0;
    if (rows.length === 0 || rows.length > most_slots || columns > most_slots || rows.some((row) => row.length !== columns)) return null;
    const write = (draw: (now: string[][]) => string[][]): void => this.edit((now) => {
      const at = now.placeOf(now.outline.matrix, 'rows');
      return at && { ...at, insert: `[\n${draw(drawnRows(now, at)).map((row) => `  "${row.join(' ')}",\n`).join('')}]` };
    });
    const grid = h('div', { class: 'drawing', role: 'group', 'aria-label': 'Entries of the matrix', style: `--columns: ${columns}` });
    const painted = new Map<string, string>(); // entries by row and column, since the text was written
    const paint = (cell: HTMLElement, entry: string): void => {
      painted.set(`${cell.dataset.row} ${cell.dataset.column}`, entry);
      cell.setAttribute('aria-pressed', String(entry !== '.'));
    };
    const writePainted = (): void => {
      const entries = new Map(painted);
      painted.clear();
      write((now) => now.map((row, i) => row.map((entry, j) => entries.get(`${i} ${j}`) ?? entry)));
    };
    rows.forEach((row, i) => row.forEach((entry, j) => {
      const cell = h('button', { type: 'button', 'aria-pressed': String(entry !== '.'), 'aria-label': `row ${i}, column ${j}`, 'data-name': `entry ${i} ${j}`, 'data-row': i, 'data-column': j });
      const other = entry === '.' ? '1' : '.';
      cell.addEventListener('click', (event) => {
        if (event.detail !== 0) return; // of a pointer, which has painted
        paint(cell, other);
        writePainted();
      });
      // The first cell decides whether the pointer adds or removes entries.
      cell.addEventListener('pointerdown', (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        cell.focus();
        this.is_moving = true;
        paint(cell, other);
        const stroke = new AbortController();
        let last = [event.clientX, event.clientY];
        addEventListener('pointermove', ({ clientX, clientY }) => {
          const [dx, dy] = [clientX - last[0], clientY - last[1]];
          // A fast pointer skips cells, which are wider than 3 pixels.
          const points = Math.ceil(Math.hypot(dx, dy) / 3);
          for (let i = 1; i <= points; ++i) {
            const at = document.elementFromPoint(last[0] + (dx * i) / points, last[1] + (dy * i) / points);
            if (at instanceof HTMLElement && at.parentElement === grid) paint(at, other);
          }
          last = [clientX, clientY];
        }, { signal: stroke.signal });
        const end = (): void => {
          stroke.abort();
          this.is_moving = false;
          writePainted();
        };
        for (const kind of ['pointerup', 'pointercancel']) addEventListener(kind, end, { signal: stroke.signal });
      });
      grid.append(cell);
    }));
    grid.addEventListener('keydown', (event) => this.moveInGrid(event, columns));
    const resize = (size: number): void => write((now) => Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => now[i]?.[j] ?? (i === j ? '1' : '.'))));
    const size = Math.max(rows.length, columns);
    const sized = h('input', { type: 'number', min: 1, max: most_slots, value: size, 'data-name': 'size', 'aria-label': 'Rows and columns of the matrix' });
    sized.addEventListener('change', () => {
      if (sized.value === '') sized.value = String(size);
      else if (sized.reportValidity()) resize(Number(sized.value));
    });
    return h('div', { class: 'drawing-place' }, grid, h('p', { class: 'hint' }, 'Click or drag to add or remove entries. ', sized, ` × ${size}`));
  }

  private moveInGrid(event: KeyboardEvent, columns: number): void {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const step = steps[event.key];
    if (step === undefined) return;
    const cells = [...(event.currentTarget as HTMLElement).children] as HTMLElement[];
    cells[cells.indexOf(event.target as HTMLElement) + step]?.focus();
    event.preventDefault();
  }

  // ---- The stages.

  private stages(text: RecipeText): HTMLElement {
    const list = h('ol', { class: 'stages' });
    const stages = text.stages();
    stages.forEach((_, i) => list.append(this.stage(text, stages, i)));
    const add = h('select', { 'aria-label': 'Add a stage', 'data-name': 'add' }, h('option', { value: '' }, 'Add a stage …'),
      ...this.catalogue.stages.map((one) => h('option', { value: one.name, title: one.summary }, one.name)));
    // A button, because arrow keys go through the menu.
    const button = this.button('Add the chosen stage', 'add button', 'Add', () => {
      const entry = this.catalogue.stages.find((one) => one.name === add.value);
      if (entry) this.edit((now) => now.addStage(['[[stage]]', `use = ${quoted(entry.name)}`, ...requiredLines(entry.parameters, 4)]), last_stage);
    });
    return this.group('Stages', list, h('div', { class: 'add' }, add, button));
  }

  private stage(text: RecipeText, stages: ReturnType<RecipeText['stages']>, i: number): HTMLElement {
    const { head, table, use } = stages[i];
    const entry = this.catalogue.stages.find((one) => one.name === use);
    const movable = text.movable(head);
    const name = `stage ${i}`;
    const id = table === null ? null : valueOf(table, 'id');
    const title = typeof id === 'string' && id !== use ? `${id} (${use})` : use;
    const number = stages.slice(0, i).filter((one) => one.table !== null).length;
    const on = h('input', { type: 'checkbox', checked: table !== null, disabled: !movable, 'aria-label': `Use ${title}`, 'data-name': `${name} on` });
    on.addEventListener('change', () => this.edit((now) => {
      const at = now.stages()[i]?.head;
      return at === undefined ? null : on.checked ? now.switchOn(at) : now.switchOff(at);
    }, on.checked ? number + 1 : number));
    const handle = h('button', { type: 'button', class: 'handle', 'aria-label': `Move ${title}: drag it, or press an arrow`, title: 'Drag, or press ↑ or ↓', 'data-name': `${name} move`, disabled: !movable }, '⠿');
    const show = h('button', { type: 'button', class: 'stage-name', title: entry?.summary ?? '', 'data-name': `${name} show`, click: () => {
      this.choose(name);
      if (table !== null) this.edits.goTo(number + 1);
    } }, title.replaceAll('_', '_\u200b'));
    const item = h('li', { class: table === null ? 'off' : '' }, this.card(name,
      h('div', { class: 'card-head' }, handle, on, show,
        this.button(`Remove ${title}`, `${name} remove`, '×', () => this.edit((now) => (now.stages()[i] ? now.remove(now.stages()[i].head) : null), number), !movable)),
      table !== null && entry ? this.parameters(entry.parameters, table, (outline) => outline.stages[number], name, text, number + 1) : null));
    makeMovable(item, handle, {
      began: () => (this.is_moving = true),
      ended: (to) => {
        this.is_moving = false;
        if (to === null || to === i) return;
        this.chosen = `stage ${to}`;
        handle.dataset.name = `stage ${to} move`; // the focus goes along
        this.edit((now) => now.move(i, to), null);
      },
    });
    return item;
  }

  // ---- The layouts.

  private layouts(text: RecipeText): HTMLElement {
    const { layout, layouts } = text.outline;
    const all: [Table, Where][] = layouts.length > 0 ? layouts.map((table, i) => [table, (outline) => outline.layouts[i]]) : [[layout, (outline) => outline.layout]];
    return this.group('Layout', ...all.map(([table, where], i) => {
      const use = valueOf(table, 'use');
      const share = valueOf(table, 'share');
      const entry = this.catalogue.layouts.find((one) => one.name === use);
      const select = h('select', { 'aria-label': typeof share === 'string' ? `Layout of share ${share}` : 'Layout', 'data-name': `layout ${i}` },
        entry ? null : h('option', { value: '' }, 'choose a layout'),
        ...this.catalogue.layouts.map((one) => h('option', { value: one.name, title: one.summary, selected: one === entry }, one.name)));
      const head = layouts.length > 0 ? ['[[layout]]', ...(typeof share === 'string' ? [`share = ${quoted(share)}`] : [])] : ['[layout]'];
      select.addEventListener('change', () => {
        const next = this.catalogue.layouts.find((one) => one.name === select.value);
        if (next) this.edit((now) => now.replaceTable(where(now.outline), [...head, `use = ${quoted(next.name)}`, ...requiredLines(next.parameters, 4)]), last_stage);
      });
      return this.card(`layout ${i}`, h('div', { class: 'card-head' }, h('span', { class: 'kind' }, typeof share === 'string' ? `layout of ${share}` : 'layout'), select),
        entry && table.line > 0 ? this.parameters(entry.parameters, table, where, `layout ${i}`, text, last_stage) : null);
    }));
  }

  // ---- Values.

  // `stage`: the one that shows what the values change.
  private parameters(declarations: Declaration[], table: Table, where: Where, owner: string, text: RecipeText, stage: number | null): HTMLElement {
    const list = h('div', { class: 'values' });
    const others = h('div', { class: 'values' });
    for (const declaration of declarations) {
      const id = `value-${this.names++}`;
      const isSet = table.settings.some((one) => one.key === declaration.name);
      const set = (written: string): void => this.edit((now) => now.setValue(where(now.outline), declaration.name, written), stage);
      const slide = (value: number, written: string): void => this.edits.slide(where, declaration.name, value, written, stage);
      const control = this.control(declaration, table, id, `${owner} ${declaration.name}`, set, slide, text);
      const unit = declaration.unit ? ` (${declaration.unit})` : '';
      (isSet ? list : others).append(h('label', { for: id, title: `${declaration.help}; expected ${declaration.accepts}` }, declaration.name.replaceAll('_', ' ') + unit), control);
    }
    if (others.childElementCount === 0) return h('div', { class: 'card-body' }, list);
    const more = h('details', { open: this.opened.has(owner) }, h('summary', { 'data-name': `${owner} more` }, list.childElementCount > 0 ? 'Other values' : 'Values'), others);
    more.addEventListener('toggle', () => {
      if (more.open) this.opened.add(owner);
      else this.opened.delete(owner);
      this.fit();
    });
    return h('div', { class: 'card-body' }, list, more);
  }

  private control(declaration: Declaration, table: Table, id: string, name: string, set: (written: string) => void, slide: (value: number, written: string) => void, text: RecipeText): HTMLElement {
    const found = valueOf(table, declaration.name);
    const value = found ?? declaration.default;
    const place = text.placeOf(table, declaration.name);
    const common = { id, 'data-name': name };
    if (declaration.type === 'boolean') {
      const box = h('input', { ...common, type: 'checkbox', checked: value === true });
      box.addEventListener('change', () => set(String(box.checked)));
      return box;
    }
    if (declaration.type === 'choice') {
      const select = h('select', common, value === null ? h('option', { value: '' }, 'not set') : null,
        ...declaration.words.map((word) => h('option', { value: word, selected: word === value }, word)));
      select.addEventListener('change', () => select.value && set(quoted(select.value)));
      return select;
    }
    if (declaration.type === 'integer' || declaration.type === 'real') return this.number(declaration, value, common, set, slide);
    // A length may be a number or a word such as "2*mean".
    if (declaration.type === 'text' && typeof value === 'number') return this.number({ ...declaration, type: 'integer', minimum: declaration.minimum ?? 0 }, value, common, set, slide);
    // Lists and other values that are not plain are shown as they are written.
    const written = place && found === null ? text.text.slice(place.from, place.to) : value === null ? '' : String(value);
    const input = h('input', { ...common, type: 'text', value: written, placeholder: declaration.optional ? 'not set' : '', spellcheck: 'false' });
    input.addEventListener('change', () => set(/^[[{]/.test(input.value) ? input.value : quoted(input.value)));
    return input;
  }

  private number(declaration: Declaration, value: boolean | number | string | null, common: { id: string; 'data-name': string }, set: (written: string) => void, slide: (value: number, written: string) => void): HTMLElement {
    const whole = declaration.type === 'integer';
    const tomlOf = (number: string): string => (whole || /[.e]/i.test(number) ? number : `${number}.0`);
    let last = value === null ? '' : String(value); // what the text has
    // The text has 1e3 as 1000, and keeps its value if the field is empty.
    const write = (written: string): void => {
      if (written === '') input.value = last;
      else if (!Number.isFinite(Number(written))) set(quoted(written));
      else set(tomlOf(whole && !Number.isSafeInteger(Number(written)) ? written : String(Number(written))));
    };
    const input = h('input', { ...common, type: 'text', inputmode: whole ? 'numeric' : 'decimal', value: last, placeholder: declaration.optional ? 'not set' : '', size: 8 });
    input.addEventListener('change', () => write(input.value.trim()));
    const words = declaration.words.length > 0 ? h('datalist', { id: `${common.id}-words` }, ...declaration.words.map((word) => h('option', { value: word }))) : null;
    if (words) input.setAttribute('list', `${common.id}-words`);
    if (typeof value !== 'number') return h('span', { class: 'number' }, input, words);
    const is_size = common['data-name'].startsWith('matrix');
    const range = slider(declaration, value, is_size, common['data-name'], (now) => {
      input.value = last = String(now);
      slide(now, tomlOf(last));
    }, () => this.edits.rest());
    return h('span', { class: 'number' }, range, input, words);
  }
}

// The entries of a small matrix that is written row by row.
function drawnRows(text: RecipeText, { from, to }: { from: number; to: number }): string[][] {
  return [...text.text.slice(from, to).matchAll(/"([^"]*)"|'([^']*)'/g)].map((row) => (row[1] ?? row[2]).trim().split(/\s+/));
}

// Sizes of generated matrices with which a run takes less than a second.
const first_sizes: Record<string, number> = { nx: 30, scale: 10, rows: 1000, bandwidth: 20, shortest: 1, longest: 24, mean: 12, deviation: 4, degree: 8 };

// Lines for the parameters that a recipe must set: their size, or the least number, at least `common`, or the first word.
function requiredLines(declarations: Declaration[], common: number, sizes: Record<string, number> = {}): string[] {
  return declarations.filter((one) => one.default === null && !one.optional).map((one) => {
    const wanted = sizes[one.name] ?? common;
    const number = Math.min(one.maximum ?? Infinity, Math.max(one.minimum ?? wanted, wanted));
    const value = one.type === 'integer' ? String(number) : one.type === 'real' ? number.toFixed(1) : one.type === 'boolean' ? 'false' : quoted(one.words[0] ?? '');
    return `${one.name} = ${value}`;
  });
}
