// The live page as a lecturer uses it: in windows of a phone, a beamer at 150 %, a laptop and a desk, with a pointer that presses and
// drags; with two windows; and with a server that ends. `live.mjs` calls these checks.
import { spawn } from 'node:child_process';
import { check, idle } from './harness.mjs';

export const windows = [
  { where: 'phone', width: 375, height: 740 },
  { where: 'beamer at 150 %', width: 853, height: 480 },
  { where: 'laptop', width: 1280, height: 720 },
  { where: 'desk', width: 1600, height: 900 },
];

const text_of = (page) => page.evaluate(() => window.spmvLive.text());
const centre = async (locator) => {
  const { x, y, width, height } = await locator.boundingBox();
  return { x: x + width / 2, y: y + height / 2, width, height, left: x };
};
const stages_of = async (page) => [...(await text_of(page)).matchAll(/\[\[stage\]\]\s+use\s*=\s*"(\w+)"/g)].map((match) => match[1]).join();

// The slider of the slice height, whose card is chosen and opened.
async function sliceHeight(page) {
  const slider = page.locator('[data-name="layout 0 slice_height slider"]');
  await page.locator('[data-name="layout 0"]').focus(); // chooses the card where there is no room for all
  if (!(await slider.isVisible())) await page.locator('[data-name="layout 0 more"]').click();
  await slider.scrollIntoViewIfNeeded();
  return slider;
}

// The whole picture, its figures and the controls are in the window, which does not scroll.
async function fits(page, what) {
  const frame = page.frames()[1];
  const over = await page.evaluate(() => [document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]);
  check(`${what}: the page does not scroll`, over.every((one) => one <= 0), over.join());
  const inside = await frame.evaluate(() => {
    const shown = [...document.querySelectorAll('.pane:not([hidden]) canvas, .headline dd, .sentence p')].map((one) => one.getBoundingClientRect());
    const canvas = document.querySelector('.pane:not([hidden]) canvas').getBoundingClientRect();
    const scrolls = document.documentElement.scrollHeight - innerHeight;
    return { scrolls, seen: shown.every((box) => box.top >= 0 && box.bottom <= innerHeight + 1 && box.left >= 0 && box.right <= innerWidth + 1), share: (canvas.width * canvas.height) / (innerWidth * innerHeight), figures: document.querySelectorAll('.headline dd').length };
  });
  check(`${what}: the picture, its figures and its sentence are in view`, inside.seen && inside.scrolls <= 0, JSON.stringify(inside));
  check(`${what}: the picture takes much of its frame`, inside.share > 0.25, inside.share);
  check(`${what}: there are at most three figures`, inside.figures >= 1 && inside.figures <= 3, inside.figures);
}

// In every view, the pictures and what is beside them end above the buttons, and the label of the roofline lies on nothing.
async function viewsFit(page, what) {
  const frame = page.frames()[1];
  for (const button of await frame.locator('[data-mode]:visible').all()) {
    const mode = await button.getAttribute('data-mode');
    await button.click();
    await frame.waitForFunction((is) => { // a view is painted with the next frame
      const painted = [...document.querySelectorAll('.pane:not([hidden]) :is(canvas, svg)')].some((one) => one.getBoundingClientRect().height > 0);
      return painted && (is !== 'roofline' || document.querySelector('.roofline circle') !== null);
    }, mode, { timeout: 30000 });
    const over = () => frame.evaluate(() => {
      const end = document.querySelector('.below').getBoundingClientRect().top;
      const shown = [...document.querySelectorAll('.pane:not([hidden]) :is(canvas, svg)')].filter((one) => one.closest('.memory-pane') === null); // which scrolls
      return Math.max(...shown.map((one) => one.getBoundingClientRect().bottom - end));
    });
    let low = await over();
    for (const until = performance.now() + 5000; low > 0.5 && performance.now() < until; low = await over()) await page.waitForTimeout(50);
    check(`${what}: the view '${mode}' ends above the buttons`, low <= 0.5, low);
    if (mode !== 'roofline') continue;
    const hidden = await frame.evaluate(() => {
      const roof = document.querySelector('.roofline line[stroke]');
      const [x1, x2, y1, y2] = ['x1', 'x2', 'y1', 'y2'].map((name) => Number(roof.getAttribute(name)));
      const rises = (x) => y1 + ((x - x1) * (y2 - y1)) / (x2 - x1);
      const spot = [...document.querySelectorAll('.roofline circle')].at(-1).getBBox();
      return [...document.querySelectorAll('.roofline .halo')].filter((one) => {
        const { x, y, width, height } = one.getBBox();
        const on_roof = rises(x) > y && rises(x + width) < y + height; // neither wholly below nor wholly above it
        return on_roof || (x < spot.x + spot.width && x + width > spot.x && y < spot.y + spot.height && y + height > spot.y) || x + width > x2 + 12;
      }).map((one) => one.textContent);
    });
    check(`${what}: the label of the point lies beside point and line`, hidden.length === 0, hidden.join('; '));
  }
  await frame.locator('[data-mode=one]:visible').click().catch(() => undefined);
}

