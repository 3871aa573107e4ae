// The view as a slide, whatever the size of the window: the pictures, the stages, three figures, a sentence and the legend.
import { css, steps } from './colours';
import { type Headline, headlineOf } from './headline';
import type { Region, Stage } from './bins';
import { counted, withDots } from './dom';
import type { Legend } from './legend';
import { sentenceOf } from './sentence';
import { snapshotOf } from './snapshot';
import type { Beside, Track } from './view';

export const slide = { width: 960, height: 540, ratio: 2, text: 13 }; // CSS pixels, and dots of one
const margin = 24;
const column = 240; // the least width of the texts beside a picture
const top = 84;
const bottom = 40;

export interface SlidePicture {
  canvas: HTMLCanvasElement; // drawn with the ratio of a slide
  caption: string;
}

interface SlideTexts {
  title: string;
  matrix: string;
  stages: { name: string; now: boolean }[];
  headlines: Headline[];
  sentence: string;
  legend: Legend;
}

// `active`: the run whose stages and figures the slide states.
export function textsOf(tracks: Track[], active: number, legend: Legend): SlideTexts {
  const track = tracks[active];
  const shown = Math.round(track.position);
  const { source, rows, columns, nonzeros } = track.run.report.matrix;
  return {
    title: tracks.map(({ run }) => run.title).join(' and '),
    matrix: `${source}: ${counted(rows)} × ${counted(columns)}, ${counted(nonzeros)} nonzeros`,
    stages: [...(tracks.length > 1 ? [{ name: `${track.run.title}:`, now: false }] : []), ...track.pattern.facts.stages.map(({ label }, i) => ({ name: `${i} ${label}`, now: i === shown }))],
    headlines: headlineOf(track, shown), sentence: sentenceOf(track, shown), legend,
  };
}

const figures_high = 62; // above two pictures
const caption_high = 22;

// The largest size of each of `count` pictures.
export function roomOf(count: number): { width: number; height: number } {
  return count > 1
    ? { width: (slide.width - margin * (count + 1)) / count, height: slide.height - top - figures_high - caption_high - bottom }
    : { width: slide.width - 3 * margin - column, height: slide.height - top - bottom };
}

// What is beside the pattern, laid out for a slide. The caller lays it out for the window again.
export function pictureOf(pane: Beside, stage: Stage, mark: Region | null): SlidePicture {
  const { width, height } = roomOf(2);
  const root = document.documentElement;
  root.classList.add('on-slide');
  try {
    const canvas = withDots(slide.ratio, () => {
      const needed = pane.resize(width, height);
      pane.draw(stage, mark);
      return snapshotOf(pane.element, needed, Math.min(height, pane.element.getBoundingClientRect().height), slide.ratio);
    });
    return { canvas, caption: pane.caption(stage).map((part) => (typeof part === 'string' ? part : part.textContent)).join('') };
  } finally {
    root.classList.remove('on-slide');
  }
}

class Pen {
  private readonly family = getComputedStyle(document.body).fontFamily;
  private readonly colours = getComputedStyle(document.documentElement);

  constructor(readonly context: CanvasRenderingContext2D) {
    context.textBaseline = 'alphabetic';
  }

  colour(name: string): string {
    return this.colours.getPropertyValue(`--${name}`).trim();
  }

  // Returns the width of the text, which is compressed to `most`.
  write(text: string, x: number, y: number, size: number, colour: string, weight = 400, most = 1e9): number {
    this.font(size, weight);
    this.context.fillStyle = this.colour(colour);
    this.context.fillText(text, x, y, most);
    return Math.min(most, this.context.measureText(text).width);
  }

  font(size: number, weight = 400): void {
    this.context.font = `${weight} ${size}px ${this.family}`;
  }

