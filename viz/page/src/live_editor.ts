// The text of the recipe in an editor: completion and errors come from the server's catalogue and checks.
import { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap, startCompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, redo, redoDepth, undo, undoDepth } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { EditorState, StateEffect, StateField, Transaction, type Extension, type Range } from '@codemirror/state';
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, WidgetType } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { h } from './dom';
import type { Catalogue, Declaration, Problem } from './live_server';
import type { Change } from './live_text';

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.string, tags.atom, tags.number], color: 'var(--good)' },
  { tag: tags.bracket, color: 'var(--muted)' },
  { tag: [tags.propertyName, tags.keyword], color: 'var(--accent)' },
]);

// The table at a position, and the stage, layout or generator that it uses.
function tableAt(state: EditorState, position: number): { name: string; use: string } {
  let name = '';
  const last = state.doc.lineAt(position).number;
  let first = last;
  for (; first >= 1; --first) {
    const head = /^\s*\[{1,2}\s*([\w.]+)\s*\]{1,2}\s*(#.*)?$/.exec(state.doc.line(first).text);
    if (head) {
      name = head[1];
      break;
    }
  }
  let use = '';
  for (let i = first + 1; i <= state.doc.lines; ++i) {
    const { text } = state.doc.line(i);
    if (/^\s*\[/.test(text)) break;
    use = /^\s*(?:use|generate)\s*=\s*["']([^"']*)["']/.exec(text)?.[1] ?? use;
  }
  return { name, use };
}

export class RecipeCompletion {
  files: string[] = [];

  constructor(private readonly catalogue: Catalogue) {}

  private declarations(table: string, use: string): Declaration[] {
    const { stages, layouts, generators, recipe, matrix } = this.catalogue;
    const find = (list: { name: string; parameters: Declaration[] }[]): Declaration[] => list.find((one) => one.name === use)?.parameters ?? [];
    if (table === 'stage') return find(stages);
    if (table === 'layout') return find(layouts);
    if (table === 'recipe') return recipe;
    return table === 'matrix' ? [...matrix, ...find(generators)] : [];
  }

  private valuesOf(table: string, use: string, key: string): Completion[] {
    const named = (list: { name: string; summary: string }[]): Completion[] => list.map((one) => ({ label: quotedWord(one.name), detail: one.summary, type: 'constant' }));
    if (table === 'stage' && key === 'use') return named(this.catalogue.stages);
    if (table === 'layout' && key === 'use') return named(this.catalogue.layouts);
    if (table === 'matrix' && key === 'generate') return named(this.catalogue.generators);
    if (table === 'matrix' && key === 'path') return this.files.map((file) => ({ label: quotedWord(file), type: 'text' }));
    if (table === 'kernel') return this.catalogue.layouts.flatMap((layout) => named(layout.kernels.filter((kernel) => kernel.backend === key)));
    const declaration = this.declarations(table, use).find((one) => one.name === key);
    if (!declaration) return [];
    const words = declaration.words.map((word) => ({ label: quotedWord(word), type: 'constant' }));
    if (declaration.type === 'boolean') return ['true', 'false'].map((label) => ({ label, type: 'keyword' }));
    return declaration.default === null || words.some((word) => word.label === JSON.stringify(declaration.default))
      ? words : [{ label: JSON.stringify(declaration.default), detail: 'the default', type: 'constant' }, ...words];
  }

  readonly complete = (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const { name, use } = tableAt(context.state, context.pos);
    if (before.trimStart().startsWith('#')) return null;
    const value = /^\s*([\w.]+)\s*=\s*(["']?[^"']*)$/.exec(before);
    if (value) {
      const key = value[1].replace(/^kernel\./, '');
      const options = this.valuesOf(value[1].startsWith('kernel.') ? 'kernel' : name, use, key);
      const after = /^["']/.exec(line.text.slice(context.pos - line.from)) ? 1 : 0; // a quote that the editor has closed
      return options.length === 0 ? null : { from: context.pos - value[2].length, to: context.pos + after, options, validFor: /^["']?[\w./-]*$/ };
    }
    const word = /^\s*(\[{0,2}[\w]*)$/.exec(before);
    if (!word || (word[1] === '' && !context.explicit)) return null;
    const from = context.pos - word[1].length;
    const heads = ['[recipe]', '[matrix]', '[[stage]]', '[layout]', '[[layout]]', '[kernel]'].map((label) => ({ label, type: 'keyword' }));
    if (word[1].startsWith('[')) return { from, options: heads, validFor: /^\[*\w*$/ };
    const keys: Completion[] = this.declarations(name, use).map((one) => ({
      label: one.name, type: 'property', detail: one.help, info: `${one.help}; ${one.accepts}${one.default === null ? '' : `. Default: ${String(one.default)}`}`, apply: `${one.name} = `,
    }));
    const own: [string, string][] = name === 'stage' ? [['use', 'name of the stage'], ['id', 'another name for this stage']]
      : name === 'layout' ? [['use', 'name of the layout']] : name === 'kernel' ? ['kokkos', 'cuda', 'cusparse', 'eigen', 'cpu'].map((one) => [one, 'kernel of this backend']) : [];
    for (const [label, detail] of own) keys.push({ label, detail, type: 'property', apply: `${label} = ` });
    return { from, options: [...keys, ...(context.explicit && word[1] === '' ? heads : [])], validFor: /^\w*$/ };
  };
}

const quotedWord = (word: string): string => JSON.stringify(word);

// The message of an error, below its line.
class Message extends WidgetType {
  constructor(private readonly text: string, private readonly line: number) {
    super();
  }

  toDOM(): HTMLElement {
    return h('div', { class: 'cm-problem', 'data-line': this.line }, this.text);
  }

  eq(other: Message): boolean {
    return other.text === this.text && other.line === this.line;
  }
}

const show_marks = StateEffect.define<Range<Decoration>[]>();
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (old, transaction) => {
    for (const effect of transaction.effects) if (effect.is(show_marks)) return Decoration.set(effect.value, true);
    return old.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class RecipeEditor {
  readonly view: EditorView;
  private readonly extensions: Extension[];
  private is_own = false; // a change that the page makes

  // `onChange`: after a change of the text; `is_own`: not in the editor itself.
  constructor(completion: RecipeCompletion, onChange: (is_own: boolean) => void) {
    this.extensions = [
      lineNumbers(), history(), drawSelection(), highlightActiveLine(), closeBrackets(), marks, EditorView.lineWrapping, StreamLanguage.define(toml), syntaxHighlighting(colours),
      autocompletion({ override: [completion.complete] }),
      // Tab leaves the editor, as everywhere on the page.
      keymap.of([{ key: 'Ctrl-Space', run: startCompletion }, ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({ 'aria-label': 'The recipe' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(this.is_own);
      }),
    ];
    this.view = new EditorView();
  }

  // Shows the text of another file, without anything to undo.
  begin(text: string): void {
    this.view.setState(EditorState.create({ doc: text, extensions: this.extensions }));
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  private own(act: () => void): void {
    this.is_own = true;
    try {
      act();
    } finally {
      this.is_own = false;
    }
  }

  // `is_recorded`: undo takes the change back.
  change(change: Change, is_recorded = true): void {
    this.own(() => this.view.dispatch({ changes: change, userEvent: 'input', annotations: Transaction.addToHistory.of(is_recorded) }));
  }

  // Makes the changes since the text was `before`, which were not recorded, one step of undo.
  recordSince(before: string): void {
    const now = this.text;
    let begin = 0;
    while (begin < Math.min(before.length, now.length) && before[begin] === now[begin]) ++begin;
    let end = 0;
    while (end < Math.min(before.length, now.length) - begin && before[before.length - 1 - end] === now[now.length - 1 - end]) ++end;
    if (before === now) return;
    this.change({ from: begin, to: now.length - end, insert: before.slice(begin, before.length - end) }, false);
    this.change({ from: begin, to: before.length - end, insert: now.slice(begin, now.length - end) });
  }

  replaceAll(text: string): void {
    this.change({ from: 0, to: this.view.state.doc.length, insert: text });
  }

  undo(): void {
    this.own(() => undo(this.view));
  }

  redo(): void {
    this.own(() => redo(this.view));
  }

  get depths(): [number, number] {
    return [undoDepth(this.view.state), redoDepth(this.view.state)];
  }

  // Underlines the word or value at each error, with the message below its line.
  show(problems: Problem[]): void {
    const { doc } = this.view.state;
    const list = problems.filter((one) => one.line >= 1 && one.line <= doc.lines).flatMap((one): Range<Decoration>[] => {
      const line = doc.line(one.line);
      const from = Math.min(line.from + [...line.text].slice(0, one.column - 1).join('').length, line.to);
      const length = /^("[^"]*"?|[\w.]+|\[+[^\]]*\]*|.)/.exec(doc.sliceString(from, line.to))?.[0].length ?? 0;
      const message = Decoration.widget({ widget: new Message(one.message, one.line), block: true, side: 1 }).range(line.to);
      return length === 0 ? [message] : [Decoration.mark({ class: 'cm-wrong' }).range(from, from + length), message];
    });
    this.view.dispatch({ effects: show_marks.of(list) });
    this.showMessage();
  }

  // Scrolls until the message below the line of the caret is in view.
  private showMessage(): void {
    const line = this.view.state.doc.lineAt(this.view.state.selection.main.head).number;
    this.view.requestMeasure({
      key: 'message',
      read: ({ scrollDOM, contentDOM }) => {
        const below = [...contentDOM.querySelectorAll(`.cm-problem[data-line="${line}"]`)].map((one) => one.getBoundingClientRect().bottom);
        return Math.max(0, ...below) - scrollDOM.getBoundingClientRect().top - scrollDOM.clientHeight;
      },
      write: (hidden, { scrollDOM }) => {
        if (hidden > 0) scrollDOM.scrollTop += hidden;
      },
    });
  }

  goTo(problem: Problem): void {
    const { doc } = this.view.state;
    const line = doc.line(Math.max(1, Math.min(problem.line, doc.lines)));
    const at = Math.min(line.from + Math.max(0, problem.column - 1), line.to);
    this.view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    this.showMessage();
    this.view.focus();
  }
}
