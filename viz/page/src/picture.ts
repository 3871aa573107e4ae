// The picture that is saved: what is visible, with its captions, on the colour of the paper.

export interface Captioned {
  canvas: HTMLCanvasElement;
  caption: string;
}

// The pictures beside each other, each under its caption, and a title above all.
export function withCaptions(pictures: Captioned[], title: string): HTMLCanvasElement {
  const style = getComputedStyle(document.body);
  const ratio = pictures[0].canvas.width / Math.max(1, parseFloat(pictures[0].canvas.style.width));
  const size = Math.round(15 * ratio);
  const gap = 2 * size;
  const top = (title ? 5 : 3) * size;
  const sum = pictures.reduce((width, one) => width + one.canvas.width, 0);
  const whole = document.createElement('canvas');
  whole.width = sum + gap * (pictures.length + 1);
  whole.height = top + Math.max(...pictures.map((one) => one.canvas.height)) + size;
  const context = whole.getContext('2d') as CanvasRenderingContext2D;
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, whole.width, whole.height);
  context.fillStyle = style.color;
  context.textBaseline = 'alphabetic';
  if (title) {
    context.font = `600 ${Math.round(1.3 * size)}px ${style.fontFamily}`;
    context.fillText(title, gap, 2.2 * size, whole.width - 2 * gap);
  }
  context.font = `${size}px ${style.fontFamily}`;
  let left = gap;
  for (const { canvas, caption } of pictures) {
    context.fillText(caption, left, top - size, canvas.width);
    context.drawImage(canvas, left, top);
    left += canvas.width + gap;
  }
  return whole;
}
