// The stages of a run on a slider, with a button that plays them.
import { h } from './dom';
import { Player } from './player';
import type { Track } from './view';

export interface StageMoves {
  choose(): void; // makes this run the one whose stages the keys change
  set(position: number): void;
  moveTo(stage: number): void;
  animate(stage: number, done: () => void): void;
  stop(): void;
}

export class StageBar {
  readonly element: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly player: Player;

  // `title`: null if there is one run only.
  constructor(private readonly track: Track, title: string | null, moves: StageMoves) {
    const count = track.pattern.stages.length;
    this.range = h('input', {
      type: 'range', min: 0, max: Math.max(0, count - 1), step: 'any', value: track.position,
      'aria-label': title === null ? 'Stage' : `Stage of ${title}`, disabled: count < 2,
    });
    this.range.addEventListener('input', () => {
      moves.choose();
      moves.stop();
      moves.set(Number(this.range.value));
    });
    this.range.addEventListener('change', () => moves.moveTo(Math.round(Number(this.range.value))));
    // The page handles the other arrow keys; all other keys, such as Tab, do what they do everywhere.
    this.range.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      moves.choose();
      const now = Math.round(track.position);
      const goals: Record<string, number> = { Home: 0, End: count - 1, ArrowUp: now + 1, PageUp: now + 1, ArrowDown: now - 1, PageDown: now - 1 };
      if (!(event.key in goals)) return;
      event.preventDefault();
      moves.moveTo(goals[event.key]);
    });
    this.player = new Player({
      last: count - 1, position: () => track.position, jump: (to) => moves.set(to), move: (to, done) => moves.animate(to, done), stop: () => moves.stop(),
    });
    const ticks = h('ol', { class: 'ticks' });
    track.pattern.facts.stages.forEach((stage, i) => {
      ticks.append(h('li', {}, h('button', { type: 'button', 'data-stage': i, click: () => moves.moveTo(i) },
        h('span', { class: 'tick-number' }, String(i)), h('span', { class: 'tick-name' }, stage.label.replaceAll('_', '_\u200b')))));
    });
    this.element = h('div', { class: 'track', style: `--stages: ${Math.max(1, count)}` }, title === null ? null : h('p', { class: 'track-title' }, title),
      h('div', { class: 'track-row' }, count > 1 && this.player.button, h('div', { class: 'track-line' }, count > 1 && this.range, ticks)));
  }

  // Returns true if stages were being played.
  pause(): boolean {
    return this.player.pause();
  }

  update(label: string, is_active: boolean): void {
    const { range } = this;
    const { position } = this.track;
    if (document.activeElement !== range || Math.abs(Number(range.value) - position) > 1e-6) range.value = String(position);
    range.setAttribute('aria-valuetext', label);
    this.element.querySelectorAll('button[data-stage]').forEach((button, number) => button.setAttribute('aria-current', String(number === Math.round(position))));
    this.element.classList.toggle('active', is_active);
  }
}
