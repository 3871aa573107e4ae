// The slides of docs/lessons/slides in headless Chromium: `node test/slides.mjs SLIDES.html`. Every slide fits on a projector.
import { browser, check, failures, words } from './harness.mjs';

const page = await (await browser.newContext()).newPage();
page.on('pageerror', (error) => check('no error', false, error.message));
page.on('request', (request) => check('no request leaves', /^(data|file):/.test(request.url()), request.url()));
for (const [width, height] of [[1280, 720], [1024, 768], [1920, 1080]]) {
  await page.setViewportSize({ width, height });
  await page.goto(`file://${words[0]}`, { timeout: 120000 });
  await page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
  const slides = await page.locator('section').evaluateAll((all) => all.map((one) => ({
    title: one.querySelector('h1, h2, figcaption').textContent, size: (100 * parseFloat(getComputedStyle(one.querySelector('p, figcaption, h1')).fontSize)) / Math.min(innerWidth, innerHeight), over: one.scrollHeight - one.clientHeight, wide: one.scrollWidth - one.clientWidth,
    picture: one.querySelector('img')?.complete === false || one.querySelector('img')?.naturalWidth === 0,
  })));
  check('there are slides of eleven lessons', slides.length > 60, slides.length);
  for (const { title, size, over, wide, picture } of slides) {
    check(`${width} × ${height}: the text of '${title}' can be read from the back row`, size >= 2.2, `${size} % of the height`);
    check(`${width} × ${height}: '${title}' fits`, over <= 0 && wide <= 0, `${over} and ${wide} pixels too much`);
    check(`'${title}' has its picture`, !picture);
  }
}
await page.keyboard.press('ArrowRight');
await page.waitForFunction(() => Math.round(scrollY / innerHeight) === 1, null, { timeout: 3000 }).catch(() => check('an arrow turns the page', false));
await browser.close();
if (failures > 0) process.exit(1);
console.log('the slides fit');
