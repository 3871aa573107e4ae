import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { css, isDark, oklch, palette, pieceHues, recipeColours, role_colour, series, steps } from '../../src/colours';
import { asStored } from './golden.mjs';

const luminance = (rgb) => rgb.map((part) => part / 255).map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + [0.2126, 0.7152, 0.0722][i] * part, 0);
const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
const numbers = (colour) => colour.match(/\d+/g).slice(0, 3).map(Number);

// The colours of CSS Color 4 in OKLCH: lightness, chroma, hue.
test('colours in OKLCH are those of the definition', () => {
  const known = [[0, 0, 0, '0,0,0'], [1, 0, 0, '255,255,255'], [0.627955, 0.257683, 29.2339, '255,0,0'], [0.86644, 0.294827, 142.4953, '0,255,0'], [0.452014, 0.313214, 264.052, '0,0,255'], [0.967983, 0.211006, 109.7692, '255,255,0'], [0.599871, 0, 0, '128,128,128']];
  for (const [lightness, chroma, hue, expected] of known) assert.equal(oklch(lightness, chroma, hue).join(), expected);
  assert.equal(oklch(1, 0.4, 140).every((part) => part >= 0 && part <= 255), true);
  assert.deepEqual(oklch(0.1, 0, 0), [3, 3, 3]);
  assert.equal(css([1, 2, 3]), 'rgb(1 2 3 / 1)');
  assert.equal(css([1, 2, 3], 0.5), 'rgb(1 2 3 / 0.5)');
});

test('hues and roles are those of the style', () => {
  assert.deepEqual(role_colour, { value: 0, column: 2, structure: 3 });
  assert.deepEqual(palette().hues, [252, 62, 148, 320, 222, 30]);
});

test('ramps go from thin to dense, with enough contrast on paper in both themes', () => {
  for (const theme of ['light', 'dark']) {
    document.documentElement.dataset.theme = theme;
    const { dark, paper, planes, grey, ink } = palette();
    assert.equal(dark, theme === 'dark');
    assert.equal(isDark(), dark);
    assert.equal(palette(), palette());
    assert.ok(contrast(numbers(`${parseInt(ink.slice(1, 3), 16)} ${parseInt(ink.slice(3, 5), 16)} ${parseInt(ink.slice(5), 16)}`), paper) > 7);
    for (const [i, ramp] of [...planes, grey].entries()) {
      assert.equal(ramp.length, steps);
      const on_paper = ramp.map((colour) => contrast(colour, paper));
      assert.ok(on_paper.every((one, k) => k === 0 || one >= on_paper[k - 1] * 0.99), `ramp ${i} of ${theme}`);
      if (ramp !== grey) assert.ok(on_paper[0] > 2.9, `${on_paper[0]} of ramp ${i} of ${theme}`);
    }
    // A series stands out, and is another colour than the others.
    const all = [0, 1, 2, 3, 4, 5].map(series);
    assert.equal(new Set(all).size, 6);
    assert.equal(series(6), series(0));
    assert.equal(series(-1), palette().muted);
    assert.ok(all.every((one) => contrast(numbers(one), paper) > 3));
    assert.deepEqual(pieceHues(), all);
  }
  document.documentElement.dataset.theme = 'light';
});

test('the palettes are as stored', () => {
  asStored('palettes', ['light', 'dark'].flatMap((theme) => {
    document.documentElement.dataset.theme = theme;
    const { paper, planes, grey, ink, muted, faint, accent } = palette();
    return [`# ${theme}`, [css(paper), ink, muted, faint, accent].join(' '), ...[...planes, grey].map((ramp) => [0, 1, 21, 42, 62, 63].map((i) => ramp[i].join()).join(' ')), pieceHues().join(' ')];
  }));
  document.documentElement.dataset.theme = 'light';
});

test('a recipe has one colour, the baseline its own, and those after the fifth are grey', () => {
  const names = ['a', 'base', 'b', 'c', 'd', 'e', 'f'];
  const of = recipeColours(names.map((name) => ({ name, is_baseline: name === 'base' })));
  assert.deepEqual(names.map(of), [0, 1, 2, 3, 4, 5, -1]);
  assert.equal(of('unknown'), -1);
});
