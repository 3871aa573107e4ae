// A slider for a number: its positions are values, which are spaced like powers where the range is wide.
import { h } from './dom';
import type { Declaration } from './live_server';

const wide_range = 1000; // largest over least value from which on positions are spaced like powers
const per_octave = 8;
const far = 1024; // a stage's or layout's slider reaches at least this far, if the declaration allows it

// The whole numbers from `low` to `high`: all of them at first, then a few between two powers of two.
export function spacedValues(low: number, high: number): number[] {
  const values: number[] = [];
  for (let at = low; at <= high; at += Math.max(1, 2 ** Math.floor(Math.log2(Math.max(1, at))) / per_octave)) values.push(at);
  return values;
}

// The values of the slider, of which `value` is one.
export function sliderValues(declaration: Declaration, value: number, is_size: boolean): number[] {
  const { type, minimum, maximum } = declaration;
  const whole = type === 'integer';
  const low = Math.min(value, minimum ?? 0);
  const most = maximum ?? Infinity;
  const is_wide = most >= wide_range * Math.max(1, low);
  // The time of a run grows with the size of a matrix, so that its sliders end at a few times the value.
  const high = Math.max(value, Math.min(most, whole ? Math.max(is_size ? 64 : far, 4 * value) : Math.max(1, 4 * value)));
  const steps = 100;
  const values = whole && is_wide ? spacedValues(low, high)
    : whole && high - low <= 4 * steps ? Array.from({ length: high - low + 1 }, (_, i) => low + i)
    : Array.from({ length: steps + 1 }, (_, i) => {
      const number = low > 0 && high >= wide_range * low ? low * (high / low) ** (i / steps) : low + ((high - low) * i) / steps;
      return whole ? Math.round(number) : Number(number.toPrecision(4));
    });
  return [...new Set([...values, value])].sort((a, b) => a - b);
}

// `moved`: at every movement; `rested`: when the slider was let go.
export function slider(declaration: Declaration, value: number, is_size: boolean, name: string, moved: (value: number) => void, rested: () => void): HTMLInputElement {
  const values = sliderValues(declaration, value, is_size);
  const range = h('input', {
    type: 'range', min: 0, max: values.length - 1, step: 1, value: values.indexOf(value), 'data-name': `${name} slider`,
    'aria-label': `${declaration.name.replaceAll('_', ' ')}, slider`, 'aria-valuetext': String(value),
  });
  range.addEventListener('input', () => {
    const now = values[Number(range.value)];
    range.setAttribute('aria-valuetext', String(now));
    moved(now);
  });
  range.addEventListener('change', () => rested());
  return range;
}
