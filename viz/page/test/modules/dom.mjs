// As much of a browser as the modules of the page use: elements, events, timers, and canvases that record what is drawn. Nothing is laid
// out: tests give elements their sizes (`box`) and styles (`computed`). Importing this file defines the globals; it has to be the first import.

import { Context, Path2D } from './canvas.mjs';
import { clearFrame, clearTimer, setFrame, setTimer, time } from './time.mjs';

export { time };

// ---- Elements.

class Events {
  constructor() {
    Object.defineProperty(this, 'listeners', { value: [] });
  }

  addEventListener(kind, act, options = {}) {
    if (options?.signal?.aborted) return;
    const one = { kind, act, once: options?.once };
    this.listeners.push(one);
    options?.signal?.addEventListener('abort', () => this.drop(one));
  }

  removeEventListener(kind, act) {
    for (const one of this.listeners.filter((other) => other.kind === kind && other.act === act)) this.drop(one);
  }

  drop(one) {
    const at = this.listeners.indexOf(one);
    if (at >= 0) this.listeners.splice(at, 1);
  }

  // Returns false if the default was prevented.
  dispatchEvent(event) {
    if (!event.target) Object.defineProperty(event, 'target', { value: this, configurable: true });
    Object.defineProperty(event, 'currentTarget', { value: this, configurable: true });
    for (const one of [...this.listeners].filter(({ kind }) => kind === event.type)) {
      if (one.once) this.drop(one);
      if (typeof one.act === 'function') one.act.call(this, event);
      else one.act.handleEvent(event);
    }
    const next = event.bubbles && !event.cancelBubble ? this.parentElement ?? (this === globalThis ? null : this.parent_of_all) : null;
    if (next) next.dispatchEvent(event);
    return !event.defaultPrevented;
  }
}

const words_of = (element) => (element.getAttribute('class') ?? '').split(/\s+/).filter(Boolean);
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

