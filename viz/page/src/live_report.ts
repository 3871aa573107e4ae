// The report of the last run, in a frame, which stays; each run gives it new data.
import { h } from './dom';

export type View = 'lecture' | 'report';

interface ReportWindow extends Window {
  spmvReport?: { show(parts: Uint8Array[], stage: number | null): Promise<void>; view(view: View): void };
  spmvPage?: { picture(): HTMLCanvasElement; movie(progress: (share: number) => void): Promise<Blob | null>; moveTo(stage: number): void; figure(name: string): string | null };
}

export class ReportFrame {
  private readonly frame = h('iframe', { src: 'page', title: 'Report of the run' });
  readonly element = h('div', { class: 'frames', id: 'report', tabindex: -1 }, this.frame);
  private readonly loaded: Promise<ReportWindow>;
  private building: Promise<void> = Promise.resolve();
  private newest = 0;
  private stage: number | null = Infinity; // to be shown next; null: the one that is shown
  private section = '';
  page = 0;

  constructor(onLoad: (frame: Window) => void) {
    this.loaded = new Promise((done, fail) => {
      this.frame.addEventListener('load', () => {
        const own = this.frame.contentWindow as ReportWindow | null;
        if (!own?.spmvReport) return fail(new Error('the page of the report cannot be shown'));
        onLoad(own);
        done(own);
      }, { once: true });
    });
  }

  // Resolves when the report is on the screen, or a newer one was given. One report at a time is built.
  async show(page: number, parts: Uint8Array[]): Promise<void> {
    this.newest = page;
    const own = await this.loaded;
    this.building = this.building.catch(() => undefined).then(async () => {
      if (page !== this.newest) return;
      const { stage } = this;
      this.stage = null;
      await own.spmvReport?.show(parts, stage);
      this.page = page;
      if (page === this.newest) this.element.classList.remove('blank');
      if (this.section !== '') own.document.getElementById(this.section)?.scrollIntoView();
      this.section = '';
    });
    await this.building;
  }

  // Nothing is shown until the next report is: the file is another one.
  blank(): void {
    this.newest = 0;
    this.element.classList.add('blank');
  }

  get isBlank(): boolean {
    return this.element.classList.contains('blank');
  }

  private get shown(): ReportWindow['spmvPage'] {
    return this.isBlank ? undefined : (this.frame.contentWindow as ReportWindow | null)?.spmvPage;
  }

  // The next report shows this stage.
  goTo(stage: number): void {
    this.stage = stage;
  }

  // Shows a stage of the present report.
  showStage(stage: number): void {
    this.shown?.moveTo(stage);
  }

  // Scrolls to a section of the next report.
  goToSection(id: string): void {
    this.section = id;
  }

  view(view: View): void {
    void this.loaded.then((own) => own.spmvReport?.view(view));
  }

  // A figure of the last stage; null if the report has none of this name.
  figure(name: string): string | null {
    return this.shown?.figure(name) ?? null;
  }

  dim(old: boolean): void {
    this.element.classList.toggle('old', old);
  }

  // The page handles a key that was pressed elsewhere.
  press(event: KeyboardEvent): void {
    const { key, shiftKey } = event;
    this.frame.contentDocument?.body.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true }));
  }

  // The view as a slide.
  picture(): HTMLCanvasElement | null {
    return this.shown?.picture() ?? null;
  }

  // The view as an animated GIF; null if nothing moves in it.
  async movie(progress: (share: number) => void): Promise<Blob | null> {
    return (await this.shown?.movie(progress)) ?? null;
  }
}
