// The sections of the page below the pattern: figures by stage, kernels, bytes, the recipe.
import { sampleStrips, stackedBars, stageBars, xyChart, type Curve, type Dots, type Point } from './charts';
import { recipeColours, role_colour } from './colours';
import type { Device, Kernel, Layout, PageDocument, Run } from './document';
import { bytes, copyButton, counted, h, percent, seconds, section, significant } from './dom';
import { type Cell, type Heading, table } from './table';

const kernel_name = (kernel: Kernel): string => `${kernel.share ? `${kernel.share}: ` : ''}${kernel.layout} ${kernel.kernel}`;

const several_precisions = (run: Run): boolean => new Set(run.report.kernels.map((kernel) => kernel.precision)).size > 1;

function detail(run: Run, kernel: Kernel): string {
  return [kernel.backend, several_precisions(run) ? kernel.precision : '', kernel.baseline ? 'baseline' : ''].filter(Boolean).join(', ');
}

const measured = (run: Run): Kernel[] => run.report.kernels.filter((kernel) => kernel.status === 'measured' && kernel.samples.length > 0);

const is_gpu = (kernel: Kernel): boolean => kernel.backend === 'cuda' || kernel.backend === 'cusparse';

function percentile(samples: number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(sorted.length - 1, low + 1)] - sorted[low]) * (at - low);
}

export function metricsSection(runs: Run[], current: () => number[], pick: (run: number, stage: number) => void): HTMLElement {
  const telling = (figure: { telling: number }): number => figure.telling || 99;
  const labels = [...new Set(runs.flatMap((run) => [...run.figures].sort((a, b) => telling(a) - telling(b)).map((figure) => figure.label)))];
  const names = runs.map((run) => run.report.stages.map((stage) => (stage.precision ? `${stage.id} ${stage.precision}` : stage.id))
    .map((name) => (runs.length > 1 ? `${run.title}: ${name}` : name)));
  const telling_ones: HTMLElement[] = [];
  const others: HTMLElement[] = [];
  const still: [string, string][] = [];
  for (const label of labels) {
    const figures = runs.map((run) => run.figures.find((figure) => figure.label === label));
    const texts = new Set(figures.flatMap((figure) => figure?.texts ?? []));
    const meaning = figures.find((figure) => figure)?.meaning ?? '';
    if (texts.size <= 1) {
      still.push([label, [...texts][0] ?? '']);
      continue;
    }
    // The mean, if a figure has several numbers.
    const which = label.includes('min/mean') ? 1 : 0;
    const columns = runs.map((run, r) => run.report.stages.map((_, i) => ({
      text: figures[r]?.texts[i] ?? '–', value: figures[r]?.numbers[i]?.[which] ?? null,
    })));
    const is_telling = figures.some((figure) => (figure?.telling ?? 0) > 0) || label === 'profile';
    (is_telling ? telling_ones : others).push(stageBars(label, meaning, names, columns, current, pick));
  }
  return section('metrics', 'Figures by stage', 'Figures that the stages change. Click on a stage to show it above.',
    h('div', { class: 'grid' }, ...telling_ones),
    others.length > 0 ? h('details', {}, h('summary', {}, `${others.length} more figures that the stages change`), h('div', { class: 'grid' }, ...others)) : null,
    still.length > 0 ? h('details', {}, h('summary', {}, `${still.length} figures that no stage changes`),
      h('dl', { class: 'pairs' }, ...still.flatMap(([name, text]) => [h('dt', {}, name), h('dd', {}, text)]))) : null);
}

