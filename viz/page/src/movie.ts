// An animated GIF of all stages.
import { applyPalette, GIFEncoder, quantize } from 'gifenc';

const moves = 14; // images between two stages
const move_milliseconds = 60;
const rest_milliseconds = 1400;
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

// `draw`: the picture at a place between two stages. Draws an image at a time, so that the page still answers.
export async function gifOf(stages: number, draw: (position: number) => HTMLCanvasElement, progress: (share: number) => void): Promise<Blob> {
  const palette = paletteOf(Array.from({ length: 2 * stages - 1 }, (_, i) => pixelsOf(draw(i / 2))));
  while (palette.length <= unchanged) palette.push([0, 0, 0]);
  const encoder = GIFEncoder();
  let before: Uint8Array | null = null;
  const images = (stages - 1) * moves;
  for (let i = 0; i <= images; ++i) {
    const canvas = draw(i / moves);
    const now = applyPalette(pixelsOf(canvas), palette.slice(0, unchanged));
    const last = before;
    const part = last ? now.map((colour, at) => (colour === last[at] ? unchanged : colour)) : now;
    const rests = i % moves === 0;
    encoder.writeFrame(part, canvas.width, canvas.height,
      { palette: last ? undefined : palette, delay: rests ? rest_milliseconds : move_milliseconds, transparent: last !== null, transparentIndex: unchanged, dispose: 1 });
    before = now;
    progress((i + 1) / (images + 1));
    await new Promise((next) => setTimeout(next));
  }
  encoder.finish();
  return new Blob([encoder.bytes() as Uint8Array<ArrayBuffer>], { type: 'image/gif' });
}
