// A card of a list that moves to another place: dragged by its handle with a pointer of any kind, or by arrow keys on the handle.
export interface Moves {
  began(): void;
  ended(to: number | null): void; // null: it stays
}

const edge = 32; // pixels from the edge of the list, where it scrolls while a card is dragged

export function makeMovable(item: HTMLElement, handle: HTMLElement, moves: Moves): void {
  const list = (): HTMLElement[] => [...(item.parentElement?.children ?? [])] as HTMLElement[];
  handle.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    const to = list().indexOf(item) + step;
    if (step === 0) return;
    event.preventDefault();
    if (to >= 0 && to < list().length) moves.ended(to);
  });
  handle.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    moves.began();
    const items = list();
    const from = items.indexOf(item);
    const scroller = item.closest('.controls') ?? document.documentElement;
    const scrolled = scroller.scrollTop;
    let to = from;
    item.classList.add('dragged');
    // The card follows the pointer; a line marks where it will land.
    const move = (now: PointerEvent): void => {
      const { top: upper, bottom: lower } = scroller.getBoundingClientRect();
      if (now.clientY < upper + edge) scroller.scrollTop -= edge / 2;
      if (now.clientY > lower - edge) scroller.scrollTop += edge / 2;
      item.style.translate = `0 ${now.clientY - event.clientY + scroller.scrollTop - scrolled}px`;
      const others = items.filter((one) => one !== item);
      to = others.filter((one) => {
        const { top, height } = one.getBoundingClientRect();
        return top + height / 2 < now.clientY;
      }).length;
      items.forEach((one) => one.classList.remove('lands-before', 'lands-after'));
      if (to === from) return;
      if (to < others.length) others[to].classList.add('lands-before');
      else others.at(-1)?.classList.add('lands-after');
    };
    const drag = new AbortController();
    const end = (is_dropped: boolean): void => {
      drag.abort();
      item.classList.remove('dragged');
      item.style.translate = '';
      items.forEach((one) => one.classList.remove('lands-before', 'lands-after'));
      moves.ended(is_dropped && to !== from ? to : null);
    };
    const { signal } = drag;
    handle.addEventListener('pointermove', move, { signal });
    handle.addEventListener('pointerup', () => end(true), { signal });
    handle.addEventListener('pointercancel', () => end(false), { signal });
    addEventListener('keydown', (key) => key.key === 'Escape' && end(false), { capture: true, signal });
  });
}
