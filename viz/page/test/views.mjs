// The checks of a page's views: playing, the address, full screen, the graph, paper, numbers at the axes, and tapping.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pictures, check, open, settle, readout, stage_of } from './harness.mjs';

// Play pauses at once, by its button and by Esc, and goes on from there to the last stage.
export async function playing(page, name) {
  const count = await page.locator('button[data-stage]').count();
  if (count < 2) return;
  const play = page.locator('.play').first();
  const name_of = () => play.getAttribute('aria-label');
  const position = async () => Number(await page.locator('.track-line input').first().inputValue());
  // Within the page, because a busy machine takes longer between two commands than the animation does.
  const after_frames = (act) => page.evaluate(async (what) => {
    document.querySelector('.play').click();
    for (let i = 0; i < 3; ++i) await new Promise((frame) => requestAnimationFrame(frame));
    const name = document.querySelector('.play').getAttribute('aria-label');
    if (what === 'Esc') document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    else document.querySelector('.play').click();
    return name;
  }, act);
  check(`${name}: play becomes pause`, (await after_frames('Esc')) === 'Pause');
  await page.waitForTimeout(100);
  const paused = await position();
  check(`${name}: Esc pauses between two stages`, paused > 0 && paused < 1, paused);
  check(`${name}: pause becomes play`, (await name_of()) === 'Play all stages', await name_of());
  await page.waitForTimeout(200);
  check(`${name}: it stays there`, (await position()) === paused, await position());
  await after_frames('click');
  await page.waitForTimeout(100);
  const again = await position();
  check(`${name}: the button pauses, too`, again >= paused && again < 1 && (await name_of()) === 'Play all stages', again);
  await play.click();
  await page.waitForFunction(() => document.querySelector('.play').getAttribute('aria-label') !== 'Pause', null, { timeout: 20000 });
  check(`${name}: play goes on to the last stage`, (await position()) === count - 1, await position());
}

// The address names the stage, and a link to a stage opens it.
export async function address(page, name, file) {
  const count = await page.locator('button[data-stage]').count();
  if (count < 2) return;
  await page.locator('button[data-stage="1"]').first().click();
  await settle(page);
  await page.waitForFunction(() => location.hash === '#stage=1', null, { timeout: 2000 }).catch(() => undefined);
  check(`${name}: the address names the stage`, (await page.evaluate(() => location.hash)) === '#stage=1', page.url());
  for (const [fragment, stage] of [['#stage=99', count - 1], ['#stage=x', 0]]) {
    const other = await open(file, {}, fragment);
    check(`${name}: ${fragment} opens stage ${stage}`, (await stage_of(other)) === String(stage), await stage_of(other));
    await other.context().close();
  }
  await page.locator('button[data-stage]').last().click();
  await settle(page);
}

// Contents, full screen, saving and paper.
export async function around(page, name) {
  const missing = await page.evaluate(() => [...document.querySelectorAll('.contents a')].filter((link) => !document.querySelector(link.hash)).map((link) => link.hash));
  check(`${name}: contents lead to sections`, missing.length === 0 && (await page.locator('.contents a').count()) > 2, missing.join());
  const sections = await page.locator('main > section').count();
  check(`${name}: contents list all sections`, (await page.locator('.contents a').count()) === sections, sections);

  const frame = () => page.evaluate(() => window.spmvPage.frame());
  const before = await frame();
  await page.locator('#main').click({ position: { x: 2, y: 2 } });
  await page.keyboard.press('f');
  await page.waitForFunction(() => document.fullscreenElement !== null, null, { timeout: 5000 });
  await page.waitForTimeout(300);
  const full = await frame();
  check(`${name}: the picture is larger in full screen`, full.height > before.height, `${before.height} -> ${full.height}`);
  const over = await page.evaluate(() => document.fullscreenElement.scrollWidth - document.fullscreenElement.clientWidth);
  check(`${name}: full screen is not cut`, over <= 0, over);
  await page.getByRole('button', { name: 'Full screen' }).click();
  await page.waitForFunction(() => document.fullscreenElement === null, null, { timeout: 5000 });
  await settle(page);
  check(`${name}: and as large as before after it`, (await frame()).height === before.height, (await frame()).height);

  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save picture' }).click()]);
  const bytes = readFileSync(await file.path());
  check(`${name}: the picture is saved`, /_\d+_\w+\.png$/.test(file.suggestedFilename()) && bytes.subarray(1, 4).toString() === 'PNG', file.suggestedFilename());
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  check(`${name}: it is a slide, whatever the window`, width === 1920 && height === 1080, `${width} x ${height}`);
}

