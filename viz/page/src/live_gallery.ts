// Matrices to begin with, each with a small picture of its pattern, which the server makes when they are first shown.
import { countAt, readLevel } from './bins';
import type { PageDocument } from './document';
import { h } from './dom';
import { runBeside } from './live_server';

interface Example {
  title: string;
  lines: string[]; // of the table [matrix]
}

const side = 84; // pixels of a picture

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

// One element for the page, so that the pictures are made once. `choose` is called with the lines of the table.
export class Gallery {
  readonly element = h('details', { class: 'gallery' }, h('summary', { 'data-name': 'matrix examples' }, 'Examples'));
  private is_made = false;

  constructor(choose: (lines: string[]) => void) {
    const list = h('div', { class: 'thumbnails' });
    for (const { title, lines } of examples) {
      list.append(h('button', { type: 'button', 'data-name': `example ${title}`, click: () => choose(['[matrix]', ...lines]) },
        h('canvas', { width: side, height: side, 'aria-hidden': 'true' }), h('span', {}, title)));
    }
    this.element.append(list);
    this.element.addEventListener('toggle', () => {
      if (this.element.open && !this.is_made) void this.make(list);
    });
  }

  private async make(list: HTMLElement): Promise<void> {
    this.is_made = true;
    const canvases = [...list.querySelectorAll('canvas')];
    for (const [i, { lines }] of examples.entries()) {
      const ran = await runBeside(['[matrix]', ...lines, '', '[layout]', 'use = "csr"', ''].join('\n')).catch(() => null);
      if (ran?.parts) paint(canvases[i], ran.parts);
      list.dataset.made = String(i + 1);
    }
  }
}
