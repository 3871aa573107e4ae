// A lesson: the Markdown of docs/lessons, its parts, and what the page asks in them. A question is a line of a part such as
//   <!-- page {"figure": "bandwidth", "choices": ["2", "3", "5"], "set": {"stage.row_sort.window": 4}, "move": "stage 0 window slider"} -->
import { h } from './dom';

export interface Question {
  ask?: string; // instead of the text of the part
  figure?: string; // of the last stage, which the program finds
  answer?: string; // if no figure of the page has it
  choices?: string[]; // default: a number is typed
  matrix?: Record<string, string | number>; // in the place of the recipe's
  set?: Record<string, string | number>; // values of the recipe, as for --set
  move?: string; // the control to move afterwards
}

export interface Lesson {
  title: string;
  parts: Record<string, string[]>; // lines
  check: string[]; // of the exercise
  notes: string[]; // for the speaker
  questions: Record<string, Question>; // by part
}

export function readLesson(text: string): Lesson {
  const lines = text.split('\n');
  const lesson: Lesson = { title: lines[0].replace(/^# /, ''), parts: {}, check: [], notes: [], questions: {} };
  let part = '';
  let into: string[] | null = null;
  for (const line of lines.slice(1)) {
    const begin = /^\*\*([A-Z][a-z ]+)\.\*\* ?(.*)/.exec(line);
    const question = /^<!-- page (\{.*\}) -->$/.exec(line);
    if (begin) {
      part = begin[1];
      into = lesson.parts[part] = [begin[2]];
    } else if (question) {
      lesson.questions[part] = JSON.parse(question[1]) as Question;
    } else if (line.startsWith('<summary>')) {
      into = line.includes('speaker') ? lesson.notes : lesson.check;
    } else if (!/^<\/?details>/.test(line)) {
      into?.push(line);
    }
  }
  return lesson;
}

// Code, bold, italics and the texts of links.
function inline(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  const plain = text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
  let end = 0;
  for (const found of plain.matchAll(/`([^`]*)`|\*\*([^*]*)\*\*|\*([^*]*)\*/g)) {
    parts.push(plain.slice(end, found.index));
    parts.push(found[1] !== undefined ? h('code', {}, found[1]) : found[2] !== undefined ? h('b', {}, found[2]) : h('em', {}, found[3]));
    end = found.index + found[0].length;
  }
  return [...parts, plain.slice(end)];
}

// Paragraphs and code as elements; pictures are left out, because the page shows its own.
export function blocksOf(lines: string[]): HTMLElement[] {
  const blocks: HTMLElement[] = [];
  let paragraph: string[] = [];
  let code: string[] | null = null;
  for (const line of [...lines, '']) {
    if (line.startsWith('```')) {
      if (code) blocks.push(h('pre', { tabindex: 0 }, h('code', {}, code.join('\n'))));
      code = code ? null : [];
    } else if (code) {
      code.push(line);
    } else if (line.trim() !== '' && !line.startsWith('![')) {
      paragraph.push(line);
    } else {
      if (paragraph.length > 0) blocks.push(h('p', {}, ...inline(paragraph.join(' '))));
      paragraph = [];
    }
  }
  return blocks;
}

// The digits of the first number of a text, with a point: "86.6" in "86.6 %" and "86,6", "2721" in "2,721" and "2 721"; empty if
// there is none. A comma before exactly three digits separates thousands.
function digitsIn(text: string): string {
  const plain = text.replace(/(?<=\d)\s+(?=\d)/g, '').replace(/(?<=\d)(?<!\b0),(?=\d{3}(?!\d))/g, '').replace(/(?<=\d),(?=\d)/g, '.');
  return /-?\d+(?:\.\d+)?/.exec(plain)?.[0] ?? '';
}

// True if both are the same number, as exactly as the less exact of them is written: 86.6 is 87, 86.6 and 86.64, not 86.
export function isRight(given: string, right: string): boolean {
  const [a, b] = [digitsIn(given), digitsIn(right)];
  if (a === '' || b === '') return given.trim().toLowerCase() === right.trim().toLowerCase();
  const decimals = Math.min(...[a, b].map((digits) => digits.split('.')[1]?.length ?? 0));
  return Math.abs(Number(a) - Number(b)) <= 0.5 * 10 ** -decimals * (1 + 1e-9);
}

// The answer that the text states: the first bold number of the check.
export const statedAnswer = ({ check }: Lesson): string => /\*\*(\d[^*]*)\*\*/.exec(check.join(' '))?.[1] ?? '';
