// Timers and frames of the screen, which only the tests move on.

let timers = [];
let frames = [];
let last_id = 0;
export const time = {
  now: 0,
  advance(milliseconds) {
    const end = this.now + milliseconds;
    const due = () => timers.filter((one) => one.at <= end).sort((a, b) => a.at - b.at || a.id - b.id)[0];
    for (let next = due(); next; next = due()) {
      timers = timers.filter((one) => one !== next);
      this.now = Math.max(this.now, next.at);
      next.act();
    }
    this.now = end;
  },
  // The next image on the screen.
  frame(milliseconds = 16) {
    this.now += milliseconds;
    const now = frames;
    frames = [];
    for (const { act } of now) act(this.now);
  },
  get waiting() {
    return timers.length + frames.length;
  },
};

export const setTimer = (act, milliseconds = 0) => {
  timers.push({ id: ++last_id, at: time.now + milliseconds, act });
  return last_id;
};
export const setFrame = (act) => {
  frames.push({ id: ++last_id, act });
  return last_id;
};
export const clearTimer = (id) => {
  timers = timers.filter((one) => one.id !== id);
};
export const clearFrame = (id) => {
  frames = frames.filter((one) => one.id !== id);
};
