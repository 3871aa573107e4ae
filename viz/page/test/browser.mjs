// Tests pages that the program wrote in headless Chromium: `node test/browser.mjs PAGE...`. Exit code 77: skipped, because
// Chromium or the packages of this folder are not installed. --pictures FOLDER also writes screenshots in both themes.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { words, pictures, browser, failures, check, open, look, settle, readout, stage_of } from './harness.mjs';
import { reportByKeys } from './keyboard.mjs';
import { equalBars, storedBars } from './bars.mjs';
import { beside } from './beside.mjs';
import { drawn } from './drawn.mjs';
import { figures, tables } from './figures.mjs';
import { chosen, solved } from './studies.mjs';
import { address, around, graph, movie, numbers, paper, playing, tapping } from './views.mjs';

// Only one page is tested with its animations, which take time, and only its slider and its player.
const moves = (name) => name === 'small';

async function stages(page, name) {
  const count = await page.locator('button[data-stage]').count();
  if (count < 2) return;
  check(`${name}: begins with the input`, (await stage_of(page)) === '0');
  const before = await look(page);
  await page.keyboard.press('ArrowRight');
  if (moves(name)) {
    await page.waitForFunction(() => !window.spmvPage.still());
    await page.waitForTimeout(100);
    const moving = await page.locator('.track-line input').first().inputValue();
    check(`${name}: nonzeros move on the way`, Number(moving) > 0 && Number(moving) < 1, moving);
  }
  await settle(page);
  check(`${name}: an arrow shows the next stage`, (await stage_of(page)) === '1', await stage_of(page));
  await page.locator('button[data-stage="0"]').first().click();
  await settle(page);
  check(`${name}: a click goes back`, (await stage_of(page)) === '0');
  check(`${name}: the same stage looks the same`, (await look(page)) === before);
  const range = page.locator('.track-line input').first();
  await range.evaluate((input) => {
    input.value = '0.5';
    input.dispatchEvent(new Event('input'));
  });
  await page.waitForTimeout(200);
  check(`${name}: half way looks different`, (await look(page)) !== before);
  await range.evaluate((input) => {
    input.value = input.max;
    input.dispatchEvent(new Event('input'));
    input.dispatchEvent(new Event('change'));
  });
  await settle(page);
  check(`${name}: the slider reaches the end`, (await stage_of(page)) === String(count - 1), await stage_of(page));
}

// The sentence below the picture, of each stage.
const sentences_of = {
  small: ['The input has 10 nonzeros in 6 rows and 6 columns, 1.7 per row on average, and a bandwidth of 3.',
    'row_sort moved 5 of 6 rows and as many columns; the profile fell from 5 to 1 and the mean bandwidth fell from 0.900 to 0.500.'],
  ehyb: ['The input has 158,356 nonzeros', ' columns and divided the rows into 16 partitions, which contain ',
    'row_sort moved ', 'split divided the nonzeros into 1', 'sort_outside changed how the share outside is stored, but neither the pattern nor its figures.'],
  hbp: ['a bandwidth of', 'row_blocks divided the rows into 92 row blocks', 'column_segmentation divided the columns into 1 segment',
    'nonlinear_hash reordered the rows within their tiles; the share of idle lanes in tiles fell from '],
  rcm_csr: ['a bandwidth of 600.', 'cuthill_mckee moved 359,998 of 360,000 rows and as many columns; the profile fell from '],
};
async function sentences(page, name) {
  const expected = sentences_of[name];
  for (let stage = 0; stage < expected.length; ++stage) {
    await page.locator(`button[data-stage="${stage}"]`).click();
    await settle(page);
    const found = await page.locator('.sentence').innerText();
    check(`${name}: stage ${stage} says '${expected[stage]}'`, found.includes(expected[stage]) && /^[^.]*(\d\.\d[^.]*)*\.$/.test(found), found);
  }
}

// The picture with its figures and its sentence ends within the window, at every size of a screen.
async function fits(page, name) {
  for (const [width, height] of [[1280, 720], [1600, 900], [1920, 1080], [1280, 900]]) {
    await page.setViewportSize({ width, height });
    await settle(page);
    await page.evaluate(() => scrollTo(0, 0));
    const low = await page.evaluate(() => Math.max(...[...document.querySelectorAll('.pane:not([hidden]) canvas, .headline dd, .sentence p')].map((one) => one.getBoundingClientRect().bottom)));
    check(`${name}: the picture is in a window of ${width} x ${height}`, low <= height, low);
  }
}