// The GIF shows every stage as the saved picture does, and the page shows the stage that it showed.
export async function movie(page, name) {
  const count = await page.locator('button[data-stage]').count();
  const before = await stage_of(page);
  const [file] = await Promise.all([page.waitForEvent('download', { timeout: 120000 }), page.getByRole('button', { name: 'Save GIF' }).click()]);
  check(`${name}: the page shows its stage after the GIF`, (await stage_of(page)) === before, await stage_of(page));
  const gif = readFileSync(await file.path());
  check(`${name}: the GIF is a slide`, gif.toString('latin1', 0, 6) === 'GIF89a' && gif.readUInt16LE(6) === 1920 && gif.readUInt16LE(8) === 1080, file.suggestedFilename());
  const found = await page.evaluate(async ([text, stages]) => {
    const decoder = new ImageDecoder({ data: Uint8Array.from(atob(text), (one) => one.charCodeAt(0)), type: 'image/gif' });
    await decoder.tracks.ready;
    const images = decoder.tracks.selectedTrack.frameCount;
    const pixels = (image) => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [1920, 1080];
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, 1920, 1080).data;
    };
    const far = [];
    for (let stage = 0; stage < stages; ++stage) {
      window.spmvPage.show(stage);
      const saved = pixels(window.spmvPage.picture());
      const { image } = await decoder.decode({ frameIndex: (stage * (images - 1)) / (stages - 1) });
      const shown = pixels(image);
      image.close();
      let wrong = 0;
      for (let i = 0; i < saved.length; ++i) if (Math.abs(saved[i] - shown[i]) > 48) ++wrong;
      far.push(wrong / saved.length);
    }
    return { images, far };
  }, [gif.toString('base64'), count]);
  check(`${name}: stages move in the GIF`, found.images > 10 * (count - 1), found.images);
  check(`${name}: the GIF shows every stage`, found.far.every((share) => share < 0.001), found.far.join(' '));
  await page.locator(`button[data-stage="${before}"]`).first().click();
  await settle(page);
}

// The graph beside the pattern: pointing at one marks the other.
export async function graph(page, name, has_pieces) {
  const looks = () => page.evaluate(() => [...document.querySelectorAll('.pane:not([hidden]) canvas')].map((canvas) => canvas.toDataURL()));
  await page.mouse.move(0, 0);
  await page.locator('[data-mode=graph]').click();
  await settle(page);
  check(`${name}: the graph and the pattern are beside each other`, (await page.locator('.pane:not([hidden])').count()) === 2);
  await page.locator('button[data-stage]').first().click();
  await settle(page);
  const input = await looks();
  await page.locator('button[data-stage]').last().click();
  await settle(page);
  const last = await looks();
  check(`${name}: the stage colours the graph`, last[0] !== input[0]);
  const select = page.locator('.tools select');
  await select.selectOption('length');
  await settle(page);
  check(`${name}: row lengths colour it`, (await looks())[0] !== last[0] && (await page.locator('.pane figcaption').first().innerText()).includes('nonzeros of each row'));
  await select.selectOption('level');
  await settle(page);
  check(`${name}: levels colour it`, (await page.locator('.pane figcaption').first().innerText()).includes('by level'));
  await select.selectOption('partition');
  await settle(page);
  const words = await page.locator('.pane figcaption').first().innerText();
  check(`${name}: partitions colour it if there are any`, words.includes(' partitions; ') === has_pieces, words);
  await select.selectOption('auto');
  await settle(page);
  const canvas = page.locator('.pane:not([hidden]) canvas');
  await canvas.first().scrollIntoViewIfNeeded();
  const [x, y] = await page.evaluate(() => window.spmvPage.vertex(2));
  const box = await canvas.first().boundingBox();
  await page.mouse.move(box.x + x, box.y + y);
  await settle(page);
  const shown = await readout(page);
  check(`${name}: pointing at a vertex reads it`, /^row [\d,]+, (as originally|originally 2) column [\d,]+, (as originally|originally 2) neighbours \d+/.test(shown), shown);
  const marked = await looks();
  check(`${name}: and marks both pictures`, marked[0] !== last[0] && marked[1] !== last[1]);
  await page.mouse.move(0, 0);
  await settle(page);
  const frame = await page.evaluate(() => window.spmvPage.frame());
  const pattern = await canvas.last().boundingBox();
  await page.mouse.move(pattern.x + frame.left + (0.5 / frame.columns) * frame.width, pattern.y + frame.top + (0.5 / frame.rows) * frame.height);
  await settle(page);
  check(`${name}: pointing at a nonzero marks its edge`, (await looks())[0] !== last[0]);
  await page.mouse.move(0, 0);
  await settle(page);
  if (pictures) await page.screenshot({ path: join(pictures, `${name}_graph.png`) });
  await page.locator('[data-mode=one]').click();
  await settle(page);
}

