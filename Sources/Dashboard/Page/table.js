// Tables that are filled again and again: a row stays the same element as long as its key does, so that focus,
// selections and what is ticked survive.

import { h, put } from './dom.js';
import { count } from './format.js';

/**
 * @param columns [{ label, cell(item) → string | node | array, sign(item) if a cell is more than text, kind, sort }]
 *   kind: '' | 'number' | 'wide' | 'tools'; sort: the value that the server sorts by
 * @param options { caption, key(item), empty, sortBy(value) }
 */
export function table(columns, options) {
  const body = h('tbody');
  const heads = columns.map((column) => h(
    'th', { scope: 'col', class: column.kind },
    column.sort && options.sortBy
      ? h('button', { type: 'button', class: 'sort', on: { click: () => options.sortBy(column.sort) } }, column.label)
      : column.hidden ? h('span', { class: 'unseen' }, column.label) : column.label,
  ));
  const none = h('p', { class: 'none', hidden: true });
  const element = h(
    'div', { class: 'table' },
    h('table', null, h('caption', { class: 'unseen' }, options.caption), h('thead', null, h('tr', null, heads)), body),
    none,
  );
  element.firstElementChild.hidden = true;
  let rows = new Map();

  function cells(row, item) {
    columns.forEach((column, place) => {
      const cell = row.cells[place];
      const made = column.sign ? null : column.cell(item);
      const sign = column.sign ? column.sign(item) : String(made);
      if (row.signs[place] === sign) return;
      row.signs[place] = sign;
      const held = cell.contains(document.activeElement);
      put(cell, column.sign ? column.cell(item) : made);
      if (held) cell.querySelector('a, button, input')?.focus({ preventScroll: true });
    });
  }

  function make(item) {
    const list = columns.map((column) => h('td', { class: column.kind,
      'data-label': column.hidden ? null : column.label }));
    const row = { element: h('tr', null, list), cells: list, signs: [] };
    cells(row, item);
    return row;
  }

  return {
    element,
    set(items) {
      const next = new Map();
      for (const item of items) {
        const key = options.key(item);
        const row = rows.get(key) || make(item);
        if (rows.has(key)) cells(row, item);
        options.mark?.(row.element, item);
        next.set(key, row);
      }
      for (const [key, row] of rows) if (!next.has(key)) row.element.remove();
      let place = body.firstElementChild;
      for (const row of next.values()) {
        if (row.element === place) place = place.nextElementSibling;
        else body.insertBefore(row.element, place);
      }
      rows = next;
      none.hidden = items.length > 0;
      if (!items.length) put(none, options.empty || 'Nothing here.');
      element.firstElementChild.hidden = !items.length;
    },
    sorted(value) {
      columns.forEach((column, place) => {
        if (column.sort && column.sort === value) heads[place].setAttribute('aria-sort',
          column.kind === 'number' ? 'descending' : 'ascending');
        else heads[place].removeAttribute('aria-sort');
      });
    },
  };
}

/** Back and forth, and where one is. */
export function pager(back, forth) {
  const [before, after] = [
    h('button', { type: 'button', on: { click: back } }, 'Back'),
      h('button', { type: 'button', on: { click: forth } }, 'Next'),
  ];
  const where = h('span', { class: 'muted', role: 'status' });
  const element = h('div', { class: 'pager', hidden: true }, where, before, after);
  return {
    element,
    set(first, shown, total, more = first + shown < total) {
      const text = total ? `${count(first + 1)} to ${count(first + shown)} of ${count(total)}` : '';
      if (where.textContent !== text) where.textContent = text;
      before.disabled = first === 0;
      after.disabled = !more;
      element.hidden = first === 0 && !more;
    },
  };
}
