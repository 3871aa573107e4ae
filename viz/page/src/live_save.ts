// What the live page saves: the recipe, the report, the view as a picture or an animation, and a link.
import { action, download, h, percent } from './dom';
import type { ReportFrame } from './live_report';
import { fragmentOf, type LiveFile } from './live_server';

export interface Saved {
  text(): string; // of the recipe
  file(): LiveFile;
  frame: ReportFrame;
  say(words: string): void;
}

export function saveMenu(saved: Saved): HTMLElement {
  const named = (ending: string): string => saved.file().file.replace(/\.toml$/, '') + ending;
  const report = async (): Promise<void> => {
    const response = await fetch(`page/${saved.frame.page}`);
    if (response.ok) download(await response.blob(), named('.html'));
    else saved.say('There is no report to save.');
  };
  const picture = (): void => {
    const canvas = saved.frame.picture();
    if (!canvas) return saved.say('There is no picture to save.');
    canvas.toBlob((blob) => {
      if (!blob) return;
      download(blob, named('.png'));
      saved.say('The picture was saved.');
    });
  };
  const movie = async (): Promise<void> => {
    const gif = await saved.frame.movie((share) => saved.say(`Drawing the GIF: ${percent(Math.round(100 * share) / 100)}`));
    if (!gif) return saved.say('Nothing moves in this view: the recipe has no stages.');
    download(gif, named('.gif'));
    saved.say('The view was saved as an animated GIF.');
  };
  const link = async (): Promise<void> => {
    history.replaceState(null, '', await fragmentOf({ text: saved.text(), path: saved.file().path }));
    try {
      await navigator.clipboard.writeText(location.href);
      saved.say('The address, which now contains the recipe, was copied.');
    } catch {
      saved.say('The address of this page now contains the recipe.');
    }
  };
  return h('details', { class: 'more' }, h('summary', { 'aria-label': 'Save' }, 'Save'),
    h('div', { class: 'menu' },
      action('Recipe', () => download(new Blob([saved.text()], { type: 'application/toml' }), saved.file().file)),
      action('Report', () => void report()), action('Picture', picture), action('GIF', () => void movie()), action('Link', () => void link())));
}
