// All apps by page, with what waits and what went wrong.

import { get } from './api.js';
import { sparkline } from './chart.js';
import { h, link, name, put } from './dom.js';
import { count, duration } from './format.js';
import { pauseTools } from './pausing.js';
import { pager, table } from './table.js';

const PAGE = 100;
const STATES = [['all', 'all'], ['paused', 'paused'], ['waiting', 'with messages waiting'],
  ['dead', 'with dead letters in the last hour']];

export default function apps(desk) {
  let parameters = {};
  const search = h('input', { type: 'search', id: 'apps-q', autocomplete: 'off', spellcheck: 'false', maxlength: 255,
    'data-search': true });
  const state = h('select', { id: 'apps-state' }, STATES.map(([value, label]) => h('option', { value }, label)));
  const total = h('p', { class: 'muted', role: 'status' });
  const list = table([
    { label: 'App', cell: appCell, sign: (app) => `${app.app} ${app.credential} ${app.environment}`, kind: 'wide',
      sort: 'app' },
    { label: 'State', cell: stateCell, sign: (app) => JSON.stringify(app.paused) || '', kind: 'state' },
    { label: 'Waiting', cell: (app) => count(app.waiting), kind: 'number', sort: 'waiting' },
    { label: 'Oldest', cell: (app) => duration(app.oldest_ms), kind: 'number', sort: 'oldest' },
    { label: 'At Apple', cell: (app) => count(app.in_flight), kind: 'number' },
    { label: 'Half an hour', cell: (app) => app.series && sparkline(app.series, 'Delivered'),
      sign: (app) => (app.series || []).join(), kind: 'drawn' },
    { label: 'Delivered/min', cell: (app) => count(app.delivered_minute), kind: 'number', sort: 'delivered' },
    { label: 'Retried/h', cell: (app) => count(app.retried_hour), kind: 'number', sort: 'retried' },
    { label: 'Dead/h', cell: (app) => count(app.dead_lettered_hour), kind: 'number', sort: 'dead' },
    ...(desk.session.may_act
      ? [{ label: 'Actions', hidden: true, cell: (app) => pauseTools(desk, app), sign: (app) => app.paused?.cause || '',
        kind: 'tools' }] : []),
  ], {
    caption: 'Apps', key: (app) => app.app, empty: 'No app fits.',
    sortBy: (sort) => turn({ sort, offset: undefined }),
  });
  const pages = pager(() => turn({ offset: Math.max(0, offset() - PAGE) || undefined }),
    () => turn({ offset: offset() + PAGE }));
  const offset = () => Number(parameters.offset) || 0;
  let timer = null;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (search.isConnected) turn({ q: search.value.trim() || undefined,
      offset: undefined }); }, 250);
  });
  state.addEventListener('change',
    () => turn({ state: state.value === 'all' ? undefined : state.value, offset: undefined }));

  function turn(change) {
    desk.go('apps', { ...parameters, ...change }, true);
  }

  const element = h('div', null,
    h('form', { class: 'filter', role: 'search', on: { submit: (event) => event.preventDefault() } },
      h('div', { class: 'field' }, h('label', { for: 'apps-q' }, 'App or credential'), search),
      h('div', { class: 'field' }, h('label', { for: 'apps-state' }, 'Show'), state), total),
    list.element, pages.element);

  return {
    title: 'Apps',
    element,
    async load(next, signal) {
      parameters = next;
      if (document.activeElement !== search) search.value = next.q || '';
      state.value = next.state || 'all';
      const answer = await get('apps', { q: next.q, state: next.state, sort: next.sort, offset: next.offset,
        limit: PAGE }, signal);
      list.set(answer.items);
      list.sorted(next.sort || 'app');
      pages.set(offset(), answer.items.length, answer.total);
      put(total, answer.total === 1 ? '1 app' : `${count(answer.total)} apps`);
    },
  };
}

function appCell(app) {
  const about = [app.credential, app.environment === 'sandbox' && 'sandbox',
    app.origin === 'redis' && 'in Redis'].filter(Boolean);
  return [link('app', { app: app.app }, name(app.app)), ' ', h('span', { class: 'muted hint' }, about.join(', '))];
}

export function stateCell(app) {
  if (!app.paused) return h('span', { class: 'muted' }, 'runs');
  const cause = { credential: 'paused by its credential', suspects: 'paused by suspect tokens',
    outage: 'paused by an outage', hand: 'paused by hand' };
  const bad = app.paused.cause !== 'hand';
  return [h('span', { class: bad ? 'bad' : 'warn' }, cause[app.paused.cause] || 'paused'),
    app.paused.reason && h('span', { class: 'muted hint' }, ' ', name(app.paused.reason))];
}