// One of the selectors `tag#id.class[name="value"]:not(...)`.
function fits(element, simple) {
  const parts = simple.match(/:not\([^)]*\)|:scope|#[\w-]+|\.[\w-]+|\[[^\]]+\]|[\w-]+|\*/g);
  return parts.every((part) => {
    if (part === '*' || part === ':scope') return true;
    if (part.startsWith(':not(')) return !part.slice(5, -1).split(',').some((one) => fits(element, one.trim()));
    if (part[0] === '#') return element.id === part.slice(1);
    if (part[0] === '.') return words_of(element).includes(part.slice(1));
    if (part[0] !== '[') return element.localName === part.toLowerCase();
    const [, name, , value] = /^\[([\w-]+)(=["']?(.*?)["']?)?\]$/.exec(part);
    return value === undefined ? element.hasAttribute(name) : element.getAttribute(name) === value.replace(/\\(.)/g, '$1');
  });
}
function matches(element, selector, scope = null) {
  return selector.split(/,(?![^([]*[)\]])/).some((one) => {
    const steps = one.trim().match(/>|(?:[^\s>[(]|\[[^\]]*\]|\([^)]*\))+/g);
    const step = (at, i) => {
      if (i < 0) return true;
      const direct = steps[i] === '>';
      const wanted = steps[direct ? i - 1 : i];
      for (let up = at.parentElement; up; up = direct ? null : up.parentElement) {
        if ((wanted === ':scope' ? up === scope : fits(up, wanted)) && step(up, i - (direct ? 2 : 1))) return true;
      }
      return false;
    };
    return fits(element, steps.at(-1)) && step(element, steps.length - 2);
  });
}

class Text extends Events {
  constructor(data) {
    super();
    this.data = String(data);
    this.parentElement = null;
  }

  get textContent() {
    return this.data;
  }

  remove() {
    this.parentElement?.take(this);
  }
}

let focused = null;
class Element extends Events {
  constructor(tag) {
    super();
    Object.assign(this, { localName: tag.toLowerCase(), tagName: tag.toUpperCase(), childNodes: [], parentElement: null, attributes: new Map(), box: null, computed: {}, scrollTop: 0 });
    const style = { setProperty: (name, value) => (style[name] = value) };
    this.style = style;
    this.dataset = new Proxy({}, {
      get: (_, name) => this.getAttribute(`data-${kebab(name)}`) ?? undefined,
      set: (_, name, value) => (this.setAttribute(`data-${kebab(name)}`, value), true),
      deleteProperty: (_, name) => (this.removeAttribute(`data-${kebab(name)}`), true),
    });
    const change = (act) => (...names) => this.setAttribute('class', [...act(new Set(words_of(this)), names)].join(' '));
    this.classList = {
      add: change((now, names) => now.union?.(new Set(names)) ?? new Set([...now, ...names])),
      remove: change((now, names) => new Set([...now].filter((one) => !names.includes(one)))),
      contains: (name) => words_of(this).includes(name),
      toggle: (name, on = !words_of(this).includes(name)) => this.classList[on ? 'add' : 'remove'](name),
    };
  }

  get ownerDocument() {
    return document;
  }

  get parent_of_all() {
    return globalThis;
  }

  get parentNode() {
    return this.parentElement;
  }

  get children() {
    return this.childNodes.filter((one) => one instanceof Element);
  }

  get childElementCount() {
    return this.children.length;
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  get previousElementSibling() {
    return this.parentElement?.children[this.parentElement.children.indexOf(this) - 1] ?? null;
  }

  get textContent() {
    return this.childNodes.map((one) => one.textContent).join('');
  }

  set textContent(text) {
    this.replaceChildren(...(text === '' ? [] : [text]));
  }

  take(node) {
    this.childNodes = this.childNodes.filter((one) => one !== node);
    node.parentElement = null;
  }

  insert(at, nodes) {
    const made = nodes.map((one) => (one instanceof Text || one instanceof Element ? one : new Text(one)));
    const next = this.childNodes[at];
    for (const one of made) one.remove();
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, ...made);
    for (const one of made) one.parentElement = this;
  }

  append(...nodes) {
    this.insert(this.childNodes.length, nodes);
  }

  replaceChildren(...nodes) {
    for (const one of [...this.childNodes]) this.take(one);
    this.append(...nodes);
  }

  before(...nodes) {
    this.parentElement.insert(this.parentElement.childNodes.indexOf(this), nodes);
  }

  after(...nodes) {
    this.parentElement.insert(this.parentElement.childNodes.indexOf(this) + 1, nodes);
  }

  replaceWith(node) {
    this.before(node);
    this.remove();
  }

  remove() {
    this.parentElement?.take(this);
  }

  contains(other) {
    return other === this || (other?.parentElement ? this.contains(other.parentElement) : false);
  }

  get isConnected() {
    return document.documentElement.contains(this);
  }

  hasAttribute(name) {
    return this.attributes.has(name);
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
    if (name === 'value') this.typed = undefined;
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  toggleAttribute(name, on = !this.hasAttribute(name)) {
    if (on) this.setAttribute(name, '');
    else this.removeAttribute(name);
  }

  matches(selector) {
    return matches(this, selector);
  }

  closest(selector) {
    return this.matches(selector) ? this : this.parentElement?.closest(selector) ?? null;
  }

  all() {
    return this.children.flatMap((one) => [one, ...one.all()]);
  }

  querySelectorAll(selector) {
    return this.all().filter((one) => matches(one, selector, this));
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  click() {
    if (this.download) downloads.push(this.download);
    if (!this.disabled) this.dispatchEvent(new Event('click', { bubbles: true, cancelable: true }));
  }

  focus() {
    const before = focused;
    focused = this;
    if (before !== this) before?.dispatchEvent?.(new Event('blur'));
    this.dispatchEvent(new Event('focusin', { bubbles: true }));
  }

  blur() {
    if (focused === this) focused = null;
    this.dispatchEvent(new Event('blur'));
  }

  select() {}

  scrollIntoView() {
    this.scrolled = true;
  }

  setPointerCapture(id) {
    this.captured = id;
  }

  requestFullscreen() {
    document.fullscreenElement = this;
  }

  reportValidity() {
    return !(Number(this.value) > Number(this.getAttribute('max') ?? Infinity) || Number(this.value) < Number(this.getAttribute('min') ?? -Infinity));
  }

  getBoundingClientRect() {
    const { left = 0, top = 0, width = 0, height = 0 } = this.box ?? {};
    return new DOMRect(left, top, width, height);
  }

  get clientWidth() {
    return this.box?.width ?? 0;
  }

  get clientHeight() {
    return this.box?.height ?? 0;
  }

  get clientLeft() {
    return 0;
  }

  get clientTop() {
    return 0;
  }

  get offsetWidth() {
    return this.clientWidth;
  }

  get offsetHeight() {
    return this.clientHeight;
  }

  get scrollHeight() {
    return this.box?.scrollHeight ?? this.clientHeight;
  }

  get offsetParent() {
    return this.box?.is_hidden ? null : this.parentElement;
  }

  get value() {
    if (this.localName === 'select') return this.typed ?? (this.querySelector('option[selected]') ?? this.querySelector('option'))?.getAttribute('value') ?? '';
    return this.typed ?? this.getAttribute('value') ?? '';
  }

  set value(text) {
    this.typed = String(text);
  }

  get options() {
    return this.querySelectorAll('option');
  }

  stepUp() {
    this.value = Number(this.value) + 1;
  }
}
const reflected = { boolean: ['hidden', 'disabled', 'open', 'checked', 'selected'], text: ['id', 'title', 'type', 'max', 'min', 'href', 'download', 'placeholder'] };
for (const name of reflected.boolean) {
  Object.defineProperty(Element.prototype, name, { get() { return this.hasAttribute(name); }, set(on) { this.toggleAttribute(name, Boolean(on)); } });
}
for (const name of reflected.text) {
  Object.defineProperty(Element.prototype, name, { get() { return this.getAttribute(name) ?? ''; }, set(text) { this.setAttribute(name, text); } });
}
Object.defineProperty(Element.prototype, 'tabIndex', { get() { return Number(this.getAttribute('tabindex') ?? -1); }, set(to) { this.setAttribute('tabindex', to); } });
Object.defineProperty(Element.prototype, 'className', { get() { return this.getAttribute('class') ?? ''; }, set(to) { this.setAttribute('class', to); } });

class HTMLElement extends Element {}
class HTMLInputElement extends HTMLElement {}
class HTMLCanvasElement extends HTMLElement {
  getContext() {
    return (this.context ??= new Context(this));
  }

  get calls() {
    return this.getContext().calls;
  }

  toBlob(act) {
    act(new Blob([`${this.width} x ${this.height}`], { type: 'image/png' }));
  }
}
for (const side of ['width', 'height']) {
  // A new size clears the canvas.
  Object.defineProperty(HTMLCanvasElement.prototype, side, {
    get() { return Number(this.getAttribute(side) ?? (side === 'width' ? 300 : 150)); },
    set(to) { this.setAttribute(side, to); this.context?.reset(); this.pixels = undefined; },
  });
}
class SVGElement extends Element {}
class SVGGraphicsElement extends SVGElement {
  getScreenCTM() {
    return { a: 1, b: 0, c: 0, d: 1, e: this.box?.left ?? 0, f: this.box?.top ?? 0 };
  }
}
const shapes = { svg: [], g: [], text: [], line: ['x1', 'x2', 'y1', 'y2'], circle: ['cx', 'cy', 'r'], rect: ['x', 'y', 'width', 'height'], polyline: [], path: [] };
const svg_classes = Object.fromEntries(Object.entries(shapes).map(([tag, numbers]) => {
  const made = class extends SVGGraphicsElement {};
  for (const name of numbers) Object.defineProperty(made.prototype, name, { get() { return { baseVal: { value: Number(this.getAttribute(name)) } }; } });
  return [tag, made];
}));
Object.defineProperty(svg_classes.polyline.prototype, 'points', { get() { return this.getAttribute('points').split(' ').map((one) => one.split(',').map(Number)).map(([x, y]) => ({ x, y })); } });
const html_classes = { canvas: HTMLCanvasElement, input: HTMLInputElement };

class DOMRect {
  constructor(left, top, width, height) {
    Object.assign(this, { left, top, width, height, x: left, y: top, right: left + width, bottom: top + height });
  }
}

class KeyboardEvent extends Event {
  constructor(kind, given) {
    super(kind, given);
    Object.assign(this, { ctrlKey: false, metaKey: false, altKey: false, shiftKey: given.shiftKey ?? false, key: given.key });
  }
}

// ---- The page.

const document = new Events();
Object.assign(document, {
  fullscreenElement: null, fullscreenEnabled: true, hidden: false, title: '',
  createElement: (tag) => new (html_classes[tag] ?? HTMLElement)(tag),
  createElementNS: (_, tag) => new (svg_classes[tag] ?? SVGElement)(tag),
  createRange: () => new globalThis.Range(),
  getElementById: (id) => document.documentElement.all().find((one) => one.id !== '' && one.id === id) ?? null,
  exitFullscreen: () => { document.fullscreenElement = null; },
  elementFromPoint: () => null,
  execCommand: () => true,
});
document.documentElement = new HTMLElement('html');
document.documentElement.dataset.theme = 'light';
document.body = new HTMLElement('body');
document.documentElement.append(document.body);
Object.defineProperty(document, 'activeElement', { get: () => focused ?? document.body });
for (const name of ['querySelector', 'querySelectorAll']) document[name] = (selector) => document.documentElement[name](selector);
const styles = { '--hues': ' 252 62 148 320 222 30', '--hue-value': '252', '--hue-column': '148', '--hue-structure': '320', '--paper': '#fff', '--accent': '#00f' };
const plain_style = {
  display: 'block', visibility: 'visible', opacity: '1', borderTopLeftRadius: '0px', backgroundColor: 'none', backgroundImage: 'none', outlineStyle: 'none', outlineWidth: '0px', outlineColor: '#0f0',
  overflowY: 'visible', fontStyle: 'normal', fontWeight: '400', fontSize: '16px', fontFamily: 'serif', color: '#123', stroke: 'none', strokeWidth: '1px', strokeDasharray: 'none', strokeLinejoin: 'miter',
  fill: '#000', fillOpacity: '1', textAnchor: 'start', clipPath: 'none',
};

export const media = new Set(['(prefers-reduced-motion: reduce)']); // those that match
export const page_events = new Events();
export const sized = []; // what observes the sizes of elements: call `sized.forEach((one) => one())`
export const downloads = []; // names of files
const given = {
  document, window: globalThis, KeyboardEvent, HTMLElement, Element, HTMLInputElement, HTMLCanvasElement, SVGElement, SVGGraphicsElement, DOMRect, Text, Path2D, Node: Element,
  ...Object.fromEntries(Object.entries({ SVG: 'svg', Text: 'text', Line: 'line', Circle: 'circle', Rect: 'rect', Polyline: 'polyline', Path: 'path' }).map(([name, tag]) => [`SVG${name}Element`, svg_classes[tag]])),
  setTimeout: setTimer, clearTimeout: clearTimer,
  requestAnimationFrame: setFrame, cancelAnimationFrame: clearFrame,
  matchMedia: (query) => ({ get matches() { return media.has(query); }, addEventListener: (kind, act, options) => page_events.addEventListener(`${kind} ${query}`, act, options) }),
  getComputedStyle: (element) => ({ ...plain_style, ...element.computed, getPropertyValue: (name) => styles[name] ?? '' }),
  ResizeObserver: class { constructor(act) { this.act = act; } observe() { sized.push(this.act); } },
  devicePixelRatio: 1, innerWidth: 1280, innerHeight: 900, scrollX: 0, scrollY: 0, scrollTo: (x, y) => { globalThis.scrollY = y; },
  localStorage: { kept: new Map(), getItem(name) { return this.kept.get(name) ?? null; }, setItem(name, value) { this.kept.set(name, value); } },
  location: { hash: '', href: 'file:///page.html' }, history: { replaceState: (_, __, hash) => { globalThis.location.hash = hash; } },
  addEventListener: (...words) => page_events.addEventListener(...words), removeEventListener: (...words) => page_events.removeEventListener(...words),
  dispatchEvent: (event) => page_events.dispatchEvent(event), CSS: { escape: (text) => text.replace(/["\\]/g, '\\$&') },
  Range: class {
    setStart(text, at) { Object.assign(this, { text, at }); }
    setEnd(_, end) { this.end = end; }
    getBoundingClientRect() { return this.text.place?.(this.at, this.end) ?? new DOMRect(0, 0, 0, 0); }
  },
};
for (const [name, value] of Object.entries(given)) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
Object.defineProperty(globalThis, 'navigator', { value: { clipboard: undefined }, writable: true, configurable: true });
performance.now = () => time.now;
URL.createObjectURL = (blob) => `blob:${blob.size}`;
URL.revokeObjectURL = () => undefined;
document.documentElement.computed.fontSize = '16px';
