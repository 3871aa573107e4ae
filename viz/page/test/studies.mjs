// The checks of the pages of `solve` and `choose`: the advice in words and in the chart, prices, the tree of a search.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { check } from './harness.mjs';

const colours = (page, selector) => page.locator(selector).evaluateAll((all) => [...new Set(all.map((one) => one.getAttribute('fill') ?? one.getAttribute('stroke')))]);

export async function solved(page, name, file) {
  const report = JSON.parse(readFileSync(join(dirname(file), 'solve.json'), 'utf8'));
  const named = report.solves.filter((one) => one.recipe === report.solves.find((other) => other.baseline)?.recipe);
  if (named.length > 1) for (const one of [...report.solves, ...report.advice]) if (one.baseline) one.recipe = 'the baseline';
  const answer = await page.locator('.answer').innerText();
  const { advice } = report; // empty if the machine was busy
  check(`${name}: the advice is the headline`, advice.length === 0 || (answer.startsWith('Least time in all: ') && advice.every(({ recipe }) => answer.includes(recipe))), answer);
  const chart = page.locator('#advice .chart');
  const solves = report.solves.filter((one) => one.end === 'converged');
  check(`${name}: a line a recipe`, (await chart.locator('.curve').count()) === solves.length, await chart.locator('.curve').count());
  check(`${name}: a mark where the advice changes`, (await chart.locator('.marker').count()) === solves.length + Math.max(0, advice.length - 1), // with those of the legend
    await chart.locator('.marker').count());
  // The words at the slider are the times of the report, the fastest first.
  const range = chart.locator('input[type=range]');
  for (const [value, count] of [[0, 1], [1000, null]]) {
    await range.evaluate((input, to) => {
      input.value = to;
      input.dispatchEvent(new Event('input'));
    }, value);
    const words = await chart.locator('.cursor-words').innerText();
    const number = count ?? Number(/^([\d,]+) solves/.exec(words)[1].replaceAll(',', ''));
    const fastest = [...solves].sort((a, b) => a.once_seconds + number * a.each_seconds - b.once_seconds - number * b.each_seconds)[0];
    check(`${name}: the slider names the fastest after ${number} solves`, words.includes(`the fastest first: ${fastest.recipe} `), words);
  }
  check(`${name}: prices of every recipe`, (await page.locator('#prices tbody tr').count()) === report.solves.length);
  const of_lines = await colours(page, '#advice .curve');
  check(`${name}: a recipe has one colour`, of_lines.length === solves.length && (await colours(page, '#residuals .curve')).every((one) => of_lines.includes(one)), of_lines.join());
}

export async function chosen(page, name, file) {
  const choice = JSON.parse(readFileSync(join(dirname(file), 'choice.json'), 'utf8'));
  check(`${name}: the answer is the headline`, (await page.locator('.answer').innerText()) === choice.answer, await page.locator('.answer').innerText());
  check(`${name}: figures if a recipe pays`, (await page.locator('#answer .headline > div').count()) === (choice.stay ? 0 : 3));
  const models = page.locator('#charts .chart').last().locator('g, path.marker');
  check(`${name}: every recipe is in the charts`, (await models.count()) > choice.ranking.filter((one) => one.predicted_seconds > 0).length, await models.count());
  check(`${name}: the tree is open along the choice`, (await page.locator('#tree details[open] > summary').count()) === 2, await page.locator('#tree details[open] > summary').count());
  const row = await page.locator('#tree details[open] details[open] tbody tr').allInnerTexts();
  check(`${name}: where the choice is`, row.some((text) => text.startsWith(choice.ranking[0].recipe)), row.join('|'));
  check(`${name}: all recipes are in the tree`, (await page.locator('#tree .branch tbody tr').count()) === choice.ranking.length);
}