  lines(text: string, width: number, size: number): string[] {
    this.font(size);
    const lines = [''];
    for (const word of text.split(' ')) {
      const longer = `${lines[lines.length - 1]} ${word}`.trimStart();
      if (lines[lines.length - 1] !== '' && this.context.measureText(longer).width > width) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines;
  }
}

// A name, and the figure before and after the stage below it. Returns the width.
function writeHeadline(pen: Pen, { name, before, now, gain }: Headline, x: number, y: number, most: number): number {
  const name_width = pen.write(name, x, y, 13, 'muted', 400, most);
  const old = before === null ? 0 : pen.write(`${before} → `, x, y + 27, 16, 'muted', 400, most / 2);
  const width = pen.write(now, x + old, y + 27, 25, gain > 0 ? 'good' : 'ink', 650, most - old);
  return Math.max(name_width, old + width);
}

function writeStages(pen: Pen, stages: SlideTexts['stages']): void {
  pen.font(13, 650);
  const gap = 22;
  const widths = stages.map(({ name }) => pen.context.measureText(name).width);
  const sum = widths.reduce((a, b) => a + b + gap, 0);
  const share = Math.min(1, (slide.width - 2 * margin) / sum);
  let x = margin;
  stages.forEach(({ name, now }, i) => {
    pen.write(name, x, 62, 13, now ? 'ink' : 'muted', now ? 650 : 400, widths[i] * share);
    if (now) {
      pen.context.fillStyle = pen.colour('accent');
      pen.context.fillRect(x, 68, widths[i] * share, 2.5);
    }
    x += (widths[i] + gap) * share;
  });
}

function writeLegend(pen: Pen, { keys, single, words }: Legend): void {
  const y = slide.height - 14;
  let x = margin;
  for (const [name, ramp] of keys) {
    const width = single ? 11 : 44;
    for (let i = 0; i < width; ++i) {
      pen.context.fillStyle = css(ramp[single ? Math.round(steps * 0.62) : Math.round(((ramp.length - 1) * i) / width)]);
      pen.context.fillRect(x + i, y - 10, 1.5, 11);
    }
    x += width + 6;
    x += pen.write(name, x, y, 13, 'ink') + 18;
  }
  if (x < slide.width - 200) pen.write(words.join('; '), x, y, 13, 'muted', 400, slide.width - margin - x);
}

export function drawSlide(pictures: SlidePicture[], texts: SlideTexts): HTMLCanvasElement {
  const whole = document.createElement('canvas');
  whole.width = slide.width * slide.ratio;
  whole.height = slide.height * slide.ratio;
  const context = whole.getContext('2d') as CanvasRenderingContext2D;
  context.scale(slide.ratio, slide.ratio);
  const pen = new Pen(context);
  context.fillStyle = pen.colour('paper');
  context.fillRect(0, 0, slide.width, slide.height);
  const title = pen.write(texts.title, margin, 34, 21, 'ink', 650, slide.width * 0.6);
  pen.write(texts.matrix, margin + title + 20, 34, 13, 'muted', 400, slide.width - 2 * margin - title - 20);
  writeStages(pen, texts.stages);
  const has_row = pictures.length > 1;
  const above = top + (has_row ? figures_high + caption_high : 0);
  let x = margin;
  for (const { canvas, caption } of pictures) {
    const [width, height] = [canvas.width / slide.ratio, canvas.height / slide.ratio];
    if (has_row) pen.write(caption, x, above - 7, 13, 'muted', 400, width);
    context.drawImage(canvas, x, above, width, height);
    x += width + margin;
  }
  if (has_row) {
    let at = margin;
    for (const one of texts.headlines) at += writeHeadline(pen, one, at, top + 14, slide.width / 5) + 40;
    pen.lines(texts.sentence, slide.width - margin - at, 12).slice(0, 5).forEach((line, i) => pen.write(line, at, top + 6 + i * 15, 12, 'ink'));
  } else {
    const width = slide.width - margin - x;
    const [{ caption }] = pictures;
    const below = above + (caption === '' ? 20 : 50);
    pen.write(caption, x, above + 16, 15, 'ink', 400, width);
    texts.headlines.forEach((one, i) => writeHeadline(pen, one, x, below + i * 58, width));
    pen.lines(texts.sentence, width, 15).slice(0, 12).forEach((line, i) => pen.write(line, x, below + 8 + texts.headlines.length * 58 + i * 21, 15, 'ink'));
  }
  writeLegend(pen, texts.legend);
  return whole;
}
