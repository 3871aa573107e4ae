// The report of the last run, in a frame. The next one replaces its data when it is complete, at the same stage.
import { h } from './dom';

interface ReportWindow extends Window {
  spmvReport?: { replaceBy(page: string): Promise<void> };
  spmvPage?: { picture(): HTMLCanvasElement };
}

export class ReportFrames {
  readonly element = h('div', { class: 'frames', id: 'report', tabindex: -1 });
  private shown: HTMLIFrameElement | null = null;
  private next: HTMLIFrameElement | null = null;
  private asked = 0;
  private building: Promise<void> = Promise.resolve();
  page = 0;
  onShown: (frame: Window) => void = () => undefined;

  // Resolves when the report is visible, or a newer one was asked for.
  async show(page: number): Promise<boolean> {
    const number = ++this.asked;
    const report = this.window?.spmvReport;
    if (!report) return this.showInNewFrame(page);
    const response = await fetch(`page/${page}`);
    if (number !== this.asked || !response.ok) return false;
    const text = await response.text();
    performance.mark('received');
    // One report at a time is built.
    this.building = this.building.then(() => (number === this.asked ? report.replaceBy(text) : undefined));
    try {
      await this.building;
    } catch {
      this.building = Promise.resolve();
      return this.showInNewFrame(page);
    }
    if (number !== this.asked) return false;
    this.page = page;
    return true;
  }

  private async showInNewFrame(page: number): Promise<boolean> {
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
    frame.classList.remove('waiting');
    this.shown?.remove();
    this.shown = frame;
    this.next = null;
    this.page = page;
    if (frame.contentWindow) this.onShown(frame.contentWindow);
    return true;
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
