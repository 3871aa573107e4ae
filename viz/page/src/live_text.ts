// Changes of a recipe's text. The server says where tables and values are; what a change does not name stays as it was written.

export interface Setting {
  key: string;
  line: number; // of the value, from 1
  column: number;
  value: boolean | number | string | null; // null: a list or table
}

export interface Table {
  line: number; // from 1; 0: the recipe has no such table
  settings: Setting[];
}

export interface Outline {
  recipe: Table;
  matrix: Table;
  layout: Table;
  kernel: Table;
  stages: Table[];
  layouts: Table[];
}

// Finds a table in an outline, also in that of a later text.
export type Where = (outline: Outline) => Table;

export interface Change {
  from: number;
  to: number;
  insert: string;
}

// Lines of a stage that is switched off begin with this.
export const off_mark = '#off ';
const off_head = /^#off \s*\[\[\s*stage\s*\]\]/;
const stage_head = /^\s*\[\[\s*stage\s*\]\]/;

export interface Block {
  first: number; // line, from 0
  end: number; // the line after the last
}

export class RecipeText {
  readonly lines: string[];
  private readonly starts: number[] = [];

  constructor(readonly text: string, readonly outline: Outline) {
    this.lines = text.split('\n');
    let start = 0;
    for (const line of this.lines) {
      this.starts.push(start);
      start += line.length + 1;
    }
  }

  private offset(line: number): number {
    return line < this.starts.length ? this.starts[line] : this.text.length;
  }

  private heads(): number[] {
    const { recipe, matrix, layout, kernel, stages, layouts } = this.outline;
    const lines = [recipe, matrix, layout, kernel, ...stages, ...layouts].map((table) => table.line - 1).filter((line) => line >= 0);
    this.lines.forEach((line, i) => {
      if (off_head.test(line)) lines.push(i);
    });
    return lines.sort((a, b) => a - b);
  }

  // The lines of a table, with the comments above its head, up to the next table.
  block(head: number): Block {
    const first = this.firstOf(head);
    const next = this.heads().find((line) => line > head);
    return { first, end: next === undefined ? this.lines.length : this.firstOf(next) };
  }

  private firstOf(head: number): number {
    let first = head;
    while (first > 0 && this.lines[first - 1].startsWith('#') && !this.lines[first - 1].startsWith(off_mark)) --first;
    return first;
  }

