// The checks of what is beside the pattern: memory, warps, roofline; and of levels, followed nonzeros and the cursor of a chart.
import { join } from 'node:path';
import { check, look, pictures, settle } from './harness.mjs';

const words_of = (page) => page.locator('.pane:not([hidden]) .warp-words').innerText();
const number = (text, pattern) => Number(pattern.exec(text)?.[1].replaceAll(',', '') ?? NaN);

async function choose(page, mode) {
  await page.locator(`[data-mode=${mode}]`).click();
  await settle(page);
}

// The place of an entry of the right picture on the screen.
async function entry(page, row, column) {
  const canvas = page.locator('.pane:not([hidden]) canvas[role=application]').last();
  await canvas.scrollIntoViewIfNeeded();
  const frame = await page.evaluate(() => window.spmvPage.frame());
  const box = await canvas.boundingBox();
  return [box.x + frame.left + ((column + 0.5) / frame.columns) * frame.width, box.y + frame.top + ((row + 0.5) / frame.rows) * frame.height];
}

// Pointing at a row marks its slots, wherever it is pointed at.
async function memoryOfRows(page, name) {
  await choose(page, 'memory');
  for (const row of [0, 2]) {
    await page.mouse.move(...(await entry(page, row, row)));
    await settle(page);
    const words = await words_of(page);
    const reads = number(words, /reads? ([\d,]+) values? of x from/);
    const marked = await page.locator('.memory-pane .role-value .marked').count();
    check(`${name}: the slots of row ${row} are marked`, reads > 0 && marked === reads, `${marked} for ${words}`);
    check(`${name}: no row reads more lines than values`, number(words, /from ([\d,]+) lines?/) <= reads, words);
  }
  await page.mouse.move(0, 0);
  await settle(page);
  check(`${name}: nothing stays marked`, (await page.locator('.memory-pane .marked').count()) === 0);
  if (pictures) await page.screenshot({ path: join(pictures, `${name}_memory.png`) });
}

// The sums of a warp grow from step to step, to those of all steps.
async function warpsInTime(page, name) {
  await choose(page, 'warps');
  const sums = async () => {
    const words = await words_of(page);
    return { used: number(words, /([\d,]+) nonzeros? of/), all: number(words, /of ([\d,]+) lane steps/), values: number(words, /([\d,]+) of values/), x: number(words, /([\d,]+) of x/), words };
  };
  const step = page.locator('.warp-tools input');
  const last = Number(await step.getAttribute('max'));
  const whole = await sums();
  check(`${name}: a warp has 32 lanes`, whole.all === 32 * last, whole.words);
  await step.focus();
  await page.keyboard.press('Home');
  await settle(page);
  let before = await sums();
  check(`${name}: the first step is one of 32 lanes`, before.all === 32, before.words);
  for (let i = 1; i < last; ++i) {
    await page.keyboard.press('ArrowRight');
    await settle(page);
    const now = await sums();
    check(`${name}: sums grow`, now.all === before.all + 32 && now.used >= before.used && now.values > before.values && now.x >= before.x, `${before.words} -> ${now.words}`);
    before = now;
  }
  check(`${name}: to those of all steps`, before.words === whole.words, before.words);
  await page.locator('.warp-tools button').click();
  await page.waitForFunction((end) => document.querySelector('.warp-tools input').value === String(end) && document.querySelector('.warp-tools button').getAttribute('aria-label') === 'Play the steps', last, { timeout: 30000 });
  check(`${name}: playing ends with all steps`, (await words_of(page)) === whole.words, await words_of(page));
  if (pictures) await page.screenshot({ path: join(pictures, `${name}_warps.png`) });
}

async function roofline(page, name) {
  await choose(page, 'roofline');
  const title = await page.locator('.roofline circle title').last().textContent();
  const [bytes, flops] = [number(title, /([\d,.]+) bytes per nonzero/), number(title, /([\d,.]+) GFLOP/)];
  const label = await page.locator('.roofline text').first().textContent();
  check(`${name}: the roofline has the layout's point`, bytes > 8 && flops > 0, title);
  check(`${name}: and says of which memory`, /GB\/s/.test(await page.locator('.roofline').innerText()), label);
  if (pictures) await page.screenshot({ path: join(pictures, `${name}_roofline.png`) });
}

async function followed(page, name) {
  await choose(page, 'one');
  await page.locator('button[data-stage="0"]').click();
  await settle(page);
  const away = async () => {
    await page.mouse.move(0, 0);
    await settle(page);
    return look(page);
  };
  const before = await away();
  await page.mouse.click(...(await entry(page, 0, 0)));
  await settle(page);
  check(`${name}: a click follows a nonzero`, (await away()) !== before);
  await page.locator('button[data-stage]').last().click();
  await settle(page);
  const after = await away();
  await page.locator('button[data-stage="0"]').click();
  await settle(page);
  await page.mouse.click(...(await entry(page, 0, 0)));
  await settle(page);
  check(`${name}: another click ends it`, (await away()) === before);
  await page.locator('button[data-stage]').last().click();
  await settle(page);
  check(`${name}: it was marked in the last stage as well`, (await away()) !== after);
}

// Only rows in an order by levels have bands; others are told about.
async function levels(page, name) {
  const button = page.locator('.tools button', { hasText: 'Levels' });
  if (!(await button.isVisible())) return;
  const before = await look(page);
  await button.click();
  await settle(page);
  const words = await page.locator('.legend').first().innerText();
  const has_bands = /\d levels?: /.test(words);
  check(`${name}: levels are bands, or there are none`, has_bands ? (await look(page)) !== before : words.includes('no order by levels'), words);
  await button.click();
  await settle(page);
  check(`${name}: and no longer`, (await look(page)) === before);
}

// Below the break-even chart, a slider shows the time of each kernel.
async function products(page, name) {
  const slider = page.locator('input[aria-label="Number of products"]').first();
  if ((await slider.count()) === 0) return;
  await slider.focus();
  const words = () => page.locator('.cursor-words').first().innerText();
  await page.keyboard.press('Home');
  const first = await words();
  check(`${name}: the chart begins with one product`, first.startsWith('After 1 products: '), first);
  await page.keyboard.press('End');
  check(`${name}: the slider shows other times`, (await words()) !== first, await words());
}

export async function beside(page, name) {
  const has = async (mode) => (await page.locator(`[data-mode=${mode}]`).count()) > 0;
  if (name === 'small') {
    await page.locator('button[data-stage]').last().click();
    await settle(page);
    await levels(page, name);
    await memoryOfRows(page, name);
    await followed(page, name);
  }
  if (name === 'small') await warpsInTime(page, name);
  check(`${name}: warps and a roofline are there`, (await has('warps')) && (await has('roofline')));
  await roofline(page, name);
  await choose(page, 'one');
  await products(page, name);
}
