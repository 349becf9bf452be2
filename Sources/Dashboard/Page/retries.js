// The retry ladder, and every other place where messages wait.

import { get } from './api.js';
import { bar } from './chart.js';
import { h, link, name } from './dom.js';
import { count, duration, exactly } from './format.js';
import { table } from './table.js';

const KINDS = {
  work: 'to be sent', dead: 'given up, for people to decide', feedback: 'dead tokens, for backends to read',
  suspect: 'suspect tokens, for backends to read', receipts: 'receipts, for backends to read',
    unrouted: 'no queue took it',
};

export default function retries() {
  let most = 1;
  const ladder = table([
    { label: 'Tried again after', cell: (row) => exactly(row.delay_ms), kind: 'number' },
    { label: 'Messages', cell: (row) => count(row.messages), kind: 'number' },
    { label: 'Share', cell: (row) => bar(row.messages || 0, most, 0,
      `${row.messages || 0} messages`), sign: (row) => `${row.messages} ${most}`, kind: 'drawn long' },
    { label: 'Oldest', cell: (row) => duration(row.oldest_ms), kind: 'number' },
    { label: 'Queue', cell: (row) => h('code', null, `pushfleet.delay.${row.name}`), sign: (row) => row.name },
    { label: 'Note', cell: late, sign: (row) => `${row.messages} ${row.oldest_ms}` },
  ], { caption: 'Retry ladder', key: (row) => row.name, empty: 'No delay queue: run pushfleet topology declare.' });
  const queues = table([
    { label: 'Queue', cell: (row) => (row.kind === 'dead' ? link('dead', {}, name(row.name)) : name(row.name)),
      sign: (row) => row.name, kind: 'wide' },
    { label: 'What', cell: (row) => KINDS[row.kind] || row.kind },
    { label: 'Messages', cell: (row) => count(row.messages), kind: 'number' },
    { label: 'Oldest', cell: (row) => duration(row.oldest_ms), kind: 'number' },
    { label: 'Consumers', cell: (row) => count(row.consumers), kind: 'number' },
  ], { caption: 'Other queues', key: (row) => row.name });
  return {
    title: 'Retries and queues',
    element: h('div', null,
      h('section', null, h('h2', null, 'Retry ladder'),
        h('p', { class: 'muted' },
          'A message that failed for a passing reason waits in the queue of its delay, and then goes back to its app\'s queue.'), ladder.element),
      h('section', null, h('h2', null, 'Other queues'), queues.element)),
    async load(_, signal) {
      const answer = await get('ladder', {}, signal);
      most = Math.max(1, ...answer.levels.map((row) => row.messages || 0));
      ladder.set(answer.levels);
      queues.set(answer.queues);
    },
  };
}

function late(row) {
  if (row.messages === undefined) return h('span', { class: 'bad' }, 'the queue is missing');
  return row.oldest_ms > row.delay_ms * 1.5 + 60_000 ? h('span', { class: 'warn' }, 'waits longer than its delay') : '';
}