function kernelTable(runs: Run[]): HTMLElement {
  const headings: Heading[] = [
    ...(runs.length > 1 ? [{ name: 'recipe', left: true }] : []),
    { name: 'kernel', left: true }, { name: 'backend', left: true }, { name: 'time', title: 'median of the samples' },
    { wraps: true, name: 'speed-up', title: 'over the baseline, with the 95 % confidence interval of the median' },
    { name: 'break-even', title: 'products after which the preprocessing has paid for itself' },
    { name: 'spread', title: '90th minus 10th percentile, over the median' }, { name: 'GFLOP/s' }, { name: 'GB/s' },
    { name: 'of copy', title: 'share of the copy bandwidth measured in the same run' }, { name: 'B/nonzero', title: 'bytes that a product must move' },
    { name: 'error/bound', title: 'at most 1 if the result is right' },
  ];
  const rows = runs.flatMap((run) => run.report.kernels.map((kernel): Cell[] => {
    const ok = kernel.status === 'measured';
    const interval = kernel.speedup_interval;
    const tone = kernel.verdict === 'faster' ? 'good' : kernel.verdict === 'slower' ? 'bad' : undefined;
    const speedup = kernel.speedup === null ? '–'
      : kernel.baseline ? 'baseline' : kernel.verdict === 'busy machine' ? kernel.verdict
        : `${significant(kernel.speedup)} ×${interval ? ` (${significant(interval[0])} to ${significant(interval[1])})` : ''}${kernel.verdict === 'within noise' ? ', within noise' : ''}`;
    const cells: Cell[] = [
      ...(runs.length > 1 ? [{ text: run.title }] : []),
      { text: kernel_name(kernel) }, { text: `${kernel.backend}, ${kernel.precision}` },
    ];
    if (!ok) {
      return [...cells, { text: kernel.status === 'wrong' ? 'WRONG RESULT' : 'unsuitable', value: null, tone: 'bad', title: kernel.reason ?? '' },
        ...Array.from({ length: 8 }, (): Cell => ({ text: '–', value: null, tone: 'muted' }))];
    }
    return [...cells,
      { text: seconds(kernel.median_seconds), value: kernel.median_seconds },
      { text: speedup, value: kernel.speedup, tone },
      { text: kernel.baseline ? '–' : kernel.break_even !== null ? counted(Math.ceil(kernel.break_even)) : kernel.verdict === 'slower' ? 'never' : '–', value: kernel.break_even },
      { text: percent(kernel.spread), value: kernel.spread, tone: kernel.spread > 0.1 ? 'bad' : undefined },
      { text: significant(kernel.gflops), value: kernel.gflops },
      { text: significant(kernel.gbytes_per_second), value: kernel.gbytes_per_second },
      { text: percent(kernel.share_of_copy_bandwidth), value: kernel.share_of_copy_bandwidth },
      { text: significant(kernel.bytes_per_nonzero), value: kernel.bytes_per_nonzero },
      { text: kernel.error_over_bound === null ? '∞' : significant(kernel.error_over_bound), value: kernel.error_over_bound },
    ];
  }));
  const reasons = runs.flatMap((run) => run.report.kernels.filter((kernel) => kernel.reason).map((kernel) => h('li', {}, `${kernel_name(kernel)}: ${kernel.reason}`)));
  return h('div', {}, table(`Kernels, ${runs[0].report.cache} cache`, headings, rows), reasons.length > 0 ? h('ul', { class: 'reasons' }, ...reasons) : null);
}

// A kernel has one colour in all charts.
function colourOf(runs: Run[], run: number, kernel: Kernel): number {
  const nameOf = (r: number, one: Kernel): string => (one.baseline ? 'baseline' : `${r} ${one.kernel} ${one.backend}`);
  const all = [...new Set(runs.flatMap((one, r) => one.report.kernels.map((other) => nameOf(r, other))))];
  return recipeColours(all.map((name) => ({ name, is_baseline: name === 'baseline' })))(nameOf(run, kernel));
}

function dotsOf(runs: Run[]): Dots[] {
  const seen = new Set<string>();
  return runs.flatMap((run, r) => measured(run).flatMap((kernel) => {
    const name = `${runs.length > 1 && !kernel.baseline ? `${run.title}: ` : ''}${kernel_name(kernel)}`;
    const key = `${name} ${kernel.backend} ${kernel.precision} ${kernel.baseline ? '' : r}`;
    if (kernel.baseline && seen.has(key)) return [];
    seen.add(key);
    return [{
      name, detail: `${detail(run, kernel)} · ${seconds(kernel.median_seconds)}, spread ${percent(kernel.spread)}`, median: kernel.median_seconds,
      low: percentile(kernel.samples, 0.1), high: percentile(kernel.samples, 0.9), samples: kernel.samples, colour: colourOf(runs, r, kernel),
    }];
  }));
}