// A matrix with many more rows than pixels: no line that stands for many, and a diagonal that is equally dark everywhere.
async function many(page, name) {
  await page.locator('button[data-stage="1"]').click();
  await settle(page);
  const text = await page.locator('.crowded').allInnerTexts();
  check(`${name}: too many slices are not drawn, and the page says so`, text.join() === '11,250 slices of the layout: too many to draw; zoom in', text.join());
  const [least, most] = await page.evaluate(() => {
    const canvas = window.copyOf([...document.querySelectorAll('.pane:not([hidden]) canvas')].at(-1));
    const { left, top, width, height } = window.spmvPage.frame();
    const { data } = canvas.getContext('2d').getImageData(left, top + height * 0.2, width, height * 0.6);
    const inks = [];
    for (let row = 0; row * width * 4 < data.length; ++row) {
      let ink = 0;
      for (let at = row * width; at < (row + 1) * width; ++at) ink += 765 - data[4 * at] - data[4 * at + 1] - data[4 * at + 2];
      inks.push(ink);
    }
    return [Math.min(...inks), Math.max(...inks)];
  });
  check(`${name}: the diagonal is equally dark`, least > 0 && most < 1.3 * least, `${least} to ${most}`);
}

// A matrix that is not square has no distance from the diagonal.
async function thin(page, name) {
  const texts = [await page.locator('.headline').innerText(), await page.locator('.sentence').innerText()];
  check(`${name}: no bandwidth of a matrix that is not square`, texts[1].includes('20,000 rows and 12 columns') && !texts.join().includes('bandwidth'), texts.join('; '));
}

// The large figures are those of report.json: of the stage, and after the last one of what the layouts store.
async function headline(page, name, file) {
  const report = JSON.parse(readFileSync(file.replace(/html$/, 'json'), 'utf8'));
  const shown = async (stage) => {
    await page.locator(`button[data-stage="${stage}"]`).click();
    await settle(page);
    return (await page.locator('.headline > div').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  };
  const built = report.layouts.filter((one) => one.precision === 'f64' && one.unsuitable === null && one.share === null);
  const sum = (key) => built.reduce((all, one) => all + one[key], 0);
  const last = await shown(report.stages.length - 1);
  const padding = `${(100 * (1 - sum('nonzeros') / sum('slots'))).toFixed(1)} %`;
  const is_told = last.some((text) => /^padding in /.test(text) && text.endsWith(` ${padding}`));
  check(`${name}: the padding is that of the layout, where it has any`, is_told || (padding === '0.0 %' && !last.some((text) => /^padding in /.test(text))), `${last.join('; ')} for ${padding}`);
  const bytes = Number((sum('bytes') / sum('nonzeros')).toPrecision(3));
  check(`${name}: so are the bytes`, last.some((text) => /^bytes per nonzero/.test(text) && text.endsWith(` ${bytes}`)), `${last.join('; ')} for ${bytes}`);
  for (let stage = 1; stage < report.stages.length; ++stage) {
    const texts = await shown(stage);
    check(`${name}: three figures after stage ${stage}`, texts.length === 3 && new Set(texts).size === 3, texts.join('; '));
    const { metrics } = report.stages[stage];
    const bandwidth = texts.find((text) => text.startsWith('bandwidth '));
    check(`${name}: the bandwidth is that of the stage`, bandwidth === undefined || bandwidth.endsWith(` ${metrics.bandwidth.toLocaleString('en')}`), bandwidth);
  }
  const partition = report.stages.findIndex((stage) => stage.name.endsWith('partition'));
  if (partition > 0) check(`${name}: a partition is for the nonzeros inside`, (await shown(partition))[0].startsWith('nonzeros inside partitions'), (await shown(partition))[0]);
  const split = report.stages.findIndex((stage) => stage.name === 'split');
  if (split > 0) check(`${name}: no padding of the whole matrix after a split`, (await shown(split)).every((text) => !text.includes('slices of 32')), (await shown(split)).join('; '));
}

// The slider with keys alone.
async function keys(page, name) {
  const count = await page.locator('button[data-stage]').count();
  if (count < 2) return;
  const range = page.locator('.track-line input').first();
  await range.focus();
  for (const [key, stage] of [['Home', 0], ['ArrowUp', 1], ['ArrowDown', 0], ['End', count - 1], ['PageDown', count - 2]]) {
    await page.keyboard.press(key);
    await settle(page);
    check(`${name}: ${key} on the slider shows stage ${stage}`, (await stage_of(page)) === String(stage), await stage_of(page));
  }
  await page.keyboard.press('Tab');
  check(`${name}: Tab leaves the slider`, !(await range.evaluate((input) => input === document.activeElement)));
  const reached = await page.evaluate(() => document.activeElement?.tagName ?? '');
  check(`${name}: Tab reaches the next control`, reached === 'BUTTON', reached);
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement?.tagName === 'CANVAS')); ++i) await page.keyboard.press('Tab');
  check(`${name}: Tab reaches the picture`, await page.evaluate(() => document.activeElement?.tagName === 'CANVAS'));
  await page.evaluate(() => document.activeElement.blur());
  await page.locator('button[data-stage]').last().click();
  await settle(page);
}

