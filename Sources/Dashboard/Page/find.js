// From "a user says: no push" to the reason: one message, or a token's last ones, with the whole story.

import { post } from './api.js';
import { button, h, link, name, put } from './dom.js';
import { ago, bytes, count, duration, moment, plural } from './format.js';

const FEW = 12;
const STATES = {
  waiting: 'waits', sent: 'sent, no answer so far', delivered: 'delivered', retry: 'to be tried again',
    held: 'waits for its time',
  dead_letter: 'dead-lettered', gone: 'token gone',
};
// A device token does not go into the address: those are kept by browsers.
const isToken = (text) => /^([0-9a-f]{2}){16,100}$/i.test(text);

export default function find(desk) {
  const what = h('input', { type: 'search', id: 'find-what', required: true, maxlength: 256, autocomplete: 'off',
    spellcheck: 'false', 'data-search': true });
  const token = h('input', { id: 'find-token', maxlength: 200, autocomplete: 'off', spellcheck: 'false' });
  const app = h('input', { id: 'find-app', maxlength: 255, autocomplete: 'off', spellcheck: 'false' });
  const complaint = h('p', { class: 'complaint', role: 'alert' });
  const found = h('div', { 'aria-live': 'polite' });
  let shown = null;
  let limit = 10;

  function submit(event) {
    event.preventDefault();
    limit = 10;
    const words = what.value.trim();
    if (!words) { put(complaint, 'Give a message id, a device token or a channel\'s id.'); what.focus(); return; }
    const address = isToken(words) ? {} : { what: words, app: app.value.trim() || undefined };
    shown = JSON.stringify(address);
    desk.go('find', address);
    search();
  }

  async function search(signal) {
    put(complaint);
    const order = { what: what.value.trim(), limit };
    if (token.value.trim()) order.token = token.value.trim();
    if (app.value.trim()) order.app = app.value.trim();
    try {
      render(await post('find', order, signal));
    } catch (error) {
      if (signal?.aborted) return;
      put(found);
      put(complaint, error.message, error.nextStep && ` – ${error.nextStep}`);
    }
  }

  function render(value) {
    const now = Date.now();
    const { trail } = value;
    put(found,
      !value.messages.length && h('p', { class: 'none' }, value.text || 'Nothing is known of it.'),
      value.advice?.length > 0 && h('section', { class: 'why' }, value.advice.map((advice) => [
        h('p', { class: 'lead' }, link('reasons', { q: advice.reason.replace(/^\d+ /, '') }, name(advice.reason))), h('p', null, advice.meaning),
        h('p', null, h('b', null, 'Next: '), advice.next_step)])),
      value.dead_letters?.length > 0 && h('p', { class: 'row' },
        value.dead_letters.map((id, place) => link('letter', { id },
        value.dead_letters.length > 1 ? `Show dead letter ${place + 1}` : 'Show the dead letter, to replay it'))),
      value.messages.map((message) => story(message, now)),
      value.has_more && button('Older messages', () => { limit = Math.min(100, limit * 3); search(); },
        { disabled: limit >= 100 }),
      value.unreadable > 0 && h('p', { class: 'warn' },
        `${plural(value.unreadable, 'part')} of the trail cannot be read; is the dashboard as new as the workers?`),
      trail.since_ms && h('p', { class: 'muted' }, 'The trail goes back ', ago(trail.since_ms, now),
        ', and for what went well at once ',
        ago(trail.delivered_since_ms ?? trail.since_ms, now), `; ${bytes(trail.bytes)} of ${bytes(trail.max_bytes)}.`,
        trail.lost > 0 && ` ${plural(trail.lost, 'message')} could not be written.`));
  }

  return {
    title: 'Find a message',
    isStill: true,
    element: h('div', null,
      h('form', { class: 'filter', role: 'search', on: { submit } },
        h('div', { class: 'field long' }, h('label', { for: 'find-what' }, 'Message id, device token or channel'),
          what),
        h('div', { class: 'field' }, h('label', { for: 'find-token' }, 'Only this token'), token),
        h('div', { class: 'field' }, h('label', { for: 'find-app' }, 'Only this app'), app),
        h('div', { class: 'row' }, h('button', { type: 'submit', class: 'main' }, 'Find')), complaint), found),
    focus: () => what.focus(),
    async load(parameters, signal) {
      const sign = JSON.stringify({ what: parameters.what, app: parameters.app });
      if (shown === sign || !parameters.what) return;
      shown = sign;
      what.value = parameters.what;
      app.value = parameters.app || '';
      await search(signal);
    },
  };
}

