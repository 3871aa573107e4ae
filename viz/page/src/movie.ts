// An animated GIF of all stages, or of the steps of a warp.
import { applyPalette, GIFEncoder, quantize } from 'gifenc';

const moves = 14; // images between two stages
const move_milliseconds = 60;
const rest_milliseconds = 1400;
const step_milliseconds = 350;
const sampled = 7; // every such image counts for the palette
const often = 64; // a colour counts up to this number, so that the paper does not take most of the palette
const unchanged = 255; // the transparent colour

function pixelsOf(canvas: HTMLCanvasElement): Uint8ClampedArray {
  return (canvas.getContext('2d') as CanvasRenderingContext2D).getImageData(0, 0, canvas.width, canvas.height).data;
}

// One palette for all images.
function paletteOf(images: Uint8ClampedArray[]): number[][] {
  const times = new Map<number, number>();
  const kept: number[] = [];
  for (const image of images) {
    for (const colour of new Uint32Array(image.buffer)) {
      const count = times.get(colour) ?? 0;
      if (count >= often) continue;
      times.set(colour, count + 1);
      kept.push(colour);
    }
  }
  return quantize(new Uint8ClampedArray(Uint32Array.from(kept).buffer), unchanged);
}

export interface Film {
  images: number;
  draw(image: number): HTMLCanvasElement;
  milliseconds(image: number): number;
}

// `draw`: the picture at a place between two stages.
export const filmOfStages = (stages: number, draw: (position: number) => HTMLCanvasElement): Film => ({
  images: (stages - 1) * moves + 1, draw: (image) => draw(image / moves), milliseconds: (image) => (image % moves === 0 ? rest_milliseconds : move_milliseconds),
});

export const filmOfSteps = (steps: number, draw: (step: number) => HTMLCanvasElement): Film => ({
  images: steps, draw, milliseconds: (image) => (image === steps - 1 ? rest_milliseconds : step_milliseconds),
});

// Draws an image at a time, so that the page still answers.
export async function gifOf({ images, draw, milliseconds }: Film, progress: (share: number) => void): Promise<Blob> {
  const samples = Array.from({ length: images }, (_, i) => i).filter((i) => i % sampled === 0 || i === images - 1);
  const palette = paletteOf(samples.map((i) => pixelsOf(draw(i))));
  while (palette.length <= unchanged) palette.push([0, 0, 0]);
  const encoder = GIFEncoder();
  let before: Uint8Array | null = null;
  for (let i = 0; i < images; ++i) {
    const canvas = draw(i);
    const now = applyPalette(pixelsOf(canvas), palette.slice(0, unchanged));
    const last = before;
    const part = last ? now.map((colour, at) => (colour === last[at] ? unchanged : colour)) : now;
    encoder.writeFrame(part, canvas.width, canvas.height,
      { palette: last ? undefined : palette, delay: milliseconds(i), transparent: last !== null, transparentIndex: unchanged, dispose: 1 });
    before = now;
    progress((i + 1) / images);
    await new Promise((next) => setTimeout(next));
  }
  encoder.finish();
  return new Blob([encoder.bytes() as Uint8Array<ArrayBuffer>], { type: 'image/gif' });
}
