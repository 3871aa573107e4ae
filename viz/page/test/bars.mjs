// The checks of the strips of row lengths beside a pattern: their pixels against the figures of report.json.
import { readFileSync } from 'node:fs';
import { check, settle } from './harness.mjs';

// The bars of a strip beside the pattern, line by line: the number of dark pixels, and where the last one ends.
const barsOf = (page, begins, wide) => page.evaluate(([from, count]) => {
  const canvas = window.copyOf([...document.querySelectorAll('.pane:not([hidden]) canvas')].at(-1));
  const { left, top, width, height } = window.spmvPage.frame();
  const { data } = canvas.getContext('2d').getImageData(left + width + from, top, count, height);
  return Array.from({ length: Math.floor(height) }, (_, row) => {
    const dark = Array.from({ length: count }, (_, x) => 4 * (row * count + x)).map((at) => data[at + 3] > 128 && data[at] + data[at + 1] + data[at + 2] < 450);
    return { dark: dark.filter(Boolean).length, end: dark.lastIndexOf(true) + 1 };
  });
}, [begins, wide]);

// Rows of almost equal lengths: each bar has a dark end, and they are no solid area.
export async function equalBars(page, name) {
  const bars = await barsOf(page, 10, 44);
  const wrong = bars.findIndex(({ dark, end }) => dark < 1 || dark > 4 || end < 0.7 * 44);
  check(`${name}: bars of equal rows have dark ends`, wrong < 0, `${JSON.stringify(bars[wrong])} in line ${wrong}`);
}

// The rows of the second share have bars as they are stored: as many as it has rows, and the longest first once they are sorted.
export async function storedBars(page, name, file) {
  const report = JSON.parse(readFileSync(file.replace(/html$/, 'json'), 'utf8'));
  const split = report.stages.findIndex((stage) => stage.name === 'split');
  const rows = Number(/in ([\d,]+) rows/.exec(report.stages[split].notes.outside)[1].replaceAll(',', ''));
  const ends = [];
  for (const stage of [split, split + 1]) {
    await page.locator(`button[data-stage="${stage}"]`).click();
    await settle(page);
    ends.push((await barsOf(page, 64, 36)).map(({ end }) => end));
    const wanted = (ends[0].length * rows) / report.matrix.rows;
    const last = ends.at(-1).findLastIndex((end) => end > 1) + 1; // one pixel is the axis
    check(`${name}: the bars of stage ${stage} end with the ${rows} rows`, Math.abs(last - wanted) < 10, `${last} for ${wanted}`);
  }
  const rises = ends.map((list) => list.filter((end, i) => end > list[i - 1] + 1).length);
  check(`${name}: the bars are unsorted after split, and sorted after the next stage`, rises[0] > 20 && rises[1] === 0, rises.join());
}
