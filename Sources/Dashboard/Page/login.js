// Asks for a token until it is one.

import { post } from './api.js';
import { h, put } from './dom.js';

/** @returns the session */
export function login(main, why) {
  return new Promise((resolve) => {
    const token = h('input', { type: 'password', id: 'token', required: true, maxlength: 512,
      autocomplete: 'current-password', 'aria-describedby': 'token-hint' });
    const complaint = h('p', { class: 'complaint', role: 'alert' }, why);
    const go = h('button', { type: 'submit', class: 'main' }, 'Log in');
    async function submit(event) {
      event.preventDefault();
      put(complaint);
      go.disabled = true;
      try {
        resolve(await post('session', { token: token.value.trim() }));
      } catch (error) {
        const text = error.message.charAt(0).toUpperCase() + error.message.slice(1);
        put(complaint, `${text}.`, error.nextStep && ` ${error.nextStep}`);
        go.disabled = false;
        token.select();
      }
    }
    put(main, h('form', { class: 'login', on: { submit } }, h('h1', null, 'Log in'),
      h('div', { class: 'field' }, h('label', { for: 'token' }, 'Your token'), token,
        h('span', { class: 'muted', id: 'token-hint' }, 'From whoever runs the fleet. Some tokens may only look.')),
      complaint, go));
    token.focus();
  });
}
