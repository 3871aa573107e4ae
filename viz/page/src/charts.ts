// Charts in SVG that are redrawn when their width changes.
import { scaleLinear, scaleLog } from 'd3-scale';
import { role_colour, series } from './colours';
import { download, h, s, seconds, significant } from './dom';
import { snapshotOf } from './snapshot';

type Draw = (width: number, text: number) => { svg: SVGElement[]; height: number };

const redraws = new Set<() => void>();

export function forgetCharts(): void {
  redraws.clear();
}

export function redrawCharts(): void {
  for (const redraw of redraws) redraw();
}

// A figure whose chart fits the available width. `label` describes it to screen readers.
export function chart(title: string, label: string, draw: Draw, note = ''): HTMLElement {
  const place = h('div', { class: 'chart-place' });
  const figure = h('figure', { class: 'chart' }, h('figcaption', {}, title), place, note ? h('p', { class: 'note' }, note) : null);
  let drawn_width = 0;
  const redraw = (): void => {
    const width = place.clientWidth;
    if (width === 0) return;
    drawn_width = width;
    const text = Math.min(20, Math.max(11, parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.78));
    const { svg, height } = draw(width, text);
    place.replaceChildren(s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, 'font-size': text }, ...svg));
  };
  new ResizeObserver(() => place.clientWidth !== drawn_width && redraw()).observe(place);
  redraws.add(redraw);
  return figure;
}

// Saves the chart as it is shown, with its title and note, as a picture of the width of a slide.
function saveChart(figure: HTMLElement, title: string): void {
  const [across, margin] = [1920, 60];
  const { width, height } = figure.getBoundingClientRect();
  const ratio = (across - 2 * margin) / width;
  const whole = h('canvas', { width: across, height: Math.ceil(height * ratio) + 2 * margin });
  const context = whole.getContext('2d') as CanvasRenderingContext2D;
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--paper');
  context.fillRect(0, 0, whole.width, whole.height);
  context.drawImage(snapshotOf(figure, width, height, ratio), margin, margin);
  whole.toBlob((blob) => blob && download(blob, `${title.replace(/[^\w.-]+/g, '_')}.png`));
}

// A vertical line for each tick, with the text of the tick at the baseline if there is space, within the width.
function verticalGrid(ticks: number[], at: (tick: number) => number, [top, bottom, baseline, width]: [number, number, number, number], text_of: (tick: number) => string): SVGElement[] {
  const pixels_of_letter = 9;
  let free = -Infinity;
  return ticks.flatMap((tick) => {
    const line = s('line', { x1: at(tick), x2: at(tick), y1: top, y2: bottom, class: 'grid' });
    const half = (text_of(tick).length * pixels_of_letter) / 2;
    const is_last = at(tick) + half > width;
    if (at(tick) - (is_last ? 2 : 1) * half < free) return [line];
    free = at(tick) + half;
    return [line, s('text', { x: at(tick), y: baseline, 'text-anchor': tick === 0 ? 'start' : is_last ? 'end' : 'middle', class: 'name' }, text_of(tick))];
  });
}

export interface Column {
  text: string;
  value: number | null;
}

