// The panels beside the pictures: figures of the stage, legend, notes, switches.
import { css, palette, steps } from './colours';
import { counted, h, plural, seconds } from './dom';
import { figuresOf, headline, tells } from './headline';
import { cut_names, type Legend, legendOf } from './legend';
import { sentenceOf } from './sentence';
import type { PatternView } from './view';

export class Panels {
  readonly legend = h('div', { class: 'legend' });
  readonly sentence = h('div', { class: 'sentence' });
  readonly facts = h('div', { class: 'stage-facts' });
  readonly stage_notes = h('div', {});
  readonly toggles = h('fieldset', { class: 'toggles' });
  readonly note = h('p', { class: 'note' });
  // These panels are only rebuilt if their keys change, so that a switch keeps the focus.
  private toggle_key = '';
  private facts_key = '';

  constructor(private readonly view: PatternView) {}

  // Forces a rebuild with the colours of the present theme.
  forget(): void {
    this.toggle_key = '';
  }

  update(): void {
    this.updateFacts();
    this.updateLegend();
    this.updateNote();
  }

  updateToggles(): void {
    const stages = this.view.tracks.map((_, i) => this.view.stage(i));
    const kinds = [...new Set(stages.flatMap((stage) => stage.facts.cuts.map((cuts) => cuts.kind)))];
    const shown = stages[this.view.tracks.length > 1 ? 1 : 0];
    const planes = shown.facts.planes.length > 1 ? shown.facts.planes : [];
    const has_sample = this.view.tracks.some((track) => track.pattern.facts.sampled > 0 && track.pattern.stages.length > 1);
    const key = JSON.stringify([kinds, planes, has_sample, palette().dark]);
    if (key === this.toggle_key) return;
    this.toggle_key = key;
    this.view.switches.planes = shown.facts.planes.map((_, i) => this.view.switches.planes[i] ?? true);
    while (this.view.switches.planes.length < 6) this.view.switches.planes.push(true);
    const box = (name: string, on: boolean, change: (on: boolean) => void, colour?: string): HTMLElement => {
      const input = h('input', { type: 'checkbox', checked: on, name });
      input.addEventListener('change', () => {
        change(input.checked);
        this.view.update();
      });
      return h('label', {}, input, colour ? h('span', { class: 'swatch', style: `background:${colour}` }) : null, name);
    };
    const list: HTMLElement[] = [];
    for (const kind of kinds) {
      list.push(box(cut_names[kind] ?? kind, this.view.switches.cuts[kind] ?? true, (on) => (this.view.switches.cuts[kind] = on)));
    }
    planes.forEach((name, i) => {
      const colour = css(palette().planes[i][Math.round(steps * 0.6)]);
      list.push(box(name, this.view.switches.planes[i], (on) => (this.view.switches.planes[i] = on), colour));
    });
    if (has_sample) list.push(box('followed nonzeros', this.view.switches.sample, (on) => (this.view.switches.sample = on)));
    if (this.view.tracks.length === 1 && this.view.tracks[0].pattern.stages.length > 2) {
      list.push(box('compare with the input', this.view.before_input, (on) => (this.view.before_input = on)));
    }
    this.toggles.hidden = list.length === 0;
    this.toggles.replaceChildren(h('legend', {}, 'Show'), ...list);
  }

