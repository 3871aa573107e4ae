// Plays the stages of a run one after another; its button starts and pauses.
import { h, s } from './dom';

const rest_milliseconds = 700; // at each stage

export interface Played {
  last: number;
  position(): number;
  jump(stage: number): void;
  move(stage: number, done: () => void): void;
  stop(): void;
}

export class Player {
  readonly button = h('button', { type: 'button', class: 'play', click: () => this.toggle() });
  private is_playing = false;
  private timer = 0;

  constructor(private readonly played: Played) {
    this.show();
  }

  private show(): void {
    const name = this.is_playing ? 'Pause' : 'Play all stages';
    this.button.setAttribute('aria-label', name);
    this.button.title = this.is_playing ? 'Pause (Esc)' : name;
    const shape = this.is_playing ? 'M3 2h3.4v12H3z M9.6 2H13v12H9.6z' : 'M4 2l10 6-10 6z';
    this.button.replaceChildren(s('svg', { viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true' }, s('path', { d: shape, fill: 'currentColor' })));
  }

  private toggle(): void {
    const was_playing = this.is_playing;
    this.played.stop();
    if (was_playing) return;
    this.is_playing = true;
    this.show();
    if (this.played.position() >= this.played.last) this.played.jump(0);
    this.next();
  }

  private next(): void {
    const stage = Math.floor(this.played.position()) + 1;
    if (stage > this.played.last) {
      this.pause();
      return;
    }
    this.played.move(stage, () => {
      this.timer = window.setTimeout(() => this.next(), rest_milliseconds);
    });
  }

  // Returns true if stages were being played.
  pause(): boolean {
    const was_playing = this.is_playing;
    clearTimeout(this.timer);
    this.is_playing = false;
    if (was_playing) this.show();
    return was_playing;
  }
}