// A small chart of one figure: a bar for each stage of each run; the current stages are highlighted.
export function stageBars(title: string, meaning: string, names: string[][], runs: Column[][], current: () => number[], pick: (run: number, stage: number) => void): HTMLElement {
  const label = `${title}: ${runs.map((columns, r) => columns.map((column, i) => `${names[r][i]} ${column.text}`).join(', ')).join('; ')}`;
  return chart(title, label, (width, text) => {
    const svg: SVGElement[] = [];
    const top = Math.max(0, ...runs.flat().map((column) => column.value ?? 0));
    const line = Math.round(text * 1.75);
    const scale = scaleLinear().domain([0, top || 1]).range([0, width]);
    let y = 0;
    runs.forEach((columns, r) => {
      if (r > 0) y += line * 0.4;
      columns.forEach((column, i) => {
        const now = current()[r] === i;
        const bar = scale(column.value ?? 0);
        const group = s('g', { class: now ? 'bar now' : 'bar', click: () => pick(r, i) }, s('title', {}, `${names[r][i]}: ${column.text}`));
        group.append(
          s('rect', { x: 0, y: y + 1, width, height: line - 3, class: 'hit' }),
          s('rect', { x: 0, y: y + line - 5, width, height: 2, class: 'rail' }),
          s('rect', { x: 0, y: y + line - 6, width: Math.max(column.value === null ? 0 : 1.5, bar), height: 4, rx: 1, fill: series(r), class: 'ink' }),
          s('text', { x: 0, y: y + line - 9, class: 'name' }, names[r][i]),
          s('text', { x: width, y: y + line - 9, 'text-anchor': 'end', class: 'value' }, column.text));
        svg.push(group);
        y += line + 4;
      });
    });
    return { svg, height: y + 2 };
  }, meaning);
}

export interface Dots {
  name: string;
  detail: string;
  median: number;
  low: number;
  high: number;
  samples: number[];
  colour: number;
}

// All samples of each kernel, with the median and a bar from the 10th to the 90th percentile.
export function sampleStrips(title: string, rows: Dots[], note: string): HTMLElement {
  return chart(title, rows.map((row) => `${row.name} ${seconds(row.median)}`).join(', '), (width, text) => {
    const svg: SVGElement[] = [];
    const line = Math.round(text * 3.4);
    // Outliers do not compress the rest of the axis.
    const to = Math.max(...rows.map((row) => Math.max(row.high * 1.25, row.median * 1.3)));
    const scale = scaleLinear().domain([0, to]).range([0, width - text]).nice();
    const height = rows.length * line + text * 2.4;
    svg.push(...verticalGrid(scale.ticks(Math.max(2, Math.floor(width / (text * 8)))), scale, [0, height - text * 1.9, height - text * 0.6, width], seconds));
    rows.forEach((row, i) => {
      const y = i * line + text * 1.3;
      const dots = row.samples.length > 600 ? row.samples.filter((_, k) => k % Math.ceil(row.samples.length / 600) === 0) : row.samples;
      const far = row.samples.filter((sample) => sample > scale.domain()[1]).length;
      svg.push(
        s('text', { x: 0, y: y - text * 0.15, class: 'value' }, row.name, s('tspan', { class: 'name', dx: text * 0.6 }, row.detail)),
        far > 0 ? s('text', { x: width, y: y - text * 0.15, class: 'name', 'text-anchor': 'end' }, `${far} further right →`) : s('g'),
        s('g', { fill: series(row.colour), 'fill-opacity': Math.max(0.07, Math.min(0.6, 30 / dots.length)) },
          ...dots.filter((sample) => sample <= scale.domain()[1])
            .map((sample, k) => s('circle', { cx: scale(sample), cy: y + text * (0.55 + 0.7 * ((k * 0.618) % 1)), r: text * 0.16 }))),
        s('rect', { x: scale(row.low), y: y + text * 0.8, width: Math.max(1, scale(Math.min(row.high, scale.domain()[1])) - scale(row.low)), height: text * 0.24, fill: series(row.colour) }),
        s('rect', { x: scale(row.median) - 1.25, y: y + text * 0.3, width: 2.5, height: text * 1.2, fill: series(row.colour) }));
    });
    return { svg, height };
  }, note);
}

export interface Point {
  name: string; // empty: no name is drawn
  title?: string; // in the place of the name when the point is pointed at
  x: number;
  y: number;
  colour: number;
}

