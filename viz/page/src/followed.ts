// Nonzeros that are followed through all stages, each with a colour and the numbers of its row and column in the input.
import { between, type Pattern, type Stage } from './bins';
import { palette, series } from './colours';
import { counted } from './dom';
import { axes, clipped, type View } from './paint';

// In the input.
export interface Place {
  row: number;
  column: number;
}

const most_followed = 6;
const radius = 6;

// Follows the nonzero, or no longer; the oldest one makes room.
export function toggled(list: Place[], { row, column }: Place): Place[] {
  const rest = list.filter((one) => one.row !== row || one.column !== column);
  return rest.length < list.length ? rest : [...list, { row, column }].slice(-most_followed);
}

// Where the nonzero is drawn; null if the page does not store it.
export function drawnPlace(pattern: Pattern, stage: Stage, { row, column }: Place): Place | null {
  const [input] = pattern.stages;
  const now = { row: between(input, stage, 'originalRows', row), column: between(input, stage, 'originalColumns', column) };
  const drawn = now.row === null || now.column === null ? null : stage.drawnRow(now.row, now.column);
  if (drawn !== null && now.column !== null) return { row: drawn, column: now.column };
  const { sample } = pattern;
  const i = sample ? sample.rows.findIndex((one, k) => one === row && sample.columns[k] === column) : -1;
  return i < 0 || !stage.sample ? null : { row: stage.sample.rows[i], column: stage.sample.columns[i] };
}

// `share`: of the way from one stage to the other.
export function drawFollowed(context: CanvasRenderingContext2D, list: Place[], pattern: Pattern, from: Stage, to: Stage, share: number, view: View, font: string): void {
  const { perRow, perColumn } = axes(view, to.rows, to.columns);
  const eased = share * share * (3 - 2 * share);
  clipped(context, view, () => {
    list.forEach((one, i) => {
      const [a, b] = [drawnPlace(pattern, from, one), drawnPlace(pattern, to, one)];
      if (!a || !b) return;
      const x = view.left + view.x + (a.column + (b.column - a.column) * eased + 0.5) * perColumn;
      const y = view.top + view.y + (a.row + (b.row - a.row) * eased + 0.5) * perRow;
      const size = Math.max(radius, Math.min(perRow, perColumn) * 0.62);
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.lineWidth = 3;
      context.strokeStyle = series(i + 1);
      context.stroke();
      const words = `${counted(one.row)}, ${counted(one.column)}`;
      context.font = font;
      context.textBaseline = 'middle';
      const is_right = x + size + 6 + context.measureText(words).width > view.left + view.width;
      context.textAlign = is_right ? 'right' : 'left';
      context.lineWidth = 4;
      context.lineJoin = 'round';
      context.strokeStyle = palette().dark ? '#0f1217' : '#ffffff';
      const at = x + (is_right ? -1 : 1) * (size + 5);
      context.strokeText(words, at, y);
      context.fillStyle = series(i + 1);
      context.fillText(words, at, y);
    });
  });
}
