// Canvases that record what is drawn on them.
const width_of = (text, font) => 0.5 * parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? '10') * text.length;

export class Path2D {
  constructor(d) {
    this.calls = d === undefined ? [] : [['path', d]];
  }
}
for (const name of ['moveTo', 'lineTo', 'arc', 'rect']) Path2D.prototype[name] = function add(...words) { this.calls.push([name, ...words]); };

// Calls are recorded with the attributes that they use; `transform` and `globalAlpha` follow save, restore, scale and translate.
const used = {
  fillRect: ['fillStyle', 'globalAlpha'], fill: ['fillStyle', 'globalAlpha'], fillText: ['fillStyle', 'globalAlpha', 'font', 'textAlign', 'textBaseline'],
  strokeRect: ['strokeStyle', 'lineWidth', 'globalAlpha'], stroke: ['strokeStyle', 'lineWidth', 'globalAlpha', 'dash'], strokeText: ['strokeStyle', 'lineWidth', 'font', 'textAlign'],
  drawImage: ['globalAlpha'], moveTo: [], lineTo: [], arc: [], rect: [], roundRect: [], clip: [], clearRect: [],
};
export class Context {
  constructor(canvas) {
    Object.assign(this, { canvas, calls: [] });
    this.reset();
  }

  reset() {
    this.calls.length = 0;
    Object.assign(this, { stack: [] }, Context.plain());
  }

  static plain() {
    return { fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '10px', textAlign: 'start', textBaseline: 'alphabetic', lineJoin: 'miter', dash: [], transform_now: [1, 0, 0, 1, 0, 0] };
  }

  save() {
    this.stack.push(Object.fromEntries(Object.keys(Context.plain()).map((name) => [name, this[name]])));
  }

  restore() {
    Object.assign(this, this.stack.pop());
  }

  setTransform(...matrix) {
    this.transform_now = matrix;
  }

  transform(a, b, c, d, e, f) {
    const [p, q, r, t, u, v] = this.transform_now;
    this.transform_now = [p * a + r * b, q * a + t * b, p * c + r * d, q * c + t * d, p * e + r * f + u, q * e + t * f + v];
  }

  scale(x, y) {
    this.transform(x, 0, 0, y, 0, 0);
  }

  translate(x, y) {
    this.transform(1, 0, 0, 1, x, y);
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.calls.push({ name: 'beginPath', words: [], with: {}, at: this.transform_now });
  }

  measureText(text) {
    const size = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
    return { width: width_of(text, this.font), fontBoundingBoxAscent: 0.8 * size, fontBoundingBoxDescent: 0.2 * size };
  }

  createImageData(width, height) {
    return { width, height, data: new Uint8ClampedArray(4 * width * height) };
  }

  getImageData(_, __, width, height) {
    return this.canvas.pixels ?? this.createImageData(width, height);
  }

  putImageData(image) {
    this.canvas.pixels = image;
  }

  createLinearGradient(...words) {
    const stops = [];
    return { addColorStop: (at, colour) => stops.push([at, colour]), toString: () => `gradient(${words.join()}; ${stops.map((one) => one.join(' ')).join(', ')})` };
  }
}
for (const [name, attributes] of Object.entries(used)) {
  Context.prototype[name] = function call(...words) {
    if (name.startsWith('fill') && attributes.length > 2 && typeof words[0] !== 'string') throw new Error(`${name} of ${words[0]}`);
    if (words.some((one) => typeof one === 'number' && !Number.isFinite(one))) throw new Error(`${name} at ${words.join()}`);
    this.calls.push({ name, words, with: Object.fromEntries(attributes.map((one) => [one, this[one]])), at: this.transform_now });
  };
}