// A circle, square, diamond or triangle, as in the program's charts, in the colour of the series.
function marker(number: number, x: number, y: number, r: number, ...children: SVGElement[]): SVGElement {
  const d = [
    `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    `M${x - 0.88 * r} ${y - 0.88 * r}h${1.76 * r}v${1.76 * r}h${-1.76 * r}z`,
    `M${x} ${y - 1.25 * r}l${1.25 * r} ${1.25 * r}l${-1.25 * r} ${1.25 * r}l${-1.25 * r} ${-1.25 * r}z`,
    `M${x} ${y - 1.2 * r}l${1.15 * r} ${2 * r}h${-2.3 * r}z`,
  ][Math.max(0, number) % 4];
  return s('path', { d, fill: series(number), class: 'marker' }, ...children);
}

function logTicks(low: number, high: number): number[] {
  const list: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const step of [1, 2, 5]) {
      const tick = Number(`${step}e${power}`); // 10 ** -4 is less than 0.0001
      if (tick >= low * 0.999 && tick <= high * 1.001) list.push(tick);
    }
  }
  if (list.length < 3) return scaleLog().domain([low, high]).ticks(5).filter((_, i, all) => all.length < 8 || i % 2 === 0);
  return list.length > 7 ? list.filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9) : list;
}

export interface Curve {
  name: string;
  at?: (x: number) => number;
  places?: [number, number][]; // in the place of a function
  colour: number | null; // null: a grey guide
}

export interface XyOptions {
  x: string;
  y: string;
  xText?: (value: number) => string;
  yText?: (value: number) => string;
  xRange: [number, number];
  yRange: [number, number];
  linear?: boolean; // x
  points: Point[];
  curves: Curve[];
  note?: string;
  keys?: { name: string; colour: number }[]; // the legend of points without names
  cursor?: { name: string; start: number; words: (x: number) => string }; // a line that a slider moves along x
}

// A slider under a chart, whose line is in front of it at a share of its inner width.
function addCursor(figure: HTMLElement, { xRange: [low, high] }: XyOptions, { name, start, words }: NonNullable<XyOptions['cursor']>): void {
  const steps = 1000;
  const line = h('div', { class: 'cursor-line', 'aria-hidden': 'true' });
  const text = h('p', { class: 'cursor-words', 'aria-live': 'polite' });
  const range = h('input', { type: 'range', min: 0, max: steps, step: 1, value: Math.round((steps * Math.log(start / low)) / Math.log(high / low)), 'aria-label': name });
  const show = (x: number, share: number): void => {
    line.style.setProperty('--share', String(share));
    text.textContent = words(x);
    range.setAttribute('aria-valuetext', text.textContent);
  };
  range.addEventListener('input', () => {
    const share = Number(range.value) / steps;
    show(low * (high / low) ** share, share);
  });
  show(start, Math.log(start / low) / Math.log(high / low));
  const place = figure.querySelector('.chart-place');
  const both = h('div', { class: 'with-cursor' });
  place?.replaceWith(both);
  both.append(...(place ? [place] : []), line);
  both.after(range, text);
}

// Points and curves over two axes, of which y is logarithmic.
export function xyChart(title: string, label: string, options: XyOptions): HTMLElement {
  const { xText = significant, yText = significant } = options;
  const figure = chart(title, label, (width, text) => {
    const left = Math.round(text * 4.6);
    const bottom = Math.round(text * 3.1);
    const height = Math.round(Math.min(Math.max(width * 0.62, 220), 560));
    const x = (options.linear ? scaleLinear() : scaleLog()).domain(options.xRange).range([left, width - text]);
    const y = scaleLog().domain(options.yRange).range([height - bottom, text * 1.6]);
    const svg: SVGElement[] = [];
    svg.push(...verticalGrid(options.linear ? x.ticks(Math.max(2, Math.floor(width / (text * 9)))) : logTicks(...options.xRange), x, [text * 1.6, height - bottom, height - bottom + text * 1.3, width], xText));
    for (const tick of logTicks(...options.yRange)) {
      svg.push(s('line', { x1: left, x2: width - text, y1: y(tick), y2: y(tick), class: 'grid' }),
        s('text', { x: left - text * 0.5, y: y(tick) + text * 0.35, 'text-anchor': 'end', class: 'name' }, yText(tick)));
    }
    svg.push(s('text', { x: (left + width) / 2, y: height - text * 0.3, 'text-anchor': 'middle', class: 'name' }, options.x),
      s('text', { x: 0, y: text * 0.85, class: 'name' }, options.y));
    const names: { x: number; y: number; name: string; colour: number | null; end: boolean }[] = [];
    const ends: { curve: XyOptions['curves'][0]; places: number[][]; last: number[] }[] = [];
    const clip = `clip-${Math.random().toString(36).slice(2)}`;
    svg.push(s('clipPath', { id: clip }, s('rect', { x: left, y: text * 1.2, width: width - text - left, height: height - bottom - text * 1.2 })));
    for (const curve of options.curves) {
      const given = curve.places ?? Array.from({ length: 97 }, (_, i): [number, number] => {
        const at = options.xRange[0] * (options.xRange[1] / options.xRange[0]) ** (i / 96);
        return [at, curve.at?.(at) ?? 0];
      });
      const places = given.map(([at, value]) => [x(at), y(Math.max(value, options.yRange[0] * 1e-6))]);
      svg.push(s('polyline', {
        points: places.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' '), 'clip-path': `url(#${clip})`,
        class: curve.colour === null ? 'guide' : 'curve', stroke: curve.colour === null ? undefined : series(curve.colour),
      }));
      const last = [...places].reverse().find(([, py]) => py >= text * 1.6 && py <= height - bottom);
      if (last && curve.name !== '') ends.push({ curve, places, last });
    }
    for (const { curve, places, last: [px, py] } of ends) {
      // Below its curve if another curve is above it.
      const long = text * 0.6 * curve.name.length;
      const is_crossed = ends.some((other) => other.places !== places && other.places.some(([qx, qy]) => qx > px - long && qx <= px && qy < py && qy > py - text * 1.8));
      const lowest = Math.max(py, ...places.filter(([qx]) => qx > px - long && qx <= px).map(([, qy]) => qy));
      names.push({ x: px, y: is_crossed ? lowest + text * 1.1 : py - text * 0.4, name: curve.name, colour: curve.colour, end: true });
    }
    const radius = text * 0.4;
    const markers = options.points.map((point) => marker(point.colour, x(point.x), y(point.y), radius, s('title', {}, `${point.title ?? point.name}: ${xText(point.x)}, ${yText(point.y)}`)));
    for (const point of options.points) {
      if (point.name === '') continue;
      const right = x(point.x) > width * 0.62;
      names.push({ x: x(point.x) + (right ? -1 : 1) * text * 0.65, y: y(point.y) + text * 0.35, name: point.name, colour: point.colour, end: right });
    }
    // Names that would overlap move down, also from the markers if there is a free place in the chart.
    names.sort((a, b) => a.y - b.y);
    names.forEach((name, i) => {
      const from = name.end ? name.x - text * 0.6 * name.name.length : name.x;
      const near = options.points.filter((point) => x(point.x) > from - radius && x(point.x) < from + text * 0.6 * name.name.length + radius).map((point) => y(point.y));
      const free = (taken: number[]): number => {
        let at = name.y;
        for (let before = NaN; !Object.is(before, at);) { // also ends where y is not a number
          before = at;
          for (const other of names.slice(0, i)) if (Math.abs(other.x - name.x) < text * 11 && Math.abs(at - other.y) < text * 1.15) at = other.y + text * 1.15;
          for (const spot of taken) if (spot > at - text * 0.8 - radius && spot < at + text * 0.2 + radius) at = spot + text * 0.8 + radius;
        }
        return at;
      };
      name.y = free(near) <= height - bottom ? free(near) : free([]);
      svg.push(s('text', { x: name.x, y: name.y, 'text-anchor': name.end ? 'end' : 'start', class: 'halo', fill: name.colour === null ? undefined : series(name.colour) }, name.name));
    });
    svg.push(...markers);
    let at = 0;
    let below = height + text * 0.9;
    for (const key of options.keys ?? []) {
      const size = text * (2.4 + 0.62 * key.name.length);
      if (at > 0 && at + size > width) {
        at = 0;
        below += text * 1.5;
      }
      svg.push(marker(key.colour, at + text * 0.5, below, text * 0.4), s('text', { x: at + text * 1.2, y: below + text * 0.35 }, key.name));
      at += size;
    }
    const whole = options.keys ? below + text : height;
    figure.style.setProperty('--below', `${whole - height + bottom}px`);
    figure.style.setProperty('--left', `${left}px`);
    figure.style.setProperty('--right', `${text}px`);
    return { svg, height: whole };
  }, options.note);
  if (options.cursor) addCursor(figure, options, options.cursor);
  figure.querySelector('figcaption')?.append(h('button', { type: 'button', class: 'quiet', title: 'Save the chart as PNG', click: () => saveChart(figure, title) }, 'Save chart'));
  return figure;
}

