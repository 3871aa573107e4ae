// The checks of tables and charts below the pattern, against report.json.
import { readFileSync } from 'node:fs';
import { check } from './harness.mjs';

const rounded = (number) => Number(number.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 10 });

// The texts of each row of a table.
const rowsOf = (table) => table.locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.innerText)));

async function tableOfKernels(page, name, { kernels }) {
  const table = page.locator('#kernels table.figures').first();
  const rows = await rowsOf(table);
  const heads = (await table.locator('thead th').allInnerTexts()).map((text) => text.trim());
  const column = (head) => heads.indexOf(head);
  check(`${name}: a row for each kernel`, rows.length === kernels.length, rows.length);
  kernels.forEach(({ kernel, layout, status, bytes_per_nonzero }, i) => {
    const [shown, found] = [rows[i][column('B/nonzero')], rows[i].join(' | ')];
    check(`${name}: the row of ${layout} ${kernel} has its figures`, found.startsWith(`${layout} ${kernel} | `) && shown === (status === 'measured' ? rounded(bytes_per_nonzero) : '–'), found);
  });
}

// Words begin at the left below their heading, figures end at the right; each row has one heading.
async function alignment(page, name) {
  const wrong = await page.locator('table.figures').evaluateAll((all) => all.flatMap((table) => {
    const rows = [...table.tBodies[0].rows];
    return [...table.tHead.rows[0].cells].filter((head, i) => {
      const cells = rows.map((row) => row.cells[i]);
      const texts = cells.map((cell) => cell.innerText);
      const side = ['recipe', 'kernel', 'backend', 'matrix', 'array', 'layout'].includes(head.innerText.trim()) ? 'left' : texts.every((text) => /^[\d.,]+( \S+)?$/.test(text)) ? 'right' : null;
      const sides = new Set([head, ...cells].map((cell) => getComputedStyle(cell).textAlign));
      return sides.size > 1 || (rows.length > 0 && side !== null && !sides.has(side)) || cells.some((cell) => (cell.tagName === 'TH') !== (i === 0));
    }).map((head) => `${table.caption.innerText}: ${head.innerText}`);
  }));
  check(`${name}: words are on the left, figures on the right`, wrong.length === 0, wrong.join('; '));
}

// A click on a heading sorts by the numbers of its column, another one the other way round; the smallest first, missing ones last.
async function sorting(page, name) {
  const wrong = await page.locator('table.figures').evaluateAll((all) => all.flatMap((table) => {
    const units = { '': 1, '%': 1, '×': 1, ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20 };
    const number = (text) => {
      const found = /^(-?[\d.,]+(?:e-?\d+)?) ?(\S*)$/.exec(text);
      return text === '–' ? null : found && found[2] in units ? Number(found[1].replaceAll(',', '')) * units[found[2]] : NaN;
    };
    const before = [...table.tBodies[0].rows];
    return [...table.tHead.rows[0].cells].flatMap((head, i) => {
      const column = () => [...table.tBodies[0].rows].map((row) => number(row.cells[i].innerText));
      if (!head.firstElementChild || column().some(Number.isNaN)) return [];
      return [1, -1].filter((sign) => {
        head.firstElementChild.click();
        const shown = column();
        const sorted = [...shown].sort((a, b) => (a === null || b === null ? (a === null) - (b === null) : sign * (a - b)));
        return shown.some((one, k) => one !== sorted[k]) || table.tBodies[0].rows.length !== before.length;
      }).map((sign) => `${head.innerText} ${sign}: ${column().join()}`);
    });
  }));
  check(`${name}: a click on a heading sorts by its column`, wrong.length === 0, wrong.join('; '));
}

export async function tables(page, name) {
  await alignment(page, name);
  await sorting(page, name);
}

// A bar is as long as its share of the largest one.
async function bars(page, name) {
  const charts = await page.locator('#metrics .chart').evaluateAll((all) => all.map((one) => [...one.querySelectorAll('.bar')].map((bar) => ({
    text: bar.querySelector('.value').textContent,
    length: Number(bar.querySelector('.ink').getAttribute('width')),
    whole: Number(bar.querySelector('.rail').getAttribute('width')),
  }))));
  const numbers = charts.filter((chart) => chart.length > 1 && chart.every(({ text }) => /^[\d,.]+( %)?$/.test(text)));
  check(`${name}: there are bars`, numbers.length > 0 || name === 'hbp', charts.length);
  for (const chart of numbers) {
    const values = chart.map(({ text }) => parseFloat(text.replaceAll(',', '')));
    const most = Math.max(...values);
    const wrong = chart.filter(({ length, whole }, i) => Math.abs(length - Math.max(1.5, (whole * values[i]) / most)) > 0.02 * whole + 0.5);
    check(`${name}: bars are as long as their figures`, most === 0 || wrong.length === 0, JSON.stringify(chart));
  }
}

// The slowest kernel is in the chart of samples, and each axis has numbers. The fastest is first where products are compared with the baseline.
async function charts(page, name, { kernels }) {
  const outside = await page.locator('#kernels .chart').evaluateAll((all) => all.flatMap((one) => {
    const svg = one.querySelector('svg');
    const { width } = svg.viewBox.baseVal;
    return [...svg.querySelectorAll('rect, circle')].filter((part) => part.getBBox().x + part.getBBox().width > width + 1 || part.getBBox().x < -1)
      .map((part) => part.outerHTML.slice(0, 80));
  }));
  check(`${name}: nothing is outside of its chart`, outside.length === 0, outside.join(' '));
  const even = page.locator('#kernels .chart', { has: page.locator('.curve') });
  if ((await even.count()) === 0) return;
  const ticks = await even.first().evaluate((one) => {
    const texts = [...one.querySelectorAll('text.name')].filter((text) => /^\d/.test(text.textContent));
    return ['middle', 'end'].map((anchor) => texts.filter((text) => text.getAttribute('text-anchor') === anchor).length);
  });
  check(`${name}: both axes have numbers`, ticks.every((count) => count > 1), ticks.join());
  const fastest = kernels.filter((one) => one.status === 'measured' && one.precision === 'f64').sort((a, b) => a.median_seconds - b.median_seconds);
  const label = await even.first().locator('svg').getAttribute('aria-label');
  const names = fastest.map(({ baseline, layout, kernel }) => (baseline ? `baseline ${layout}` : kernel)).join(', ');
  check(`${name}: the curves are those of the kernels, the fastest first`, label === names, `${label} for ${names}`);
}

export async function figures(page, name, file) {
  const report = JSON.parse(readFileSync(file.replace(/html$/, 'json'), 'utf8'));
  await tableOfKernels(page, name, report);
  await bars(page, name);
  await charts(page, name, report);
}