function story(message, now) {
  const at = (ms) => moment(ms, now);
  const events = [[message.published_ms, [message.broadcast ? 'broadcast published' : 'published']]];
  for (const delivery of message.deliveries) {
    events.push([delivery.received_ms, ['received by ', name(delivery.worker || 'a worker'),
      delivery.copies > 0 && `, copy ${count(delivery.copies)}`,
      delivery.redelivered && ', handed out before']]);
    if (delivery.refused_as) events.push([delivery.ended_ms,
      [h('b', { class: 'bad' }, `dead-lettered whole: ${delivery.refused_as}`)]]);
    const end = { returned: 'given back to RabbitMQ', lost: 'the connection to RabbitMQ broke; it is handed out again',
      open: 'not over when this was written' }[delivery.end];
    if (end) events.push([delivery.ended_ms, [end]]);
  }
  // Who asks about many wants to know which failed.
  const tokens = [...message.tokens].sort((left,
    right) => (left.state === 'delivered') - (right.state === 'delivered'));
  const list = h('div', { class: 'tokens' });
  const more = button(`Show all ${count(tokens.length)} tokens`,
    () => { put(list, tokens.map((token) => device(token, message, at))); more.remove(); });
  put(list, tokens.slice(0, FEW).map((token) => device(token, message, at)));
  return h('article', { class: 'story' },
    h('h2', null, name(message.message_id), message.is_cut && '…', ' ',
      message.app && h('span', { class: 'muted' }, link('app', { app: message.app }, name(message.app)),
        ` ${message.lane || ''}`)),
    h('ol', { class: 'events' }, events.map(([ms, text]) => h('li', null, at(ms), h('div', null, text)))),
    message.token_count > 1 && h('p', null, `${plural(message.token_count, 'token')}: `,
      Object.entries(message.states).map(([state, number]) => `${count(number)} ${STATES[state] || state}`).join(', ')),
    list, tokens.length > FEW && more);
}

function device(token, message, at) {
  const lines = [];
  for (const step of token.steps) {
    const worker = message.deliveries[step.delivery]?.worker;
    for (const answer of step.answers) {
      lines.push(h('li', null, at(answer.time_ms), h('div', null, `attempt ${count(answer.attempt)}: `, said(answer),
        h('span', { class: 'muted hint' },
          ` after ${duration(answer.latency_ms)}, connection ${count(answer.connection)}`,
          worker && [' of ', name(worker)]))));
    }
    const text = became(step, at);
    if (text) lines.push(h('li', null, at(step.time_ms), h('div', null, text)));
  }
  const good = token.state === 'delivered';
  return h('details', { open: !good || message.tokens.length === 1 },
    h('summary', null, h('code', null, token.token), ' ', h('span',
      { class: { dead_letter: 'bad', gone: 'bad', delivered: 'muted' }[token.state] || 'warn' },
      STATES[token.state] || token.state)),
    token.apns_id && h('p', { class: 'muted' }, 'apns-id ', h('code', null, token.apns_id)),
    h('ol', { class: 'events' }, lines));
}

function said(answer) {
  if (answer.status === 200) return 'accepted by Apple';
  if (answer.status) return [`Apple answered ${answer.status} `,
    answer.apns_reason && link('reasons', { q: answer.apns_reason }, name(answer.apns_reason))];
  if (answer.unanswered) return ['no answer: ', name(answer.unanswered),
    answer.may_be_sent ? ', Apple may have had it' : ', certainly not processed'];
  return 'answered, but the trail does not know how any more';
}

function became(step, at) {
  switch (step.state) {
    case 'delivered': return null;
    case 'retry': return ['to be tried again', step.due_ms && [' at about ', at(step.due_ms)],
      step.cause && [': ', name(step.cause)]];
    case 'held': return ['waits for its not_before', step.due_ms && [' until ', at(step.due_ms)]];
    case 'dead_letter': return [h('b', { class: 'bad' }, 'dead-lettered'),
      step.reason && [': ', link('reasons', { q: step.reason }, step.reason)]];
    case 'gone': return [h('b', { class: 'bad' }, 'the token is gone'), ', told on pushfleet.feedback',
      step.invalid_since_ms && ['; invalid since ', at(step.invalid_since_ms), ', says Apple']];
    case 'sent': return 'sent; no answer so far';
    default: return step.returned ? 'given back, not sent' : 'waits to be sent';
  }
}
