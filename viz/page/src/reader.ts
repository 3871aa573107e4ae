// What lies at a place of the pattern: under the pointer, at a cursor that keys move, or where the storage map points.
import { between, binAt, countAt, type Level, originalOf, type Pattern, pieceAt, sizeOf, type Stage } from './bins';
import { counted, exact, h, plural } from './dom';
import { axes, rowBinOf } from './paint';
import type { Mark, Pane } from './pane';
import type { Place } from './storage';
import type { Viewer } from './viewer';

// The next bin that holds something, along a row or a column of bins; where there is none, the same place.
function nextStored(level: Level, from: { row: number; column: number }, [down, right]: [number, number]): { row: number; column: number } {
  if (down !== 0) {
    for (let row = from.row + down; row >= 0 && row < level.rowBins; row += down) {
      if (binAt(level, row, from.column) >= 0) return { row, column: from.column };
    }
    return from;
  }
  const columns = level.columns.subarray(level.starts[from.row], level.starts[from.row + 1]);
  const next = right > 0 ? columns.find((one) => one > from.column) : columns.filter((one) => one < from.column).at(-1);
  return { row: from.row, column: next ?? from.column };
}

const range = (name: string, from: number, length: number): [string, string] =>
  (length === 1 ? [name, counted(from)] : [`${name}s`, `${counted(from)} to ${counted(from + length - 1)}`]);

// The level that is on show, of this stage: after another one was chosen, it is not drawn yet.
function levelOn(pane: Pane, stage: Stage): Level {
  const shown = pane.painted?.level;
  return shown === undefined ? stage.finest : stage.levels.includes(shown) ? shown : stage.level(sizeOf(shown));
}

export class Reader {
  readonly element = h('dl', { class: 'readout' });
  // What is at the cursor, in one line, for who does not see it.
  readonly spoken = h('p', { class: 'spoken', 'aria-live': 'polite' });
  mark: Mark | null = null;
  // The storage map, where there is one, hears of what is pointed at.
  onPoint: (track: number, place: Place | null) => void = () => undefined;
  private cursor: { pane: Pane; row: number; column: number } | null = null; // a place in the picture

  constructor(private readonly viewer: Viewer) {}

