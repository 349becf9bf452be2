// Connections: budgets, workers, and who leases what.

import { get, post } from './api.js';
import { bar } from './chart.js';
import { ask, attempt } from './dialog.js';
import { button, h, link, name, put } from './dom.js';
import { ago, count, duration, plural } from './format.js';
import { pager, table } from './table.js';

const PAGE = 50;

export default function budget(desk) {
  let parameters = {};
  const turn = (change) => desk.go('budget', { ...parameters, ...change }, true);
  const number = (key) => Number(parameters[key]) || 0;

  const budgets = table([
    { label: 'Budget', cell: (row) => [name(row.credential || row.pool), ' ',
      row.credential && h('span', { class: 'muted hint' }, name(row.pool))],
      sign: (row) => `${row.credential} ${row.pool}`, kind: 'wide' },
    { label: 'Connections', cell: share, sign: (row) => [row.held, row.wanted, row.configured, row.in_force].join(),
      kind: 'drawn' },
    { label: 'Held', cell: (row) => count(row.held), kind: 'number' },
    { label: 'Wanted', cell: (row) => count(row.wanted), kind: 'number' },
    { label: 'Allowed', cell: (row) => count(row.configured ?? row.in_force), kind: 'number' },
    { label: 'Notes', cell: notes, sign: (row) => JSON.stringify(row), kind: 'wide' },
    { label: 'Leases', cell: (row) => link('budget', { pool: row.pool }, plural(row.leases || 0, 'lease')),
      sign: (row) => `${row.leases}`, kind: 'number' },
  ], { caption: 'Budgets', key: (row) => row.pool, empty: 'No budget yet: run pushfleet topology declare.' });
  const budgetPages = pager(() => turn({ b: Math.max(0, number('b') - PAGE) || undefined }),
    () => turn({ b: number('b') + PAGE }));

  const search = h('input', { type: 'search', id: 'workers-q', autocomplete: 'off', spellcheck: 'false', maxlength: 255,
    'data-search': true });
  let timer = null;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (search.isConnected) turn({ q: search.value.trim() || undefined, w: undefined }); },
      250);
  });
  let now = Date.now();
  const held = (row) => Object.values(row.connections_held).reduce((sum, value) => sum + value, 0);
  const workers = table([
    { label: 'Worker', cell: (row) => [name(row.host), ' ', h('span', { class: 'muted hint' }, `process ${row.pid}, `,
      h('code', null, row.id))], sign: (row) => row.id, kind: 'wide' },
    { label: 'Version', cell: (row) => row.version },
    { label: 'Up', cell: (row) => duration(now - row.started_at_ms), kind: 'number' },
    { label: 'Last beat', cell: (row) => (row.last_beat_ms ? ago(row.last_beat_ms, now) : ''),
      sign: (row) => `${Math.round((now - row.last_beat_ms) / 500)}`, kind: 'number' },
    { label: 'Connections', cell: (row) => link('budget', { worker: row.id }, count(held(row)),
      row.wanted > held(row) && ` of ${count(row.wanted)}`), sign: (row) => `${held(row)} ${row.wanted}`,
      kind: 'number' },
    { label: 'At Apple', cell: (row) => count(row.in_flight), kind: 'number' },
    { label: 'Prefetch', cell: (row) => count(row.prefetch), kind: 'number' },
    { label: 'State', cell: state, sign: (row) => JSON.stringify([row.paused, row.draining]) },
    ...(desk.session.may_act ? [{
      label: 'Actions', hidden: true, kind: 'tools', sign: (row) => `${row.draining}`,
      cell: (row) => !row.draining && button('Drain…', () => drain(row),
        { 'aria-label': `Drain the worker ${row.id}` }),
    }] : []),
  ], { caption: 'Workers', key: (row) => row.id, empty: 'No worker is running.' });
  const workerPages = pager(() => turn({ w: Math.max(0, number('w') - PAGE) || undefined }),
    () => turn({ w: number('w') + PAGE }));

  const leases = table([
    { label: 'Budget', cell: (row) => row.pool, kind: 'wide' },
    { label: 'Worker', cell: (row) => h('code', null, row.worker), sign: (row) => row.worker },
    { label: 'May hold', cell: (row) => count(row.grant), kind: 'number' },
    { label: 'Open', cell: (row) => count(row.open), kind: 'number' },
    { label: 'Could use', cell: (row) => count(row.want), kind: 'number' },
    { label: 'Ends in', cell: (row) => duration(Math.max(0, row.expires_at_ms - now)), kind: 'number' },
  ], { caption: 'Leases', key: (row) => `${row.pool} ${row.worker}`, empty: 'No lease.' });
  const leaseTitle = h('h2', { tabindex: -1 });
  const leasePages = pager(() => turn({ l: Math.max(0, number('l') - PAGE) || undefined }),
    () => turn({ l: number('l') + PAGE }));
  const leasePart = h('section', { hidden: true }, leaseTitle, h('p', null, link('budget', {}, 'Close')),
    leases.element, leasePages.element);

  async function drain(row) {
    const values = await ask({
      title: `Drain ${row.host}, process ${row.pid}?`,
      text: 'It stops taking messages, waits for Apple\'s answers, gives back the rest and its connections, and exits. Whatever '
        + 'started it may start another one.',
      confirm: 'Drain', isDanger: true,
    });
    if (values && await attempt(() => post('worker/drain', { worker: row.id }))) desk.refresh();
  }

  return {
    title: 'Budget and workers',
    element: h('div', null, leasePart,
      h('section', null, h('h2', null, 'Budgets'), budgets.element, budgetPages.element),
      h('section', null, h('h2', null, 'Workers'),
        h('form', { class: 'filter', role: 'search', on: { submit: (event) => event.preventDefault() } },
          h('div', { class: 'field' }, h('label', { for: 'workers-q' }, 'Host or id'), search)),
        workers.element, workerPages.element)),
    async load(next, signal) {
      const isNew = (next.pool || next.worker) && (next.pool !== parameters.pool || next.worker !== parameters.worker);
      parameters = next;
      if (document.activeElement !== search) search.value = next.q || '';
      const isAsked = Boolean(next.pool || next.worker);
      const [all, some, held_] = await Promise.all([
        get('budgets', { offset: next.b, limit: PAGE }, signal),
        get('workers', { q: next.q, offset: next.w, limit: PAGE }, signal),
        isAsked ? get('leases', { pool: next.pool, worker: next.worker, offset: next.l, limit: PAGE }, signal) : null,
      ]);
      now = some.time_ms;
      budgets.set(all.items);
      budgetPages.set(number('b'), all.items.length, all.total);
      workers.set(some.items);
      workerPages.set(number('w'), some.items.length, some.total);
      leasePart.hidden = !isAsked;
      if (!isAsked) return;
      put(leaseTitle, 'Leases of ', name(next.pool || next.worker));
      leases.set(held_.items);
      leasePages.set(number('l'), held_.items.length, held_.total);
      if (isNew) leaseTitle.focus();
    },
  };
}