function roofline(runs: Run[], device: Device, gpu: boolean): HTMLElement | null {
  const kernels = runs.flatMap((run, r) => measured(run).filter((kernel) => is_gpu(kernel) === gpu && kernel.bytes_to_move > 0 && kernel.gflops > 0)
    .map((kernel) => ({ kernel, r })));
  if (kernels.length === 0 || device.copy_bytes_per_second <= 0) return null;
  const seen = new Set<string>();
  const points: Point[] = kernels.flatMap(({ kernel, r }) => {
    const name = `${kernel_name(kernel)}${several_precisions(runs[r]) ? ` ${kernel.precision}` : ''}`;
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ name, x: kernel.gflops / kernel.gbytes_per_second, y: kernel.gflops, colour: colourOf(runs, r, kernel) }];
  });
  const curves: Curve[] = [{ name: `copy, ${significant(device.copy_bytes_per_second / 1e9)} GB/s`, at: (x) => (x * device.copy_bytes_per_second) / 1e9, colour: null }];
  if (device.read_bytes_per_second > device.copy_bytes_per_second * 1.02) {
    curves.push({ name: `read, ${significant(device.read_bytes_per_second / 1e9)} GB/s`, at: (x) => (x * device.read_bytes_per_second) / 1e9, colour: null });
  }
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const xRange: [number, number] = [Math.min(...xs) / 1.8, Math.max(...xs) * 1.8];
  const top = Math.max(...ys, (Math.max(...xs) * Math.max(device.copy_bytes_per_second, device.read_bytes_per_second)) / 1e9) * 1.7;
  return xyChart(`Roofline · ${device.name}`, points.map((point) => `${point.name}: ${significant(point.y)} GFLOP/s`).join(', '), {
    x: 'FLOP per byte that must move', y: 'GFLOP/s', xRange, yRange: [Math.min(...ys) / 2.2, top], points, curves,
    note: 'A point on a line reaches the copy or read bandwidth of this run; a point above it profits from caches.',
  });
}

// The preprocessing time of a kernel.
function priceOf(run: Run, kernel: Kernel): number {
  if (kernel.baseline) return 0;
  const stages = run.report.stages.filter((stage) => stage.precision === null || stage.precision === kernel.precision).reduce((sum, stage) => sum + stage.seconds, 0);
  const layout = run.report.layouts.find((one) => one.precision === kernel.precision && one.share === null)?.seconds ?? 0;
  return stages + layout + kernel.prepare_seconds + kernel.vector_permutation_seconds;
}

const hasEven = (kernel: Kernel): kernel is Kernel & { break_even: number } => kernel.break_even !== null && kernel.break_even > 0;

