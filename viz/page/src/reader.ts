// Reads the pattern under the pointer, at a cursor that keys move, or at the region under the pointer in the storage map.
import { between, binAt, countAt, type Level, originalOf, type Pattern, pieceAt, type Region, rowBinOf, sizeOf, type Stage } from './bins';
import { counted, exact, h, plural } from './dom';
import { type GraphPane, piecesOf } from './graph';
import { axes } from './paint';
import type { Pane } from './pane';
import type { PatternView } from './view';

// The next nonempty bin along a row or a column of bins; `from` if there is none.
function nextNonempty(level: Level, from: { row: number; column: number }, [down, right]: [number, number]): { row: number; column: number } {
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

// The visible level, or the stage's level of the same size if the stage is not drawn yet.
function visibleLevel(pane: Pane, stage: Stage): Level {
  const shown = pane.painted?.level;
  return shown === undefined ? stage.finest : stage.has(shown) ? shown : stage.level(sizeOf(shown));
}

function linesOfPartition(stage: Stage, { row, column }: Region): [string, string][] {
  const partition = stage.facts.cuts.find((cuts) => cuts.kind === 'partition' && cuts.step === 1);
  if (!partition || partition.count <= 1) return [];
  const [a, b] = [pieceAt(partition.boundaries, row), pieceAt(partition.boundaries, column)];
  return [['partition', a === b ? counted(a) : `${counted(a)}, its column in ${counted(b)}`]];
}

// The place of an event in a canvas, in CSS pixels.
function within(canvas: HTMLCanvasElement, event: MouseEvent): { x: number; y: number } {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

export class Reader {
  readonly element = h('dl', { class: 'readout' });
  // The same beside the finger or the cursor, which are far from the panel on a phone.
  readonly tip = h('dl', { class: 'tip', 'aria-hidden': 'true', hidden: true });
  private finger: { canvas: HTMLCanvasElement; x: number; y: number } | null = null;
  // One line at the cursor for screen readers.
  readonly spoken = h('p', { class: 'spoken', 'aria-live': 'polite' });
  mark: Region | null = null;
  private pointed: { row: number; column: number } | null = null; // numbers in the input of the nonzero under the pointer or the cursor
  // Called with the region under the pointer in the order after the last stage.
  onPoint: (track: number, region: Region | null) => void = () => undefined;
  // Called with the row under the pointer in the order after the last stage.
  onRow: (row: number | null) => void = () => undefined;
  private cursor: { pane: Pane; row: number; column: number } | null = null;

  constructor(private readonly view: PatternView) {}

  listen(pane: Pane): void {
    const hover = (event: MouseEvent): void => {
      if (this.cursor !== null && event.type === 'pointermove' && event.movementX === 0 && event.movementY === 0) return; // the page scrolled under the pointer
      this.leaveCursor();
      this.finger = this.needsTip(event as PointerEvent) ? { canvas: pane.canvas, ...within(pane.canvas, event) } : null;
      this.hover(pane, event);
    };
    pane.canvas.addEventListener('pointermove', hover);
    pane.canvas.addEventListener('pointerdown', hover);
    pane.canvas.addEventListener('click', () => this.pointed && this.view.followNonzero(this.pointed));
    pane.canvas.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && this.cursor === null && this.nothing());
    pane.canvas.addEventListener('blur', () => this.cursor !== null && this.nothing());
    pane.canvas.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.key(pane, event)) return;
      event.preventDefault();
      event.stopPropagation(); // the page uses the same keys
    });
  }

  // A finger hides what is below it, and a lecture has no panel.
  private needsTip(event: PointerEvent): boolean {
    return event.pointerType !== 'mouse' || this.element.offsetParent === null;
  }

  // Reads the vertices of a graph.
  listenToGraph(graph: GraphPane): void {
    const hover = (event: PointerEvent): void => {
      const { x, y } = within(graph.canvas, event);
      const vertex = graph.vertexAt(x, y);
      this.leaveCursor();
      this.finger = this.needsTip(event) ? { canvas: graph.canvas, x, y } : null;
      if (vertex === null) this.nothing();
      else this.readVertex(graph, vertex);
    };
    graph.canvas.addEventListener('pointermove', hover);
    graph.canvas.addEventListener('pointerdown', hover);
    graph.canvas.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && this.nothing());
  }

  // Shows a vertex, and marks its row and its column in the pattern.
  private readVertex(graph: GraphPane, vertex: number): void {
    const stage = this.view.stage(0);
    const input = this.view.tracks[0].pattern.stages[0];
    const row = between(input, stage, 'originalRows', vertex);
    const column = between(input, stage, 'originalColumns', vertex);
    if (row === null || column === null) return;
    const drawn = stage.drawnRow(row, column) ?? row;
    this.mark = { row: drawn, column, rows: 1, columns: 1 };
    const origin = (now: number): string => (now === vertex ? ', as originally' : `, originally ${counted(vertex)}`);
    const pieces = piecesOf(stage);
    const lines: [string, string][] = [['row', counted(row) + origin(row)], ['column', counted(column) + origin(column)],
      ['neighbours', counted(graph.neighboursOf(vertex))]];
    if (pieces) lines.push([pieces.kind, counted(pieceAt(pieces.boundaries, row))]);
    this.show(lines);
    this.onPoint(0, null);
    this.view.update();
  }

  // ---- The cursor.

  // Returns true if the key belongs to the cursor.
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
    if (event.key === ' ') {
      if (this.pointed) this.view.followNonzero(this.pointed);
      return true;
    }
    const step = steps[event.key];
    if (!step) return false;
    const { stage } = this.view.stageOn(pane);
    const level = visibleLevel(pane, stage);
    const from = { row: Math.floor(this.cursor.row / 2 ** level.rowBits), column: Math.floor(this.cursor.column / 2 ** level.columnBits) };
    const to = event.shiftKey ? nextNonempty(level, from, step) : { row: from.row + step[0], column: from.column + step[1] };
    const row = Math.max(0, Math.min(level.rowBins - 1, to.row));
    const column = Math.max(0, Math.min(level.columnBins - 1, to.column));
    this.setCursor(pane, { row: row * 2 ** level.rowBits, column: column * 2 ** level.columnBits });
    return true;
  }

  // The marked place if it is visible, otherwise the first place in the frame.
  private startOf(pane: Pane): { row: number; column: number } {
    const { left, top, width, height } = pane.view;
    const { rows, columns } = this.view.shape;
    const first = pane.placeAt(left + 1, top + 1, rows, columns) ?? { row: 0, column: 0 };
    const last = pane.placeAt(left + width - 1, top + height - 1, rows, columns) ?? { row: rows - 1, column: columns - 1 };
    const { mark } = this;
    const is_seen = mark !== null && mark.row >= first.row && mark.row <= last.row && mark.column >= first.column && mark.column <= last.column;
    return is_seen ? { row: mark.row, column: mark.column } : { row: Math.floor(first.row), column: Math.floor(first.column) };
  }

  private setCursor(pane: Pane, at: { row: number; column: number }): void {
    const { rows, columns } = this.view.shape;
    if (rows === 0 || columns === 0) return;
    this.cursor = { pane, ...at };
    this.view.bringIntoView(at.row, at.column);
    this.again();
  }

  private leaveCursor(): void {
    this.cursor = null;
    this.spoken.textContent = '';
  }

  // Reads the same place of another stage.
  again(): void {
    if (this.cursor === null) return this.nothing();
    const { pane, row, column } = this.cursor;
    const { stage } = this.view.stageOn(pane);
    const level = visibleLevel(pane, stage);
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
    const { x, y } = within(pane.canvas, event);
    const { rows, columns } = this.view.shape;
    return pane.placeAt(x, y, rows, columns);
  }

  private hover(pane: Pane, event: MouseEvent): void {
    const place = this.placeOf(pane, event);
    if (!place) return this.nothing();
    const { stage } = this.view.stageOn(pane);
    const level = visibleLevel(pane, stage);
    const { perRow, perColumn } = axes(pane.view, stage.rows, stage.columns);
    // The nearest nonempty bin within a few pixels.
    let best = -1;
    let distance = Infinity;
    const reach = this.finger ? 14 : 5;
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
    const exact = { row: Math.floor(place.row), column: Math.floor(place.column) };
    if (best < 0) this.read(pane, level, row, column, exact);
    else this.read(pane, level, rowBinOf(level, best), level.columns[best], level.rowBits > 0 ? exact : undefined);
  }

  // Shows and marks the contents of a bin. `exact`: the place in it under the pointer.
  private read(pane: Pane, level: Level, rowBin: number, columnBin: number, exact?: { row: number; column: number }): void {
    const { track, stage, pattern } = this.view.stageOn(pane);
    const rows = 2 ** level.rowBits;
    const columns = 2 ** level.columnBits;
    const row = rowBin * rows;
    const column = columnBin * columns;
    this.mark = { row, column, rows: Math.min(stage.rows - row, rows), columns: Math.min(stage.columns - column, columns) };
    this.pointed = null;
    this.onRow(this.rowAfterLast(track, stage, exact?.row ?? row, exact?.column ?? column));
    const bin = binAt(level, rowBin, columnBin);
    if (bin < 0) {
      const [inRows, inColumns] = [range('row', row, this.mark.rows), range('column', column, this.mark.columns)];
      if (this.cursor === null) this.mark = null;
      this.show([inRows, inColumns, ['', 'nothing is stored here']]);
      this.onPoint(track, null);
    } else {
      const share = level.planes > 1 ? this.planesOf(stage, level.counts, bin) : '';
      const is_entry = level === stage.finest && stage.showsEntries;
      const lines = is_entry ? this.linesOfEntry(track, stage, pattern, this.mark) : this.linesOfBin(track, stage, pattern, this.mark, countAt(level, bin));
      if (share) lines.push(['share', share]);
      this.show([...lines, ...linesOfPartition(stage, this.mark)]);
    }
    this.view.update();
  }

  private rowAfterLast(track: number, stage: Stage, row: number, column: number): number | null {
    const matrix_row = stage.rowAt(row, column);
    return matrix_row === null ? null : between(stage, this.lastAndShown(track).last, 'originalRows', matrix_row);
  }

  private planesOf(stage: Stage, counts: Uint32Array, bin: number): string {
    const planes = stage.facts.planes.length;
    const there = stage.facts.planes.map((name, i) => ({ name, count: counts[bin * planes + i] })).filter((one) => one.count > 0);
    return there.length === 1 ? there[0].name : there.map((one) => `${counted(one.count)} ${one.name}`).join(', ');
  }

  private linesOfEntry(track: number, stage: Stage, pattern: Pattern, { row, column }: Region): [string, string][] {
    const lines: [string, string][] = [];
    const matrixRow = stage.rowAt(row, column);
    const originalRow = matrixRow === null ? null : originalOf(stage.originalRows, matrixRow);
    const originalColumn = originalOf(stage.originalColumns, column);
    const origin = (original: number | null, now: number | null): string =>
      original === null ? ', original number not stored' : original === now ? ', as originally' : `, originally ${counted(original)}`;
    if (matrixRow !== null && matrixRow !== row) lines.push(['stored at', `line ${counted(row)}`]);
    lines.push(['row', matrixRow === null ? `stored at line ${counted(row)}` : counted(matrixRow) + origin(originalRow, matrixRow)]);
    lines.push(['column', counted(column) + origin(originalColumn, column)]);
    if (originalRow !== null && originalColumn !== null) this.pointed = { row: originalRow, column: originalColumn };
    const value = pattern.value(originalRow, originalColumn);
    lines.push(['value', value === null ? 'not stored in this page' : exact(value)]);
    if (matrixRow !== null && stage === this.view.stage(track)) this.pointInStorage(track, matrixRow, column);
    return lines;
  }

  private linesOfBin(track: number, stage: Stage, pattern: Pattern, mark: Region, count: number): [string, string][] {
    const lines: [string, string][] = [range('row', mark.row, mark.rows), range('column', mark.column, mark.columns),
      ['holds', `${plural(count, 'nonzero')} of ${counted(mark.rows)} × ${counted(mark.columns)} entries`]];
    const sampled = this.sampledIn(stage, pattern);
    if (sampled) lines.push(['one of them', sampled]);
    this.onPoint(track, stage.facts.tiles === 0 && stage === pattern.stages.at(-1) ? mark : null);
    return lines;
  }

  // A sampled nonzero in the marked bin: the page stores its value and original place.
  private sampledIn(stage: Stage, pattern: Pattern): string | null {
    const { sample } = pattern;
    if (!stage.sample || !sample || !this.mark) return null;
    const { row, column, rows, columns } = this.mark;
    for (let i = 0; i < stage.sample.rows.length; ++i) {
      const [r, c] = [stage.sample.rows[i], stage.sample.columns[i]];
      if (r >= row && r < row + rows && c >= column && c < column + columns) {
        this.pointed = { row: sample.rows[i], column: sample.columns[i] };
        return `row ${counted(r)}, column ${counted(c)} (originally ${counted(sample.rows[i])}, ${counted(sample.columns[i])}): ${exact(sample.values[i])}`;
      }
    }
    return null;
  }

  // Marks a region that is given in the order after the last stage.
  pointAt(track: number, region: Region | null): void {
    this.mark = region === null ? null : this.inShownStage(track, region);
    this.view.update();
  }

  private inShownStage(track: number, region: Region): Region | null {
    const { last, stage } = this.lastAndShown(track);
    if (region.rows > 1 || region.columns > 1) {
      // A range of rows is contiguous only in the order of the last stage.
      return stage.facts.rows === last.facts.rows && stage.facts.columns === last.facts.columns && stage.facts.tiles === 0 ? region : null;
    }
    const row = between(last, stage, 'originalRows', region.row);
    const column = between(last, stage, 'originalColumns', region.column);
    const drawn = row === null || column === null ? null : stage.drawnRow(row, column);
    return drawn === null || column === null ? null : { row: drawn, column, rows: 1, columns: 1 };
  }

  private lastAndShown(track: number): { last: Stage; stage: Stage } {
    const { stages } = this.view.tracks[track].pattern;
    return { last: stages[stages.length - 1], stage: this.view.stage(track) };
  }

  private pointInStorage(track: number, row: number, column: number): void {
    const { last, stage } = this.lastAndShown(track);
    const there = between(stage, last, 'originalRows', row);
    const beside = between(stage, last, 'originalColumns', column);
    this.onPoint(track, there === null || beside === null ? null : { row: there, column: beside, rows: 1, columns: 1 });
  }

  nothing(): void {
    this.leaveCursor();
    this.finger = null;
    this.mark = this.pointed = null;
    this.show([['', matchMedia('(hover: none)').matches ? 'Tap a place to read it.' : 'Point at a place to read it, or press Enter in the picture.']]);
    this.view.tracks.forEach((_, track) => this.onPoint(track, null));
    this.onRow(null);
    this.view.update();
  }

  private show(lines: [string, string][]): void {
    const items = (shown: [string, string][]): HTMLElement[] => shown.flatMap(([name, text]) => (name ? [h('dt', {}, name), h('dd', {}, text)] : [h('dd', { class: 'alone' }, text)]));
    this.element.replaceChildren(...items(lines));
    this.tip.replaceChildren(...items(lines.filter(([name]) => name !== 'one of them'))); // it would hide half of the picture
    this.placeTip();
  }

  // What was tapped is no longer below the finger.
  forgetFinger(): void {
    this.finger = null;
    this.placeTip();
  }

  // The place beside which the tip is shown: the finger, or the cursor if the panel is outside of the window.
  private anchor(): { canvas: HTMLCanvasElement; x: number; y: number } | null {
    const { cursor, finger, mark } = this;
    if (finger !== null || cursor === null || mark === null) return finger;
    const { top, bottom } = this.element.getBoundingClientRect();
    if (this.element.offsetParent !== null && top >= 0 && bottom <= innerHeight) return null;
    const { canvas, view } = cursor.pane;
    const { stage } = this.view.stageOn(cursor.pane);
    const { perRow, perColumn } = axes(view, stage.rows, stage.columns);
    return { canvas, x: view.left + view.x + (mark.column + mark.columns / 2) * perColumn, y: view.top + view.y + (mark.row + mark.rows / 2) * perRow };
  }

  // Above the anchor if there is room, otherwise below it.
  placeTip(): void {
    const { tip } = this;
    const at = this.anchor();
    tip.hidden = at === null;
    if (at === null) return;
    if (tip.parentElement !== at.canvas.parentElement) at.canvas.parentElement?.append(tip);
    const room = at.canvas.clientWidth;
    const above = at.y - tip.offsetHeight - 28;
    tip.style.left = `${Math.max(0, Math.min(room - tip.offsetWidth, at.x - tip.offsetWidth / 2))}px`;
    tip.style.top = `${above >= -40 ? above : at.y + 36}px`;
  }
}
