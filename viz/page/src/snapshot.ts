// Draws an element of the page into a canvas, as it is laid out: boxes, texts, canvases and shapes. Browsers have no function for it
// that a page without network may call.
import { h } from './dom';

const colours_in = /[a-z]+\([^()]*\)/g;

function fontOf({ fontStyle, fontWeight, fontSize, fontFamily }: CSSStyleDeclaration): string {
  return `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
}

// Diagonal stripes of two colours, as of padding.
function drawStripes(context: CanvasRenderingContext2D, { left, top, width, height }: DOMRect, colours: string[]): void {
  const stripe = 3;
  const apart = 2 * stripe * Math.SQRT2;
  context.save();
  context.clip();
  context.fillStyle = colours[colours.length - 1];
  context.fillRect(left, top, width, height);
  context.strokeStyle = colours[0];
  context.lineWidth = stripe;
  context.beginPath();
  for (let at = left - height; at < left + width; at += apart) {
    context.moveTo(at, top + height);
    context.lineTo(at + height, top);
  }
  context.stroke();
  context.restore();
}

function drawBox(context: CanvasRenderingContext2D, box: DOMRect, style: CSSStyleDeclaration): void {
  const { left, top, width, height } = box;
  context.beginPath();
  context.roundRect(left, top, width, height, Math.min(parseFloat(style.borderTopLeftRadius) || 0, width / 2, height / 2));
  context.fillStyle = style.backgroundColor;
  context.fill();
  const colours = style.backgroundImage.match(colours_in);
  if (colours && style.backgroundImage.startsWith('repeating')) {
    drawStripes(context, box, colours);
  } else if (colours) {
    const gradient = context.createLinearGradient(left, 0, left + width, 0);
    colours.forEach((colour, i) => gradient.addColorStop(i / Math.max(1, colours.length - 1), colour));
    context.fillStyle = gradient;
    context.fill();
  }
  const outline = style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth);
  if (outline <= 0) return;
  context.strokeStyle = style.outlineColor;
  context.lineWidth = outline;
  context.strokeRect(left - outline / 2, top - outline / 2, width + outline, height + outline);
}

// Word by word, because a text may have several lines. `clip`: words that are not wholly inside are left out.
function drawText(context: CanvasRenderingContext2D, text: Text, style: CSSStyleDeclaration, clip: DOMRect): void {
  context.font = fontOf(style);
  context.fillStyle = style.color;
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  const range = document.createRange();
  for (const word of text.data.matchAll(/\S+/g)) {
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    const box = range.getBoundingClientRect();
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = context.measureText(word[0]);
    if (box.width === 0 || box.top < clip.top - 1 || box.bottom > clip.bottom + 1 || box.right > clip.right + 1) continue;
    context.fillText(word[0], box.left, box.top + (box.height - ascent - descent) / 2 + ascent);
  }
}

function pathOf(shape: SVGElement): Path2D | null {
  const path = new Path2D();
  if (shape instanceof SVGLineElement) {
    path.moveTo(shape.x1.baseVal.value, shape.y1.baseVal.value);
    path.lineTo(shape.x2.baseVal.value, shape.y2.baseVal.value);
  } else if (shape instanceof SVGCircleElement) {
    path.arc(shape.cx.baseVal.value, shape.cy.baseVal.value, shape.r.baseVal.value, 0, 2 * Math.PI);
  } else if (shape instanceof SVGRectElement) {
    path.rect(shape.x.baseVal.value, shape.y.baseVal.value, shape.width.baseVal.value, shape.height.baseVal.value);
  } else if (shape instanceof SVGPolylineElement) {
    for (const { x, y } of shape.points) path.lineTo(x, y);
  } else {
    return shape instanceof SVGPathElement ? new Path2D(shape.getAttribute('d') ?? '') : null;
  }
  return path;
}

function drawShape(context: CanvasRenderingContext2D, shape: SVGGraphicsElement, style: CSSStyleDeclaration): void {
  const matrix = shape.getScreenCTM();
  if (!matrix) return;
  context.save();
  context.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
  const area = document.getElementById(/#([\w-]+)/.exec(style.clipPath)?.[1] ?? '')?.querySelector('rect');
  const inside = area && pathOf(area);
  if (inside) context.clip(inside);
  const stroke = style.stroke === 'none' ? 0 : parseFloat(style.strokeWidth);
  context.strokeStyle = style.stroke;
  context.lineWidth = stroke;
  context.lineJoin = style.strokeLinejoin as CanvasLineJoin;
  context.setLineDash(style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(',').map(parseFloat));
  context.fillStyle = style.fill;
  const alpha = context.globalAlpha;
  if (shape instanceof SVGTextElement) {
    context.font = fontOf(style);
    context.textAlign = ({ start: 'left', middle: 'center', end: 'right' } as const)[style.textAnchor as 'start' | 'middle' | 'end'];
    context.textBaseline = 'alphabetic';
    const [x, y] = [Number(shape.getAttribute('x')), Number(shape.getAttribute('y'))];
    if (stroke > 0) context.strokeText(shape.textContent ?? '', x, y); // below the letters
    context.fillText(shape.textContent ?? '', x, y);
  } else {
    const path = pathOf(shape);
    if (path && style.fill !== 'none') {
      context.globalAlpha = alpha * Number(style.fillOpacity);
      context.fill(path);
      context.globalAlpha = alpha;
    }
    if (path && stroke > 0) context.stroke(path);
  }
  context.restore();
}

function draw(context: CanvasRenderingContext2D, element: Element, clip: DOMRect): void {
  const style = getComputedStyle(element);
  if (style.display === 'none' || style.visibility === 'hidden' || element.matches('button, input, select, title, clipPath')) return;
  context.save();
  context.globalAlpha *= Number(style.opacity);
  const box = element.getBoundingClientRect();
  if (element instanceof SVGGraphicsElement && !(element instanceof SVGSVGElement)) drawShape(context, element, style);
  else drawBox(context, box, style);
  let inside = clip;
  if (element instanceof HTMLCanvasElement && box.width > 0) context.drawImage(element, box.left, box.top, box.width, box.height);
  if (style.overflowY !== 'visible' && element instanceof HTMLElement) {
    inside = box;
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
  }
  if (!(element instanceof SVGTextElement)) {
    for (const child of element.childNodes) {
      if (child instanceof Text) drawText(context, child, style, inside);
      else if (child instanceof Element) draw(context, child, inside);
    }
  }
  context.restore();
}

// The upper left part of the element, of `width` times `height` CSS pixels of `ratio` dots.
export function snapshotOf(element: HTMLElement, width: number, height: number, ratio: number): HTMLCanvasElement {
  const canvas = h('canvas', { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const { left, top } = element.getBoundingClientRect();
  context.scale(ratio, ratio);
  context.translate(-left, -top);
  draw(context, element, new DOMRect(left, top, width, height));
  return canvas;
}