// A slider under a pressed pointer: pictures come while it moves, and one step of undo takes the movement back.
async function dragsSlider(page, what) {
  const slider = await sliceHeight(page);
  const before = await text_of(page);
  const { y, left, width } = await centre(slider);
  const at = Number(await slider.inputValue()) / Number(await slider.getAttribute('max'));
  const begin = left + 8 + at * (width - 16);
  const shown = await page.evaluate(() => window.spmvLive.shown());
  await page.mouse.move(begin, y);
  await page.mouse.down();
  const end = left + width - 10;
  const seen_now = async () => (await page.evaluate(() => window.spmvLive.shown())) - shown;
  const deadline = performance.now() + 30000;
  for (let i = 0; (i < 20 || (await seen_now()) < 2) && performance.now() < deadline; ++i) {
    await page.mouse.move(begin + ((end - begin) * (i % 20)) / 20, y);
    await page.waitForTimeout(50);
  }
  await page.mouse.move(end, y);
  const seen = await seen_now();
  check(`${what}: pictures follow the pressed slider`, seen >= 2, seen);
  await page.mouse.up();
  await idle(page);
  const value = Number(/slice_height = (\d+)/.exec(await text_of(page))?.[1]);
  check(`${what}: the slider reaches large values`, value >= 512, value);
  const layout = await page.frames()[1].evaluate(() => window.spmvPage.slices());
  check(`${what}: the newest picture is shown`, layout === value, `${layout} for ${value}`);
  await page.keyboard.press('Control+z'); // the slider has the focus
  await idle(page);
  check(`${what}: one undo takes the movement back`, (await text_of(page)) === before, await text_of(page));
}

// A card by its handle, over two places; a mark shows where it will land.
async function dragsCard(page, what) {
  const before = await text_of(page);
  await page.locator('[data-name=add]').selectOption('row_sort');
  await page.locator('[data-name="add button"]').click();
  await idle(page);
  check(`${what}: there are three stages`, (await stages_of(page)) === 'cuthill_mckee,row_sort,row_sort', await stages_of(page));
  const three = await text_of(page);
  const cards = page.locator('.stages li');
  await cards.first().scrollIntoViewIfNeeded();
  const from = await centre(page.locator('[data-name="stage 0 move"]'));
  const bottom = await page.evaluate(() => document.querySelector('.controls').getBoundingClientRect().bottom);
  const to = async () => {
    const { y, height } = await cards.nth(2).boundingBox();
    return Math.min(y + height - 4, bottom - 4); // where the list scrolls
  };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 40; ++i) await page.mouse.move(from.x, from.y + ((await to()) - from.y) * Math.min(1, i / 10) - (i % 2));
  check(`${what}: a mark shows where the card lands`, (await page.locator('.lands-after').count()) === 1);
  await page.mouse.up();
  await idle(page);
  check(`${what}: the card has moved over two places`, (await stages_of(page)) === 'row_sort,row_sort,cuthill_mckee', await stages_of(page));
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('Control+z'); // nothing has the focus
  await idle(page);
  check(`${what}: one undo takes it back`, (await text_of(page)) === three, await text_of(page));
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, from.y + 60, { steps: 4 });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  check(`${what}: Esc ends a drag`, (await text_of(page)) === three && (await page.locator('.dragged').count()) === 0);
  await page.locator('[data-action=Undo]').click();
  await idle(page);
  check(`${what}: and as before`, (await text_of(page)) === before);
}

