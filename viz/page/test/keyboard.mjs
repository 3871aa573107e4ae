// Pages with the keyboard alone: every control is reached, seen and used without a pointer. The pages of runs and of `workbench serve`
// share these checks.
import { check, readout, settle, stage_of } from './harness.mjs';

// The windows in which lectures are prepared, given and followed.
export const sizes = [
  { where: 'phone', width: 375, height: 740 },
  { where: 'laptop', width: 1280, height: 800 },
  { where: 'projector', width: 1920, height: 1080 },
];

// Forgets where the focus is; the next Tab reaches the first control.
export const fromTheTop = (page) => page.evaluate(() => {
  document.activeElement?.blur();
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
});

// What has the focus: its name, and whether a reader sees it and a ring around it.
const focused = (frame) => frame.evaluate(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const box = element.getBoundingClientRect();
  const ringed = element.closest('.cm-editor') ?? element;
  const { outlineStyle, outlineWidth } = getComputedStyle(ringed);
  const x = (Math.max(0, box.left) + Math.min(innerWidth, box.right)) / 2;
  const y = (Math.max(0, box.top) + Math.min(innerHeight, box.bottom)) / 2;
  const there = document.elementFromPoint(x, y);
  window.reached = window.reached ?? new Set();
  const again = window.reached.has(element);
  window.reached.add(element);
  return {
    again,
    name: (element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.[0]?.textContent || '').slice(0, 40),
    tag: element.tagName,
    ring: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0,
    seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && there !== null && (element.contains(there) || there.contains(element) || [...(element.labels ?? [])].some((label) => label.contains(there))),
  };
});

// Tab reaches every control of a document once, each is visible with a ring around it, and the last one lets go. Returns the number.
export async function walk(page, name, most = 400) {
  await fromTheTop(page);
  await page.evaluate(() => { window.reached = new Set(); });
  let count = 0;
  for (; count < most; ++count) {
    await page.keyboard.press('Tab');
    let now = await focused(page);
    if (now === null || now.again || now.tag === 'IFRAME') break;
    for (let i = 0; i < 40 && !now.ring; ++i) {
      await page.waitForTimeout(50); // the editor shows its focus a little later
      now = await focused(page);
    }
    check(`${name}: Tab reaches something with a name`, now.name !== '', now.tag);
    check(`${name}: '${now.name}' is seen when it has the focus`, now.seen);
    check(`${name}: '${now.name}' has a ring when it has the focus`, now.ring);
  }
  check(`${name}: Tab is not trapped`, count < most, count);
  const missed = await page.evaluate(() => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"], [contenteditable=true]')]
    .filter((element) => !element.disabled && !element.closest('.cm-tooltip') && element.checkVisibility({ visibilityProperty: true }) && !window.reached.has(element))
    .map((element) => element.outerHTML.slice(0, 80)));
  check(`${name}: Tab reaches everything`, missed.length === 0, missed.join(' '));
  return count;
}

// Gives something the focus that Tab reaches, as `walk` has checked.
export const focusOn = (frame, selector) => frame.evaluate((wanted) => document.querySelector(wanted).focus(), selector);

// A report with the keyboard alone, in windows of all sizes. It has two stages or more.
export async function reportByKeys(page, name) {
  const last = (await page.locator('button[data-stage]').count()) - 1;
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
    await settle(page);
  };
  const panes = () => page.locator('.pane:not([hidden])').count();
  for (const { where, width, height } of sizes) {
    const what = `${name} on a ${where}`;
    await page.setViewportSize({ width, height });
    await settle(page);
    await walk(page, what);
    await fromTheTop(page);
    await page.keyboard.press('Tab');
    check(`${what}: the first link skips to the content`, await page.evaluate(() => document.activeElement?.matches('.skip')));
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    check(`${what}: and does so`, await page.evaluate(() => document.activeElement?.closest('main') !== null));

    await focusOn(page, '.track-line input');
    await press('Home');
    check(`${what}: Home shows the input`, (await stage_of(page)) === '0', await stage_of(page));
    const before = await page.locator('.sentence').innerText();
    await press('ArrowRight');
    check(`${what}: an arrow shows the next stage`, (await stage_of(page)) === '1', await stage_of(page));
    check(`${what}: and its sentence`, (await page.locator('.sentence').innerText()) !== before);
    await press('End');
    check(`${what}: End shows the last stage`, (await stage_of(page)) === String(last), await stage_of(page));
    await focusOn(page, 'button[data-stage="0"]');
    await press('Enter');
    check(`${what}: Enter shows a stage`, (await stage_of(page)) === '0', await stage_of(page));

    await focusOn(page, '[data-mode=beside]');
    await press('Space');
    check(`${what}: Space shows two pictures`, (await panes()) === 2, await panes());
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(`${what}: which fit`, over <= 0, over);
    await focusOn(page, '[data-mode=one]');
    await press('Enter');
    check(`${what}: and one again`, (await panes()) === 1, await panes());

    await focusOn(page, '.pane:not([hidden]) canvas');
    await press('Enter');
    await press('ArrowDown');
    const shown = await readout(page);
    check(`${what}: arrows move a cursor`, /^rows? [1-9]/.test(shown), shown);
    const place = await page.evaluate(() => {
      const tip = document.querySelector('.tip:not([hidden])') ?? document.querySelector('.readout');
      const { top, bottom, left, right } = tip.getBoundingClientRect();
      return { seen: top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth, text: tip.textContent };
    });
    check(`${what}: what it reads is in the window`, place.seen && place.text.startsWith('row'), JSON.stringify(place));
    await press('Escape');
    check(`${what}: Esc removes it`, (await page.locator('.tip:visible').count()) === 0 && !(await readout(page)).startsWith('row'));
    const scale = () => page.evaluate(() => window.spmvPage.scale());
    await press('+', '+');
    check(`${what}: + zooms`, (await scale()) > 1, await scale());
    await press('0');
    check(`${what}: 0 shows the whole`, (await scale()) === 1, await scale());

    if ((await page.locator('.toggles input').count()) > 0) {
      await focusOn(page, '.toggles input');
      const is_on = () => page.evaluate(() => document.activeElement.checked);
      const was = await is_on();
      await press('Space');
      check(`${what}: Space switches`, (await is_on()) !== was);
      await press('Space');
    }
    await focusOn(page, 'summary');
    await page.keyboard.press('Enter');
    check(`${what}: Enter opens details`, await page.evaluate(() => document.activeElement.parentElement.open));
    await page.keyboard.press('Enter');
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const old = await theme();
    await focusOn(page, '#theme');
    await press('Enter');
    check(`${what}: Enter changes the theme`, (await theme()) !== old);
    await press('Enter');
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await settle(page);
}
