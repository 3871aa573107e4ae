import { deflateSync } from 'node:zlib';
import './dom.mjs';
import test from 'node:test';
import assert from 'node:assert/strict';
import { awaitsData, doubles, integers, madeOnce, Numbers, readDocument, replaceData, sectionBytes } from '../../src/document';
import { h } from '../../src/dom';
import { doublesOf, integersOf, numbers } from './pages.mjs';

const part = (id, bytes) => h('script', { id }, deflateSync(bytes).toString('base64'));

test('the parts of a file are inflated once, and their text is freed', async () => {
  assert.ok(awaitsData());
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * i) % 256);
  document.body.append(part('document', JSON.stringify({ kind: 'run', title: 'Größe' })), part('section-0', bytes), part('section-12', new Uint8Array(0)));
  assert.ok(!awaitsData());
  assert.deepEqual(await readDocument(), { kind: 'run', title: 'Größe' });
  assert.deepEqual(await sectionBytes(0), bytes);
  assert.equal(document.getElementById('section-0').textContent, '');
  assert.equal(await sectionBytes(0), await sectionBytes(0));
  assert.deepEqual(await sectionBytes(12), new Uint8Array(0));
  await assert.rejects(sectionBytes(3), /the page has no part 'section-3'/);
});

test('given data replace those of the file', async () => {
  const text = (words) => new TextEncoder().encode(words);
  const first = [text('New ×'), text('{"kind":"bench"}'), Uint8Array.of(1), Uint8Array.of(2)];
  replaceData(first);
  assert.equal(document.title, 'New ×');
  assert.equal((await readDocument()).kind, 'bench');
  assert.equal(await sectionBytes(0), first[2]);
  assert.equal(await sectionBytes(1), first[3]);
  assert.ok(!awaitsData());
  replaceData([text(''), text('{}'), first[3]]);
  assert.equal(await sectionBytes(0), first[3]);
});

test('what is made of bytes is made once for each key', () => {
  const [a, b] = [Uint8Array.of(1), Uint8Array.of(1)];
  let count = 0;
  const make = () => ++count;
  assert.deepEqual([madeOnce(a, 'x', make), madeOnce(a, 'x', make), madeOnce(a, 'y', make), madeOnce(b, 'x', make), madeOnce(a, 'x', make)], [1, 1, 2, 3, 1]);
  assert.equal(madeOnce(a, 'z', () => null), null);
  assert.equal(madeOnce(a, 'z', make), null);
});

test('numbers of seven bits a byte', () => {
  const list = [0, 1, 127, 128, 129, 300, 16383, 16384, 2 ** 31, 2 ** 40 + 1];
  const reader = new Numbers(numbers(list));
  assert.ok(!reader.ended);
  assert.deepEqual(list.map(() => reader.next()), list);
  assert.ok(reader.ended);
  const differences = new Numbers(numbers([0, 1, 2, 3, 4, 255, 256]));
  assert.deepEqual([0, 0, 0, 0, 0, 0, 0].map(() => differences.difference()), [0, -1, 1, -2, 2, -128, 128]);
  assert.ok(new Numbers(new Uint8Array(0)).ended);
});

test('numbers in byte planes', () => {
  const whole = [0, 1, -1, 256, 2 ** 31 - 1, -(2 ** 31), 123456789];
  assert.deepEqual([...integers(integersOf(whole))], whole);
  const real = [0, 1.5, -2.25, 1e300, 5e-324, Math.PI];
  assert.deepEqual([...doubles(doublesOf(real))], real);
  assert.equal(integers(new Uint8Array(0)).length, 0);
});
