// The checks of what is beside the pattern: memory, warps, roofline; and of levels, followed nonzeros and the cursor of a chart.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, look, pictures, settle } from './harness.mjs';
import { movie } from './views.mjs';

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
  // The table of kernels may lack it, for example without a GPU.
  const caption = await page.locator('.pane:not([hidden]) figcaption').first().innerText();
  check(`${name}: the caption says whose warp it is`, /^Warp [\d,]+ of CUDA kernel \w+/.test(caption), caption);
  const sums = async () => {
    const words = await words_of(page);
    return { used: number(words, /([\d,]+) nonzeros? of/), all: number(words, /of ([\d,]+) lane steps/), values: number(words, /([\d,]+) of values/), x: number(words, /([\d,]+) of x/), words };
  };
  const step = page.locator('.warp-tools input');
  const last = Number(await step.getAttribute('max'));
  const whole = await sums();
  check(`${name}: a warp has 32 lanes`, whole.all === 32 * last, whole.words);
  const bars = await page.locator('.warp-words .swatch').nth(2).evaluate((swatch) => {
    const canvas = window.copyOf(document.querySelector('.pane:not([hidden]) figure canvas, .pane:not([hidden]) canvas'));
    const [red, green, blue] = getComputedStyle(swatch).backgroundColor.match(/\d+/g).map(Number);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const at = [];
    for (let i = 0; i < data.length; i += 4) if (data[i] === red && data[i + 1] === green && data[i + 2] === blue) at.push(((i / 4) % canvas.width) / canvas.width);
    return [at.length, at.reduce((least, one) => Math.min(least, one), 1)];
  });
  check(`${name}: the sectors of x are beside the lanes`, bars[0] > 20 && bars[1] > 0.6, bars.join());
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
  const cut = await page.locator('.roofline text').evaluateAll((all) => all.filter((one) => {
    const [box, whole] = [one.getBoundingClientRect(), one.ownerSVGElement.getBoundingClientRect()];
    return box.top < whole.top || box.bottom > whole.bottom || box.left < whole.left || box.right > whole.right;
  }).map((one) => one.textContent));
  check(`${name}: its texts are whole`, cut.length === 0, cut.join());
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
  const figure = page.locator('figure.chart', { has: slider });
  const colours = await figure.locator('polyline.curve').evaluateAll((all) => all.map((one) => one.getAttribute('stroke')));
  for (const colour of colours) {
    const { count, width, x } = await inkOf(page, colour, figure.getByRole('button', { name: 'Save chart' }), 1920);
    check(`${name}: the saved chart has its curves`, count > 1500 && width === 1920 && x > 300 && x < 1700, `${count} of ${colour} around ${x}`);
  }
}

// The pixels of each colour in the left half of the saved slide, which is what the view shows beside the pattern: how many, and their centre.
async function inksOf(page, colours, button = page.getByRole('button', { name: 'Save picture' }), width = 936) {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const text = readFileSync(await file.path()).toString('base64');
  const found = await page.evaluate(async ([data, wanted, wide]) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (one) => one.charCodeAt(0))], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const own = wanted.map((colour) => {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      return context.getImageData(0, 0, 1, 1).data;
    });
    context.drawImage(image, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, wide, image.height);
    return own.map(([red, green, blue]) => {
      let [count, x, y] = [0, 0, 0];
      for (let i = 0; i < pixels.length; i += 4) {
        if (Math.abs(pixels[i] - red) + Math.abs(pixels[i + 1] - green) + Math.abs(pixels[i + 2] - blue) > 6) continue;
        ++count;
        x += (i / 4) % wide;
        y += Math.floor(i / 4 / wide);
      }
      return { count, x: x / count, y: y / count, width: image.width };
    });
  }, [text, colours, width]);
  return found.map((one) => ({ ...one, name: file.suggestedFilename() }));
}
const inkOf = async (page, colour, ...rest) => (await inksOf(page, [colour], ...rest))[0];
const colourOf = (page, selector) => page.locator(selector).first().evaluate((one) => getComputedStyle(one).backgroundColor);

// The saved picture contains the arrays, the slots of the followed row, and a box for each line of x that it reads.
async function savedMemory(page, name) {
  await choose(page, 'memory');
  const values = await colourOf(page, '.memory-pane .role-value .cell');
  const lines = await colourOf(page, '.memory-pane .swatch');
  const ink = await page.evaluate(() => getComputedStyle(document.body).color);
  const cells = await page.locator('.memory-pane .role-value .cell').count();
  const [shown, none_marked, ink_before] = await inksOf(page, [values, lines, ink]);
  check(`${name}: the saved picture has the values in memory`, shown.count > 500 * cells && /_memory\.png$/.test(shown.name), JSON.stringify(shown));
  const red = await page.addStyleTag({ content: '.memory-pane .role-value .cell { color: #f00 !important }' });
  const digits = await inkOf(page, 'rgb(255, 0, 0)');
  await red.evaluate((style) => style.remove());
  check(`${name}: and their numbers, in the middle of their cells`, digits.count > 5 * cells && Math.abs(digits.y - shown.y) < 3, `${JSON.stringify(digits)} for ${JSON.stringify(shown)}`);
  check(`${name}: no row is marked in it`, none_marked.count === 0, JSON.stringify(none_marked));
  const at = await entry(page, 0, 0);
  await page.mouse.click(...at);
  await page.mouse.move(0, 0);
  await settle(page);
  const words = await words_of(page);
  const [reads, read] = [number(words, /reads? ([\d,]+) values? of x from/), number(words, /from ([\d,]+) lines?/)];
  const [marked, ink_after] = await inksOf(page, [lines, ink]);
  const of_box = (2 * 13) ** 2;
  check(`${name}: a click keeps the row marked, also in the saved picture`, marked.count > of_box * read && marked.count < of_box * (read + 2), `${marked.count} for ${words}`);
  const outlined = ink_after.count - ink_before.count;
  check(`${name}: its slots are outlined in it`, outlined > 2 * reads * 300, `${outlined} for ${words}`);
  await movie(page, name);
  await page.mouse.click(...at);
  await page.mouse.move(0, 0);
  await settle(page);
  await choose(page, 'one');
  const none = await inkOf(page, values);
  check(`${name}: the pattern alone is another picture`, none.count === 0 && !/memory/.test(none.name), JSON.stringify(none));
}