// The line above an array is as long as its share of the bytes; an empty array has no bar.
async function sizes(page, name) {
  const wrong = await page.evaluate(() => [...document.querySelectorAll('.array')]
    .filter((array) => / 0 ×/.test(array.querySelector('figcaption').textContent) === (array.querySelector('canvas, .cells') !== null))
    .map((array) => array.querySelector('figcaption').textContent));
  check(`${name}: empty arrays have no bar, others have one`, wrong.length === 0, wrong.join(' | '));
  const widest = await page.evaluate(() => Math.max(0, ...[...document.querySelectorAll('.size-line')].map((line) => parseFloat(line.style.width))));
  check(`${name}: the largest array has the whole line`, widest === 0 || widest === 100, widest);
}

async function zooming(page, name) {
  await page.locator('#main').click({ position: { x: 2, y: 2 } });
  const whole = await look(page);
  for (let i = 0; i < 3; ++i) {
    await page.keyboard.press('+');
    await settle(page);
  }
  const close = await look(page);
  check(`${name}: + zooms in`, close !== whole);
  await page.keyboard.press('-');
  await settle(page);
  check(`${name}: - zooms out`, (await look(page)) !== close);
  await page.keyboard.press('0');
  await settle(page);
  check(`${name}: 0 shows the whole`, (await look(page)) === whole);
  const canvas = page.locator('.pane:not([hidden]) canvas').last();
  await canvas.click({ position: { x: 4, y: 4 } }); // beside the matrix, so that no nonzero is followed
  await page.mouse.wheel(0, -400);
  await settle(page);
  check(`${name}: the wheel zooms`, (await look(page)) !== whole);
  const before = await look(page);
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 60, box.y + box.height / 2 - 40, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  check(`${name}: dragging pans`, (await look(page)) !== before);
  await page.keyboard.press('0');
  await settle(page);
}

// Compares the readout under the pointer with the 6 x 6 matrix of the tests, which is drawn entry by entry.
async function hover(page, name, entries) {
  const canvas = page.locator('.pane:not([hidden]) canvas').last();
  await canvas.scrollIntoViewIfNeeded();
  const frame = await page.evaluate(() => window.spmvPage?.frame() ?? null);
  check(`${name}: reports the frame of the matrix`, frame !== null);
  if (!frame) return;
  const box = await canvas.boundingBox();
  for (const [row, column, expected] of entries) {
    await page.mouse.move(box.x + frame.left + ((column + 0.5) / frame.columns) * frame.width, box.y + frame.top + ((row + 0.5) / frame.rows) * frame.height);
    await settle(page);
    const shown = await readout(page);
    for (const part of expected) check(`${name}: hovering ${row}, ${column} shows '${part}'`, shown.includes(part), shown);
  }
}

