// What Apple and the fleet say when they say no, and what to do next.

import { get } from './api.js';
import { h, link, name, put } from './dom.js';
import { count, plural } from './format.js';
import { table } from './table.js';

export default function reasons(desk) {
  let all = [];
  let parameters = {};
  const search = h('input', { type: 'search', id: 'reasons-q', autocomplete: 'off', spellcheck: 'false', maxlength: 255,
    'data-search': true });
  const seen = h('input', { type: 'checkbox', id: 'reasons-seen' });
  const total = h('p', { class: 'muted', role: 'status' });
  const list = table([
    { label: 'Reason', cell: reason, sign: (row) => row.reason, kind: 'wide' },
    { label: 'Last hour', cell: (row) => count(row.hour), kind: 'number' },
    { label: 'Total', cell: (row) => count(row.total), kind: 'number' },
    { label: 'Next step', cell: step, sign: (row) => `${row.reason} ${(row.apps || []).join()}`, kind: 'text' },
  ], { caption: 'Reasons', key: (row) => `${row.source} ${row.is_broadcast} ${row.status} ${row.reason}`,
    empty: 'No reason fits.' });
  const turn = () => desk.go('reasons', { q: search.value.trim() || undefined, seen: seen.checked ? 1 : undefined },
    true);
  search.addEventListener('input', turn);
  seen.addEventListener('change', turn);

  function render() {
    const words = (parameters.q || '').toLowerCase();
    const found = all.filter((row) => (!parameters.seen || row.total > 0)
      && [row.reason, `${row.status}`, row.meaning].some((text) => text.toLowerCase().includes(words)));
    list.set(found);
    put(total, plural(found.length, 'reason'));
  }

  return {
    title: 'Reasons',
    element: h('div', null,
      h('form', { class: 'filter', role: 'search', on: { submit: (event) => event.preventDefault() } },
        h('div', { class: 'field' }, h('label', { for: 'reasons-q' }, 'Reason, status or words'), search),
        h('label', { class: 'check' }, seen, ' only those that came'), total),
      list.element),
    async load(next, signal) {
      parameters = next;
      if (document.activeElement !== search) search.value = next.q || '';
      seen.checked = Boolean(next.seen);
      if (all.length) render();
      all = (await get('reasons', {}, signal)).items;
      render();
    },
  };
}

function reason(row) {
  const from = row.source === 'apns' ? `Apple${row.is_broadcast ? ', broadcasts' : ''}${row.status ? `, status ${row.status}` : ''}` : 'dead letter';
  return [row.source === 'dead_letter' ? link('dead', { reason: row.reason }, name(row.reason)) : h('b', null,
    name(row.reason)),
    ' ', h('span', { class: 'muted hint' }, from)];
}

function step(row) {
  return [h('p', null, row.meaning), h('p', null, h('b', null, 'Next: '), row.next_step),
    h('p', { class: 'muted' }, row.handling),
    row.apps?.length > 0 && h('p', { class: 'muted' }, 'Mostly ',
      row.apps.map((app, place) => [place > 0 && ', ', link('app', { app }, name(app))]))];
}
