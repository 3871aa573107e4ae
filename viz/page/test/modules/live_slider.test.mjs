import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { slider, sliderValues, spacedValues } from '../../src/live_slider';

const declared = (type, minimum, maximum) => ({ name: 'slice_height', type, minimum, maximum });

test('whole numbers are dense at first, then a few between two powers of two', () => {
  assert.deepEqual(spacedValues(0, 20), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20]);
  assert.deepEqual(spacedValues(30, 48), [30, 32, 36, 40, 44, 48]);
  assert.deepEqual(spacedValues(5, 5), [5]);
  assert.deepEqual(spacedValues(5, 4), []);
});

test('the values of a slider contain its value and ascend, within the limits of the declaration', () => {
  const ends = (declaration, value, is_size) => {
    const values = sliderValues(declaration, value, is_size);
    assert.ok(values.includes(value) && values.every((one, i) => i === 0 || one > values[i - 1]));
    return [values[0], values.at(-1), values.length];
  };
  assert.deepEqual(ends(declared('integer', 1, null), 4, false), [1, 1024, 64]);
  assert.deepEqual(ends(declared('integer', 1, null), 4, true), [1, 64, 32]);
  assert.deepEqual(ends(declared('integer', 1, null), 500, false), [1, 1920, 72]);
  assert.deepEqual(ends(declared('integer', 1, null), 30, true), [1, 120, 39]);
  assert.deepEqual(ends(declared('integer', 2, 9), 5, false), [2, 9, 8]);
  assert.deepEqual(ends(declared('integer', 0, 400), 5, false), [0, 400, 401]);
  assert.deepEqual(ends(declared('integer', 0, 401), 5, false), [0, 401, 101 + 1]);
  assert.deepEqual(ends(declared('integer', 1, 1000), 5, false), [1, 960, 63]);
  assert.deepEqual(ends(declared('integer', 1, 999), 5, false), [1, 999, 102]);
  assert.deepEqual(ends(declared('integer', 10, 20), 3, false), [3, 20, 18]);
  assert.deepEqual(ends(declared('integer', 0, 3), 9, false), [0, 9, 10]);
  assert.deepEqual(ends(declared('real', 0, 1), 0.7, false), [0, 1, 101]);
  assert.deepEqual(ends(declared('real', null, null), 0.1, false), [0, 1, 101]);
  assert.deepEqual(ends(declared('real', null, null), 2, false), [0, 8, 101]);
  assert.deepEqual(ends(declared('real', 0, 1), 0.123456, false), [0, 1, 102]);
  const powers = sliderValues(declared('real', 0.001, 1), 1, false);
  assert.deepEqual([powers[0], powers[50], powers[100], powers.length], [0.001, 0.03162, 1, 101]);
  const even = sliderValues(declared('real', 0.002, 1), 1, false);
  assert.deepEqual([even[0], even[50], even[100]], [0.002, 0.501, 1]);
});

test('a slider moves in steps of its values', () => {
  const [moved, rested] = [[], []];
  const range = slider(declared('integer', 2, 9), 5, false, 'layout 0 slice_height', (value) => moved.push(value), () => rested.push(true));
  assert.deepEqual(['min', 'max', 'step', 'value', 'data-name', 'aria-label', 'aria-valuetext'].map((name) => range.getAttribute(name)), ['0', '7', '1', '3', 'layout 0 slice_height slider', 'slice height, slider', '5']);
  range.value = '6';
  range.dispatchEvent(new Event('input'));
  assert.deepEqual([moved, rested, range.getAttribute('aria-valuetext')], [[8], [], '8']);
  range.dispatchEvent(new Event('change'));
  assert.deepEqual(rested, [true]);
});
