// Controls for the values of a recipe, made from the declarations of the catalogue. Each changes the text.
import { h } from './dom';
import type { Catalogue, Declaration } from './live_server';
import { quoted, RecipeText, valueOf, type Change, type Outline, type Table } from './live_text';

// Finds a table again in the outline of the current text, in which it may have moved.
type Where = (outline: Outline) => Table;
export type Edit = (make: (text: RecipeText) => Change | null) => void;

const most_slots = 12; // rows and columns of a matrix that is drawn

export class Controls {
  readonly element = h('div', { class: 'controls' });
  files: string[] = [];
  private names = 0;
  private readonly opened = new Set<string>(); // owners whose other values are shown

  constructor(private readonly catalogue: Catalogue, private readonly edit: Edit) {}

  // Keeps the focus on the control of the same name.
  show(text: RecipeText): void {
    const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.name : undefined;
    this.names = 0;
    this.element.replaceChildren(this.matrix(text), this.stages(text), this.layouts(text));
    if (focused !== undefined) this.element.querySelector<HTMLElement>(`[data-name="${CSS.escape(focused)}"]`)?.focus();
  }

  private group(title: string, ...parts: (Node | null)[]): HTMLElement {
    return h('section', { class: 'group', 'aria-label': title }, h('h2', {}, title), ...parts);
  }

  private button(label: string, name: string, sign: string, change: (text: RecipeText) => Change | null, disabled = false): HTMLButtonElement {
    return h('button', { type: 'button', class: 'quiet', 'aria-label': label, title: label, 'data-name': name, disabled, click: () => this.edit(change) }, sign);
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
    return this.group('Matrix', select,
      generator ? this.parameters(generator.parameters, matrix, (outline) => outline.matrix, 'matrix', text) : null,
      drawn ? this.drawing(text) : null);
  }

  // Chooses a matrix file.
  take(path: string): void {
    this.edit((now) => now.replaceTable(now.outline.matrix, this.newMatrix(`path:${path}`)));
  }

  private newMatrix(choice: string): string[] {
    if (choice === 'rows') return ['[matrix]', 'rows = [', ...[0, 1, 2, 3, 4, 5].map((i) => `  "${[0, 1, 2, 3, 4, 5].map((j) => (Math.abs(i - j) <= 1 ? '1' : '.')).join(' ')}",`), ']'];
    const [key, ...rest] = choice.split(':');
    const name = rest.join(':');
    const lines = ['[matrix]', `${key} = ${quoted(name)}`];
    const generator = key === 'generate' ? this.catalogue.generators.find((one) => one.name === name) : undefined;
    return [...lines, ...requiredLines(generator?.parameters ?? [], 30)];
  }