// The same with keys alone, including the text for screen readers.
async function cursor(page, name) {
  const canvas = page.locator('.pane:not([hidden]) canvas').last();
  await page.mouse.move(0, 0);
  await page.locator('button[data-stage="0"]').click();
  await settle(page);
  const stage = await stage_of(page);
  await canvas.focus();
  const said = () => page.locator('.spoken[aria-live=polite]').textContent();
  const before = await look(page);
  const press = async (key, expected) => {
    await page.keyboard.press(key);
    await settle(page);
    for (const part of expected) {
      check(`${name}: ${key} shows '${part}'`, (await readout(page)).includes(part), await readout(page));
      check(`${name}: ${key} says '${part}'`, (await said()).includes(part), await said());
    }
  };
  await press('Enter', ['row 0', 'column 0', 'value 4']);
  check(`${name}: the cursor is visible`, (await look(page)) !== before);
  await press('ArrowRight', ['row 0', 'column 1', 'nothing is stored here']);
  await press('ArrowRight', ['row 0', 'column 2', 'value -1.5']);
  await press('ArrowLeft', ['column 1']);
  await press('Shift+ArrowLeft', ['column 0', 'value 4']);
  await press('ArrowUp', ['row 0', 'column 0']);
  await press('Shift+ArrowRight', ['column 2', 'value -1.5']);
  await press('ArrowDown', ['row 1', 'column 2']);
  await press('Shift+ArrowUp', ['row 0', 'column 2']);
  await press('Shift+ArrowDown', ['column 2', 'value']);
  check(`${name}: the stage stays`, (await stage_of(page)) === stage);
  // A change of the stage updates the readout at the cursor.
  for (let i = 0; i < 8; ++i) await page.keyboard.press('ArrowUp');
  for (let i = 0; i < 8; ++i) await page.keyboard.press('ArrowLeft');
  await page.evaluate(() => window.spmvPage.moveTo(1));
  await settle(page);
  check(`${name}: the cursor reads the new stage`, (await said()).includes('row 0, originally 2; column 0, originally 2; value 3'), await said());
  await press('Escape', []);
  check(`${name}: Esc removes it`, (await said()) === '' && (await readout(page)).startsWith('Point at'), await readout(page));
  await page.keyboard.press('ArrowLeft');
  await settle(page);
  check(`${name}: then arrows choose stages again`, (await stage_of(page)) === '0', await stage_of(page));
  // The zoomed picture follows the cursor.
  for (let i = 0; i < 2; ++i) await page.keyboard.press('+');
  await settle(page);
  await page.keyboard.press('Enter');
  for (let i = 0; i < 8; ++i) await page.keyboard.press('ArrowRight');
  for (let i = 0; i < 8; ++i) await page.keyboard.press('ArrowDown');
  await settle(page);
  const far = await look(page);
  check(`${name}: the cursor reaches the corner`, (await said()).includes('row 5') && (await said()).includes('column 5'), await said());
  for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowUp');
  await settle(page);
  check(`${name}: and the picture follows`, (await look(page)) !== far);
  await page.keyboard.press('Escape');
  await page.keyboard.press('0');
  await settle(page);
  await page.evaluate(() => document.activeElement.blur());
}

async function theme(page, name) {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  const before = await look(page);
  await page.locator('#theme').click();
  await settle(page);
  check(`${name}: the button changes the theme`, (await paper()) !== light);
  check(`${name}: and the picture`, (await look(page)) !== before);
  await page.locator('#theme').click();
  await settle(page);
  check(`${name}: and back`, (await paper()) === light);
}

async function modes(page, name) {
  const one = await look(page);
  await page.locator('[data-mode=beside]').click();
  await settle(page);
  check(`${name}: two pictures side by side`, (await page.locator('.pane:not([hidden])').count()) === 2);
  await page.locator('[data-mode=difference]').click();
  await settle(page);
  check(`${name}: one picture of the difference`, (await page.locator('.pane:not([hidden])').count()) === 1);
  check(`${name}: it differs`, (await look(page)) !== one);
  const compared = await page.locator('.pane:not([hidden])').innerText();
  check(`${name}: it names both stages`, / → \d+ /.test(compared), compared);
  await page.locator('[data-mode=one]').click();
  await settle(page);
  const boxes = page.locator('.toggles input');
  for (let i = 0; i < (await boxes.count()); ++i) {
    const label = await boxes.nth(i).evaluate((input) => input.parentElement.textContent);
    if (!/partitions|segments|row blocks|length groups|inside|outside|short|long|near|far/.test(label)) continue;
    const before = await look(page);
    await boxes.nth(i).click();
    await settle(page);
    check(`${name}: '${label}' can be switched off`, (await look(page)) !== before);
    await boxes.nth(i).click();
    await settle(page);
    check(`${name}: '${label}' can be switched on again`, (await look(page)) === before);
  }
}

