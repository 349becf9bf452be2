// One app: lanes, reasons, settings, and its pause.

import { get } from './api.js';
import { stateCell } from './apps.js';
import { chart } from './chart.js';
import { h, link, name, put } from './dom.js';
import { ago, brief, count, duration, moment, UNKNOWN } from './format.js';
import { pauseTools } from './pausing.js';
import { table } from './table.js';

const counter = (label, key) => [label, (lane) => count(lane.counters[key])];
const MEASURES = [
  ['Waiting', (lane) => count(lane.waiting)], ['Oldest', (lane) => duration(lane.oldest_ms)],
    ['At Apple now', (lane) => count(lane.in_flight)],
  ['Consumers', (lane) => count(lane.consumers)], counter('Received', 'received'), counter('Delivered', 'delivered'),
  counter('Retried', 'retried'), counter('Dead-lettered', 'dead_lettered'), counter('Tokens gone', 'tokens_gone'),
  counter('Waited for the rate', 'rate_limited'), counter('Possible duplicates', 'possible_duplicates'),
  ['Apple\'s answer, 50 %', (lane) => duration(lane.apns_latency.p50_ms)],
    ['Apple\'s answer, 99 %', (lane) => duration(lane.apns_latency.p99_ms)],
  ['From publishing, 50 %', (lane) => duration(lane.end_to_end.p50_ms)],
    ['From publishing, 99 %', (lane) => duration(lane.end_to_end.p99_ms)],
];

export default function app(desk) {
  const head = h('section', { class: 'row between' });
  const pause = h('p');
  const flow = chart('Delivered per minute', [{ key: 'delivered', label: 'delivered', class: 'one' }], brief);
  const trouble = chart('Retried and dead per minute', [
    { key: 'retried', label: 'retried', class: 'two' },
    { key: 'dead_lettered', label: 'dead', class: 'three' },
  ], brief);
  let lanes = [];
  const lane = (word) => lanes.find((one) => one.lane === word);
  const column = (word) => ({ label: `Lane ${word}`, cell: ([, read]) => (lane(word) ? read(lane(word)) : UNKNOWN),
    kind: 'number' });
  const measures = table([{ label: 'Now, and counts since the first message', cell: ([label]) => label, kind: 'wide' },
    column('now'), column('bulk')],
    { caption: 'Lanes', key: ([label]) => label });
  const reasons = table([
    { label: 'Reason', cell: (row) => link('reasons', { q: row.reason }, name(row.reason)), sign: (row) => row.reason,
      kind: 'wide' },
    { label: 'What', cell: (row) => row.kind.replace('_', '-'), kind: 'word' },
    { label: 'Last hour', cell: (row) => count(row.hour), kind: 'number' },
    { label: 'Total', cell: (row) => count(row.total), kind: 'number' },
  ], { caption: 'Reasons', key: (row) => `${row.kind} ${row.reason}`, empty: 'Apple refused nothing.' });
  const settings = h('dl', { class: 'facts' });
  const about = h('p', { class: 'muted' });
  const view = {
    title: 'App',
    element: h('div', null, h('p', null, link('apps', {}, 'All apps')), head, pause,
      h('div', { class: 'pair' }, flow.element, trouble.element),
      h('div', { class: 'pair' }, h('section', null, h('h2', null, 'Lanes'), measures.element),
        h('div', null, h('section', null, h('h2', null, 'Reasons'), reasons.element),
          h('section', null, h('h2', null, 'Settings'), settings)))),
    async load(parameters, signal) {
      const value = await get('app', { app: parameters.app }, signal);
      view.title = value.app;
      put(about, [value.credential && `credential ${value.credential}`, value.environment,
        value.origin && (value.origin === 'redis' ? 'kept in Redis' : 'from the file')].filter(Boolean).join(', '));
      const sign = JSON.stringify([value.app, value.paused]);
      if (head.sign !== sign) {
        head.sign = sign;
        put(head, about, h('div', { class: 'row' }, link('dead', { app: value.app }, 'Its dead letters'),
          desk.session.may_act && pauseTools(desk, value)));
      }
      const { paused } = value;
      put(pause, paused && [stateCell(value), ' by ', name(paused.by), ' for ', ago(paused.since_ms, value.time_ms),
        paused.until_ms && [paused.cause === 'hand' ? ', until ' : ', next probe ',
          moment(paused.until_ms, value.time_ms)],
        paused.probed_by && [', probed by ', name(paused.probed_by)]]);
      for (const drawing of [flow, trouble]) {
        drawing.element.hidden = !value.minutes;
        drawing.set(value.minutes);
      }
      lanes = value.lanes;
      measures.set(MEASURES);
      reasons.set(value.reasons);
      put(settings, Object.entries(value.settings).map(([key, text]) => [h('dt', null, key),
        h('dd', null, name(text))]));
    },
  };
  return view;
}