  // A grid of switches: a click adds or removes an entry.
  private drawing(text: RecipeText): HTMLElement | null {
    const place = text.placeOf(text.outline.matrix, 'rows');
    if (!place) return null;
    const rows = [...text.text.slice(place.from, place.to).matchAll(/"([^"]*)"|'([^']*)'/g)].map((row) => (row[1] ?? row[2]).trim().split(/\s+/));
    const columns = rows[0]?.length ?? 0;
    if (rows.length === 0 || rows.length > most_slots || columns > most_slots || rows.some((row) => row.length !== columns)) return null;
    const write = (next: string[][]): void => this.edit((now) => {
      const at = now.placeOf(now.outline.matrix, 'rows');
      return at && { ...at, insert: `[\n${next.map((row) => `  "${row.join(' ')}",\n`).join('')}]` };
    });
    const grid = h('div', { class: 'drawing', role: 'group', 'aria-label': 'Entries of the matrix', style: `--columns: ${columns}` });
    rows.forEach((row, i) => row.forEach((entry, j) => {
      const there = entry !== '.';
      const cell = h('button', { type: 'button', 'aria-pressed': String(there), 'aria-label': `row ${i}, column ${j}`, 'data-name': `entry ${i} ${j}` });
      cell.addEventListener('click', () => write(rows.map((one, r) => one.map((old, c) => (r === i && c === j ? (there ? '.' : '1') : old)))));
      grid.append(cell);
    }));
    grid.addEventListener('keydown', (event) => this.moveInGrid(event, columns));
    const resized = (size: number): string[][] => Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => rows[i]?.[j] ?? (i === j ? '1' : '.')));
    const size = Math.max(rows.length, columns);
    return h('div', {}, grid, h('p', { class: 'hint' }, 'Click to add or remove entries. ',
      h('button', { type: 'button', class: 'quiet', 'aria-label': 'Smaller matrix', 'data-name': 'smaller', disabled: size <= 1, click: () => write(resized(size - 1)) }, '−'),
      ' ', h('button', { type: 'button', class: 'quiet', 'aria-label': 'Larger matrix', 'data-name': 'larger', disabled: size >= most_slots, click: () => write(resized(size + 1)) }, '+')));
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
    const button = this.button('Add the chosen stage', 'add button', 'Add', (now) => {
      const entry = this.catalogue.stages.find((one) => one.name === add.value);
      return entry ? now.addStage(['[[stage]]', `use = ${quoted(entry.name)}`, ...requiredLines(entry.parameters, 4)]) : null;
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
    const on = h('input', { type: 'checkbox', checked: table !== null, disabled: !movable, 'aria-label': `Use ${title}`, 'data-name': `${name} on` });
    on.addEventListener('change', () => this.edit((now) => {
      const at = now.stages()[i]?.head;
      return at === undefined ? null : on.checked ? now.switchOn(at) : now.switchOff(at);
    }));
    const exchange = (other: number) => (now: RecipeText): Change | null => {
      const [a, b] = [now.stages()[Math.min(i, other)], now.stages()[Math.max(i, other)]];
      return a && b ? now.exchange(a.head, b.head) : null;
    };
    const can = (other: number): boolean => movable && stages[other] !== undefined && text.movable(stages[other].head);
    const number = stages.slice(0, i).filter((one) => one.table !== null).length;
    const item = h('li', { class: table === null ? 'off' : '', draggable: movable ? 'true' : 'false' },
      h('div', { class: 'stage-head' }, on, h('span', { class: 'stage-name', title: entry?.summary ?? '' }, title),
        this.button(`Move ${title} up`, `${name} up`, '↑', exchange(i - 1), !can(i - 1)),
        this.button(`Move ${title} down`, `${name} down`, '↓', exchange(i + 1), !can(i + 1)),
        this.button(`Remove ${title}`, `${name} remove`, '×', (now) => (now.stages()[i] ? now.remove(now.stages()[i].head) : null), !movable)),
      table !== null && entry ? this.parameters(entry.parameters, table, (outline) => outline.stages[number], name, text) : null);
    this.dragging(item, i, stages.length);
    return item;
  }

  // A stage that is dropped on another one takes its place.
  private dragging(item: HTMLElement, i: number, count: number): void {
    const kind = 'application/x-spmv-stage';
    item.addEventListener('dragstart', (event) => event.dataTransfer?.setData(kind, String(i)));
    item.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes(kind)) event.preventDefault();
    });
    item.addEventListener('drop', (event) => {
      event.preventDefault();
      const from = Number(event.dataTransfer?.getData(kind) ?? i);
      if (!Number.isInteger(from) || from === i || from >= count) return;
      const step = from < i ? 1 : -1;
      for (let at = from; at !== i; at += step) {
        this.edit((now) => {
          const [a, b] = [now.stages()[Math.min(at, at + step)], now.stages()[Math.max(at, at + step)]];
          return a && b ? now.exchange(a.head, b.head) : null;
        });
      }
    });
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
        if (next) this.edit((now) => now.replaceTable(where(now.outline), [...head, `use = ${quoted(next.name)}`, ...requiredLines(next.parameters, 4)]));
      });
      return h('div', {}, typeof share === 'string' ? h('p', { class: 'hint' }, `share ${share}`) : null, select,
        entry && table.line > 0 ? this.parameters(entry.parameters, table, where, `layout ${i}`, text) : null);
    }));
  }

  // ---- Values.

  private parameters(declarations: Declaration[], table: Table, where: Where, owner: string, text: RecipeText): HTMLElement {
    const list = h('div', { class: 'values' });
    const others = h('div', { class: 'values' });
    for (const declaration of declarations) {
      const id = `value-${this.names++}`;
      const isSet = table.settings.some((one) => one.key === declaration.name);
      const set = (written: string): void => this.edit((now) => now.setValue(where(now.outline), declaration.name, written));
      const control = this.control(declaration, table, id, `${owner} ${declaration.name}`, set, text);
      const unit = declaration.unit ? ` (${declaration.unit})` : '';
      (isSet ? list : others).append(h('label', { for: id, title: `${declaration.help}; expected ${declaration.accepts}` }, declaration.name.replaceAll('_', ' ') + unit), control);
    }
    if (others.childElementCount === 0) return list;
    const more = h('details', { open: this.opened.has(owner) }, h('summary', { 'data-name': `${owner} more` }, list.childElementCount > 0 ? 'Other values' : 'Values'), others);
    more.addEventListener('toggle', () => (more.open ? this.opened.add(owner) : this.opened.delete(owner)));
    return h('div', {}, list, more);
  }

  private control(declaration: Declaration, table: Table, id: string, name: string, set: (written: string) => void, text: RecipeText): HTMLElement {
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
    if (declaration.type === 'integer' || declaration.type === 'real') return this.number(declaration, value, common, set);
    // Lists and other values that are not plain are shown as they are written.
    const written = place && found === null ? text.text.slice(place.from, place.to) : value === null ? '' : String(value);
    const input = h('input', { ...common, type: 'text', value: written, placeholder: declaration.optional ? 'not set' : '', spellcheck: 'false' });
    input.addEventListener('change', () => set(/^[[{]/.test(input.value) ? input.value : quoted(input.value)));
    return input;
  }

  private number(declaration: Declaration, value: boolean | number | string | null, common: { id: string; 'data-name': string }, set: (written: string) => void): HTMLElement {
    const whole = declaration.type === 'integer';
    const write = (written: string): void => {
      const is_number = written.trim() !== '' && Number.isFinite(Number(written));
      if (written.trim() !== '') set(!is_number ? quoted(written) : whole || /[.e]/i.test(written) ? written : `${written}.0`);
    };
    const input = h('input', { ...common, type: 'text', inputmode: whole ? 'numeric' : 'decimal', value: value === null ? '' : String(value), placeholder: declaration.optional ? 'not set' : '', size: 8 });
    input.addEventListener('change', () => write(input.value));
    const words = declaration.words.length > 0 ? h('datalist', { id: `${common.id}-words` }, ...declaration.words.map((word) => h('option', { value: word }))) : null;
    if (words) input.setAttribute('list', `${common.id}-words`);
    if (typeof value !== 'number') return h('span', { class: 'number' }, input, words);
    // The slider ends at a few times the value where the range is much wider.
    const low = declaration.minimum ?? Math.min(0, value);
    const wide = whole ? Math.max(64, 4 * value) : Math.max(1, 4 * value);
    const high = Math.max(value, declaration.maximum === null ? wide : Math.min(declaration.maximum, whole ? Math.max(wide, 256) : wide));
    const slider = h('input', { type: 'range', min: low, max: high, step: whole ? 1 : (high - low) / 100, 'aria-label': `${declaration.name.replaceAll('_', ' ')}, slider`, 'data-name': `${common['data-name']} slider` });
    slider.value = String(value);
    slider.addEventListener('input', () => (input.value = whole ? slider.value : String(Number(Number(slider.value).toPrecision(6)))));
    slider.addEventListener('change', () => write(input.value));
    return h('span', { class: 'number' }, slider, input, words);
  }
}

// Lines for the parameters that a recipe must set: the least number, at least `common`, or the first word.
function requiredLines(declarations: Declaration[], common: number): string[] {
  return declarations.filter((one) => one.default === null && !one.optional).map((one) => {
    const number = Math.min(one.maximum ?? Infinity, Math.max(one.minimum ?? common, common));
    const value = one.type === 'integer' ? String(number) : one.type === 'real' ? number.toFixed(1) : one.type === 'boolean' ? 'false' : quoted(one.words[0] ?? '');
    return `${one.name} = ${value}`;
  });
}


