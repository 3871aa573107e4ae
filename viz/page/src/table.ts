// Tables with sortable columns.
import { h } from './dom';

export interface Cell {
  text: string;
  value?: number | string | null; // the sort key; default: the text
  title?: string;
  tone?: 'good' | 'bad' | 'muted';
}

export interface Heading {
  name: string;
  left?: boolean;
  wraps?: boolean; // allows line breaks
  title?: string;
}

export function table(caption: string, headings: Heading[], rows: Cell[][], sortable = true): HTMLElement {
  const body = h('tbody', {});
  let sorted = -1;
  let up = true;
  const fill = (): void => {
    const order = rows.map((_, i) => i);
    if (sorted >= 0) {
      const key = (row: number): number | string | null => {
        const cell = rows[row][sorted];
        return cell.value === undefined ? cell.text : cell.value;
      };
      order.sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1; // missing values last
        const difference = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
        return (up ? difference : -difference) || a - b;
      });
    }
    body.replaceChildren(...order.map((row) => h('tr', {}, ...rows[row].map((cell, i) =>
      h(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : undefined, class: [headings[i].left ? 'left' : '', headings[i].wraps ? 'wraps' : '', cell.tone ?? ''].join(' ').trim() || undefined, title: cell.title }, cell.text)))));
  };
  const heads = headings.map((heading, i) => {
    const cell = h('th', { scope: 'col', class: heading.left ? 'left' : undefined, title: heading.title });
    if (!sortable) {
      cell.append(heading.name);
      return cell;
    }
    cell.append(h('button', {
      type: 'button',
      click: () => {
        up = sorted === i ? !up : true;
        sorted = i;
        heads.forEach((other, k) => (k === i ? other.setAttribute('aria-sort', up ? 'ascending' : 'descending') : other.removeAttribute('aria-sort')));
        fill();
      },
    }, heading.name));
    return cell;
  });
  fill();
  return h('div', { class: 'table-place', tabindex: 0, role: 'region', 'aria-label': caption },
    h('table', { class: 'figures' }, h('caption', {}, caption), h('thead', {}, h('tr', {}, ...heads)), body));
}