function breakEven(runs: Run[], gpu: boolean): HTMLElement | null {
  const kernels = runs.flatMap((run, r) => measured(run).filter((kernel) => is_gpu(kernel) === gpu && kernel.share === null).map((kernel) => ({ run, kernel, r })));
  const baseline = kernels.find(({ kernel }) => kernel.baseline);
  if (!baseline || kernels.every(({ kernel }) => kernel.baseline)) return null;
  // The gain of a break-even is the median over the turns, which differs from the difference of the medians.
  const after = (products: number, run: Run, kernel: Kernel): number => priceOf(run, kernel)
    + products * (hasEven(kernel) ? baseline.kernel.median_seconds - priceOf(run, kernel) / kernel.break_even : kernel.median_seconds);
  const seen = new Set<string>();
  const precision = baseline.kernel.precision;
  const some = kernels.filter(({ kernel }) => kernel.precision === precision && (!kernel.baseline || kernel === baseline.kernel))
    .sort((a, b) => a.kernel.median_seconds - b.kernel.median_seconds).filter((one, i) => i < 5 || one.kernel.baseline);
  const curves: (Curve & { at: (x: number) => number })[] = some.flatMap(({ run, kernel, r }) => {
    const name = kernel.baseline ? `baseline ${kernel.layout}` : `${runs.length > 1 ? `${run.title} ` : ''}${kernel.kernel}`;
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ name, at: (x: number) => after(x, run, kernel), colour: colourOf(runs, r, kernel) }];
  });
  const evens = some.flatMap(({ kernel }) => hasEven(kernel) ? [kernel.break_even] : []);
  const price = Math.max(...some.map(({ run, kernel }) => priceOf(run, kernel)), baseline.kernel.median_seconds);
  const far = Math.max(1000, 10 * Math.max(1, ...evens), (10 * price) / baseline.kernel.median_seconds);
  const xRange: [number, number] = [1, 10 ** Math.ceil(Math.log10(far))];
  const ends = curves.flatMap((curve) => [curve.at(xRange[0]), curve.at(xRange[1])]);
  const points: Point[] = some.flatMap(({ run, kernel, r }) => !hasEven(kernel) ? []
    : [{ name: `even after ${counted(Math.ceil(kernel.break_even))}`, x: kernel.break_even, y: after(kernel.break_even, run, kernel), colour: colourOf(runs, r, kernel) }]);
  return xyChart(`Break-even${several_precisions(runs[0]) ? ` · ${precision}` : ''}${gpu ? ' · GPU' : ''}`, curves.map((curve) => curve.name).join(', '), {
    x: 'products', y: 'total time, preprocessing included', xText: (x) => counted(x), yText: seconds, xRange, yRange: [Math.min(...ends) / 1.3, Math.max(...ends) * 1.3], points, curves,
    cursor: {
      name: 'Number of products', start: Math.min(xRange[1], evens.length > 0 ? Math.min(...evens) : Math.sqrt(xRange[0] * xRange[1])),
      words: (x) => `After ${counted(Math.ceil(x))} products: ${curves.map((curve) => `${curve.name} ${seconds(curve.at(Math.ceil(x)))}`).join(', ')}.`,
    },
    note: evens.length === 0 ? 'No kernel is significantly faster than the baseline, so none has a break-even.'
      : 'Stages, building the layout, copies and one permutation of x and y, followed by the products. A product of a kernel with a break-even takes the median of the baseline less the gain: the median difference of two products that were timed in turns.',
  });
}

export function kernelsSection(runs: Run[]): HTMLElement | null {
  if (runs.every((run) => run.report.kernels.length === 0)) return null;
  const dots = dotsOf(runs);
  const charts: (HTMLElement | null)[] = [];
  if (dots.length > 0) {
    charts.push(h('div', { class: 'wide' }, sampleStrips('Every timed product', dots, 'Each dot is a sample; the bar spans the 10th to the 90th percentile, the tick is the median.')));
  }
  for (const device of runs[0].report.devices) {
    const gpu = device.kind === 'gpu';
    charts.push(roofline(runs, device, gpu), breakEven(runs, gpu));
  }
  const warnings = [...new Set(runs.flatMap((run) => run.report.kernels.flatMap((kernel) => kernel.warnings)))];
  return section('kernels', 'Kernels', 'Each kernel was verified, then timed in turns with the baseline.', kernelTable(runs),
    warnings.length > 0 ? h('ul', { class: 'warnings' }, ...warnings.map((warning) => h('li', {}, warning))) : null,
    h('div', { class: 'grid charts' }, ...charts.filter((one) => one !== null)));
}

