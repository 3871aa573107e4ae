// The part of the page's address that names the shown stages: #stage=2, or #stage=2,3 for two runs.
import { listen } from './life';
import type { Viewer } from './viewer';

const pause_milliseconds = 300; // browsers limit how often a page changes its address

export class StageAddress {
  private timer = 0;

  constructor(private readonly viewer: Viewer) {
    this.follow();
    listen('hashchange', () => this.follow());
  }

  private follow(): void {
    const found = /^#stage=(\d+(?:,\d+)*)$/.exec(location.hash);
    found?.[1].split(',').forEach((stage, track) => this.viewer.show(track, Number(stage)));
  }

  // Writes the shown stages into the address, without a new entry in the history.
  changed(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const stages = this.viewer.tracks.map((_, track) => this.viewer.current(track)).join();
      if (location.hash !== `#stage=${stages}`) history.replaceState(null, '', `#stage=${stages}`);
    }, pause_milliseconds);
  }
}