function share(row) {
  const allowed = row.configured ?? row.in_force ?? row.held;
  return bar(row.held, allowed, row.wanted, `${row.held} of ${allowed} held, ${row.wanted} wanted`);
}

function notes(row) {
  const found = [];
  if (row.configured !== undefined && row.in_force !== undefined && row.configured !== row.in_force) found.push(`workers go by ${count(row.in_force)}`);
  if (row.quarantine_ms > 0) found.push(`nothing new for ${duration(row.quarantine_ms)}`);
  if (row.waited > 0) found.push(`waited ${plural(row.waited, 'time')}, ${duration(row.wait_time_ms / row.waited)} on average`);
  if (row.reclaimed > 0) found.push(`${count(row.reclaimed)} reclaimed`);
  if (row.overage > 0) found.push(`${count(row.overage)} open without a lease`);
  if (!found.length) return null;
  return h('span', { class: row.overage > 0 ? 'warn' : 'muted' }, found.join(', '));
}

function state(row) {
  if (row.draining) return h('span', { class: 'warn' }, 'drains');
  const paused = Object.entries(row.paused);
  if (!paused.length) return h('span', { class: 'muted' }, 'runs');
  return h('span', { class: 'warn', title: paused.slice(0,
    20).map(([app, why]) => `${app}: ${why}`).join('\n') }, `${plural(paused.length, 'app')} paused`);
}
