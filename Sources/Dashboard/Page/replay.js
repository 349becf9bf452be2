// Replay and purge, of one dead letter or of many.

import { post } from './api.js';
import { ask, attempt } from './dialog.js';
import { count, plural } from './format.js';

/** @param selection { ids, expected } or { filter, expected } */
export async function replay(selection, done) {
  const many = selection.expected;
  const values = await ask({
    title: `Replay ${plural(many, 'dead letter')}?`,
    text: 'Each is published again as it is, and leaves the dead letters when RabbitMQ has confirmed it. Whatever killed it kills it '
      + 'again unless it is gone.',
    fields: many > 1 ? [{
      name: 'rate', label: 'Messages a second', type: 'text', value: '500',
        hint: 'Slow enough for the apps\' rates and for Apple.',
      check: (text) => (/^\d{1,6}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= 100_000 ? '' : 'The rate is a number from 1 to 100,000.'),
    }] : [],
    confirm: `Replay ${count(many)}`,
  });
  if (!values) return false;
  const order = { ...selection };
  if (values.rate) order.rate_per_s = Number(values.rate);
  const isDone = await attempt(async () => { await post('dead/replay',
    order); return { text: `Replaying ${plural(many, 'dead letter')}.` }; });
  if (isDone) done();
  return isDone;
}

export async function purge(selection, done) {
  const many = selection.expected;
  const values = await ask({
    title: `Purge ${plural(many, 'dead letter')}?`,
    text: ['They are deleted for good: nobody can replay them afterwards, and nothing was sent for them.',
      'To keep a copy, use pushfleet dead export first.'],
    typed: `purge ${many}`, confirm: `Purge ${count(many)}`, isDanger: true,
  });
  if (!values) return false;
  const isDone = await attempt(async () => { await post('dead/purge',
    selection); return { text: `Purging ${plural(many, 'dead letter')}.` }; });
  if (isDone) done();
  return isDone;
}
