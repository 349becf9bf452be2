// Dead letters: filter, groups, and what is done with many of them.

import { get } from './api.js';
import { button, h, link, name, put } from './dom.js';
import { purge, replay } from './replay.js';
import { ago, count, parseDuration, plural } from './format.js';
import { pager, table } from './table.js';

const PAGE = 100;
const FIELDS = ['app', 'lane', 'reason', 'apns_reason', 'min_age', 'max_age', 'q'];

/** The filter as the server takes it; ages stand in the address as people write them. */
export function filterOf(parameters) {
  const filter = {};
  for (const key of ['app', 'lane', 'reason', 'apns_reason', 'q']) if (parameters[key]) filter[key] = parameters[key];
  for (const key of ['min_age', 'max_age']) {
    const ms = parameters[key] ? parseDuration(parameters[key]) : null;
    if (ms !== null) filter[`${key}_ms`] = ms;
  }
  return filter;
}

export default function dead(desk) {
  let parameters = {};
  let page = null;
  let trail = [];
  let shownFor = '';
  const chosen = new Set();
  const inputs = {};
  const field = (key, label, attributes = {}) => {
    inputs[key] = h('input', { id: `dead-${key}`, autocomplete: 'off', spellcheck: 'false', maxlength: 255,
      ...attributes });
    return h('div', { class: 'field' }, h('label', { for: `dead-${key}` }, label), inputs[key]);
  };
  const complaint = h('p', { class: 'complaint', role: 'alert' });
  inputs.lane = h('select', { id: 'dead-lane' }, [['', 'both'], ['now', 'now'],
    ['bulk', 'bulk']].map(([value, label]) => h('option', { value }, label)));
  const more = h('details', { class: 'more', open: matchMedia('(min-width: 48.01rem)').matches },
    h('summary', null, 'More to filter by'),
    h('div', { class: 'fields' }, field('app', 'App'),
      h('div', { class: 'field short' }, h('label', { for: 'dead-lane' }, 'Lane'), inputs.lane),
      field('reason', 'Reason'), field('apns_reason', 'Apple\'s reason'),
      field('min_age', 'Older than', { placeholder: '10m', class: 'short' }),
        field('max_age', 'Younger than', { placeholder: '24h', class: 'short' })));
  const filter = h('form', { class: 'filter', role: 'search', on: { submit: apply } },
    field('q', 'Message id or detail', { type: 'search', 'data-search': true }),
    h('div', { class: 'row' }, h('button', { type: 'submit', class: 'main' }, 'Filter'),
      button('Clear', () => desk.go('dead', {}))), more, complaint);
  const groups = h('ul', { class: 'groups', 'aria-label': 'Reasons of these dead letters' });
  const summary = h('p', { class: 'muted', role: 'status' });
  const all = h('input', { type: 'checkbox', 'aria-label': 'Choose all on this page' });
  const tools = h('div', { class: 'row bulk', role: 'group', 'aria-label': 'Actions on many dead letters' });
  const list = table([
    ...(desk.session.may_act ? [{ label: 'Choose', hidden: true, cell: tick, sign: (row) => row.id,
      kind: 'tick' }] : []),
    { label: 'Message', cell: (row) => link('letter', { id: row.id }, name(row.message_id || 'without an id')),
      sign: (row) => row.id, kind: 'wide' },
    { label: 'App', cell: (row) => [name(row.app || '–'), row.lane && h('span', { class: 'muted hint' },
      ` ${row.lane}`)], sign: (row) => row.id, kind: 'wide' },
    { label: 'Reason', cell: (row) => [row.reason, row.apns_reason && h('span', { class: 'muted hint' }, ' ',
      name(row.apns_reason))], sign: (row) => row.id },
    { label: 'Detail', cell: (row) => name(row.detail || ''), sign: (row) => row.id, kind: 'wide' },
    { label: 'Attempts', cell: (row) => count(row.attempt), kind: 'number' },
    { label: 'Died', cell: (row) => [ago(row.died_at_ms, page.time_ms), ' ago'],
      sign: (row) => `${Math.floor((page.time_ms - row.died_at_ms) / 60_000)}`, kind: 'number' },
  ], { caption: 'Dead letters', key: (row) => row.id, empty: 'No dead letter fits.' });
  const pages = pager(
    () => { const before = trail.pop(); desk.go('dead', { ...parameters, after: before || undefined }, true); },
    () => { trail.push(parameters.after || ''); desk.go('dead', { ...parameters, after: page.next }, true); },
  );
  all.addEventListener('change', () => {
    for (const row of page?.items || []) { if (all.checked) chosen.add(row.id); else chosen.delete(row.id); }
    for (const box of list.element.querySelectorAll('input[type=checkbox]')) box.checked = all.checked;
    renderTools();
  });

  function tick(row) {
    const box = h('input', { type: 'checkbox', 'aria-label': `Choose ${row.message_id || row.id}` });
    box.checked = chosen.has(row.id);
    box.addEventListener('change',
      () => { if (box.checked) chosen.add(row.id); else chosen.delete(row.id); renderTools(); });
    return box;
  }

  function apply(event) {
    event.preventDefault();
    const next = {};
    for (const key of FIELDS) next[key] = inputs[key].value.trim() || undefined;
    for (const key of ['min_age', 'max_age']) {
      if (next[key] && parseDuration(next[key]) === null) {
        more.open = true;
        put(complaint, 'Ages are a number and s, m, h or d, such as 90m.');
        inputs[key].focus();
        return;
      }
    }
    desk.go('dead', next);
  }

  function selection() {
    return chosen.size ? { ids: [...chosen], expected: chosen.size } : { filter: filterOf(parameters),
      expected: page.matched };
  }

  function renderTools() {
    const many = chosen.size || page?.matched || 0;
    const sign = `${chosen.size} ${many}`;
    if (!desk.session.may_act || tools.sign === sign) return;
    tools.sign = sign;
    const held = [...tools.querySelectorAll('button')].indexOf(document.activeElement);
    const what = chosen.size ? `${count(chosen.size)} chosen` : `all ${count(many)}`;
    const done = () => { chosen.clear(); all.checked = false; desk.refresh(); };
    put(tools, h('label', { class: 'check' }, all, ' this page'),
      button(`Replay ${what}…`, () => replay(selection(), done), { disabled: !many }),
      button(`Purge ${what}…`, () => purge(selection(), done), { class: 'danger', disabled: !many }),
      chosen.size > 0 && button('Choose none',
        () => { chosen.clear(); all.checked = false; for (const box of list.element.querySelectorAll('input[type=checkbox]')) box.checked = false; renderTools(); }));
    if (held >= 0) tools.querySelectorAll('button')[held]?.focus();
  }

  function renderGroups() {
    const sign = JSON.stringify([page.groups, parameters.reason, parameters.apns_reason]);
    if (groups.sign === sign) return;
    groups.sign = sign;
    const held = [...groups.querySelectorAll('button')].indexOf(document.activeElement);
    put(groups, page.groups.slice(0, 12).map((group) => {
      const isOn = parameters.reason === group.reason && (parameters.apns_reason || undefined) === group.apns_reason;
      return h('li', null, h('button', {
        type: 'button', 'aria-pressed': String(isOn),
        on: { click: () => desk.go('dead', { ...parameters, after: undefined, reason: isOn ? undefined : group.reason,
          apns_reason: isOn ? undefined : group.apns_reason }) },
      }, h('b', null, count(group.count)), ' ', group.reason,
        group.apns_reason && [' ', h('span', { class: 'muted' }, name(group.apns_reason))]));
    }));
    if (held >= 0) groups.querySelectorAll('button')[held]?.focus();
  }

  return {
    title: 'Dead letters',
    // Rows must not move under the pointer of who chooses.
    get isStill() { return chosen.size > 0; },
    element: h('div', null, groups, filter, summary, desk.session.may_act && tools, list.element, pages.element),
    async load(next, signal) {
      const sign = FIELDS.map((key) => next[key] || '').join('\n');
      if (sign !== shownFor) { shownFor = sign; chosen.clear(); all.checked = false; trail = []; put(complaint); }
      parameters = next;
      if (FIELDS.some((key) => key !== 'q' && next[key])) more.open = true;
      for (const key of FIELDS) if (document.activeElement !== inputs[key]) inputs[key].value = next[key] || '';
      page = await get('dead', { ...filterOf(next), after: next.after, limit: PAGE }, signal);
      list.set(page.items);
      pages.set(trail.length * PAGE, page.items.length, page.matched, page.next !== undefined);
      put(summary, page.matched === page.messages ? plural(page.messages,
        'dead letter') : `${count(page.matched)} of ${plural(page.messages, 'dead letter')}`,
        page.indexed < page.messages && `; ${count(page.indexed)} read so far, only they are searched`);
      renderGroups();
      renderTools();
    },
  };
}
