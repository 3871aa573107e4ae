// What tests of pages in headless Chromium share: the browser, checks, and the state of a page. Exit code 77: skipped, because
// Chromium or the packages of this folder are not installed.
import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';

const skipped = 77;
const skip = (reason) => {
  console.log(`page tests skipped: ${reason}`);
  process.exit(skipped);
};

const chromium_at = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const playwright = await import('playwright-core').catch(() => null);
if (!playwright) skip("playwright-core is not installed: run 'npm ci' in viz/page");
if (!chromium_at || !existsSync(chromium_at)) skip('no Chromium was found; CHROMIUM names one');

export const words = process.argv.slice(2);
const at = words.indexOf('--pictures');
export const pictures = at < 0 ? null : words.splice(at, 2)[1];
if (pictures) mkdirSync(pictures, { recursive: true });
export const browser = await playwright.chromium.launch({
  executablePath: chromium_at,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});

export let failures = 0;
export const check = (what, holds, found = '') => {
  if (holds) return;
  ++failures;
  console.error(`FAILED: ${what}${found === '' ? '' : `; found ${found}`}`);
};

// Waits until the live page has run, and the browser has drawn the result.
export async function idle(page) {
  await page.waitForFunction(() => document.documentElement.dataset.busy === undefined && document.querySelector('.status')?.textContent !== '', null, { timeout: 120000 });
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

export async function open(file, options = {}, fragment = '') {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  const name = basename(dirname(file));
  page.on('console', (message) => check(`${name}: nothing is logged`, message.type() !== 'error' && message.type() !== 'warning', message.text()));
  page.on('pageerror', (error) => check(`${name}: no error`, false, error.message));
  page.on('request', (request) => {
    const url = request.url();
    check(`${name}: no request leaves`, /^(data|blob):/.test(url) || url.replace(/#.*/, '') === `file://${file}`, url);
  });
  await page.addInitScript(copies);
  await page.goto(`file://${file}${fragment}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true', null, { timeout: 60000 });
  return page;
}

// Reading the pixels of a copy is silent and does not slow the page's own canvas.
const copies = () => {
  window.copyOf = (canvas) => {
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    copy.getContext('2d', { willReadFrequently: true }).drawImage(canvas, 0, 0);
    return copy;
  };
};

// A hash of the visible picture.
export const look = (page) => page.evaluate(() => {
  const canvas = window.copyOf([...document.querySelectorAll('.pane:not([hidden]) canvas')].at(-1));
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  let sum = canvas.width;
  for (let i = 0; i < pixels.length; ++i) sum = (Math.imul(sum, 31) + pixels[i]) | 0;
  return sum;
});
// Waits until all animations have ended and the picture is drawn.
export const settle = (page) => page.evaluate(() => new Promise((done, fail) => {
  const deadline = performance.now() + 20000;
  let still = 0; // frames
  const look = () => {
    still = (window.spmvPage?.still() ?? true) ? still + 1 : 0;
    if (still > 2) done();
    else if (performance.now() > deadline) fail(new Error('the picture does not come to rest'));
    else requestAnimationFrame(look);
  };
  look();
}));
export const readout = async (page) => (await page.locator('.readout').innerText()).replace(/\s+/g, ' ');
export const stage_of = (page) => page.locator('button[data-stage][aria-current=true]').first().getAttribute('data-stage');