  // The stages in the order of the text, and those that are switched off.
  stages(): { head: number; table: Table | null; use: string }[] {
    const on = this.outline.stages.map((table) => ({ head: table.line - 1, table, use: String(valueOf(table, 'use') ?? valueOf(table, 'id') ?? '?') }));
    const off: { head: number; table: null; use: string }[] = [];
    this.lines.forEach((line, i) => {
      if (!off_head.test(line)) return;
      const { end } = this.block(i);
      const use = this.lines.slice(i, end).map((one) => /^#off \s*use\s*=\s*["']([^"']*)["']/.exec(one)?.[1]).find(Boolean);
      off.push({ head: i, table: null, use: use ?? '?' });
    });
    return [...on, ...off].sort((a, b) => a.head - b.head);
  }

  // True if the stage is a table of its own in this text.
  movable(head: number): boolean {
    return head >= 0 && (stage_head.test(this.lines[head] ?? '') || off_head.test(this.lines[head] ?? ''));
  }

  private cut(block: Block): string {
    return this.lines.slice(block.first, block.end).join('\n');
  }

  // Moves a stage to the place of another one; those between them move up or down.
  move(from: number, to: number): Change | null {
    const heads = this.stages().map((stage) => stage.head);
    if (from === to || heads[from] === undefined || heads[to] === undefined) return null;
    const places = heads.slice(Math.min(from, to), Math.max(from, to) + 1);
    if (!places.every((head) => this.movable(head))) return null;
    const blocks = places.map((head) => this.block(head));
    const order = from < to ? [...blocks.slice(1), blocks[0]] : [blocks[blocks.length - 1], ...blocks.slice(0, -1)];
    const [first, end] = [blocks[0].first, blocks[blocks.length - 1].end];
    // What is between two blocks stays there, and every block ends with an empty line as before.
    const insert = order.map((block, i) => {
      const between = i === 0 ? [] : this.lines.slice(blocks[i - 1].end, blocks[i].first);
      const text = this.cut(block);
      return `${between.map((line) => `${line}\n`).join('')}${text.endsWith('\n') || i === order.length - 1 ? text : `${text}\n`}\n`;
    }).join('');
    const last = this.offset(end);
    return { from: this.offset(first), to: last, insert: last === this.text.length ? insert.replace(/\n+$/, '\n') : insert };
  }

  switchOff(head: number): Change {
    const { end } = this.block(head);
    let last = end - 1;
    while (last > head && this.lines[last].trim() === '') --last;
    const insert = this.lines.slice(head, last + 1).map((line) => off_mark + line).join('\n');
    return { from: this.offset(head), to: this.offset(last) + this.lines[last].length, insert };
  }

  switchOn(head: number): Change {
    let last = head;
    while (last + 1 < this.lines.length && this.lines[last + 1].startsWith(off_mark) && !off_head.test(this.lines[last + 1])) ++last;
    const insert = this.lines.slice(head, last + 1).map((line) => line.slice(off_mark.length)).join('\n');
    return { from: this.offset(head), to: this.offset(last) + this.lines[last].length, insert };
  }

  remove(head: number): Change {
    const { first, end } = this.block(head);
    return { from: this.offset(first), to: this.offset(end), insert: '' };
  }

  // A new stage after the last one, or before the layout.
  addStage(lines: string[]): Change {
    const stages = this.stages();
    const layouts = [this.outline.layout, ...this.outline.layouts].map((table) => table.line - 1).filter((line) => line >= 0);
    const at = stages.length > 0 ? this.block(stages[stages.length - 1].head).end : layouts.length > 0 ? this.firstOf(Math.min(...layouts)) : this.lines.length;
    const from = this.offset(at);
    const before = from > 0 && !this.text.slice(0, from).endsWith('\n\n') ? (this.text[from - 1] === '\n' ? '\n' : '\n\n') : '';
    return { from, to: from, insert: `${before}${lines.join('\n')}\n\n` };
  }

  // The table of a value that is named as for --set: "stage.row_sort.window", "layout.slice_height"; null if there is none.
  tableOf(path: string): Table | null {
    const [kind, name] = path.split('.');
    const { matrix, layout, layouts, stages } = this.outline;
    if (kind === 'matrix') return matrix;
    if (kind === 'layout') return layouts.length > 0 ? layouts.find((one) => valueOf(one, 'share') === name) ?? null : layout;
    return stages.find((one) => valueOf(one, 'id') === name) ?? stages.find((one) => valueOf(one, 'use') === name) ?? null;
  }

  // The place of a value as it is written; null if the table does not set the key.
  placeOf(table: Table, key: string): { from: number; to: number } | null {
    const setting = table.settings.find((one) => one.key === key);
    if (!setting || setting.line === 0) return null;
    const line = this.lines[setting.line - 1] ?? '';
    const from = this.offset(setting.line - 1) + [...line].slice(0, setting.column - 1).join('').length;
    return { from, to: from + lengthOfValue(this.text.slice(from)) };
  }

  // Sets a value, in a new line after the table's last if the key is new.
  setValue(table: Table, key: string, written: string): Change {
    const place = this.placeOf(table, key);
    if (place) return { ...place, insert: written };
    let after = table.line - 1;
    for (const setting of table.settings) {
      const last = this.placeOf(table, setting.key);
      if (!last) continue;
      const line = this.text.slice(0, last.to).split('\n').length - 1;
      if (line > after) after = line;
    }
    const at = this.offset(after) + this.lines[after].length;
    return { from: at, to: at, insert: `\n${key} = ${written}` };
  }

  // Sets a value, and returns the outline of the text with it, so that a moving slider needs no checks.
  setPlainValue(where: Where, key: string, value: number, written: string): { change: Change; outline: Outline } {
    const change = this.setValue(where(this.outline), key, written);
    const outline = structuredClone(this.outline);
    const { settings } = where(outline);
    const setting = settings.find((one) => one.key === key);
    if (setting) {
      setting.value = value;
      return { change, outline };
    }
    const line = this.text.slice(0, change.from).split('\n').length + 1;
    const { recipe, matrix, layout, kernel, stages, layouts } = outline;
    for (const table of [recipe, matrix, layout, kernel, ...stages, ...layouts]) {
      if (table.line >= line) ++table.line;
      for (const one of table.settings) if (one.line >= line) ++one.line;
    }
    settings.push({ key, line, column: key.length + 4, value });
    return { change, outline };
  }

  // Replaces a table of one of these names by new lines, or adds it: [matrix] before the first stage or layout.
  replaceTable(table: Table, lines: string[]): Change {
    if (table.line > 0) {
      const { end } = this.block(table.line - 1);
      let last = end - 1;
      while (last > table.line - 1 && this.lines[last].trim() === '') --last;
      return { from: this.offset(table.line - 1), to: this.offset(last) + this.lines[last].length, insert: lines.join('\n') };
    }
    const next = this.heads().find((line) => line !== this.outline.recipe.line - 1);
    const from = next === undefined ? this.text.length : this.offset(this.firstOf(next));
    return { from, to: from, insert: `${lines.join('\n')}\n\n` };
  }
}

export function valueOf(table: Table, key: string): boolean | number | string | null {
  return table.settings.find((one) => one.key === key)?.value ?? null;
}

// The length of the TOML value at the beginning of a text: a string, a list, a table, or a word.
function lengthOfValue(text: string): number {
  const string = /^("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')/.exec(text);
  if (string) return string[0].length;
  if (text[0] !== '[' && text[0] !== '{') return /^[^\s,#\]}]*/.exec(text)?.[0].length ?? 0;
  let depth = 0;
  for (let i = 0; i < text.length;) {
    if (text[i] === '"' || text[i] === "'") {
      i += Math.max(1, lengthOfValue(text.slice(i)));
      continue;
    }
    if (text[i] === '#') {
      while (i < text.length && text[i] !== '\n') ++i;
      continue;
    }
    if (text[i] === '[' || text[i] === '{') ++depth;
    if ((text[i] === ']' || text[i] === '}') && --depth === 0) return i + 1;
    ++i;
  }
  return text.length;
}

export const quoted = (text: string): string => JSON.stringify(text);