export function bytesSection(runs: Run[]): HTMLElement | null {
  const layouts = runs.flatMap((run) => run.report.layouts.map((layout) => ({ run, layout }))).filter(({ layout }) => !layout.unsuitable && layout.bytes > 0);
  const unsuitable = runs.flatMap((run) => run.report.layouts.filter((layout) => layout.unsuitable).map((layout) => h('li', {}, `${run.title}: ${layout.name} ${layout.precision}: ${layout.unsuitable}`)));
  if (layouts.length === 0 && unsuitable.length === 0) return null;
  const nameOf = (run: Run, layout: Layout): string => `${runs.length > 1 ? `${run.title}: ` : ''}${layout.share ? `share ${layout.share}: ` : ''}${layout.name} ${layout.precision}`;
  const padding = (layout: Layout): string => (layout.slots > 0 ? percent(1 - layout.nonzeros / layout.slots) : '–');
  const bars = layouts.map(({ run, layout }) => ({
    name: nameOf(run, layout),
    detail: `${bytes(layout.bytes)}, ${counted(layout.slots)} slots, ${padding(layout)} padding`,
    parts: Object.entries(layout.footprint).map(([name, part]) => ({ name, size: part.bytes, role: part.role })).sort((a, b) => role_colour[a.role] - role_colour[b.role] || b.size - a.size),
  }));
  const rows = layouts.flatMap(({ run, layout }) => Object.entries(layout.footprint).map(([name, part]): Cell[] => [
    ...(layouts.length > 1 ? [{ text: nameOf(run, layout) }] : []),
    { text: name }, { text: part.role }, { text: counted(part.count), value: part.count }, { text: bytes(part.bytes), value: part.bytes },
    { text: percent(layout.bytes > 0 ? part.bytes / layout.bytes : 0), value: part.bytes / layout.bytes },
  ]));
  const headings: Heading[] = [...(layouts.length > 1 ? [{ name: 'layout', left: true }] : []), { name: 'array', left: true }, { name: 'role', left: true }, { name: 'elements' }, { name: 'bytes' }, { name: 'of all' }];
  return section('bytes', 'Bytes by array', 'The arrays that the layout stores. A slot holds one nonzero; an empty slot is padding.',
    unsuitable.length > 0 ? h('ul', { class: 'reasons' }, ...unsuitable) : null,
    bars.length > 0 ? stackedBars('Layouts', bars, bytes) : null,
    h('p', { class: 'legend roles' }, ...Object.keys(role_colour).map((role) =>
      h('span', { class: 'key' }, h('span', { class: 'swatch', style: `background:oklch(var(--series) 0.13 var(--hue-${role}))` }), role === 'value' ? 'values' : role === 'column' ? 'columns' : 'structure'))),
    rows.length > 0 ? h('details', { open: rows.length <= 24 }, h('summary', {}, 'All arrays'), table('Arrays', headings, rows)) : null);
}

export function code(text: string, what: string): HTMLElement {
  return h('div', { class: 'code' }, copyButton(() => text, what), h('pre', { tabindex: 0 }, h('code', {}, text)));
}

export function recipeSection(page: PageDocument): HTMLElement {
  const parts: HTMLElement[] = [];
  if (page.command) parts.push(h('h3', {}, 'The command'), code(page.command, 'the command'));
  for (const run of page.runs) {
    const { recipe } = run.report;
    parts.push(h('h3', {}, page.runs.length > 1 ? `The recipe ${run.title}, resolved` : 'The recipe, resolved'),
      h('p', { class: 'note' }, `From ${recipe.file}, with overrides applied and every default filled in. Its paths are those seen from the folder of the run: save it to a file there to repeat the run with workbench run FILE.`),
      code(recipe.resolved, 'the recipe'));
  }
  return section('recipe', 'How to repeat this run', '', ...parts);
}

export function aboutSection(page: PageDocument): HTMLElement | null {
  const report: { machine: Record<string, string>; versions: Record<string, string>; devices: Device[] } | undefined = page.solve ? { ...page.solve, devices: [] } : page.runs[0]?.report;
  if (!report) return null;
  const pairs = (facts: Record<string, string>): HTMLElement => h('dl', { class: 'pairs' }, ...Object.entries(facts).flatMap(([name, text]) =>
    [h('dt', {}, name.replace(/_bytes$/, '').replaceAll('_', ' ')), h('dd', {}, name.endsWith('_bytes') ? bytes(Number(text)) : text)]));
  const devices = Object.fromEntries(report.devices.map((device) => [device.name, `copies ${significant(device.copy_bytes_per_second / 1e9)} GB/s, reads ${significant(device.read_bytes_per_second / 1e9)} GB/s`]));
  return section('about', 'Machine and versions', '', h('div', { class: 'columns' }, pairs({ ...report.machine, ...devices }), pairs(report.versions)));
}