export interface Part {
  name: string;
  size: number;
  role: string;
}


// A stacked bar of bytes for each layout.
export function stackedBars(title: string, rows: { name: string; detail: string; parts: Part[] }[], text_of: (size: number) => string): HTMLElement {
  const label = rows.map((row) => `${row.name}: ${row.parts.map((part) => `${part.name} ${text_of(part.size)}`).join(', ')}`).join('; ');
  return chart(title, label, (width, text) => {
    const svg: SVGElement[] = [];
    const most = Math.max(...rows.map((row) => row.parts.reduce((sum, part) => sum + part.size, 0)));
    const scale = scaleLinear().domain([0, most || 1]).range([0, width]);
    const line = Math.round(text * 3.6);
    rows.forEach((row, i) => {
      const y = i * line;
      svg.push(s('text', { x: 0, y: y + text, class: 'value' }, row.name, s('tspan', { class: 'name', dx: text * 0.6 }, row.detail)));
      let at = 0;
      for (const part of row.parts) {
        const size = scale(part.size);
        svg.push(s('rect', { x: at, y: y + text * 1.4, width: Math.max(0.5, size - 1), height: text * 1.5, fill: series(role_colour[part.role] ?? role_colour.structure), rx: 1 },
          s('title', {}, `${part.name}: ${text_of(part.size)}`)));
        at += size;
      }
    });
    return { svg, height: rows.length * line };
  });
}

