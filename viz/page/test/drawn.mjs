// What the slides of a page are drawn of, against a stored text: the places of rectangles, points of lines, arcs and images in pixels of the slide,
// in the order in which they are drawn. Colours, and what depends on fonts, are not in it, so that it is the same on all machines.
// WORKBENCH_UPDATE_GOLDEN=1 writes the text again.
import { readFileSync, writeFileSync } from 'node:fs';
import { check, settle } from './harness.mjs';

// The calls that draw the slide of the view.
const calls = (page) => page.evaluate(() => {
  const found = [];
  const round = (number) => Math.round(number * 2) / 2;
  const at = ({ a, d, e, f }, x, y) => [round(a * x + e), round(d * y + f)];
  const kinds = {
    fillRect: (m, x, y, w, h) => [...at(m, x, y), round(m.a * w), round(m.d * h)],
    strokeRect: (m, x, y, w, h) => [...at(m, x, y), round(m.a * w), round(m.d * h)],
    moveTo: at, lineTo: at,
    arc: (m, x, y, r, from, to) => [...at(m, x, y), round(m.a * r), from, round(to)],
    // The pixels that are not transparent: how many, and the sums of their columns and rows.
    putImageData: (_, { data, width }) => {
      const sums = [0, 0, 0];
      for (let i = 3; i < data.length; i += 4) {
        if (data[i] === 0) continue;
        ++sums[0];
        sums[1] += (i >> 2) % width;
        sums[2] += Math.floor((i >> 2) / width);
      }
      return sums;
    },
    drawImage: (m, _, ...rest) => (rest.length > 4 ? [...rest.slice(0, 4).map(round), ...at(m, rest[4], rest[5]), round(m.a * rest[6]), round(m.d * rest[7])] : at(m, rest[0], rest[1])),
  };
  const originals = [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D].flatMap(({ prototype }) => Object.entries(kinds).map(([name, places]) => {
    const original = prototype[name];
    prototype[name] = function record(...words) {
      const is_slide = this.canvas.width === 1920;
      if (is_slide ? name === 'drawImage' : name === 'putImageData' || this.getTransform().a === 2) found.push([name.replace(/moveTo|lineTo/, 'point'), ...places(this.getTransform(), ...words)]);
      return original.apply(this, words);
    };
    return () => { prototype[name] = original; };
  }));
  window.spmvPage.picture();
  for (const restore of originals) restore();
  return found;
});

// The lines of the stored text. Of many calls of one kind in turn, it has the number and the sums.
function linesOf(found) {
  const lines = [];
  for (let i = 0, end; i < found.length; i = end) {
    for (end = i; end < found.length && found[end][0] === found[i][0]; ++end);
    const [[name, ...first], ...others] = found.slice(i, end);
    if (others.length < 20) lines.push(...found.slice(i, end).map((call) => call.join(' ')));
    else lines.push(`${others.length + 1} ${name}, sums ${first.map((one, k) => others.reduce((sum, other) => sum + other[k + 1], one)).join(' ')}`);
  }
  return lines;
}

export async function drawn(page, name, modes) {
  const golden = new URL(`../../../tests/golden/page/slides_of_${name}.txt`, import.meta.url);
  const stages = await page.locator('button[data-stage]').count();
  const lines = [];
  const add = async (title) => {
    await settle(page);
    lines.push(`# ${title}`, ...linesOf(await calls(page)));
  };
  for (let stage = 0; stage < stages; ++stage) {
    await page.locator(`button[data-stage="${stage}"]`).click();
    await add(`stage ${stage}`);
  }
  for (const mode of modes) {
    await page.locator(`[data-mode=${mode}]`).click();
    await add(mode);
  }
  await page.locator('[data-mode=one]').click();
  await settle(page);
  const text = `${lines.join('\n')}\n`;
  if (process.env.WORKBENCH_UPDATE_GOLDEN) writeFileSync(golden, text);
  const stored = readFileSync(golden, 'utf8').split('\n');
  const wrong = stored.findIndex((line, i) => line !== lines[i] && line !== '');
  const title = lines.slice(0, wrong).findLast((line) => line.startsWith('#'));
  check(`${name}: slides are drawn as stored`, wrong < 0 && stored.length === lines.length + 1, `line ${wrong + 1}, ${title}: '${lines[wrong]}' for '${stored[wrong]}'`);
}
