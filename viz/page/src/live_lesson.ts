// A lesson in the panel of the live page: predict, then move a control, then read the explanation, and an exercise that the program
// checks.
import { h } from './dom';
import { blocksOf, isRight, type Lesson, type Question, readLesson, statedAnswer } from './lesson_text';

const steps = ['predict', 'try', 'explanation', 'exercise'] as const;
type Step = (typeof steps)[number];
const step_names: Record<Step, string> = { predict: '1 Predict', try: '2 Try', explanation: '3 Why', exercise: '4 Exercise' };

export interface LessonActs {
  // Runs the recipe of the lesson with these changes, and resolves when its picture is shown.
  runWith(question: Question): Promise<void>;
  figure(name: string): string | null; // of the last stage of the report that is shown
  runs(): boolean; // false if the recipe has not run since the lesson was opened
  showStage(stage: number): void;
  point(control: string): void; // makes the control visible and marks it
}

export class LessonPanel {
  readonly element = h('section', { class: 'lesson', 'aria-label': 'Lesson' });
  private readonly lesson: Lesson;
  private step: Step = 'predict';
  private reached = 0; // the last step that was opened
  private given: Partial<Record<Step, string>> = {};
  private verdict = ''; // of the exercise
  private notes_open = false;

  constructor(text: string, private readonly acts: LessonActs) {
    this.lesson = readLesson(text);
    this.show();
  }

  // The question of the prediction; its matrix is shown from the beginning.
  get question(): Question {
    return this.lesson.questions['Predict first'] ?? {};
  }

  // What is asked must not be seen before the prediction.
  get hidesControls(): boolean {
    return this.step === 'predict' || this.step === 'exercise';
  }

  // A run has ended: figures may have changed.
  refresh(): void {
    if (this.step === 'predict' && this.given.predict === undefined) this.acts.showStage(0);
    if (this.step === 'try') this.show();
  }

  private go(step: Step): void {
    this.step = step;
    this.reached = Math.max(this.reached, steps.indexOf(step));
    this.show();
    const { move } = this.question;
    if (step === 'try' && move) this.acts.point(move);
  }

  private show(): void {
    const { lesson } = this;
    const notes = h('details', { class: 'speaker', open: this.notes_open }, h('summary', {}, 'Notes for the speaker'), ...blocksOf(lesson.notes));
    notes.addEventListener('toggle', () => (this.notes_open = notes.open));
    const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.name : undefined;
    this.element.dataset.step = this.step;
    this.element.replaceChildren(
      h('div', { class: 'segments steps', role: 'group', 'aria-label': 'Step of the lesson' }, ...steps.map((step, i) =>
        h('button', { type: 'button', 'data-name': `step ${step}`, 'aria-pressed': String(step === this.step), disabled: i > this.reached, click: () => this.go(step) }, step_names[step]))),
      ...this.content(), lesson.notes.length > 0 ? notes : '');
    if (focused) this.element.querySelector<HTMLElement>(`[data-name="${CSS.escape(focused)}"]`)?.focus();
    this.element.dispatchEvent(new CustomEvent('step', { bubbles: true }));
  }

  private content(): (Node | string)[] {
    const { parts, questions } = this.lesson;
    switch (this.step) {
      case 'predict': {
        const { question } = this;
        return [...blocksOf([`**Aim.** ${parts.Aim[0]}`, ...parts.Aim.slice(1)]), ...(question.ask ? [] : blocksOf(parts['Predict first'])),
          this.answering(question, 'Predict', (given) => {
            this.given.predict = given;
            void this.acts.runWith(question).then(() => this.go('try'));
          })];
      }
      case 'try':
        return [this.compared(), ...(this.acts.runs() ? [h('p', {}, `Now move the controls below, and watch the picture${this.question.figure ? ' and the figure' : ''}.`)]
          : blocksOf(['The page does not run this recipe. A lesson that brings code is run in a terminal:', '', ...(parts.Commands ?? [])])), this.next('Why is it so?', 'explanation')];
      case 'explanation':
        return [...blocksOf(parts.Explanation), this.next('To the exercise', 'exercise')];
      case 'exercise': {
        const question = questions.Exercise ?? {};
        const check = this.verdict === '' ? [] : [h('p', { class: 'verdict', role: 'status' }, this.verdict), ...blocksOf(this.lesson.check)];
        return [...(question.ask ? [] : blocksOf(parts.Exercise)), this.answering(question, 'Check', (given) => void this.checkExercise(question, given)), ...check];
      }
    }
  }

  private next(words: string, step: Step): HTMLElement {
    return h('p', {}, h('button', { type: 'button', 'data-name': 'next', click: () => this.go(step) }, words));
  }

  // The question, and buttons of the choices or a field, which stay in view while the text scrolls.
  private answering({ ask, choices }: Question, word: string, answered: (given: string) => void): HTMLElement {
    const asked = ask ? [h('p', { class: 'ask' }, ask)] : [];
    if (choices) asked.push(h('p', { class: 'choices' }, ...choices.map((one) => h('button', { type: 'button', 'data-name': `choice ${one}`, click: () => answered(one) }, one))));
    if (choices) return h('div', { class: 'asked' }, ...asked);
    const input = h('input', { type: 'text', inputmode: 'decimal', size: 8, 'aria-label': 'Your answer', 'data-name': 'answer', value: this.given[this.step] ?? '' });
    const form = h('form', { class: 'choices' }, input, h('button', { 'data-name': 'give' }, word));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (input.value.trim() !== '') answered(input.value);
    });
    return h('div', { class: 'asked' }, ...asked, form);
  }

  // The answer of the program, or of the text where no figure of the page has it.
  private right(question: Question, stated: string): string {
    return (question.figure && this.acts.figure(question.figure)) || question.answer || stated;
  }

  private compared(): HTMLElement {
    const { question } = this;
    const right = this.right(question, '');
    return h('p', { class: 'verdict', role: 'status' }, 'You predicted ', h('b', {}, this.given.predict ?? '–'), right ? '; ' : '.',
      right ? `${question.figure ? `${question.figure.split(',')[0]} now: ` : 'it is '}` : '', right ? h('b', {}, right) : '');
  }

  private async checkExercise(question: Question, given: string): Promise<void> {
    this.given.exercise = given;
    if (question.figure) await this.acts.runWith(question);
    const right = this.right(question, statedAnswer(this.lesson));
    this.verdict = isRight(given, right) ? `${right}: that is right.` : `${given} is not right: it is ${right}.`;
    this.show();
  }
}
