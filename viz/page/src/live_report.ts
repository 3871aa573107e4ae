// The report of the last run, in a frame. The next one replaces it when it is complete, at the same stage.
import { h } from './dom';

interface ReportWindow extends Window {
  spmvPage?: { picture(): HTMLCanvasElement };
}

export class ReportFrames {
  readonly element = h('div', { class: 'frames', id: 'report', tabindex: -1 });
  private shown: HTMLIFrameElement | null = null;
  private next: HTMLIFrameElement | null = null;
  page = 0;

  // Resolves when the report is visible, or a newer one was asked for.
  async show(page: number): Promise<boolean> {
    this.next?.remove();
    const frame = h('iframe', { src: `page/${page}`, title: 'Report of the run', class: 'waiting' });
    this.next = frame;
    this.element.append(frame);
    await new Promise((loaded) => frame.addEventListener('load', loaded, { once: true }));
    const deadline = performance.now() + 30_000;
    while (frame === this.next && performance.now() < deadline && frame.contentDocument?.documentElement.dataset.ready !== 'true') {
      await new Promise((later) => setTimeout(later, 5));
    }
    if (frame !== this.next) return false;
    this.restore(frame);
    frame.classList.remove('waiting');
    this.shown?.remove();
    this.shown = frame;
    this.next = null;
    this.page = page;
    return true;
  }

  // The stage and the place in the page that the last report showed.
  private restore(frame: HTMLIFrameElement): void {
    const before = this.shown?.contentDocument;
    const now = frame.contentDocument;
    if (!before || !now) return;
    const stage = before.querySelector<HTMLElement>('button[data-stage][aria-current=true]')?.dataset.stage;
    const range = now.querySelector<HTMLInputElement>('.track-line input');
    if (stage !== undefined && range && Number(stage) <= Number(range.max)) {
      range.value = stage;
      range.dispatchEvent(new Event('input'));
    }
    const scroll = this.shown?.contentWindow?.scrollY ?? 0;
    frame.contentWindow?.scrollTo(0, scroll);
  }

  dim(old: boolean): void {
    this.element.classList.toggle('old', old);
  }

  get window(): ReportWindow | null {
    return this.shown?.contentWindow ?? null;
  }

  // The picture of the pattern that is shown.
  picture(): HTMLCanvasElement | null {
    return this.window?.spmvPage?.picture() ?? null;
  }

  setTheme(theme: string): void {
    const root = this.shown?.contentDocument?.documentElement;
    const button = this.shown?.contentDocument?.querySelector<HTMLElement>('#theme');
    if (root && root.dataset.theme !== theme) button?.click();
  }
}