// Checks that every control has a name, that text has enough contrast, and that nothing is too wide.
async function accessible(page, name) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, canvas, svg:not([aria-hidden]), [role=region]')]
    .filter((element) => !(element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.length))
    .map((element) => element.outerHTML.slice(0, 80)));
  check(`${name}: everything has a name`, nameless.length === 0, nameless.join(' '));
  const pale = await page.evaluate(() => {
    const luminance = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((part) => {
        const share = Number(part) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = luminance(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll('p, td, th, dt, dd, li, button, h1, h2, h3, figcaption')]
      .filter((element) => element.offsetParent && element.textContent.trim())
      .filter((element) => {
        const ink = luminance(getComputedStyle(element).color);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < 4.5;
      })
      .map((element) => element.textContent.trim().slice(0, 30));
  });
  check(`${name}: text stands out from the paper`, pale.length === 0, pale.join(' | '));
  const absent = await page.evaluate(() => document.getElementById('page').innerHTML.match(/.{0,40}(undefined|NaN|\[object|title="true").{0,40}/g) ?? []);
  check(`${name}: every value is there`, absent.length === 0, absent.join(' '));
  const hues = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    return ['--hues', '--hue-value', '--hue-column', '--hue-structure'].map((variable) => style.getPropertyValue(variable));
  });
  // tests/viz/palette_test.cpp compares these hues with the colours of pictures.
  check(`${name}: the hues are those of the program`, hues.join(';') === '252 62 148 320 222 30;252;148;320', hues.join(';'));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(`${name}: nothing is wider than the window`, wide <= 0, `${wide} pixels`);
}

// Pointing at the pattern marks memory, and vice versa.
async function memory(page, name) {
  const canvas = page.locator('.pane:not([hidden]) canvas').last();
  await canvas.scrollIntoViewIfNeeded();
  const frame = await page.evaluate(() => window.spmvPage.frame());
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + frame.left + (0.5 / frame.columns) * frame.width, box.y + frame.top + (0.5 / frame.rows) * frame.height);
  await settle(page);
  const marked = await page.locator('#storage .cell.marked').allInnerTexts();
  check(`${name}: the first entry is marked in memory, column and value`, marked.length === 2 && marked.includes('3'), marked.join(', '));
  await page.locator('#storage h2').hover();
  await settle(page);
  const before = await look(page);
  await page.locator('#storage .role-value .cell').first().hover();
  await settle(page);
  check(`${name}: memory marks the pattern`, (await look(page)) !== before);
  const shown = await page.locator('.storage-readout').innerText();
  check(`${name}: and shows the element`, shown.includes('values[0] = '), shown);
  // Two steps of 32 lanes have 64 places for 10 nonzeros.
  const caption = await page.locator('#storage .warp-figure figcaption').first().innerText();
  check(`${name}: the reads of a warp are counted`, caption === 'warp 0: 2 steps, 0 % padding, 84.4 % idle', caption);
  await page.locator('#storage .warp-figure canvas').first().hover({ position: { x: 2, y: 2 } });
  const read = await page.locator('.storage-readout').innerText();
  check(`${name}: a warp shows what a lane reads`, read.includes('lane 0 of warp 0 in step 0 reads values[0] · row 0, column 0'), read);
}

