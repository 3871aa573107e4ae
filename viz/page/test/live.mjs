// Tests the page of `workbench serve` in headless Chromium: `node test/live.mjs ADDRESS PROGRAM RECIPE SOURCE [PART...]`. Exit code 77:
// skipped, because Chromium or the packages of this folder are not installed. The server serves tests/page/live.toml, RECIPE.
import { readFileSync } from 'node:fs';
import { browser, check, failures, idle, words } from './harness.mjs';
import { focusOn, sizes, walk } from './keyboard.mjs';
import { killedServer, lecture, twoWindows } from './live_lecture.mjs';
import { begins, lessons } from './live_lessons.mjs';

const [address, program, recipe, source, ...wanted] = words;

// `loses`: the server will end, which the browser logs.
async function open(at = address, options = {}, loses = false) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  page.on('console', (message) => check('nothing is logged', loses || message.type() !== 'error' && message.type() !== 'warning', message.text()));
  page.on('pageerror', (error) => check('no error', false, error.message));
  page.on('request', (request) => check('no request leaves', /^(data|blob):/.test(request.url()) || request.url().startsWith(at.replace(/#.*/, '')), request.url()));
  await page.goto(at);
  await idle(page);
  return page;
}

const text_of = (page) => page.evaluate(() => window.spmvLive.text());
const choose = (page, what) => page.locator(`[data-choice=${what}]`).click();
const stages_of = async (page) => (await page.frameLocator('iframe').locator('button[data-stage]').allInnerTexts()).map((name) => name.replace(/[\s\u200b]+/g, '').replace(/^(\d+)/, '$1 '));
const status_of = (page) => page.locator('.status').innerText();
const named = (page, name) => page.locator(`[data-name="${name}"]`);
const change = async (page, act) => {
  await act();
  await idle(page);
};

async function controls(page) {
  check('the report has the stages', (await stages_of(page)).join() === '0 input,1 cuthill_mckee,2 row_sort', (await stages_of(page)).join());
  check('the last stage is shown first', (await page.frameLocator('iframe').locator('button[data-stage][aria-current=true]').getAttribute('data-stage')) === '2');
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('Control+ArrowLeft'); // for the browser, not for the report
  await change(page, () => named(page, 'stage 1 window').fill('8').then(() => named(page, 'stage 1 window').press('Enter')));
  check('a number is written into the text', /window = 8\b/.test(await text_of(page)), await text_of(page));
  check('comments and spaces stay', (await text_of(page)).includes('use    = "row_sort"   # by length'));
  check('the report keeps its stage', (await page.frameLocator('iframe').locator('button[data-stage][aria-current=true]').getAttribute('data-stage')) === '2');
  await named(page, 'stage 1 order').focus();
  await change(page, () => named(page, 'stage 1 order').selectOption('ascending'));
  check('a word is written into the text', (await text_of(page)).includes('order  = "ascending"'), await text_of(page));
  check('the focus stays on the control', (await page.evaluate(() => document.activeElement?.dataset.name)) === 'stage 1 order');
  await named(page, 'layout 0 more').click().catch(() => undefined);
  await named(page, 'layout 0 slice_height slider').focus();
  await change(page, () => page.keyboard.press('ArrowRight'));
  check('a slider moves by keys', /slice_height = 36\b/.test(await text_of(page)), await text_of(page));
  check('the focus stays on the slider', (await page.evaluate(() => document.activeElement?.dataset.name)) === 'layout 0 slice_height slider');

  const up = () => named(page, 'stage 1 move').focus().then(() => page.keyboard.press('ArrowUp'));
  await change(page, up);
  check('a stage moves up', (await stages_of(page)).join() === '0 input,1 row_sort,2 cuthill_mckee', (await stages_of(page)).join());
  await change(page, () => page.locator('[data-action=Undo]').click());
  check('undo takes it back', (await stages_of(page)).join() === '0 input,1 cuthill_mckee,2 row_sort', (await stages_of(page)).join());
  // The controls show the text before its run has ended.
  let release;
  const held = new Promise((done) => { release = done; });
  await page.route('**/run', (route) => held.then(() => route.continue()));
  await page.locator('[data-action=Redo]').click();
  check('controls do not wait for a slow run', await named(page, 'stage 0 window').waitFor({ timeout: 10000 }).then(() => true, () => false));
  release();
  await idle(page);
  await page.unrouteAll({ behavior: 'wait' });
  await change(page, up);
  await change(page, () => named(page, 'stage 0 on').uncheck());
  check('a stage is switched off', (await stages_of(page)).join() === '0 input,1 row_sort', (await stages_of(page)).join());
  check('it stays in the text', (await text_of(page)).includes('#off use = "cuthill_mckee"'), await text_of(page));
  await change(page, () => named(page, 'stage 0 on').check());
  check('and on again', (await stages_of(page)).length === 3, (await stages_of(page)).join());
  await change(page, () => named(page, 'stage 1 remove').click());
  check('a stage is removed', (await stages_of(page)).join() === '0 input,1 cuthill_mckee', (await stages_of(page)).join());
  await named(page, 'add').selectOption('row_sort');
  check('a chosen stage waits for its button', (await stages_of(page)).length === 2, (await stages_of(page)).join());
  await change(page, () => named(page, 'add button').click());
  check('a stage is added', (await stages_of(page)).join() === '0 input,1 cuthill_mckee,2 row_sort', (await stages_of(page)).join());
  await change(page, () => named(page, 'layout 0').selectOption('csr'));
  check('the layout is replaced', /\[layout\]\nuse = "csr"/.test(await text_of(page)), await text_of(page));
  await choose(page, 'report');
  check('its arrays are shown', (await page.frameLocator('iframe').locator('body').innerText()).includes('row_offsets'));
  await choose(page, 'lecture');
}

async function matrices(page) {
  const menu = async (wanted) => {
    const { now, all } = await named(page, 'matrix').evaluate((one) => ({ now: one.value, all: [...one.options].map(({ value }) => value) }));
    check(`the menu shows ${wanted}, and lists each matrix once`, now === wanted && new Set(all).size === all.length && all.every((value) => value !== '' && !value.includes('undefined')), `${now} of ${all}`);
  };
  await change(page, () => named(page, 'matrix').selectOption('path:grid.mtx'));
  await menu('path:grid.mtx');
  check('a file of the folder is read', (await page.frameLocator('iframe').locator('.matrix').innerText()).startsWith('grid.mtx 3 × 3'));
  await change(page, () => named(page, 'matrix').selectOption('generate:laplace2d'));
  await menu('generate:laplace2d');
  check('a generator runs', (await page.frameLocator('iframe').locator('.matrix').innerText()).includes('900 × 900'), await status_of(page));
  await named(page, 'matrix examples').click();
  await page.waitForFunction(() => document.querySelector('.thumbnails').dataset.made === '8', null, { timeout: 60000 });
  const inked = await page.locator('.thumbnails canvas').evaluateAll((all) => all.map((one) => one.getContext('2d').getImageData(0, 0, one.width, one.height).data.some((part) => part > 0)));
  check('every example has a picture', inked.length === 8 && inked.every(Boolean), inked.join());
  check('the files of the folder can be chosen', (await named(page, 'file grid.mtx').locator('b').allInnerTexts()).join() === 'grid.mtx');
  await page.keyboard.press('Escape');
  check('Esc leaves the examples', !(await page.locator('dialog.start').isVisible()));
  await page.locator('[data-action="Where to begin"]').click();
  await change(page, () => named(page, 'example skewed graph').click());
  check('an example runs', (await page.frameLocator('iframe').locator('.matrix').innerText()).includes('1,024 × 1,024'), await status_of(page));
  await page.locator('[data-action="Where to begin"]').click();
  await change(page, () => named(page, 'draw a matrix').click());
  const matrix = page.frameLocator('iframe').locator('.matrix');
  check('a small matrix is there', (await matrix.innerText()).includes('6 × 6, 16 nonzeros'), await matrix.innerText());
  await change(page, () => page.getByLabel('row 0, column 5').click());
  check('a click adds an entry', (await matrix.innerText()).includes('6 × 6, 17 nonzeros'), await matrix.innerText());
  const [first, last] = [await page.getByLabel('row 5, column 0').boundingBox(), await page.getByLabel('row 5, column 3').boundingBox()];
  await page.mouse.move(first.x + 4, first.y + 4);
  await page.mouse.down();
  await page.mouse.move(last.x + 4, last.y + 4, { steps: 12 });
  // Controls of an older text must not be used while the check of a new one is slow.
  await page.route('**/check', async (route) => {
    await new Promise((done) => setTimeout(done, 400));
    await route.continue();
  });
  await change(page, () => page.mouse.up());
  check('dragging paints', (await matrix.innerText()).includes('6 × 6, 21 nonzeros'), await matrix.innerText());
  await change(page, () => page.keyboard.press('Control+z'));
  await page.getByLabel('row 0, column 5').focus();
  await page.keyboard.press('ArrowDown');
  await change(page, () => page.keyboard.press('Space'));
  check('keys add another', (await matrix.innerText()).includes('6 × 6, 18 nonzeros'), await matrix.innerText());
  await page.unrouteAll({ behavior: 'wait' });
  await named(page, 'size').focus();
  await change(page, () => page.keyboard.press('ArrowDown'));
  check('it shrinks', (await matrix.innerText()).includes('5 × 5'), await matrix.innerText());
}

// Each generator begins with a matrix that is worth looking at, and not too large to run at once.
async function generators(page) {
  const matrix = page.frameLocator('iframe').locator('.matrix');
  const values = await named(page, 'matrix').locator('option').evaluateAll((all) => all.map((one) => one.value).filter((value) => value.startsWith('generate:')));
  check('there are generators', values.length > 5, values.join());
  for (const value of values) {
    await change(page, () => named(page, 'matrix').selectOption(value));
    const words = await matrix.innerText();
    const [rows, columns, nonzeros] = (/([\d,]+) × ([\d,]+), ([\d,]+) nonzeros/.exec(words) ?? []).slice(1).map((number) => Number(number.replaceAll(',', '')));
    check(`${value} begins with a matrix of some size`, words.includes(value.split(':')[1]) && rows >= 500 && nonzeros < 1e5 && nonzeros < 0.2 * rows * columns, words);
  }
}

// A fast pointer paints every cell on its way, in the largest matrix.
async function painting(page) {
  await change(page, () => named(page, 'matrix').selectOption('rows'));
  await named(page, 'size').fill('33');
  await named(page, 'size').press('Enter');
  check('a matrix of 33 rows is refused', (await named(page, 'size').evaluate((one) => one.validity.rangeOverflow)) && !/^ {2}"(. ){32}/m.test(await text_of(page)));
  await change(page, () => named(page, 'size').fill('32').then(() => named(page, 'size').press('Enter')));
  const rows = async () => [...(await text_of(page)).matchAll(/^ {2}"(.*)",$/gm)].map((row) => row[1].split(' '));
  const before = await rows();
  check('the largest matrix has 32 rows', before.length === 32 && before.every((row) => row.length === 32), before.length);
  const at = async (row, column) => {
    const { x, y, width, height } = await named(page, `entry ${row} ${column}`).boundingBox();
    return [x + width / 2, y + height / 2];
  };
  await named(page, 'entry 31 31').scrollIntoViewIfNeeded();
  await page.mouse.move(...(await at(31, 2)));
  await page.mouse.down();
  for (const [row, column] of [[2, 2], [2, 31], [12, 31]]) await page.mouse.move(...(await at(row, column)));
  await change(page, () => page.mouse.up());
  // Down column 2, along row 2, and down column 31 to row 12; the first cell was empty.
  const wanted = before.map((row, i) => row.map((entry, j) => ((j === 2 && i >= 2) || (i === 2 && j >= 2) || (j === 31 && i >= 2 && i <= 12) ? '1' : entry)));
  check('dragging paints the cells on its way', JSON.stringify(await rows()) === JSON.stringify(wanted), (await rows()).map((row) => row.join('')).join('\n'));
  const count = wanted.flat().filter((entry) => entry !== '.').length;
  const words = await page.frameLocator('iframe').locator('.matrix').innerText();
  check('the picture is that of the painted cells', words.includes(`32 × 32, ${count} nonzeros`), `${words} for ${count}`);
}

// A file that is dropped on the page, or on the report, becomes the matrix.
async function drops(page) {
  const drop = (name, content, on_report) => change(page, () => page.evaluate(([file, text, inside]) => {
    const target = inside ? document.querySelector('iframe').contentDocument : document;
    const view = target.defaultView;
    const data = new view.DataTransfer();
    data.items.add(new view.File([text], file));
    for (const kind of ['dragover', 'drop']) {
      const event = new view.DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true });
      target.body.dispatchEvent(event);
      if (!event.defaultPrevented) throw new Error(`${kind} is left to the browser`);
    }
  }, [name, content, on_report]));
  const matrix = page.frameLocator('iframe').locator('.matrix');
  const head = '%%MatrixMarket matrix coordinate real general\n';
  await drop('dropped.mtx', `${head}4 4 2\n1 1 1\n4 4 1\n`, false);
  check('a dropped file is read', (await matrix.innerText()).startsWith('dropped.mtx 4 × 4'), await matrix.innerText());
  check('the text names it', (await text_of(page)).includes('path = "dropped.mtx"'), await text_of(page));
  check('the menu lists it', (await named(page, 'matrix').locator('option[value="path:dropped.mtx"]').count()) === 1);
  await drop('second.mtx', `${head}5 5 1\n5 5 1\n`, true);
  check('the report takes files, too', (await matrix.innerText()).startsWith('second.mtx 5 × 5'), await matrix.innerText());
  await drop('second.mtx', `${head}6 6 1\n5 5 1\n`, false);
  check('no file is replaced', (await status_of(page)).includes('was not taken') && (await page.locator('.problems').innerText()).includes('another file of this name'), await status_of(page));
  await drop('notes.txt', 'x', false);
  check('other files are refused', (await page.locator('.problems').innerText()).includes('found no name of a matrix file'));
}

async function text(page) {
  await choose(page, 'text');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\n[[');
  await page.locator('.cm-tooltip-autocomplete', { hasText: '[[layout]]' }).waitFor();
  await page.keyboard.type('stage]]\nuse = "metis_par');
  await page.locator('.cm-tooltip-autocomplete').waitFor();
  check('completion lists stages', (await page.locator('.cm-tooltip-autocomplete li').first().innerText()).includes('metis_partition'));
  await page.waitForTimeout(150);
  await page.keyboard.press('Enter');
  await change(page, () => page.keyboard.press('Control+End'));
  check('completion writes the name once', (await text_of(page)).trimEnd().endsWith('use = "metis_partition"'), await text_of(page));
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+Space');
  await page.locator('.cm-tooltip-autocomplete').waitFor();
  check('Ctrl-Space lists parameters', (await page.locator('.cm-tooltip-autocomplete').innerText()).includes('parts'));
  await page.keyboard.press('Escape');
  await page.keyboard.type('capacity = "sh');
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'shared_memory' }).waitFor();
  await page.waitForTimeout(150);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+End');
  check('completion lists the words of a parameter', (await text_of(page)).trimEnd().endsWith('capacity = "shared_memory"'), await text_of(page));
  await change(page, () => page.keyboard.type('\nparts = "many"'));
  const problems = await page.locator('.problems').innerText();
  check('an error has its line', /^Line \d+: .*parts/.test(problems), problems);
  check('it stands below it', (await page.locator('.cm-problem').innerText()).includes('parts'));
  check('it is underlined', (await page.locator('.cm-wrong').count()) > 0);
  check('the old report is dimmed', (await page.locator('.frames.old').count()) === 1);
  check('the status says so', (await status_of(page)).includes('error'), await status_of(page));
  await change(page, () => page.keyboard.press('Control+z'));
  await page.keyboard.press('Tab');
  check('Tab leaves the editor', await page.evaluate(() => !document.activeElement?.closest('.cm-editor')));
}

// `workbench serve --backend kokkos`: kernels are timed when the page is asked to.
async function timing(page) {
  const kernels = page.frameLocator('iframe').locator('#kernels');
  check('kernels are not timed unasked', (await kernels.count()) === 0);
  await change(page, () => page.locator('[data-action="Time the kernels"]').click());
  check('the report is shown with them', (await page.locator('[data-choice=report]').getAttribute('aria-pressed')) === 'true');
  check('the status says that they were timed', (await status_of(page)).startsWith('Timed in'), await status_of(page));
  const table = await kernels.locator('table').first().innerText();
  check('the kernels are listed, with the backend', /kokkos, f64/.test(table), table);
  check('they are right, and timed', !/WRONG|unsuitable/.test(table) && /\d (ns|us|µs|ms)/.test(table), table);
  check('beside a baseline', /baseline/.test(table), table);
  await change(page, () => named(page, 'layout 0').selectOption('sell'));
  await choose(page, 'lecture');
  check('the next change is not timed', (await kernels.count()) === 0 && (await status_of(page)).startsWith('Ran in'), await status_of(page));
}

async function saving(page) {
  await page.locator('.more summary').click();
  const download = async (action) => {
    const [file] = await Promise.all([page.waitForEvent('download', { timeout: 120000 }), page.locator(`[data-action=${action}]`).click()]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const recipe = await download('Recipe');
  check('the recipe is saved', recipe.name === 'live.toml' && recipe.bytes.toString() === (await text_of(page)), recipe.name);
  const report = await download('Report');
  check('the report is saved', report.name === 'live.html' && report.bytes.toString().startsWith('<!DOCTYPE html>'), report.name);
  const picture = await download('Picture');
  check('the picture is saved', picture.name === 'live.png' && picture.bytes.subarray(1, 4).toString() === 'PNG', picture.name);
  const movie = await download('GIF');
  check('the stages are saved as a GIF', movie.name === 'live.gif' && movie.bytes.toString('latin1', 0, 6) === 'GIF89a' && movie.bytes.readUInt16LE(6) === 1920, movie.name);
  await page.locator('[data-action=Link]').click();
  await page.waitForFunction(() => location.hash.startsWith('#recipe='));
  const copy = await open(page.url());
  check('the link contains the recipe', (await text_of(copy)) === (await text_of(page)));
  await copy.context().close();
}

// The same with the keyboard alone, in windows of all sizes.
async function byKeys(page) {
  const report = () => page.frames()[1];
  const pressed = (key) => change(page, () => page.keyboard.press(key));
  const focus_is_on = (name) => page.evaluate((wanted) => document.activeElement?.dataset.name === wanted, name);
  for (const { where, width, height } of sizes) {
    const what = `live page on a ${where}`;
    await page.setViewportSize({ width, height });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(`${what}: nothing is cut`, wide <= 0, wide);
    const count = await walk(page, what);
    check(`${what}: there are many controls`, count > 20, count);
    check(`${what}: Tab enters the report`, await report().evaluate(() => document.hasFocus() && document.activeElement !== document.body));
    await page.keyboard.press('Shift+Tab');
    check(`${what}: Shift-Tab leaves it`, await page.evaluate(() => document.activeElement.closest('.panel') !== null));

    // The list is drawn after the key is handled, later on a busy machine.
    const stagesBecome = (count) =>
        page.waitForFunction((n) => document.querySelectorAll('.stages li').length === n, count, { timeout: 10000 }).then(() => true, () => false);
    const text = await text_of(page);
    await focusOn(page, '[data-name=matrix]');
    await pressed('ArrowDown');
    check(`${what}: an arrow chooses another matrix`, (await text_of(page)) !== text && (await focus_is_on('matrix')), await text_of(page));
    await focusOn(page, '[data-action=Undo]');
    await pressed('Enter');
    check(`${what}: Enter takes it back`, (await text_of(page)) === text, await text_of(page));
    await focusOn(page, '[data-name="stage 1 move"]');
    await pressed('ArrowUp');
    check(`${what}: an arrow moves a stage up`, (await stages_of(page)).join() === '0 input,1 row_sort,2 cuthill_mckee', (await stages_of(page)).join());
    await focusOn(page, '[data-name="stage 1 on"]');
    await pressed('Space');
    check(`${what}: Space switches a stage off`, (await stages_of(page)).join() === '0 input,1 row_sort', (await stages_of(page)).join());
    check(`${what}: the focus stays there`, await focus_is_on('stage 1 on'));
    await pressed('Space');
    await focusOn(page, '[data-name=add]');
    await page.keyboard.press('ArrowDown');
    await focusOn(page, '[data-name="add button"]');
    await pressed('Enter');
    check(`${what}: Enter adds a stage`, await stagesBecome(3));
    await focusOn(page, '[data-name="stage 2 remove"]');
    await pressed('Enter');
    check(`${what}: Enter removes it`, await stagesBecome(2));

    await focusOn(page, '[data-choice=text]');
    await page.keyboard.press('Enter');
    await focusOn(page, '.cm-content');
    await page.keyboard.press('Control+End');
    await change(page, () => page.keyboard.type('\nslice_heigth = 4\n'));
    await focusOn(page, '.problems button');
    await page.keyboard.press('Enter');
    const line = await page.evaluate(() => document.querySelector('.cm-activeLine')?.textContent ?? '');
    check(`${what}: Enter leads to the error`, line.includes('slice_heigth'), line);
    while ((await page.locator('.problems button').count()) > 0) await pressed('Control+z');
    await focusOn(page, '[data-choice=controls]');
    await page.keyboard.press('Enter');

    await focusOn(report(), '.track-line input');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await report().waitForFunction(() => document.querySelector('button[data-stage="1"]')?.getAttribute('aria-current') === 'true', null, { timeout: 5000 });
    await focusOn(page, '.more summary');
    await page.keyboard.press('Enter');
    await focusOn(page, '[data-action=Recipe]');
    const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    check(`${what}: Enter saves the recipe`, file.suggestedFilename() === 'live.toml');
    await focusOn(page, '.more summary');
    await page.keyboard.press('Enter');
    // As at the beginning, for the next size.
    await focusOn(page, '[data-action=Undo]');
    while ((await text_of(page)) !== text && (await page.locator('[data-action=Undo]:not(:disabled)').count()) > 0) await page.keyboard.press('Enter');
    await idle(page);
    check(`${what}: Undo takes everything back`, (await text_of(page)) === text);
  }
  await page.context().close();
}

// Each begins with a page of its own.
const parts = {
  editing: async () => {
    const page = await open();
    for (const part of [controls, matrices, generators, painting, drops, timing, saving, text]) await part(page);
    await page.context().close();
  },
  lecture: () => lecture(open),
  windows: () => twoWindows(open),
  killed: () => killedServer(open, program, recipe),
  begins: () => begins(open, program, source),
  lessons: () => lessons(open, program, source),
  keys: async () => byKeys(await open(address, { reducedMotion: 'reduce' })),
};
for (const part of wanted.length > 0 ? wanted : Object.keys(parts)) await parts[part]();
await browser.close();
if (failures > 0) {
  console.error(`${failures} checks failed`);
  process.exit(1);
}
console.log('the live page works');