export async function paper(page, name) {
  const count = await page.locator('button[data-stage]').count();
  const dark = await page.evaluate(() => {
    document.documentElement.dataset.theme = 'dark';
    window.dispatchEvent(new Event('beforeprint'));
    return document.documentElement.dataset.theme === 'dark';
  });
  check(`${name}: paper is light`, !dark);
  await page.emulateMedia({ media: 'print' });
  check(`${name}: every stage is printed`, (await page.locator('.print-stages figure:visible canvas').count()) === Math.max(1, count));
  check(`${name}: controls are not printed`, (await page.locator('.viewer:visible, .contents:visible, .play:visible').count()) === 0);
  const white = await page.evaluate(() => [...document.querySelectorAll('.print-stages canvas')].every((canvas) => {
    const { data } = window.copyOf(canvas).getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let dark = 0;
    let inked = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 255) continue;
      ++inked;
      if (data[i] + data[i + 1] + data[i + 2] < 90) ++dark;
    }
    return inked > 0 && dark < inked / 2;
  }));
  check(`${name}: pictures on paper are white`, white);
  // Charts are drawn for the width of paper.
  const shrunk = await page.evaluate(() => [...document.querySelectorAll('.chart svg')].filter((one) => one.clientWidth > 0 && one.clientWidth < 0.95 * one.viewBox.baseVal.width).length);
  check(`${name}: text of charts on paper is not shrunk`, shrunk === 0, shrunk);
  await page.emulateMedia({ media: null });
  await page.evaluate(() => {
    window.dispatchEvent(new Event('afterprint'));
    document.documentElement.dataset.theme = 'light';
  });
  check(`${name}: nothing of it stays`, (await page.locator('.print-only').count()) === 0);
  if (pictures) await page.pdf({ path: join(pictures, `${name}.pdf`), format: 'A4' });
}

// Numbers at the axes end within the picture at every zoom, and leave the strip of lengths free.
export async function numbers(page, name) {
  for (let zooms = 0; zooms < 14; zooms += 2) {
    const ink = await page.evaluate(() => {
      const shown = [...document.querySelectorAll('.pane:not([hidden]) canvas')].at(-1);
      const ratio = shown.width / parseFloat(shown.style.width);
      const canvas = window.copyOf(shown);
      const { left, top, width } = window.spmvPage.frame();
      const any = (x, y, w, h) => canvas.getContext('2d').getImageData(x * ratio, y * ratio, w * ratio, h * ratio).data.some((part) => part > 0);
      return [any(0, 0, 2, canvas.height / ratio), any(left + width + 2, 0, 6, top - 2)];
    });
    check(`${name}: numbers of rows are whole after ${zooms} zooms`, !ink[0]);
    check(`${name}: numbers of columns end with the frame after ${zooms} zooms`, !ink[1]);
    await page.keyboard.press('+');
    await settle(page);
    await page.keyboard.press('+');
    await settle(page);
  }
  // The finest bins do not fill the picture.
  const most = await page.evaluate(() => {
    const canvas = window.copyOf([...document.querySelectorAll('.pane:not([hidden]) canvas')].at(-1));
    const colours = new Map();
    for (const colour of new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)) colours.set(colour, (colours.get(colour) ?? 0) + 1);
    const sorted = [...colours.entries()].filter(([colour]) => colour !== 0xffffffff && colour !== 0).map(([, count]) => count).sort((a, b) => b - a);
    return sorted[0] / (canvas.width * canvas.height);
  });
  if (name === 'rcm_csr') check(`${name}: no single colour fills the largest zoom`, most < 0.5, most);
  await page.keyboard.press('0');
  await settle(page);
}

// On a phone, what is tapped is shown beside the finger.
export async function tapping(file, name) {
  const page = await open(file, { viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true });
  const canvas = page.locator('.pane:not([hidden]) canvas').last();
  await canvas.scrollIntoViewIfNeeded();
  const frame = await page.evaluate(() => window.spmvPage.frame());
  for (const [row, column] of [[0.02, 0.02], [0.5, 0.5], [0.97, 0.97]]) {
    const box = await canvas.boundingBox();
    const [x, y] = [box.x + frame.left + column * frame.width, box.y + frame.top + row * frame.height];
    await page.touchscreen.tap(x, y);
    await settle(page);
    const tip = await page.locator('.tip:visible').boundingBox();
    check(`${name}: a tap shows something`, tip !== null);
    if (!tip) continue;
    check(`${name}: it is in the window`, tip.x >= 0 && tip.x + tip.width <= 375, `${tip.x} to ${tip.x + tip.width}`);
    const away = Math.max(tip.y - y, y - tip.y - tip.height);
    check(`${name}: it is beside the finger and not below it`, away > 10 && away < 60, away);
    const text = await page.locator('.tip').innerText();
    check(`${name}: it names rows`, /^rows?\s/.test(text), text);
  }
  if (pictures) await page.screenshot({ path: join(pictures, `${name}_tap.png`) });
  await page.context().close();
}
