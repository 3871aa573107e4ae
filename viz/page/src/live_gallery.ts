// Where to begin: matrices with small pictures of their patterns, which the server makes when they are first shown, lessons and
// recipes, and the matrix files of the folder.
import { countAt, readLevel } from './bins';
import type { PageDocument } from './document';
import { h, plural } from './dom';
import { runBeside, type LiveFile } from './live_server';

interface Example {
  title: string;
  lines: string[]; // of the table [matrix]
}

const side = 120; // pixels of a picture

// Each has up to some ten thousand nonzeros, so that a recipe runs at once.
const examples: Example[] = [
  { title: 'grid, row by row', lines: ['generate = "laplace2d"', 'nx = 40'] },
  { title: 'grid, scrambled', lines: ['generate = "laplace2d"', 'nx = 40', 'scramble = 1'] },
  { title: 'triangles, scrambled', lines: ['generate = "delaunay"', 'nx = 40', 'scramble = 1'] },
  { title: 'elasticity', lines: ['generate = "elasticity3d"', 'nx = 6'] },
  { title: 'polyhedral cells', lines: ['generate = "finite_volume"', 'nx = 10', 'numbering = "scrambled"'] },
  { title: 'skewed graph', lines: ['generate = "rmat"', 'scale = 10'] },
  { title: 'uneven rows', lines: ['generate = "random_uniform"', 'rows = 1000', 'columns = 1000', 'shortest = 1', 'longest = 24'] },
  { title: 'band with gaps', lines: ['generate = "banded"', 'rows = 1000', 'bandwidth = 40', 'fill = 0.3'] },
];

function paint(canvas: HTMLCanvasElement, parts: Uint8Array[]): void {
  const { runs } = JSON.parse(new TextDecoder().decode(parts[1])) as PageDocument;
  const { pattern, report } = runs[0];
  const context = canvas.getContext('2d');
  if (!pattern || !context) return;
  const [{ bins, planes }] = pattern.stages;
  const { rows, columns } = report.matrix;
  const level = readLevel(parts[2 + bins.section], bins, planes.length, rows, columns);
  const sums = new Float32Array(side * side);
  for (let row = 0; row < level.rowBins; ++row) {
    const y = Math.floor((row * side) / level.rowBins);
    for (let bin = level.starts[row]; bin < level.starts[row + 1]; ++bin) {
      sums[y * side + Math.floor((level.columns[bin] * side) / level.columnBins)] += countAt(level, bin);
    }
  }
  const most = sums.reduce((a, b) => Math.max(a, b), 1);
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
  sums.forEach((sum, i) => {
    if (sum === 0) return;
    context.globalAlpha = 0.35 + (0.65 * Math.log1p(sum)) / Math.log1p(most);
    context.fillRect(i % side, Math.floor(i / side), 1, 1);
  });
}

function titleOfPath(path: string): HTMLElement[] {
  const end = path.lastIndexOf('/') + 1;
  return [h('b', {}, path.slice(end)), h('span', { class: 'muted' }, path.slice(0, end))];
}

export interface Begins {
  matrix(lines: string[]): void; // of the table
  draw(): void; // a small matrix
  file(path: string): void; // of a matrix
  open(file: LiveFile): void; // a lesson or a recipe
}

const most_files = 24; // that are shown at once

export class StartPage {
  readonly element = h('dialog', { class: 'start', 'aria-label': 'Where to begin' });
  private readonly thumbnails = h('div', { class: 'thumbnails' });
  private readonly files = h('section', {});
  private is_made = false;

  constructor(given: LiveFile[], titleOf: (file: LiveFile) => string, private readonly begins: Begins) {
    for (const { title, lines } of examples) {
      this.thumbnails.append(this.entry(`example ${title}`, () => begins.matrix(['[matrix]', ...lines]),
        h('canvas', { width: side, height: side, 'aria-hidden': 'true' }), h('span', {}, title)));
    }
    const list = (title: string, files: LiveFile[]): HTMLElement | null => files.length === 0 ? null : h('section', {}, h('h2', {}, title),
      h('div', { class: 'entries' }, ...files.map((one) => this.entry(`open ${one.file}`, () => begins.open(one), titleOf(one)))));
    const lessons = given.filter((one) => one.lesson !== '');
    const recipes = given.filter((one) => one.lesson === '');
    const parts = [
      h('section', {}, h('h2', {}, 'Matrices'), this.thumbnails, h('div', { class: 'entries' }, this.entry('draw a matrix', () => begins.draw(), 'Draw a small matrix'))),
      list('Lessons', lessons), list('Recipes', recipes.length > 1 || lessons.length > 0 ? recipes : []), this.files,
    ];
    this.element.append(h('header', {}, h('h1', {}, 'Where to begin'), h('button', { type: 'button', 'data-name': 'close', click: () => this.element.close() }, 'Close')),
      ...parts.filter((part) => part !== null));
  }

  private entry(name: string, act: () => void, ...content: (Node | string)[]): HTMLButtonElement {
    return h('button', { type: 'button', 'data-name': name, click: () => {
      this.element.close();
      act();
    } }, ...content);
  }

  // `files`: the matrix files of the folder.
  show(files: string[]): void {
    const entries = files.map((path) => this.entry(`file ${path}`, () => this.begins.file(path), ...titleOfPath(path)));
    this.files.replaceChildren(...(files.length === 0 ? [] : [h('h2', {}, 'Matrix files of this folder'), h('div', { class: 'entries' }, ...entries.slice(0, most_files)),
      files.length > most_files ? h('details', {}, h('summary', {}, `${plural(files.length - most_files, 'more file')}`), h('div', { class: 'entries' }, ...entries.slice(most_files))) : '']));
    this.element.showModal();
    if (!this.is_made) void this.make();
  }

  private async make(): Promise<void> {
    this.is_made = true;
    const canvases = [...this.thumbnails.querySelectorAll('canvas')];
    for (const [i, { lines }] of examples.entries()) {
      const ran = await runBeside(['[matrix]', ...lines, '', '[layout]', 'use = "csr"', ''].join('\n')).catch(() => null);
      if (ran?.parts) paint(canvases[i], ran.parts);
      this.thumbnails.dataset.made = String(i + 1);
    }
  }
}