async function test(word) {
  const file = resolve(word);
  const name = basename(dirname(file));
  const page = await open(file, { reducedMotion: moves(name) ? 'no-preference' : 'reduce' });
  const has_pattern = (await page.locator('.viewer').count()) > 0;
  await accessible(page, name);
  if (name === 'sell') {
    await thin(page, name);
    return page.context().close();
  }
  const compares = (await page.locator('.track').count()) > 1;
  if (has_pattern && !compares) {
    await stages(page, name);
    if (moves(name)) await playing(page, name);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await keys(page, name);
    await sentences(page, name);
    await fits(page, name);
    await headline(page, name, file);
    await figures(page, name, file);
    if (name === 'small') await drawn(page, name, ['beside', 'difference', 'warps']);
    if (name === 'hbp') await drawn(page, name, ['difference']);
    if (name === 'rcm_csr') {
      await many(page, name);
      await equalBars(page, name);
    }
    if (name === 'ehyb') await storedBars(page, name, file);
    await sizes(page, name);
    await zooming(page, name);
    await theme(page, name);
    await modes(page, name);
    if (name === 'small' || name === 'ehyb') await beside(page, name);
    if (name === 'small' || name === 'ehyb') await graph(page, name, name === 'ehyb');
    else check(`${name}: ${name === 'hbp' ? 'a' : 'no'} graph`, (await page.locator('[data-mode=graph]').count()) === (name === 'hbp' ? 1 : 0));
    if (name === 'small' || name === 'rcm_csr') {
      if (name === 'small') await address(page, name, file);
      if (name === 'small') await movie(page, name);
      await around(page, name);
      await numbers(page, name);
      await paper(page, name);
      await tapping(file, name);
    }
    if (name === 'small') {
      await page.keyboard.press('ArrowRight');
      await settle(page);
      await page.locator('button[data-stage="0"]').click();
      await settle(page);
      await hover(page, name, [[0, 0, ['row 0', 'column 0', 'value 4']], [0, 2, ['column 2', 'value -1.5']], [1, 0, ['nothing is stored here']]]);
      await page.locator('button[data-stage="1"]').click();
      await settle(page);
      await hover(page, name, [[0, 0, ['row 0, originally 2', 'column 0, originally 2', 'value 3']]]);
      await memory(page, name);
      await cursor(page, name);
    }
  }
  if (compares) {
    check(`${name}: two pictures`, (await page.locator('.pane:not([hidden])').count()) === 2);
    await page.keyboard.press('ArrowRight');
    await settle(page);
    check(`${name}: the recipe with stages is marked`, (await page.locator('.track').evaluateAll((all) => all.map((one) => one.classList.contains('active')))).join() === 'false,true');
    check(`${name}: an arrow goes through the recipe with stages`, (await page.locator('.track').nth(1).locator('[aria-current=true]').getAttribute('data-stage')) === '1');
    const figures = await page.locator('.headline').last().locator('dt').allInnerTexts();
    check(`${name}: three figures, each once`, figures.length === 3 && new Set(figures).size === 3, figures.join('; '));
    await page.keyboard.press('ArrowLeft');
    await settle(page);
    const before = await look(page);
    await page.locator('.track').nth(1).locator('button[data-stage]').last().click();
    await settle(page);
    check(`${name}: each recipe has a slider`, (await page.locator('.track').nth(0).locator('[aria-current=true]').getAttribute('data-stage')) === '0');
    check(`${name}: and its own picture`, (await look(page)) !== before);
    await page.locator('[data-mode=difference]').click();
    await settle(page);
  }
  if (name === 'solve') await solved(page, name, file);
  if (name === 'choose') await chosen(page, name, file);
  if (!has_pattern) check(`${name}: there is a table`, (await page.locator('table.figures tbody tr').count()) > 0);
  await tables(page, name);
  if (name === 'ehyb') await reportByKeys(page, name);
  await page.evaluate(() => localStorage.removeItem('spmv-theme')); // the theme of the system
  for (const [width, colorScheme] of [[400, 'dark'], [3840, 'light']]) {
    await page.setViewportSize({ width, height: width === 400 ? 800 : 2160 });
    await page.emulateMedia({ colorScheme });
    await settle(page);
    check(`${name}: the theme follows the system`, (await page.evaluate(() => document.documentElement.dataset.theme)) === colorScheme);
    await accessible(page, `${name} at ${width}`);
  }
  await page.context().close();
  if (!pictures) return;
  for (const width of [400, 1280, 3840]) {
    for (const scheme of ['light', 'dark']) {
      const other = await open(file, { viewport: { width, height: width === 400 ? 800 : width === 1280 ? 900 : 2160 }, colorScheme: scheme });
      await other.waitForTimeout(300);
      await other.screenshot({ path: join(pictures, `${name}_${width}_${scheme}.png`), fullPage: true });
      await other.context().close();
    }
  }
}

for (const word of words) await test(word);
await browser.close();
if (words.length === 0) {
  console.error('expected pages that the program wrote');
  process.exit(2);
}
console.log(failures === 0 ? `${words.length} pages work` : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);