// The point of the layout is in the saved picture where the bytes of its arrays put it. The squares of measured kernels, which may cover it, are hidden.
async function savedRoofline(page, name) {
  await choose(page, 'roofline');
  const hidden = await page.addStyleTag({ content: '.roofline rect { display: none }' });
  const title = await page.locator('.roofline circle title').last().textContent();
  const intensity = 2 / number(title, /([\d,.]+) bytes per nonzero/);
  const colour = await page.locator('.roofline circle').last().getAttribute('fill');
  const { count, x, y } = await inkOf(page, colour);
  check(`${name}: the saved picture has the point of the layout`, Math.abs(count - Math.PI * 16 ** 2) < 60, count);
  const all = [2 / 24, 2 / 4, intensity];
  const [low, high] = [Math.log(Math.min(...all) / 1.3), Math.log(Math.max(...all) * 1.3)];
  const share = (Math.log(intensity) - low) / (high - low);
  const [left, width, top, height] = [24 + 56, 444 - 56 - 12, 168 + 30, 332 - 30 - 44];
  check(`${name}: it is where its bytes put it`, Math.abs(x / 2 - left - share * width) < 3 && Math.abs(y / 2 - top - (1 - share) * height) < 3, `${x / 2}, ${y / 2} for ${title}`);
  await hidden.evaluate((style) => style.remove());
}

// The GIF of a warp has an image for each step; more and more slots are read, and the last image is the saved picture.
async function savedWarp(page, name) {
  await choose(page, 'warps');
  const steps = Number(await page.locator('.warp-tools input').getAttribute('max'));
  const colour = await page.locator('.warp-words .swatch').nth(1).evaluate((one) => getComputedStyle(one).backgroundColor);
  const whole = await inkOf(page, colour);
  const button = page.getByRole('button', { name: 'Save GIF' });
  check(`${name}: the button says what moves`, (await button.getAttribute('title')).includes('steps'), await button.getAttribute('title'));
  const [file] = await Promise.all([page.waitForEvent('download', { timeout: 120000 }), button.click()]);
  const counts = await page.evaluate(async ([text, wanted]) => {
    const decoder = new ImageDecoder({ data: Uint8Array.from(atob(text), (one) => one.charCodeAt(0)), type: 'image/gif' });
    await decoder.tracks.ready;
    const context = new OffscreenCanvas(1920, 1080).getContext('2d', { willReadFrequently: true });
    context.fillStyle = wanted;
    context.fillRect(0, 0, 1, 1);
    const own = [...context.getImageData(0, 0, 1, 1).data];
    const found = [];
    for (let i = 0; i < decoder.tracks.selectedTrack.frameCount; ++i) {
      const { image } = await decoder.decode({ frameIndex: i });
      context.drawImage(image, 0, 0);
      image.close();
      const { data } = context.getImageData(0, 0, 936, 1080);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) if (Math.abs(data[at] - own[0]) + Math.abs(data[at + 1] - own[1]) + Math.abs(data[at + 2] - own[2]) < 20) ++count;
      found.push(count);
    }
    return found;
  }, [readFileSync(await file.path()).toString('base64'), colour]);
  check(`${name}: the GIF has an image for each step`, counts.length === steps, `${counts.length} for ${steps}`);
  check(`${name}: each step reads more`, counts.every((count, i) => i === 0 || count > counts[i - 1]), counts.join());
  check(`${name}: the last image is the saved picture`, Math.abs(counts.at(-1) - whole.count) < 0.1 * whole.count + 50, `${counts.at(-1)} for ${whole.count}`);
  check(`${name}: the page shows its step after the GIF`, (await page.locator('.warp-tools input').inputValue()) === String(steps));
}

export async function beside(page, name) {
  const has = async (mode) => (await page.locator(`[data-mode=${mode}]`).count()) > 0;
  if (name === 'small') {
    await page.locator('button[data-stage]').last().click();
    await settle(page);
    await levels(page, name);
    await memoryOfRows(page, name);
    await followed(page, name);
    await savedMemory(page, name);
    await savedWarp(page, name);
  }
  if (name === 'small') await warpsInTime(page, name);
  check(`${name}: warps and a roofline are there`, (await has('warps')) && (await has('roofline')));
  await roofline(page, name);
  await savedRoofline(page, name);
  await choose(page, 'one');
  await products(page, name);
}
