// Measures the live page in headless Chromium: `node test/live_speed.mjs ADDRESS [CHANGES [LIMIT [SLIDER]]]`. Moves a slider of the
// served recipe (default: the slice height of its layout) with an arrow key, and prints for each part of the way from the key to the
// new picture the median in milliseconds. Exit code 1: the median of the whole way is above LIMIT milliseconds (default: 100).
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
await browser.close();
const median = (k) => samples.map((sample) => sample[k]).sort((a, b) => a - b)[Math.floor(samples.length / 2)];
[...names, 'all of it'].forEach((name, k) => console.log(`${median(k).toFixed(0).padStart(6)} ms  ${name}`));
if (!(median(names.length) <= Number(limit))) {
  console.error(`more than ${limit} ms`);
  process.exit(1);
}
