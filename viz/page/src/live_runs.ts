// Runs of the recipe in the server, one after another: of the changes that come while one works, only the newest is run.
import { runText, ServerGone, type Ran } from './live_server';

const patience_milliseconds = 250; // for an older run, after the last movement of a slider
const retry_milliseconds = 1000;

export interface RunEvents {
  text(): string;
  began(): void;
  ended(ran: Ran, timed: boolean, text: string): Promise<void>; // not for runs that were replaced
  failed(error: unknown, again: boolean): void;
  rested(): void; // nothing runs, and nothing waits
}

export class Runs {
  private newest = 0;
  private finished = 0; // the newest run whose answer has come
  private showing = 0;
  private is_due = false; // there is a change since the newest run began
  private patience = 0;
  private retry = 0;

  constructor(private readonly events: RunEvents) {}

  get busy(): boolean {
    return this.finished < this.newest || this.showing > 0 || this.is_due || this.retry !== 0;
  }

  // Runs the text; an older run ends.
  now(timed = false): void {
    void this.run(timed);
  }

  // Runs the text when the older run is over, or takes long and no further change comes. While a slider moves, pictures follow it
  // as fast as they are made.
  soon(): void {
    if (this.finished === this.newest) return this.now();
    this.is_due = true;
    clearTimeout(this.patience);
    this.patience = window.setTimeout(() => this.is_due && this.now(), patience_milliseconds);
  }

  private async run(timed: boolean): Promise<void> {
    const number = ++this.newest;
    this.is_due = false;
    clearTimeout(this.patience);
    clearTimeout(this.retry);
    this.retry = 0;
    this.events.began();
    const text = this.events.text();
    try {
      const ran = await runText(text, timed, number);
      if (number < this.finished) return;
      this.finished = number;
      ++this.showing;
      if (this.is_due) this.now();
      if (!ran.replaced) await this.events.ended(ran, timed, text).finally(() => --this.showing);
      else --this.showing;
    } catch (error) {
      this.finished = Math.max(this.finished, number);
      if (number !== this.newest) return;
      const again = error instanceof ServerGone;
      if (again) this.retry = window.setTimeout(() => this.now(timed), retry_milliseconds);
      this.events.failed(error, again);
    } finally {
      if (!this.busy) this.events.rested();
    }
  }
}