// A point with its range for each ratio, on a logarithmic axis around one.
export function ratioBars(title: string, rows: { name: string; value: number; low: number; high: number; text: string }[], note: string): HTMLElement {
  return chart(title, rows.map((row) => `${row.name} ${row.text}`).join(', '), (width, text) => {
    const svg: SVGElement[] = [];
    const line = Math.round(text * 2.5);
    const low = Math.min(1, ...rows.map((row) => row.low)) * 0.95;
    const high = Math.max(1, ...rows.map((row) => row.high)) * 1.05;
    const scale = scaleLog().domain([low, high]).range([text, width - text]);
    const height = rows.length * line + text * 2;
    svg.push(...verticalGrid(logTicks(low, high), scale, [0, height - text * 1.7, height - text * 0.4, width], (tick) => `${significant(tick)} ×`),
      s('line', { x1: scale(1), x2: scale(1), y1: 0, y2: height - text * 1.7, class: 'axis' }));
    rows.forEach((row, i) => {
      const y = i * line + text;
      svg.push(s('text', { x: 0, y, class: 'value halo' }, row.name, s('tspan', { class: 'name', dx: text * 0.6 }, row.text)),
        s('line', { x1: scale(row.low), x2: scale(row.high), y1: y + text * 0.65, y2: y + text * 0.65, stroke: series(0), 'stroke-width': 2, 'stroke-opacity': 0.5 }),
        s('circle', { cx: scale(row.value), cy: y + text * 0.65, r: text * 0.36, fill: series(0) }));
    });
    return { svg, height };
  }, note);
}
