// The judgement of a kernel: the verdict, what was wrong and where, and its times beside the vendor's and the workbench's best.
import type { Judgement, JudgedMatrix, JudgedOther, Ratios } from './document';
import { counted, h, percent, plural, seconds, section, significant } from './dom';
import { type Cell, table } from './table';

const factor = (ratios: Ratios | null): string => (ratios ? `${significant(ratios.geometric_mean)} ×` : '–');
const range = (ratios: Ratios | null): string => (ratios ? `${significant(ratios.least)} to ${significant(ratios.most)} on ${plural(ratios.matrices, 'matrix', 'matrices')}` : 'not timed');

function headline(judgement: Judgement): HTMLElement {
  const good = judgement.right && judgement.honest;
  const item = (name: string, value: string, tone: string, title: string): HTMLElement => h('div', { class: tone, title }, h('dt', {}, name), h('dd', {}, h('b', {}, value)));
  return h('dl', { class: 'headline' },
    item('verdict', judgement.verdict, good ? 'better' : 'worse', judgement.file),
    item('right on', `${counted(judgement.counts.measured)} of ${counted(judgement.matrices.length)}`, '', `${judgement.counts.unsuitable} unsuitable`),
    item('over the vendor’s best', factor(judgement.over_vendor), '', range(judgement.over_vendor)),
    item('over the workbench’s best', factor(judgement.over_workbench), '', range(judgement.over_workbench)));
}

const beside = (other: JudgedOther | null | undefined): Cell[] => (other
  ? [{ text: `${other.recipe} ${other.kernel}` }, { text: other.times_faster === null ? '–' : `${significant(other.times_faster)} ×`, value: other.times_faster, tone: other.times_faster === null ? undefined : other.times_faster > 1 ? 'good' : 'bad' },
    { text: other.break_even === null ? '–' : counted(Math.ceil(other.break_even)), value: other.break_even }]
  : [{ text: '–' }, { text: '–', value: null }, { text: '–', value: null }]);

const time = (value: number | null | undefined): Cell => ({ text: typeof value === 'number' ? seconds(value) : '–', value: value ?? null });

function row(one: JudgedMatrix): Cell[] {
  return [{ text: one.matrix, title: (one.warnings ?? []).join('\n') }, time(one.seconds), ...beside(one.vendor), ...beside(one.workbench), time(one.setup_seconds), time(one.first_seconds), time(one.new_values_seconds),
    { text: one.bytes_per_nonzero === undefined ? '–' : significant(one.bytes_per_nonzero), value: one.bytes_per_nonzero ?? null },
    { text: typeof one.share_of_copy === 'number' ? percent(one.share_of_copy) : '–', value: one.share_of_copy ?? null }, { text: one.warnings && one.warnings.length > 0 ? 'noise' : '', title: (one.warnings ?? []).join('\n') }];
}

export function judgementSection(judgement: Judgement): HTMLElement {
  const wrong = judgement.matrices.filter((one) => one.status === 'wrong' || one.status === 'failed');
  const unsuitable = judgement.matrices.filter((one) => one.status === 'unsuitable');
  const timed = judgement.matrices.filter((one) => one.vendor || one.workbench);
  const slower = judgement.slows_others;
  const sentences = [
    judgement.open.length === 0 ? 'While the kernel ran, network, files and other processes were out of its reach.' : `While the kernel ran: ${judgement.open.join('; ')}.`,
    slower !== null && slower > 2 ? `The baseline takes ${significant(slower)} times as long beside this kernel as without it: the kernel slows others.` : '',
  ].filter(Boolean);
  return section('judgement', 'Verdict', sentences.join(' '), headline(judgement),
    wrong.length > 0 ? table('What was wrong', [{ name: 'matrix', left: true }, { name: 'in which way', left: true }, { name: 'what was found', left: true, wraps: true }], wrong.map((one): Cell[] => [{ text: one.matrix }, { text: one.way ?? '', tone: 'bad' }, { text: one.reason ?? '' }])) : null,
    unsuitable.length > 0 ? table('Unsuitable', [{ name: 'matrix', left: true }, { name: 'why', left: true, wraps: true }], unsuitable.map((one): Cell[] => [{ text: one.matrix }, { text: one.reason ?? '' }])) : null,
    timed.length > 0 ? table('Times beside the best of others', [{ name: 'matrix', left: true }, { name: 'time' }, { name: 'vendor’s best', left: true, wraps: true }, { name: 'times faster' }, { name: 'pays after', title: 'products after which the set-up pays off' }, { name: 'workbench’s best', left: true, wraps: true }, { name: 'times faster' }, { name: 'pays after' },
      { name: 'set-up' }, { name: 'first' }, { name: 'new values' }, { name: 'B/nonzero' }, { name: 'of copy' }, { name: '', left: true }], timed.map(row)) : null);
}
