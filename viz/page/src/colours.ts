// Colours of the data in both themes: lightness encodes density, hue the share.

export type Rgb = [number, number, number];

export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const t = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * t,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * t,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * t,
  ];
  return linear.map((part) => {
    const clipped = Math.min(1, Math.max(0, part));
    return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
  }) as Rgb;
}

export const css = ([red, green, blue]: Rgb, alpha = 1): string => `rgb(${red} ${green} ${blue} / ${alpha})`;

export const isDark = (): boolean => document.documentElement.dataset.theme === 'dark';

// The hues of the program's palette (viz/palette.hpp), which writes them into the style of the page.
const variable = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name);
const hues = variable('--hues').trim().split(' ').map(Number); // blue, orange, green, purple, teal, red

// The place of a role's hue among the hues, also for `series` and `planes`.
const placeOf = (role: string): number => hues.indexOf(Number(variable(`--hue-${role}`)));
export const role_colour: Record<string, number> = { value: placeOf('value'), column: placeOf('column'), structure: placeOf('structure') };

export const steps = 64;

export interface Palette {
  dark: boolean;
  paper: Rgb;
  hues: number[];
  planes: Rgb[][]; // [plane][step] from thin to dense
  grey: Rgb[];
  ink: string;
  muted: string;
  faint: string;
  accent: string;
}

function ramp(hue: number, dark: boolean, grey = false): Rgb[] {
  return Array.from({ length: steps }, (_, i) => {
    const t = i / (steps - 1);
    // From a contrast of 3 : 1 on paper; greys begin where they are hardly visible. A dark orange would be brown.
    const [thin, dense] = dark ? [grey ? 0.36 : 0.5, 0.9] : [grey ? 0.87 : 0.66, grey || hue === hues[0] ? 0.31 : 0.5];
    const lightness = thin + (dense - thin) * t;
    const chroma = grey ? 0.005 : dark ? 0.075 + 0.05 * Math.sin(Math.PI * t) : 0.05 + 0.09 * Math.sin(Math.PI * (0.25 + 0.6 * t));
    return oklch(lightness, chroma, hue);
  });
}

const made = new Map<boolean, Palette>();

export function palette(): Palette {
  const dark = isDark();
  let known = made.get(dark);
  if (!known) {
    known = {
      dark,
      paper: dark ? [15, 18, 23] : [255, 255, 255],
      hues,
      planes: hues.map((hue) => ramp(hue, dark)),
      grey: ramp(0, dark, true),
      ink: dark ? '#e8e6e1' : '#1f2428',
      muted: dark ? '#9aa3ad' : '#5d6670',
      faint: dark ? '#3a424c' : '#d5d8dc',
      accent: dark ? '#8fc1ff' : '#1c5fae',
    };
    made.set(dark, known);
  }
  return known;
}

// The colours of the pieces of a graph, one for each hue.
export const pieceHues = (): string[] => hues.map((_, i) => series(i));

// Colours of points and lines, with enough contrast on paper.
export function series(i: number): string {
  if (i < 0) return palette().muted;
  const dark = isDark();
  return css(oklch(dark ? 0.76 : 0.53, 0.13, hues[i % hues.length]));
}

const baseline_colour = 1;
const other_colours = [0, 2, 3, 4, 5];

// One colour for each of the first recipes in all charts of a page; below 0, and grey: the others.
export function recipeColours(recipes: { name: string; is_baseline: boolean }[]): (name: string) => number {
  const others = recipes.filter((one) => !one.is_baseline).map((one) => one.name);
  return (name) => (recipes.some((one) => one.name === name && one.is_baseline) ? baseline_colour : other_colours[others.indexOf(name)] ?? -1);
}
