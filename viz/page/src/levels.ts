// The levels of the graph of a square matrix: the number of edges from the first row of each component, as Cuthill-McKee counts them.
import type { Stage } from './bins';
import { css, oklch, palette } from './colours';
import { axes, clipped, type View } from './paint';

// Rows of one level, in an order by levels; their nonzeros are in the columns from `first` to `last`.
export interface Band {
  begin: number;
  end: number;
  first: number;
  last: number;
}

// The rows that share a nonzero with each row: starts and numbers.
function neighboursOf({ rows, finest: { starts, columns } }: Stage): { starts: Int32Array; rows: Int32Array } {
  const ends = new Int32Array(rows + 1);
  const each = (visit: (a: number, b: number) => void): void => {
    for (let row = 0; row < rows; ++row) {
      for (let i = starts[row]; i < starts[row + 1]; ++i) {
        if (columns[i] === row) continue;
        visit(row, columns[i]);
        visit(columns[i], row); // twice if the matrix has both, which does no harm
      }
    }
  };
  each((a) => ++ends[a + 1]);
  for (let row = 0; row < rows; ++row) ends[row + 1] += ends[row];
  const next = ends.slice(0, rows);
  const list = new Int32Array(ends[rows]);
  each((a, b) => (list[next[a]++] = b));
  return { starts: ends, rows: list };
}

// `backwards`: from the last row of each component.
export function levelsOf(stage: Stage, backwards = false): Int32Array {
  const { rows } = stage;
  const near = neighboursOf(stage);
  const level = new Int32Array(rows).fill(-1);
  const queue = new Int32Array(rows);
  let [first, end] = [0, 0];
  for (let i = 0; i < rows; ++i) {
    const root = backwards ? rows - 1 - i : i;
    if (level[root] >= 0) continue;
    level[root] = 0;
    queue[end++] = root;
    for (; first < end; ++first) {
      for (let k = near.starts[queue[first]]; k < near.starts[queue[first] + 1]; ++k) {
        if (level[near.rows[k]] >= 0) continue;
        level[near.rows[k]] = level[queue[first]] + 1;
        queue[end++] = near.rows[k];
      }
    }
  }
  return level;
}

export const canHaveLevels = (stage: Stage): boolean => stage.showsEntries && stage.rows === stage.columns && stage.facts.tiles === 0;

function bandsOf(level: Int32Array): Band[] | null {
  const bands: Band[] = [];
  for (let row = 0; row < level.length; ++row) {
    const before = row === 0 ? -1 : level[row - 1];
    if (row > 0 && level[row] === before) {
      bands[bands.length - 1].end = row + 1;
      continue;
    }
    if (row > 0 && level[row] !== before + 1 && level[row] !== 0) return null;
    bands.push({ begin: row, end: row + 1, first: row, last: row + 1 });
  }
  bands.forEach((band, i) => {
    const is_joined = (other: number): boolean => level[bands[other].begin] === level[band.begin] + Math.sign(other - i);
    band.first = i > 0 && is_joined(i - 1) ? bands[i - 1].begin : band.begin;
    band.last = i + 1 < bands.length && is_joined(i + 1) ? bands[i + 1].end : band.end;
  });
  return bands;
}

const known = new WeakMap<object, Band[] | null>();

// The levels as bands of rows, from the first or from the last row; null if the rows are not in an order by levels.
export function levelBands(stage: Stage): Band[] | null {
  if (!canHaveLevels(stage)) return null;
  const { finest } = stage;
  if (!known.has(finest)) {
    const { rows } = stage;
    const turned = bandsOf(levelsOf(stage, true).reverse())?.map((band) => ({ begin: rows - band.end, end: rows - band.begin, first: rows - band.last, last: rows - band.first }));
    known.set(finest, bandsOf(levelsOf(stage)) ?? turned ?? null);
  }
  return known.get(finest) ?? null;
}

// Each level is a band over the columns of its own and the two adjacent levels. Returns the number of levels; null if there are none.
export function drawLevels(context: CanvasRenderingContext2D, stage: Stage, view: View): number | null {
  const bands = levelBands(stage);
  if (!bands) return null;
  const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
  clipped(context, view, () => {
    context.translate(view.left + view.x, view.top + view.y);
    bands.forEach(({ begin, end, first, last }, i) => {
      context.fillStyle = css(oklch(palette().dark ? 0.75 : 0.7, 0.12, palette().hues[2 + (i % 2)]), 0.3);
      context.fillRect(first * perColumn, begin * perRow, (last - first) * perColumn, (end - begin) * perRow);
    });
  });
  return bands.length;
}
