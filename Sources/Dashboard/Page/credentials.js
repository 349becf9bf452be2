// Keys and certificates: whose, how long, and whether Apple takes them.

import { get } from './api.js';
import { h, link, name } from './dom.js';
import { count, until } from './format.js';
import { table } from './table.js';

export default function credentials() {
  let now = Date.now();
  const list = table([
    { label: 'Credential', cell: (row) => [h('b', null, name(row.name)), ' ',
      h('span', { class: 'muted hint' }, row.environment)], sign: (row) => row.name + row.environment, kind: 'wide' },
    { label: 'What', cell: what, sign: (row) => JSON.stringify([row.kind, row.team_id, row.key_id, row.subject]),
      kind: 'wide' },
    { label: 'Ends', cell: (row) => (row.expires_at_ms ? until(row.expires_at_ms, now) : h('span', { class: 'muted' },
      'never')), sign: (row) => `${row.expires_at_ms} ${Math.floor(now / 3_600_000)}` },
    { label: 'Apps', cell: (row) => link('apps', { q: row.name }, count(row.apps)), sign: (row) => `${row.apps}`,
      kind: 'number' },
    { label: 'Paused', cell: (row) => count(row.paused_apps), kind: 'number' },
    { label: 'Connections', cell: (row) => link('budget', { pool: row.pool }, count(row.max_connections)),
      sign: (row) => `${row.max_connections}`, kind: 'number' },
    { label: 'State', cell: state, sign: (row) => JSON.stringify([row.state, row.text, row.fix]), kind: 'text' },
  ], { caption: 'Credentials', key: (row) => `${row.name} ${row.pool}`, empty: 'No credential is configured.' });
  return {
    title: 'Credentials',
    element: h('div', null, list.element),
    async load(_, signal) {
      const answer = await get('credentials', {}, signal);
      now = answer.time_ms;
      list.set(answer.items);
    },
  };
}

function what(row) {
  return row.kind === 'key'
    ? ['signing key ', h('code', null, row.key_id || ''), ' of team ', h('code', null, row.team_id || '')]
    : ['certificate of ', name(row.subject || '')];
}

function state(row) {
  if (row.state === 'ok') return h('span', { class: 'muted' }, 'in order');
  return [h('span', { class: row.state === 'fail' ? 'bad' : 'warn' }, row.text || row.state),
    row.fix && h('span', { class: 'muted' }, ` ${row.fix}`)];
}