// The editor scrolls when the browser draws next, which may be after the run has ended.
const messageInView = (page) => page.waitForFunction(() => {
  const below = document.querySelector('.cm-activeLine')?.nextElementSibling?.getBoundingClientRect();
  return below && below.bottom <= document.querySelector('.cm-scroller').getBoundingClientRect().bottom;
}, null, { timeout: 5000 }).catch(() => {}); // the checks that follow say what is not in view

export async function lecture(open) {
  const page = await open();
  for (const { where, width, height } of windows) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    await fits(page, where);
    if (where !== 'phone') await viewsFit(page, where);
    await dragsSlider(page, where);
    await dragsCard(page, where);
  }
  await page.setViewportSize({ width: 1280, height: 720 });
  // An error stands beside its line, and the caret stays in view.
  await page.locator('[data-choice=text]').click();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nslice_heigth = 4');
  await idle(page);
  await messageInView(page);
  const places = await page.evaluate(() => {
    const of = (name) => document.querySelector(name)?.getBoundingClientRect();
    const problem = of('.cm-problem');
    const ends = problem ? [problem.top + 2, problem.bottom - 2] : [];
    const seen = ends.every((y) => document.elementFromPoint(problem.left + 12, y)?.className === 'cm-problem');
    return { problem, seen, scroller: of('.cm-scroller'), line: of('.cm-activeLine'), caret: of('.cm-cursor'), high: innerHeight };
  });
  check('the caret is in view', places.caret && places.caret.bottom <= places.high, JSON.stringify(places.caret));
  check('the error is below its line', places.problem && Math.abs(places.problem.top - places.line.bottom) < 8, JSON.stringify(places));
  check('the error of the last line is wholly in view', places.problem && places.problem.bottom <= Math.min(places.high, places.scroller.bottom), JSON.stringify(places));
  check('it is what is seen there', places.seen === true, JSON.stringify(places));
  // Also where other lines follow, and the line of the caret is the last one in view.
  await page.keyboard.press('Control+Home');
  for (let i = 0; i < 30; ++i) await page.keyboard.press('ArrowDown');
  await page.keyboard.type('slice_hight = 5');
  await idle(page);
  await messageInView(page);
  const [over, count] = await page.evaluate(() => {
    const line = document.querySelector('.cm-activeLine').nextElementSibling;
    return [line.getBoundingClientRect().bottom - document.querySelector('.cm-scroller').getBoundingClientRect().bottom, line.className === 'cm-problem'];
  });
  check('an error is in view below the last line in view', count && over <= 0, over);
  await page.context().close();
}

// A change in one window does not end the run of another one for good.
export async function twoWindows(open) {
  const [a, b] = [await open(), await open()];
  for (const page of [a, b]) await (await sliceHeight(page)).focus();
  const move = (page) => page.keyboard.press('ArrowRight');
  for (let i = 0; i < 3; ++i) await Promise.all([move(a), move(b)]);
  await Promise.all([idle(a), idle(b)]);
  for (const page of [a, b]) {
    const text = await page.locator('.status').innerText();
    check('both windows show their run', text.startsWith('Ran in'), text);
    const value = Number(/slice_height = (\d+)/.exec(await text_of(page))?.[1]);
    check('of their own recipe', value > 32 && (await page.frames()[1].evaluate(() => window.spmvPage.slices())) === value, value);
    await page.context().close();
  }
}

// A server of its own, and the address of its page.
export const serve = (program, ...words) => new Promise((done) => {
  const child = spawn(program, ['serve', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (bytes) => {
    out += bytes;
    const address = / is at (http:\S+)/.exec(out)?.[1];
    if (address) done({ child, address });
  });
});

// The page waits for a server that was killed, and goes on when it is there again.
export async function killedServer(open, program, recipe) {
  const port = 20000 + (process.pid % 20000);
  let { child, address } = await serve(program, recipe, '--port', String(port));
  const page = await open(address, {}, true);
  await (await sliceHeight(page)).focus();
  child.kill('SIGKILL');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('.status').textContent.includes('trying again'), null, { timeout: 20000 });
  const value = /slice_height = (\d+)/.exec(await text_of(page))?.[1];
  const before = address;
  ({ child, address } = await serve(program, recipe, '--port', String(port)));
  check('a server on the same port has the same address', address === before, address);
  await idle(page);
  const status = await page.locator('.status').innerText();
  check('the page goes on', status.startsWith('Ran in') && (await page.frames()[1].evaluate(() => window.spmvPage.slices())) === Number(value), status);
  child.kill();
  await page.context().close();
}
