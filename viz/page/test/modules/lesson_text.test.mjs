import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { blocksOf, isRight, readLesson, statedAnswer } from '../../src/lesson_text';
import { linesOf } from './golden.mjs';

const text = `# 3. Slices
Not in a part.
**Aim.** See what slices cost.
More of it.

**Predict first.**
How much?
<!-- page {"figure": "padding", "choices": ["1 %", "5 %"], "set": {"layout.slice_height": 4}} -->
**Exercise.** Find it.
<!-- page {"ask": "Which?", "answer": "7"} -->
<details>
<summary>Check</summary>
It is **8.5 %**, not **9 %**.
</details>
<details>
<summary>Notes for the speaker</summary>
Wait.
</details>
**not a part.** x
 <!-- page {"ask": "not a line of its own"} -->`;

test('a lesson has parts, questions, a check and notes', () => {
  const lesson = readLesson(text);
  assert.deepEqual(lesson, {
    title: '3. Slices',
    parts: { Aim: ['See what slices cost.', 'More of it.', ''], 'Predict first': ['', 'How much?'], Exercise: ['Find it.'] },
    check: ['It is **8.5 %**, not **9 %**.'],
    notes: ['Wait.', '**not a part.** x', ' <!-- page {"ask": "not a line of its own"} -->'],
    questions: { 'Predict first': { figure: 'padding', choices: ['1 %', '5 %'], set: { 'layout.slice_height': 4 } }, Exercise: { ask: 'Which?', answer: '7' } },
  });
  assert.equal(statedAnswer(lesson), '8.5 %');
  assert.equal(statedAnswer({ check: ['no number in **bold**', 'but **3**'] }), '3');
  assert.equal(statedAnswer({ check: ['none'] }), '');
  assert.equal(statedAnswer({ check: ['the sum is **12', 'rows**'] }), '12 rows');
  assert.equal(readLesson('no mark').title, 'no mark');
});

test('Markdown as elements', () => {
  const blocks = blocksOf(['A `code *x*`, **bold** and *slanted* [link](to.md) with', 'two lines.', '', '![a picture](x.png)', '  ', '```sh', 'run **this**', '', 'and that', '```', 'Last ![in a line](y.png)']);
  assert.deepEqual(blocks.flatMap((one) => linesOf(one)), [
    '<p>', '  A ', '  <code> code *x*', '  , ', '  <b> bold', '   and ', '  <em> slanted', '   link with two lines.',
    '<pre tabindex="0">', '  <code> run **this**\n\nand that',
    '<p> Last in a line',
  ]);
  assert.deepEqual(blocksOf([]), []);
  assert.deepEqual(blocksOf(['', '']), []);
  assert.deepEqual(blocksOf(['a', '', 'b']).map((one) => one.textContent), ['a', 'b']);
  assert.deepEqual(blocksOf(['```', 'open']).length, 0);
  assert.deepEqual(blocksOf(['before', '![picture](x)', 'after']).map((one) => one.textContent), ['before', 'after']);
});

test('an answer is right if it is as exact as the less exact text', () => {
  const cases = [['86.6', '86.6 %', true], ['87', '86.6 %', true], ['86', '86.6 %', false], ['86.5', '86.6 %', false], ['86.60', '86.6 %', true], ['86.64', '86.6 %', true], ['86.66', '86.6 %', false],
    ['18.75', '18.8 %', true], ['30.95', '31.0 %', true], ['18,8', '18.8 %', true], ['18,8 %', '18.8', true], ['28 277', '28,277', true], ['28\u00a0277', '28277 rows', true], ['1,234,567.25', '1234567.3', true],
    ['0,125', '0.125', true], ['10,125', '10125', true], ['1,2345', '1.2345', true], ['12,34', '1234', false],
    ['2,721', '2721', true], ['2721.0', '2,721', true], ['0.5', '0.45', true], ['0.45', '0.5', true], ['0.44', '0.5', false], ['1', '0.5', true], ['0', '0.5', true], ['-1', '1', false], ['about -3 to 4', '-3', true], ['7.', '7', true],
    [' Csr ', 'csr', true], ['csr', 'Sell', false], ['none', '3', false], ['0', 'none', false], ['none', '0', false], ['3', 'none', false], ['0', '', false]];
  for (const [given, right, expected] of cases) assert.equal(isRight(given, right), expected, `${given} for ${right}`);
});
