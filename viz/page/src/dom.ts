// Short constructors of elements, and numbers formatted for readers.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, attributes, children);
  return element;
}

export function section(id: string, title: string, lead: string, ...content: (Node | null)[]): HTMLElement {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), lead ? h('p', { class: 'lead' }, lead) : null, ...content);
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const counted = (number: number): string => whole.format(number);

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${counted(number)} ${number === 1 ? one : many}`;
}

export function significant(number: number, digits = 3): string {
  if (number === 0) return '0';
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-4) return number.toExponential(digits - 1).replace('e+', 'e');
  return Number(number.toPrecision(digits)).toLocaleString('en', { maximumFractionDigits: 10 });
}

// The number in the fewest digits that identify it.
export const exact = (number: number): string => String(number);

export function seconds(time: number): string {
  if (time === 0) return '0 s';
  const units: [number, string][] = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
  const [unit, name] = units.find(([one]) => time >= one * 0.9995) ?? units[3];
  return `${significant(time / unit)} ${name}`;
}

export function bytes(count: number): string {
  const units: [number, string][] = [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']];
  const [unit, name] = units.find(([one]) => count >= one) ?? units[3];
  return `${significant(count / unit)} ${name}`;
}

export const percent = (share: number): string => `${significant(100 * share)} %`;

export function action(label: string, act: () => void, sign = label): HTMLButtonElement {
  return h('button', { type: 'button', 'data-action': label, 'aria-label': label, title: label, click: () => act() }, sign);
}

export function copyButton(text: () => string, what: string): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'quiet', 'aria-label': `Copy ${what}` }, 'Copy');
  button.addEventListener('click', () => {
    const done = (): void => {
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 1500);
    };
    // The browser may refuse the clipboard to a page opened from a file.
    const select_and_copy = (): void => {
      const area = h('textarea', { class: 'off-screen' });
      area.value = text();
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
      done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text()).then(done, select_and_copy);
    else select_and_copy();
  });
  return button;
}

let dots = 0; // 0: those of the screen

// The dots of a canvas per CSS pixel.
export const dotsPerPixel = (): number => dots || window.devicePixelRatio || 1;

// Canvases that `act` draws have `count` dots per CSS pixel.
export function withDots<Result>(count: number, act: () => Result): Result {
  dots = count;
  try {
    return act();
  } finally {
    dots = 0;
  }
}

export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