  private updateFacts(): void {
    const key = this.view.tracks.map((track) => Math.round(track.position)).join();
    if (key === this.facts_key) return;
    this.facts_key = key;
    this.sentence.replaceChildren(...this.view.tracks.flatMap((track) => [
      headline(track, Math.round(track.position)),
      h('p', {}, this.view.tracks.length > 1 ? h('b', {}, `${track.run.title}: `) : null, sentenceOf(track, Math.round(track.position)))]));
    this.facts.replaceChildren(...this.view.tracks.flatMap((track, t) => {
      const number = Math.round(track.position);
      const stage = track.pattern.facts.stages[number];
      const outcome = track.run.report.stages[number];
      const figures = figuresOf(track).filter((figure) => (figure.telling > 0 || figure.label === 'profile') && tells(figure, track.pattern.stages[number]))
        .sort((a, b) => (a.telling || 99) - (b.telling || 99));
      const rows = figures.flatMap((figure) => {
        const now = figure.texts[number];
        const before = number > 0 ? figure.texts[stage.before] : null;
        if (now === null) return [];
        const changed = before !== null && before !== now;
        return [h('tr', { class: number > 0 && !changed ? 'same' : '' }, h('th', { scope: 'row', title: figure.meaning }, figure.label),
          h('td', {}, changed ? h('span', { class: 'was' }, before) : null, changed ? ' → ' : null, h('span', {}, now)))];
      });
      return [
        h('h3', {}, this.view.tracks.length > 1 ? h('span', { class: 'track-name' }, `${this.view.tracks[t].run.title} `) : null,
          h('span', { class: 'stage-number' }, `${number} `), stage.label),
        h('p', { class: 'choices' }, number === 0 ? track.run.report.matrix.source : [stage.choices, seconds(outcome.seconds)].filter(Boolean).join(' · ')),
        h('table', { class: 'facts' }, h('tbody', {}, ...rows)),
      ];
    }));
    const notes = this.view.tracks.flatMap((track) => Object.entries(track.run.report.stages[Math.round(track.position)].notes));
    this.stage_notes.replaceChildren(notes.length > 0
      ? h('ul', { class: 'stage-notes' }, ...notes.map(([name, text]) => h('li', {}, `${name}: ${text}`))) : '');
  }

  private updateLegend(): void {
    const { keys, single, scale, words } = legendOf(this.view, this.view.panes[1]);
    const gradient = (list: [number, number, number][]): string => `linear-gradient(to right, ${list.filter((_, i) => i % 9 === 0).map((one) => css(one)).join(', ')})`;
    const swatch = ([name, ramp]: Legend['keys'][0]): HTMLElement =>
      h('span', { class: 'key' }, h('span', { class: single ? 'swatch' : 'ramp', style: `background:${single ? css(ramp[Math.round(steps * 0.62)]) : gradient(ramp)}` }), name);
    this.legend.replaceChildren(...keys.map(swatch), h('span', { class: 'muted' }, scale), ...words.map((text) => h('span', { class: 'crowded' }, text)));
  }

  private updateNote(): void {
    const stage = this.view.stage(this.view.tracks.length > 1 ? 1 : 0);
    const parts: string[] = [];
    const { finest } = stage;
    if (!stage.showsEntries) {
      parts.push(`The finest bins that fit into this page have ${counted(2 ** finest.rowBits)} × ${counted(2 ** finest.columnBits)} entries.`);
    }
    const { sampled } = this.view.tracks[0].pattern.facts;
    if (sampled > 0 && this.view.tracks.some((track) => track.pattern.stages.length > 1)) {
      parts.push(`The animation moves ${counted(sampled)} of ${plural(this.view.tracks[0].run.report.matrix.nonzeros, 'nonzero')}, one a row, from rows drawn at random.`);
    }
    if (stage.facts.tiles > 0) parts.push(`Rows are drawn where their ${stage.facts.tiles === 1 ? 'tile stores' : `${counted(stage.facts.tiles)} tiles store`} them.`);
    const not_stored = [stage.originalRows === null && 'rows', stage.originalColumns === null && 'columns'].filter(Boolean);
    if (not_stored.length > 0) {
      parts.push(`The page does not store the original numbers of these ${not_stored.join(' and ')}: it stores up to ${counted(1e6)}, within its size limit.`);
    }
    if (!this.view.tracks[0].pattern.has_values && this.view.tracks[0].run.report.matrix.nonzeros > 0) {
      parts.push(`The page stores values of matrices with up to ${counted(2e5)} nonzeros.`);
    }
    const words = parts.join(' ');
    if (this.note.textContent !== words) this.note.textContent = words;
  }
}
