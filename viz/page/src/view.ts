// The state of the viewer that its panels and its reader use.
import type { Pattern, Region, Stage } from './bins';
import type { Run } from './document';
import type { Switches } from './paint';
import type { Pane } from './pane';

export type BesideMode = 'graph' | 'memory' | 'warps' | 'roofline';
export type Mode = 'one' | 'beside' | 'difference' | BesideMode;

// What a mode shows beside the pattern.
export interface Beside {
  readonly mode: BesideMode;
  readonly element: HTMLElement;
  // Steps of its own, which an animation shows instead of the stages. `at`: calls `draw` with the step shown.
  readonly film?: { count(): number; at<Result>(step: number, draw: () => Result): Result };
  resize(width: number, most_height: number): number; // returns the needed width
  draw(stage: Stage, mark: Region | null): void;
  caption(stage: Stage): (Node | string)[];
}

const beside_names: Record<BesideMode, string> = { graph: 'Graph', memory: 'Memory', warps: 'Warps', roofline: 'Roofline' };

export function modesOf(compares: boolean, besides: Beside[]): [Mode, string][] {
  const modes: [Mode, string][] = compares
    ? [['beside', 'Side by side'], ['difference', 'Difference'], ['one', 'One']]
    : [['one', 'One'], ['beside', 'Before and after'], ['difference', 'Difference']];
  return [...modes, ...besides.map(({ mode }): [Mode, string] => [mode, beside_names[mode]])];
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
  followNonzero(place: { row: number; column: number }): void;
  bringIntoView(row: number, column: number): void;
  update(): void;
}
