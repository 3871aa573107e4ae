// The state of the viewer that its panels and its reader use.
import type { Pattern, Stage } from './bins';
import type { Run } from './document';
import type { Switches } from './paint';
import type { Pane } from './pane';

export type Mode = 'one' | 'beside' | 'difference' | 'graph';

export function modesOf(compares: boolean, has_graph: boolean): [Mode, string][] {
  const modes: [Mode, string][] = compares
    ? [['beside', 'Side by side'], ['difference', 'Difference'], ['one', 'One']]
    : [['one', 'One'], ['beside', 'Before and after'], ['difference', 'Difference']];
  return has_graph ? [...modes, ['graph', 'Graph']] : modes;
}

export interface Track {
  run: Run;
  pattern: Pattern;
  position: number; // between two stages during an animation
}

export interface PatternView {
  readonly tracks: Track[];
  readonly panes: [Pane, Pane];
  readonly mode: Mode;
  readonly switches: Switches;
  before_input: boolean; // compares with the input instead of the stage before
  readonly shape: { rows: number; columns: number };
  stage(track: number): Stage;
  stageOn(pane: Pane): { track: number; stage: Stage; pattern: Pattern };
  bringIntoView(row: number, column: number): void;
  update(): void;
}
