// The lessons in the live page: predict, try, why, exercise. What the program finds is what the page of the lesson states.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, idle } from './harness.mjs';
import { serve, windows } from './live_lecture.mjs';

const step = (page, name) => page.waitForFunction((wanted) => document.querySelector('.lesson')?.dataset.step === wanted, name, { timeout: 120000 });
const questions_of = (text) => [...text.matchAll(/^<!-- page (\{.*\}) -->$/gm)].map((match) => JSON.parse(match[1]));
const digits = (text) => text.replace(/[^\d.]/g, '');

async function lesson(page, name, text) {
  const title = /^# (.*)/.exec(text)[1];
  const menu = page.locator('[data-name=file]');
  const value = await menu.locator('option').evaluateAll((all, wanted) => all.find((one) => one.textContent === wanted)?.value, title);
  check(`${name}: the menu has it`, value !== undefined, title);
  await menu.selectOption(value);
  await step(page, 'predict');
  await idle(page);
  const [predict, exercise] = questions_of(text);
  check(`${name}: it has two questions`, exercise !== undefined);
  const frame = page.frames()[1];
  const stage = async () => frame.locator('button[data-stage][aria-current=true]').first().getAttribute('data-stage');
  check(`${name}: the input is shown before the prediction`, (await stage()) === '0', await stage());
  check(`${name}: the controls are not`, !(await page.locator('.controls').isVisible()));
  check(`${name}: there are notes`, (await page.locator('.speaker').count()) === 1);
  await page.locator(`[data-name="choice ${predict.choices[0]}"]`).click();
  await step(page, 'try');
  await idle(page);
  const verdict = await page.locator('.verdict').innerText();
  const found = digits(await page.locator('.verdict b').last().innerText());
  const right = predict.figure ? predict.choices.filter((one) => digits(one) === found.slice(0, digits(one).length) && digits(one) !== '') : predict.choices.filter((one) => one === predict.answer);
  check(`${name}: one of the choices is right`, right.length > 0, verdict);
  if (predict.move) check(`${name}: the control to move is marked and in view`, await page.locator('.pointed').isVisible(), predict.move);
  await page.locator('[data-name=next]').click();
  check(`${name}: the explanation is the page's`, (await page.locator('.lesson p').first().innerText()).slice(0, 12) === /\*\*Explanation\.\*\* (.*)/.exec(text)[1].replace(/[*`]/g, '').slice(0, 12));
  await page.locator('[data-name=next]').click();
  await page.locator('[data-name=answer]').fill('-1');
  await page.locator('[data-name=give]').click();
  await page.waitForFunction(() => document.querySelector('.lesson .verdict') !== null, null, { timeout: 120000 });
  const answer = / it is (.*)\.$/.exec(await page.locator('.verdict').innerText())?.[1] ?? '';
  const stated = text.slice(text.indexOf('<summary>Check'));
  check(`${name}: the program's answer is that of the page`, answer !== '' && stated.includes(answer.replace(/ \/.*/, '').replace(/\.0$/, '')), answer);
  await page.locator('[data-name=answer]').fill(answer);
  await page.locator('[data-name=give]').click();
  await page.waitForFunction(() => document.querySelector('.lesson .verdict')?.textContent.includes('that is right'), null, { timeout: 120000 });
}

export async function lessons(open, program, source) {
  const folder = join(source, 'docs', 'lessons');
  const files = readdirSync(folder).filter((name) => /^\d+-.*\.md$/.test(name));
  const { child, address } = await serve(program, ...files.map((name) => join(folder, name)));
  const page = await open(address, { reducedMotion: 'reduce' });
  check('the first lesson is shown first', (await page.locator('[data-name=file] option:checked').innerText()).startsWith('1. '));
  for (const name of files) {
    // The page refuses its code.
    if (!name.startsWith('9-')) await lesson(page, name, readFileSync(join(folder, name), 'utf8'));
  }
  for (const { where, width, height } of windows) {
    await page.setViewportSize({ width, height });
    const over = await page.evaluate(() => [document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]);
    check(`lesson, ${where}: the page does not scroll`, over.every((one) => one <= 0), over.join());
    const asked = await page.evaluate(() => ['.asked', '.lesson-place'].map((name) => document.querySelector(name).getBoundingClientRect()));
    check(`lesson, ${where}: the question and its answers are in view`, asked[0].top >= asked[1].top && asked[0].bottom <= asked[1].bottom + 1 && asked[1].bottom <= height, JSON.stringify(asked));
  }
  await page.locator('[data-name=file]').selectOption({ label: '9. A format of your own, in one file' });
  await idle(page);
  check('the picture of the lesson before is not that of code', !(await page.locator('iframe').isVisible()) && !(await page.locator('.status').innerText()).includes('picture'), await page.locator('.status').innerText());
  await page.context().close();
  child.kill();
}

// Without a file, the page asks where to begin.
export async function begins(open, program, source) {
  const before = process.cwd();
  process.chdir(source);
  const { child, address } = await serve(program);
  process.chdir(before);
  const page = await open(address, { reducedMotion: 'reduce' });
  const start = page.locator('dialog.start');
  const named = (name) => page.locator(`[data-name="${name}"]`);
  await start.waitFor({ state: 'visible', timeout: 20000 });
  const titles = await start.locator('h2').allInnerTexts();
  check('it offers matrices, lessons, recipes and files', titles.join().startsWith('Matrices,Lessons,Recipes'), titles.join());
  const files = await start.locator('[data-name^="file "]').allInnerTexts();
  check('and no files of tests', files.length < 12 && !files.some((name) => /fuzz|tests/.test(name)), files.join());
  for (const { where, width, height } of windows) {
    await page.setViewportSize({ width, height });
    const box = await start.boundingBox();
    check(`${where}: the start page is in the window`, box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, JSON.stringify(box));
  }
  await start.locator('button', { hasText: '3. Slices and windows' }).click();
  await step(page, 'predict');
  await idle(page);
  check('a lesson opens', (await page.locator('[data-name=file] option:checked').innerText()).startsWith('3. '));
  check('nothing of the recipe before can be brought back', await page.locator('[data-action=Undo]').isDisabled());
  await page.locator('[data-action="Where to begin"]').click();
  await named('example uneven rows').click();
  await idle(page);
  check('a matrix opens the recipe', (await page.locator('[data-name=file] option:checked').innerText()) === 'rcm_sell.toml');
  const text = await page.evaluate(() => window.spmvLive.text());
  check('with this matrix', text.includes('generate = "random_uniform"'));
  // A link opens the recipe, not the first lesson; it is left with the next change.
  await page.locator('.more summary').click();
  await page.locator('[data-action=Link]').click();
  await page.waitForFunction(() => location.hash.startsWith('#recipe='));
  const link = page.url();
  await page.reload();
  await idle(page);
  check('a link opens its file', (await page.locator('[data-name=file] option:checked').innerText()) === 'rcm_sell.toml' && (await page.evaluate(() => window.spmvLive.text())) === text);
  await page.locator('[data-name="stage 0 on"]').uncheck();
  await idle(page);
  check('a change leaves the link', page.url() === address, page.url());
  await page.goto(link.replace(/file=.*/, 'file=other.toml'));
  const says = await page.waitForFunction(() => document.querySelector('.status').textContent.includes('The link is to other.toml'), null, { timeout: 10000 }).then(() => true, () => false);
  check('a link to a file that the server was not given says so', says, await page.locator('.status').innerText());
  await page.context().close();
  child.kill();
}