  listen(pane: Pane): void {
    const hover = (event: MouseEvent): void => {
      if (this.cursor !== null && event.type === 'pointermove' && event.movementX === 0 && event.movementY === 0) return; // the page moved
      this.leaveCursor();
      this.hover(pane, event);
    };
    pane.canvas.addEventListener('pointermove', hover);
    pane.canvas.addEventListener('pointerdown', hover);
    pane.canvas.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && this.cursor === null && this.nothing());
    pane.canvas.addEventListener('blur', () => this.cursor !== null && this.nothing());
    pane.canvas.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.key(pane, event)) return;
      event.preventDefault();
      event.stopPropagation(); // the page's keys are others
    });
  }

  // ---- The cursor.

  // Was it a key for the cursor?
  private key(pane: Pane, event: KeyboardEvent): boolean {
    const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === 'Enter') {
      if (this.cursor === null) this.setCursor(pane, this.startOf(pane));
      return true;
    }
    if (this.cursor === null) return false;
    if (event.key === 'Escape') {
      this.nothing();
      return true;
    }
    const step = steps[event.key];
    if (!step) return false;
    const { stage } = this.viewer.stageOn(pane);
    const level = levelOn(pane, stage);
    const from = { row: Math.floor(this.cursor.row / 2 ** level.rowBits), column: Math.floor(this.cursor.column / 2 ** level.columnBits) };
    const to = event.shiftKey ? nextStored(level, from, step) : { row: from.row + step[0], column: from.column + step[1] };
    const row = Math.max(0, Math.min(level.rowBins - 1, to.row));
    const column = Math.max(0, Math.min(level.columnBins - 1, to.column));
    this.setCursor(pane, { row: row * 2 ** level.rowBits, column: column * 2 ** level.columnBits });
    return true;
  }

  // What is marked, if it can be seen, or the first place in the frame.
  private startOf(pane: Pane): { row: number; column: number } {
    const { left, top, width, height } = pane.view;
    const { rows, columns } = this.viewer.shape;
    const first = pane.placeAt(left + 1, top + 1, rows, columns) ?? { row: 0, column: 0 };
    const last = pane.placeAt(left + width - 1, top + height - 1, rows, columns) ?? { row: rows - 1, column: columns - 1 };
    const { mark } = this;
    const is_seen = mark !== null && mark.row >= first.row && mark.row <= last.row && mark.column >= first.column && mark.column <= last.column;
    return is_seen ? { row: mark.row, column: mark.column } : { row: Math.floor(first.row), column: Math.floor(first.column) };
  }

  private setCursor(pane: Pane, at: { row: number; column: number }): void {
    const { rows, columns } = this.viewer.shape;
    if (rows === 0 || columns === 0) return;
    this.cursor = { pane, ...at };
    this.viewer.bringIntoView(at.row, at.column);
    this.again();
  }

  private leaveCursor(): void {
    this.cursor = null;
    this.spoken.textContent = '';
  }

  // The stage is another one: the cursor stays where it is.
  again(): void {
    if (this.cursor === null) return this.nothing();
    const { pane, row, column } = this.cursor;
    const { stage } = this.viewer.stageOn(pane);
    const level = levelOn(pane, stage);
    this.read(pane, level, Math.floor(row / 2 ** level.rowBits), Math.floor(column / 2 ** level.columnBits));
    const words: string[] = [];
    this.element.querySelectorAll('dd').forEach((one) => {
      const name = one.classList.contains('alone') ? '' : `${one.previousElementSibling?.textContent ?? ''} `;
      words.push(name + (one.textContent ?? ''));
    });
    this.spoken.textContent = words.join('; ');
  }

  // ---- The pointer.

  placeOf(pane: Pane, event: MouseEvent): { row: number; column: number } | null {
    const box = pane.canvas.getBoundingClientRect();
    const { rows, columns } = this.viewer.shape;
    return pane.placeAt(event.clientX - box.left, event.clientY - box.top, rows, columns);
  }

  private hover(pane: Pane, event: MouseEvent): void {
    const place = this.placeOf(pane, event);
    if (!place) return this.nothing();
    const { stage } = this.viewer.stageOn(pane);
    const level = levelOn(pane, stage);
    const { perRow, perColumn } = axes(pane.view, stage.rows, stage.columns);
    // The nearest bin with something in it, a few pixels around.
    let best = -1;
    let distance = Infinity;
    const reach = 5;
    const bins_in_reach = (size: number): number => (size > 2 * reach ? 0 : Math.min(40, Math.ceil(reach / size)));
    const rowReach = bins_in_reach(perRow * 2 ** level.rowBits);
    const columnReach = bins_in_reach(perColumn * 2 ** level.columnBits);
    const row = Math.floor(place.row / 2 ** level.rowBits);
    const column = Math.floor(place.column / 2 ** level.columnBits);
    for (let i = -rowReach; i <= rowReach; ++i) {
      for (let j = -columnReach; j <= columnReach; ++j) {
        const bin = binAt(level, row + i, column + j);
        if (bin >= 0 && i * i + j * j < distance) {
          distance = i * i + j * j;
          best = bin;
        }
      }
    }
    if (best < 0) this.read(pane, level, row, column);
    else this.read(pane, level, rowBinOf(level, best), level.columns[best]);
  }

  // Tells what a bin of the level that is shown holds, and marks it.
  private read(pane: Pane, level: Level, rowBin: number, columnBin: number): void {
    const { track, stage, pattern } = this.viewer.stageOn(pane);
    const rows = 2 ** level.rowBits;
    const columns = 2 ** level.columnBits;
    const row = rowBin * rows;
    const column = columnBin * columns;
    this.mark = { row, column, rows: Math.min(stage.rows - row, rows), columns: Math.min(stage.columns - column, columns) };
    const bin = binAt(level, rowBin, columnBin);
    if (bin < 0) {
      const [inRows, inColumns] = [range('row', row, this.mark.rows), range('column', column, this.mark.columns)];
      if (this.cursor === null) this.mark = null;
      this.tell([inRows, inColumns, ['', 'nothing is stored here']]);
      this.onPoint(track, null);
    } else {
      const share = level.planes > 1 ? this.planesOf(stage, level.counts, bin) : '';
      this.tellBin(track, stage, pattern, level === stage.finest && stage.showsEntries, this.mark, countAt(level, bin), share);
    }
    this.viewer.update();
  }

  private planesOf(stage: Stage, counts: Uint32Array, bin: number): string {
    const planes = stage.facts.planes.length;
    const there = stage.facts.planes.map((name, i) => ({ name, count: counts[bin * planes + i] })).filter((one) => one.count > 0);
    return there.length === 1 ? there[0].name : there.map((one) => `${counted(one.count)} ${one.name}`).join(', ');
  }

  private tellBin(track: number, stage: Stage, pattern: Pattern, is_entry: boolean, mark: Mark, count: number, share: string): void {
    const lines: [string, string][] = [];
    const { row, column } = mark;
    if (is_entry) {
      const matrixRow = stage.rowAt(row, column);
      const originalRow = matrixRow === null ? null : originalOf(stage.originalRows, matrixRow);
      const originalColumn = originalOf(stage.originalColumns, column);
      const origin = (original: number | null, now: number | null): string =>
        original === null ? ', originally not kept' : original === now ? ', as originally' : `, originally ${counted(original)}`;
      if (matrixRow !== null && matrixRow !== row) lines.push(['stored at', `line ${counted(row)}`]);
      lines.push(['row', matrixRow === null ? `stored at line ${counted(row)}` : counted(matrixRow) + origin(originalRow, matrixRow)]);
      lines.push(['column', counted(column) + origin(originalColumn, column)]);
      const value = originalRow === null || originalColumn === null ? null : pattern.value(originalRow, originalColumn);
      lines.push(['value', value === null ? 'not kept in this page' : exact(value)]);
      if (matrixRow !== null && stage === this.viewer.stage(track)) this.tellStorage(track, matrixRow, column);
    } else {
      const [inRows, inColumns] = [range('row', row, mark.rows), range('column', column, mark.columns)];
      lines.push(inRows, inColumns, ['holds', `${plural(count, 'nonzero')} in ${counted(mark.rows)} × ${counted(mark.columns)} places`]);
      const sampled = this.sampledIn(stage, pattern);
      if (sampled) lines.push(['one of them', sampled]);
      const is_last = stage.facts.tiles === 0 && stage === this.viewer.tracks[track].pattern.stages[this.viewer.tracks[track].pattern.stages.length - 1];
      this.onPoint(track, is_last ? this.mark : null);
    }
    if (share) lines.push(['share', share]);
    const partition = stage.facts.cuts.find((cuts) => cuts.kind === 'partition' && cuts.step === 1);
    if (partition && partition.count > 1) {
      const [a, b] = [pieceAt(partition.boundaries, row), pieceAt(partition.boundaries, column)];
      lines.push(['partition', a === b ? counted(a) : `${counted(a)}, its column in ${counted(b)}`]);
    }
    this.tell(lines);
  }

  // A followed nonzero in the marked bin: of it everything is known.
  private sampledIn(stage: Stage, pattern: Pattern): string | null {
    const { sample } = pattern;
    if (!stage.sample || !sample || !this.mark) return null;
    const { row, column, rows, columns } = this.mark;
    for (let i = 0; i < stage.sample.rows.length; ++i) {
      const [r, c] = [stage.sample.rows[i], stage.sample.columns[i]];
      if (r >= row && r < row + rows && c >= column && c < column + columns) {
        return `row ${counted(r)}, column ${counted(c)} (originally ${counted(sample.rows[i])}, ${counted(sample.columns[i])}): ${exact(sample.values[i])}`;
      }
    }
    return null;
  }

  // From the storage map of a run: a place in the matrix after the last stage.
  pointAt(track: number, place: Place | null): void {
    if (place === null) {
      this.mark = null;
      return this.viewer.update();
    }
    const { pattern } = this.viewer.tracks[track];
    const last = pattern.stages[pattern.stages.length - 1];
    const stage = this.viewer.stage(track);
    const { rows, columns } = place;
    if (rows > 1 || columns > 1) {
      // A range of rows is one only in the order that the layout has.
      this.mark = stage.facts.rows === last.facts.rows && stage.facts.columns === last.facts.columns && stage.facts.tiles === 0 ? place : null;
      return this.viewer.update();
    }
    const row = between(last, stage, 'originalRows', place.row);
    const column = between(last, stage, 'originalColumns', place.column);
    const drawn = row === null || column === null ? null : stage.drawnRow(row, column);
    this.mark = drawn === null || column === null ? null : { row: drawn, column, rows: 1, columns: 1 };
    this.viewer.update();
  }

  // What the pattern points at, for the storage map: in the order after the last stage.
  private tellStorage(track: number, row: number, column: number): void {
    const { pattern } = this.viewer.tracks[track];
    const last = pattern.stages[pattern.stages.length - 1];
    const stage = this.viewer.stage(track);
    const there = between(stage, last, 'originalRows', row);
    const beside = between(stage, last, 'originalColumns', column);
    this.onPoint(track, there === null || beside === null ? null : { row: there, column: beside, rows: 1, columns: 1 });
  }

  nothing(): void {
    this.leaveCursor();
    this.mark = null;
    this.tell([['', matchMedia('(hover: none)').matches ? 'Tap a place to read it.' : 'Point at a place to read it, or press Enter in the picture.']]);
    this.viewer.tracks.forEach((_, track) => this.onPoint(track, null));
    this.viewer.update();
  }

  private tell(lines: [string, string][]): void {
    this.element.replaceChildren(...lines.flatMap(([name, text]) => (name ? [h('dt', {}, name), h('dd', {}, text)] : [h('dd', { class: 'alone' }, text)])));
  }
}
