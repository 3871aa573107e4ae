// What the colours of a picture mean, as data, for the page and for slides.
import { sizeOf } from './bins';
import { palette } from './colours';
import { counted, plural } from './dom';
import type { Pane } from './pane';
import type { PatternView } from './view';

export const cut_names: Record<string, string> = {
  partition: 'partitions', row_block: 'row blocks', length_group: 'length groups', segment: 'segments', slice: 'slices of the layout',
};

export interface Legend {
  keys: [string, [number, number, number][]][]; // names and ramps
  single: boolean; // each nonzero is drawn alone, so that one colour of the ramp occurs
  scale: string; // what the colours count
  words: string[]; // what is not drawn, and levels
}

export function legendOf(view: PatternView, pane: Pane): Legend {
  const colours = palette();
  const stage = view.stage(view.tracks.length > 1 ? 1 : 0);
  const { painted, left_out, levels } = pane;
  const level_size = painted ? sizeOf(painted.level) : 0;
  const ceiling = Math.max(...view.tracks.map((track) => track.pattern.ceiling(level_size)));
  const words = left_out.map(({ cuts, drawn }) => `${counted(cuts.count)} ${cut_names[cuts.kind]}: ${drawn > 0 ? `${plural(drawn, 'line')} between them drawn` : 'too many to draw'}${cuts.step === 1 ? '; zoom in' : ''}`);
  if (levels !== null) words.push(`${plural(levels, 'level')}: the nonzeros of a row are in its own level and the two beside it`);
  else if (view.switches.levels) words.push('the rows are in no order by levels');
  const single = ceiling <= 1.5;
  const size = painted ? `${counted(2 ** painted.level.rowBits)} × ${counted(2 ** painted.level.columnBits)}` : '';
  return {
    keys: view.mode === 'difference'
      ? [['only before', colours.planes[1]], ['both', colours.grey], ['only after', colours.planes[0]]]
      : stage.facts.planes.map((name, i) => [name, colours.planes[i]]),
    single,
    scale: single && level_size === 0 ? 'entry by entry' : `1 to ${counted(ceiling)} or more in a bin of ${size}`,
    words,
  };
}
