// Replays and purges, and who did what.

import { get, post } from './api.js';
import { bar } from './chart.js';
import { attempt } from './dialog.js';
import { button, h, name } from './dom.js';
import { count, duration, moment } from './format.js';
import { table } from './table.js';

export function progress(job) {
  const settled = job.done + job.failed + job.skipped;
  return bar(settled, Math.max(1, job.total), 0, `${settled} of ${job.total}`);
}

export function stopTool(desk, job) {
  return job.state === 'running' && desk.session.may_act
    && button('Stop', async () => { await attempt(() => post('job/stop', { id: job.id })); desk.refresh(); },
      { 'aria-label': `Stop the ${job.kind}` });
}

export default function activity(desk) {
  let now = Date.now();
  const jobs = table([
    { label: 'Job', cell: (row) => [`${row.kind} of `, name(row.what || 'dead letters')], sign: (row) => row.id,
      kind: 'wide' },
    { label: 'By', cell: (row) => name(row.user), sign: (row) => row.user },
    { label: 'Began', cell: (row) => moment(row.started_at_ms, now), sign: (row) => `${row.started_at_ms}` },
    { label: 'Progress', cell: progress, sign: (row) => `${row.done} ${row.failed} ${row.skipped}`, kind: 'drawn' },
    { label: 'Done', cell: (row) => `${count(row.done)} of ${count(row.total)}`, kind: 'number' },
    { label: 'Failed', cell: (row) => count(row.failed), kind: 'number' },
    { label: 'Skipped', cell: (row) => count(row.skipped), kind: 'number' },
    { label: 'State', cell: (row) => h('span', { class: row.state === 'failed' ? 'bad' : 'muted' }, state(row)),
      sign: state },
    { label: 'Actions', hidden: true, cell: (row) => stopTool(desk, row), sign: (row) => row.state, kind: 'tools' },
  ], { caption: 'Replays and purges', key: (row) => row.id, empty: 'No replay or purge today.' });
  const actions = table([
    { label: 'When', cell: (row) => moment(row.time_ms, now), sign: (row) => `${row.time_ms}` },
    { label: 'Who', cell: (row) => name(row.user), sign: (row) => row.user },
    { label: 'What', cell: (row) => row.action },
    { label: 'On', cell: (row) => name(row.target || ''), sign: (row) => row.target || '', kind: 'wide' },
    { label: 'Outcome', cell: (row) => h('span', { class: row.outcome === 'ok' ? 'muted' : 'warn' }, row.outcome),
      sign: (row) => row.outcome },
    { label: 'Detail', cell: (row) => name(row.detail || ''), sign: (row) => row.detail || '' },
  ], { caption: 'Actions', key: (row) => `${row.time_ms} ${row.user} ${row.action} ${row.target}`,
    empty: 'Nobody has done anything.' });
  return {
    title: 'Activity',
    element: h('div', null, h('section', null, h('h2', null, 'Replays and purges'), jobs.element),
      h('section', null, h('h2', null, 'Who did what'), actions.element)),
    jobs(value) { jobs.set(value.items); },
    async load(_, signal) {
      const [some, all] = await Promise.all([get('jobs', {}, signal), get('actions', {}, signal)]);
      now = all.time_ms;
      jobs.set(some.items);
      actions.set(all.items);
    },
  };
}

function state(row) {
  if (row.state === 'failed') return `failed: ${row.error || 'no reason was given'}`;
  const text = row.ended_at_ms ? `${row.state} after ${duration(row.ended_at_ms - row.started_at_ms)}` : row.state;
  return row.error ? `${text}; ${row.error}` : text;
}
