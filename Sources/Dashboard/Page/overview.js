// The fleet at a glance. Comes with the stream; asked for only once.

import { get } from './api.js';
import { chart, sparkline } from './chart.js';
import { h, link, name, put, say } from './dom.js';
import { brief, count, duration } from './format.js';
import { table } from './table.js';

const OUTCOMES = [
  ['received', 'Received', 'messages taken from RabbitMQ'],
  ['delivered', 'Delivered', 'pushes that Apple accepted'],
  ['retried', 'Retried', 'put back for another attempt'],
  ['dead_lettered', 'Dead-lettered', 'given up, with a reason'],
  ['expired', 'Expired', 'of these, too late'],
  ['tokens_gone', 'Tokens gone', 'told on the feedback exchange'],
  ['suspect_tokens', 'Suspect tokens', 'may mean a wrong environment'],
  ['possible_duplicates', 'Possible duplicates', 'may arrive twice'],
];

const VIEWS = { apps: 'Apps', budget: 'Budget', retries: 'Retries', dead: 'Dead letters', reasons: 'Reasons',
  credentials: 'Credentials' };

export default function overview() {
  const findings = h('ul', { class: 'findings' });
  const calm = h('p', { class: 'calm' }, 'Nothing needs attention.');
  const tiles = ['delivered', 'waiting', 'latency', 'dead'].reduce((all, key) => ({ ...all, [key]: tile() }), {});
  const flow = chart('Delivered per minute', [{ key: 'delivered', label: 'delivered', class: 'one' }], brief);
  // On a scale of its own: it would lie flat below what went well.
  const trouble = chart('Retried and dead per minute', [
    { key: 'retried', label: 'retried', class: 'two' },
    { key: 'dead_lettered', label: 'dead', class: 'three' },
  ], brief);
  const speed = chart('Apple\'s answers', [
    { key: 'apns_p50_ms', label: 'half', class: 'one' },
    { key: 'apns_p99_ms', label: '99 %', class: 'two' },
  ], duration);
  const outcomes = table([
    { label: 'Outcome', cell: ([, label, hint]) => [label, ' ', h('span', { class: 'muted hint' }, hint)],
      sign: ([key]) => key, kind: 'wide' },
    { label: 'Last minute', cell: ([key]) => count(known?.outcomes?.[key]?.minute), kind: 'number' },
    { label: 'Last hour', cell: ([key]) => count(known?.outcomes?.[key]?.hour), kind: 'number' },
    { label: 'Total', cell: ([key]) => count(known?.outcomes?.[key]?.total), kind: 'number' },
  ], { caption: 'Outcomes', key: ([key]) => key });
  const latencies = table([
    { label: 'In the last hour', cell: ([, label]) => label, kind: 'wide' },
    ...[['50 %', 'p50_ms'], ['95 %', 'p95_ms'], ['99 %', 'p99_ms']].map(([label, key]) => (
      { label, cell: ([which]) => duration(known?.[which]?.[key]), kind: 'number' })),
  ], { caption: 'Latency', key: ([which]) => which });
  const ages = table([
    { label: 'Oldest message', cell: ([, label]) => label, kind: 'wide' },
    { label: 'Waits for', cell: ([key]) => duration(known?.oldest?.[key]), kind: 'number' },
  ], { caption: 'The oldest message in each place', key: ([key]) => key });
  const busiest = table([
    { label: 'App', cell: (app) => link('app', { app: app.app }, name(app.app)), sign: (app) => app.app, kind: 'wide' },
    { label: 'Half an hour', cell: (app) => app.series && sparkline(app.series, 'Delivered'),
      sign: (app) => (app.series || []).join(), kind: 'drawn' },
    { label: 'Last minute', cell: (app) => count(app.delivered_minute), kind: 'number' },
    { label: 'Waiting', cell: (app) => count(app.waiting), kind: 'number' },
  ], { caption: 'Busiest apps', key: (app) => app.app, empty: 'No app has sent anything.' });
  const reasons = table([
    { label: 'Reason', cell: (row) => link('reasons', { q: row.reason }, name(row.reason)), sign: (row) => row.reason,
      kind: 'wide' },
    { label: 'What', cell: (row) => row.kind.replace('_', '-'), kind: 'word' },
    { label: 'Last hour', cell: (row) => count(row.hour), kind: 'number' },
    { label: 'Total', cell: (row) => count(row.total), kind: 'number' },
  ], { caption: 'Most frequent reasons', key: (row) => `${row.kind} ${row.reason}`, empty: 'Apple refused nothing.' });
  let known = null;

  function tile() {
    const parts = { title: h('h2'), value: h('p', { class: 'value' }), note: h('p', { class: 'muted' }),
      drawing: h('div', { class: 'drawing' }) };
    return { ...parts, element: h('section', { class: 'tile' }, parts.title, parts.value, parts.drawing, parts.note) };
  }

  function setTile(part, title, value, note, series, label) {
    say(part.title, title);
    say(part.value, value);
    say(part.note, note);
    const sign = series ? series.join() : '';
    if (part.sign === sign) return;
    part.sign = sign;
    put(part.drawing, series && sparkline(series, label));
  }

  function render(value) {
    known = value;
    const { counts = {}, oldest = {}, series = {}, outcomes: done = {}, apns_latency: latency = {} } = value;
    const sign = JSON.stringify(value.findings);
    if (findings.sign !== sign) {
      findings.sign = sign;
      put(findings, value.findings.map((finding) => h('li', { class: finding.state },
        h('span', { class: 'mark' }, finding.state === 'fail' ? 'Now' : 'Soon'),
        h('div', null, h('b', null, name(finding.subject)), ' ', finding.text,
          finding.fix && h('span', { class: 'muted' }, ` ${finding.fix}`)),
        finding.app ? link('app', { app: finding.app },
          'Look at it') : finding.view && VIEWS[finding.view] && link(finding.view, {}, VIEWS[finding.view]))));
      calm.hidden = value.findings.length > 0;
      findings.hidden = !value.findings.length;
    }
    setTile(tiles.delivered, 'Delivered in a minute', brief(done.delivered?.minute),
      counts.in_flight === undefined ? 'not known' : `${count(counts.in_flight)} at Apple now`, series.delivered,
        'Delivered');
    const age = Math.max(...[oldest.now_ms, oldest.bulk_ms].map((ms) => (typeof ms === 'number' ? ms : -1)));
    setTile(tiles.waiting, 'Waiting', brief(counts.waiting),
      age >= 0 ? `the oldest for ${duration(age)}` : counts.waiting === undefined ? 'not known' : 'nothing waits',
        series.oldest_ms, 'Oldest age in ms');
    const [half, most] = [series.apns_p50_ms?.at(-1), series.apns_p99_ms?.at(-1)];
    setTile(tiles.latency, 'Apple answers within', duration(half ?? latency.p50_ms),
      (most ?? latency.p99_ms) === undefined ? 'not known' : `99 of 100 within ${duration(most ?? latency.p99_ms)}`,
      series.apns_p50_ms, 'Milliseconds');
    setTile(tiles.dead, 'Dead letters', brief(counts.dead),
      done.dead_lettered?.hour === undefined ? 'not known since when' : `${count(done.dead_lettered.hour)} in the last hour`,
        series.dead_lettered, 'Dead-lettered');
    for (const drawing of [flow, trouble, speed]) {
      drawing.element.hidden = !value.series;
      drawing.set(value.series);
    }
    outcomes.set(OUTCOMES);
    latencies.set([['apns_latency', 'Apple\'s answer'], ['end_to_end', 'From publishing to acceptance']]);
    ages.set([['now_ms', 'Lane now'], ['bulk_ms', 'Lane bulk'], ['delayed_ms', 'In the retry ladder'],
      ['dead_ms', 'Dead letters']]);
    lower.hidden = !value.busiest && !value.reasons;
    busiest.set(value.busiest || []);
    reasons.set(value.reasons || []);
  }

  const lower = h('div', { class: 'pair' },
    h('section', null, h('h2', null, 'Busiest apps'), busiest.element),
    h('section', null, h('h2', null, 'Most frequent reasons'), reasons.element));
  const element = h('div', null,
    h('section', { 'aria-label': 'What needs attention' }, calm, findings),
    h('div', { class: 'tiles' }, Object.values(tiles).map((part) => part.element)),
    h('div', { class: 'pair three' }, flow.element, trouble.element, speed.element),
    h('div', { class: 'pair uneven' },
      h('section', null, h('h2', null, 'Outcomes'), outcomes.element),
      h('section', null, h('h2', null, 'Latency'), latencies.element, h('h2', null, 'Age'), ages.element)),
    lower);

  return { title: 'Overview', element, isStreamed: true, live: render,
    async load(_, signal) { render(await get('overview', {}, signal)); } };
}
