// What the page shows, as lines of text, and the stored texts of tests/golden/page. WORKBENCH_UPDATE_GOLDEN=1 writes them again.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const many = 20; // elements or calls of one kind in turn, of which the text has the number and the sums

const rounded = (text) => String(text).replace(/-?\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2)) + 0));

// An element with its attributes, its texts and its children, which are indented.
export function linesOf(element, indent = '') {
  const attributes = [...element.attributes].filter(([name, value]) => name !== 'class' || value !== '').map(([name, value]) => ` ${name}="${rounded(value).replace(/clip-\w+/g, 'clip')}"`).join('');
  const typed = element.typed === undefined ? '' : ` typed="${element.typed}"`;
  const style = Object.entries(element.style).filter(([, value]) => typeof value === 'string' && value !== '').map(([name, value]) => ` ${name}:${rounded(value)}`).join('');
  const head = `${indent}<${element.localName}${attributes}${typed}${style}>`;
  if (element.childNodes.every((one) => one.data !== undefined)) return [head + (element.textContent === '' ? '' : ` ${element.textContent}`)];
  const lines = [head];
  const nodes = element.childNodes;
  for (let i = 0, end; i < nodes.length; i = end) {
    for (end = i; end < nodes.length && nodes[end].localName !== undefined && nodes[end].localName === nodes[i].localName && nodes[end].childNodes.length === 0; ++end);
    if (end - i >= many) {
      const some = nodes.slice(i, end);
      const sums = [...some[0].attributes.keys()].map((name) => `${name}=${rounded(some.reduce((sum, one) => sum + Number(one.getAttribute(name)), 0))}`);
      lines.push(`${indent}  ${some.length} times, sums ${sums.join(' ')}; first ${linesOf(some[0])}; last ${linesOf(some.at(-1))}`);
    } else {
      end = i + 1;
      lines.push(...(nodes[i].data === undefined ? linesOf(nodes[i], `${indent}  `) : [`${indent}  ${nodes[i].data}`]));
    }
  }
  return lines;
}

const named = (word) => (word?.localName === 'canvas' ? `canvas ${word.width} x ${word.height}` : word?.calls ? `{${word.calls.map((call) => rounded(call.join(' '))).join('; ')}}` : rounded(word));

// The calls of a canvas in pixels of the screen, with the attributes that changed. Of many calls of one kind, the number and the sums.
export function drawnOn(calls) {
  const lines = [];
  let before = {};
  const text = ({ name, words, with: attributes, at }) => {
    const [a, , , d, e, f] = at;
    const moved = a === 1 && d === 1 && e === 0 && f === 0 ? '' : ` at ${rounded([a, d, e, f].join())}`;
    const changed = Object.entries(attributes).filter(([key, value]) => String(before[key]) !== String(value)).map(([key, value]) => ` ${key}=${rounded(value)}`).join('');
    before = { ...before, ...attributes };
    return `${name} ${words.map(named).join(' ')}${moved}${changed}`;
  };
  for (let i = 0, end; i < calls.length; i = end) {
    for (end = i; end < calls.length && calls[end].name === calls[i].name; ++end);
    const some = calls.slice(i, end);
    if (some.length < many) lines.push(...some.map(text));
    else lines.push(`${some.length} times, sums ${some[0].words.map((one, k) => (typeof one === 'number' ? rounded(some.reduce((sum, { words }) => sum + words[k], 0)) : one)).join(' ')}; first ${text(some[0])}; last ${text(some.at(-1))}`);
  }
  return lines;
}

// How many pixels have each colour, and the sums of their places.
export function pixelsOf({ data, width }) {
  const found = new Map();
  new Uint32Array(data.buffer).forEach((colour, i) => {
    if (colour === 0) return;
    const one = found.get(colour) ?? [0, 0, 0];
    found.set(colour, [one[0] + 1, one[1] + (i % width), one[2] + Math.floor(i / width)]);
  });
  return [...found].map(([colour, [count, x, y]]) => `${count} of ${colour.toString(16)}, sums ${x} ${y}`);
}

// Compares lines with a stored text.
export function asStored(name, lines) {
  const file = new URL(`${name}.txt`, process.env.PAGE_GOLDEN);
  const text = `${lines.join('\n')}\n`;
  if (process.env.WORKBENCH_UPDATE_GOLDEN) {
    mkdirSync(new URL('.', file), { recursive: true });
    writeFileSync(file, text);
  }
  const stored = readFileSync(file, 'utf8').split('\n');
  const found = text.split('\n');
  const wrong = stored.findIndex((line, i) => line !== found[i]);
  assert.ok(wrong < 0 && stored.length === found.length, `line ${wrong + 1} of ${name}.txt: '${found[wrong]}' for '${stored[wrong]}'`);
}
