// One dead letter: why it died, what stands in it, and what can be done.

import { get, post } from './api.js';
import { notice } from './dialog.js';
import { button, h, link, name, put, visibleLines } from './dom.js';
import { purge, replay } from './replay.js';
import { ago, bytes, count } from './format.js';

export default function letter(desk) {
  const why = h('section', { class: 'why' });
  const facts = h('dl', { class: 'facts' });
  const headers = h('dl', { class: 'facts' });
  const body = h('pre', { tabindex: 0, 'aria-label': 'Body' });
  const bodyTitle = h('h2');
  const tools = h('div', { class: 'row' });
  const editor = h('section', { hidden: true });
  let value = null;
  const back = () => desk.go('dead', {});

  function edit() {
    const text = h('textarea', { id: 'edit-body', rows: 18, spellcheck: 'false', autocomplete: 'off' });
    text.value = value.body;
    const app = h('input', { id: 'edit-app', autocomplete: 'off', spellcheck: 'false', maxlength: 255 });
    app.value = value.app || '';
    const lane = h('select', { id: 'edit-lane' }, ['now', 'bulk'].map((word) => h('option', { value: word }, word)));
    lane.value = value.lane || 'now';
    const complaint = h('p', { class: 'complaint', role: 'alert' });
    const close = () => { editor.hidden = true; put(editor); tools.querySelector('.edit')?.focus(); };
    async function submit(event) {
      event.preventDefault();
      try {
        const order = { id: value.id, body: text.value, lane: lane.value };
        if (app.value.trim()) order.app = app.value.trim();
        const answer = await post('dead/edit', order);
        notice(answer.text);
        back();
      } catch (error) {
        put(complaint, error.field && h('b', null,
          `${error.field}: `), error.message, error.nextStep && ` – ${error.nextStep}`);
        (error.field === 'app' ? app : text).focus();
      }
    }
    put(editor, h('h2', null, 'Edit and replay'),
      h('form', { on: { submit } },
        h('div', { class: 'field' }, h('label', { for: 'edit-body' }, 'New body'), text),
        h('div', { class: 'filter' },
          h('div', { class: 'field' }, h('label', { for: 'edit-app' }, 'App'), app),
          h('div', { class: 'field short' }, h('label', { for: 'edit-lane' }, 'Lane'), lane)),
        complaint,
        h('div', { class: 'row' }, h('button', { type: 'submit', class: 'main' }, 'Publish this instead'),
          button('Cancel', close))));
    editor.hidden = false;
    text.focus();
  }

  function render() {
    const one = { ids: [value.id], expected: 1 };
    put(why, h('p', { class: 'lead' }, h('b', null, value.reason),
      value.apns_reason && [', Apple says ', h('b', null, name(value.apns_reason))]),
      value.detail && h('p', null, name(value.detail)), value.meaning && h('p', { class: 'muted' }, value.meaning),
      value.next_step && h('p', null, h('b', null, 'Next: '), value.next_step),
      !value.can_replay && h('p', { class: 'warn' }, 'As it is, it would die again: ',
        name(value.problem || value.reason), '. Edit it.'));
    put(tools, desk.session.may_act && [
      button('Replay…', () => replay(one, back), { class: value.can_replay ? 'main' : null }),
      value.body_encoding === 'utf8' && button('Edit and replay', edit, { class: 'edit' }),
      button('Purge…', () => purge(one, back), { class: 'danger' })],
    value.message_id && link('find', { what: value.message_id }, 'Its whole story'));
    const rows = [
      ['App', value.app && link('app', { app: value.app }, name(value.app))], ['Lane', value.lane],
        ['Field', value.field], ['Tokens', value.tokens && count(value.tokens)],
      ['Attempts', count(value.attempt)], ['First seen',
        value.first_seen_ms && [ago(value.first_seen_ms, value.time_ms), ' ago']],
      ['Died', [ago(value.died_at_ms, value.time_ms), ' ago']],
    ];
    put(facts, rows.filter(([, text]) => text).map(([label, text]) => [h('dt', null, label), h('dd', null, text)]));
    put(headers, Object.entries(value.headers).map(([label, text]) => [h('dt', null, name(label)),
      h('dd', null, name(text))]));
    put(bodyTitle, 'Body ', h('span', { class: 'muted' },
      `${bytes(value.body_bytes)}${value.body_encoding === 'base64' ? ', not UTF-8, shown as base64' : ''}`));
    body.textContent = visibleLines(value.body);
  }

  const view = {
    title: 'Dead letter',
    isStill: true,
    element: h('div', null, h('p', null, link('dead', {}, 'All dead letters')), why, tools, editor,
      h('div', { class: 'pair' }, h('section', null, h('h2', null, 'What is known'), facts),
        h('section', null, h('h2', null, 'Headers'), headers)),
      h('section', null, bodyTitle, body)),
    async load(parameters, signal) {
      value = await get('dead/letter', { id: parameters.id }, signal);
      view.title = `Dead letter ${value.message_id || ''}`;
      render();
    },
  };
  return view;
}
