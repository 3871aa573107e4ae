// Measures the live page in headless Chromium: `node test/live_speed.mjs ADDRESS [CHANGES [LIMIT [SLIDER]]]`. Moves a slider of the
// served recipe (default: the slice height of its layout) with an arrow key, and prints for each part of the way from the key to the
// new picture the median and the 95th percentile in milliseconds; then the frames a second of what needs no run: zooming, moving
// between stages, and the colours of the graph. Exit code 1: the median of the whole way is above LIMIT milliseconds (default: 100).
import { browser, words } from './harness.mjs';

const [address, changes = '15', limit = '100', slider = 'layout 0 slice_height'] = words;
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
await page.goto(address);
const idle = () => page.waitForFunction(() => document.documentElement.dataset.busy === undefined && /^(Ran|Timed) in/.test(document.querySelector('.status')?.textContent ?? ''), null, { timeout: 60000 });
await idle();
await page.locator(`[data-name="${slider} slider"]`).focus();

const steps = ['began', 'ran', 'shown'];
const names = ['run and transfer', 'picture built and painted'];
const samples = [];
for (let i = 0; i < Number(changes) + 2; ++i) {
  const before = await page.locator('.cm-content').innerText();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((text) => document.querySelector('.cm-content').innerText !== text, before);
  await page.waitForTimeout(150);
  await idle();
  const at = await page.evaluate((wanted) => wanted.map((name) => performance.getEntriesByName(name).at(-1)?.startTime ?? NaN), steps);
  if (i >= 2) samples.push([...names.map((_, k) => at[k + 1] - at[k]), at.at(-1) - at[0]]);
}
const at = (k, share) => samples.map((sample) => sample[k]).sort((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * share))];
[...names, 'all of it'].forEach((name, k) => console.log(`${at(k, 0.5).toFixed(0).padStart(6)} ms, 95 %: ${at(k, 0.95).toFixed(0).padStart(4)} ms  ${name}`));

// Frames a second while each frame changes the view.
for (const what of ['zoom', 'stage', 'colours']) {
  const frames = await page.frames()[1].evaluate(async (kind) => {
    document.querySelector(`[data-mode=${kind === 'colours' ? 'graph' : 'one'}]`)?.click();
    const canvas = [...document.querySelectorAll('.pane:not([hidden]) canvas')].at(-1);
    const range = document.querySelector('.track-line input');
    const menu = document.querySelector('.tools select');
    if (kind === 'colours' && !document.querySelector('[data-mode=graph]')) return null;
    const box = canvas.getBoundingClientRect();
    const colours = ['order', 'level', 'length', 'partition'];
    const change = {
      zoom: (i) => canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: i % 60 < 30 ? -60 : 60, ctrlKey: true, bubbles: true, cancelable: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 })),
      stage: (i) => {
        range.value = String((Number(range.max) * (i % 60)) / 60);
        range.dispatchEvent(new Event('input'));
      },
      colours: (i) => {
        menu.value = colours[i % colours.length];
        menu.dispatchEvent(new Event('change'));
      },
    }[kind];
    return new Promise((done) => {
      const begin = performance.now();
      let count = 0;
      const step = () => {
        const passed = performance.now() - begin;
        if (passed > 3000) return done((1000 * count) / passed);
        change(count++);
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    });
  }, what);
  if (frames !== null) console.log(`${frames.toFixed(0).padStart(6)} frames a second  ${what}`);
}
await browser.close();
if (!(at(names.length, 0.5) <= Number(limit))) {
  console.error(`more than ${limit} ms`);
  process.exit(1);
}
