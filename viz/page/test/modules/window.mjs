// A viewer in a window.
import { time } from './dom.mjs';
import { h } from '../../src/dom';
import { Viewer } from '../../src/viewer';
import { tracksOf } from './documents.mjs';

export const settle = () => {
  for (let i = 0; i < 3; ++i) time.frame();
};

// `width`: of the body of the viewer.
export async function view(makers, width = 1240) {
  const viewer = new Viewer(await tracksOf(...makers));
  document.body.replaceChildren(h('div', { id: 'page' }, viewer.element));
  viewer.element.querySelector('.viewer-body').box = { width, height: 700 };
  viewer.element.querySelector('.panes').box = { left: 20, top: 150, width: 700, height: 500 };
  viewer.element.querySelector('.readout').box = { top: 200, height: 100, width: 200 };
  viewer.reader.tip.box = { width: 90, height: 30 };
  window.dispatchEvent(new Event('resize'));
  settle();
  for (const canvas of viewer.element.querySelectorAll('canvas')) canvas.box = { left: 0, top: 0, width: parseFloat(canvas.style.width) || 400, height: parseFloat(canvas.style.height) || 300 };
  return viewer;
}
export const one = (viewer, selector) => viewer.element.querySelector(selector);
export const press = (viewer, selector) => {
  one(viewer, selector).click();
  settle();
};
export const text = (viewer, selector) => viewer.element.querySelectorAll(selector).map((element) => element.textContent).join(' | ');
export const shown = (viewer) => viewer.element.querySelectorAll('.pane').filter((pane) => !pane.hidden);
