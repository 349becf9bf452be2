// Questions before anything is done, and what is said afterwards.

import { h, put, button } from './dom.js';

/**
 * Asks, and gives what was typed by field, or null.
 * @param question { title, text, fields: [{ name, label, type, value, hint, check(text) → complaint }], confirm, isDanger,
 *   typed: what must be typed to go on }
 */
export function ask(question) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const inputs = (question.fields || []).map((field) => {
      const hint = h('span', { class: 'muted', id: `hint-${field.name}` }, field.hint || '');
      const input = h('input', {
        id: `ask-${field.name}`, type: field.type || 'text', value: field.value, autocomplete: 'off',
          spellcheck: 'false',
        maxlength: 500, 'aria-describedby': hint.id,
      });
      return { field, input, hint, element: h('div', { class: 'field' }, h('label', { for: input.id }, field.label),
        input, hint) };
    });
    const typed = question.typed
      ? h('input', { id: 'ask-typed', autocomplete: 'off', spellcheck: 'false' }) : null;
    const go = h('button', { type: 'submit', class: question.isDanger ? 'danger' : 'main' }, question.confirm);
    const complaint = h('p', { class: 'complaint', role: 'alert' });
    const form = h(
      'form', { on: { submit } },
      h('h2', { id: 'ask-title' }, question.title),
      [question.text].flat().map((text) => h('p', null, text)),
      inputs.map((input) => input.element),
      typed && h('div', { class: 'field' }, h('label', { for: 'ask-typed' }, 'Type ', h('code', null, question.typed),
        ' to go on'), typed),
      complaint,
      h('div', { class: 'row end' }, button('Cancel', () => end(null)), go),
    );
    const dialog = h('dialog', { 'aria-labelledby': 'ask-title',
      on: { cancel: (event) => { event.preventDefault(); end(null); } } }, form);
    if (typed) {
      go.disabled = true;
      typed.addEventListener('input', () => { go.disabled = typed.value.trim() !== question.typed; });
    }

    function submit(event) {
      event.preventDefault();
      if (typed && typed.value.trim() !== question.typed) return;
      const values = {};
      for (const { field, input } of inputs) {
        const wrong = field.check?.(input.value);
        if (wrong) { put(complaint, wrong); input.focus(); return; }
        values[field.name] = input.value;
      }
      end(values);
    }

    function end(values) {
      dialog.close();
      dialog.remove();
      if (before && before.isConnected) before.focus();
      resolve(values);
    }

    document.body.append(dialog);
    dialog.showModal();
    (inputs[0]?.input || typed || form.querySelector('button')).focus();
  });
}

/** Shows something in a dialog until it is closed. */
export function show(title, ...children) {
  const before = document.activeElement;
  const dialog = h('dialog', { 'aria-labelledby': 'show-title',
    on: { close: () => { dialog.remove(); before?.focus(); } } },
    h('h2', { id: 'show-title' }, title), children, h('div', { class: 'row end' },
      button('Close', () => dialog.close())));
  document.body.append(dialog);
  dialog.showModal();
}

/** One sentence at the page's foot; bad news stay until they are closed. */
export function notice(text, problem) {
  const box = document.getElementById('notices');
  const element = h('div', { class: problem ? 'notice bad' : 'notice', role: problem ? 'alert' : null },
    h('p', null, text, problem?.nextStep && h('span', { class: 'muted' }, ` ${problem.nextStep}`)),
    button('Close', () => element.remove(), { class: 'quiet' }));
  while (box.children.length > 1) box.firstElementChild.remove();
  box.append(element);
  if (!problem) setTimeout(() => element.remove(), 6000);
}

/** Does something and says how it went. True if it worked. */
export async function attempt(act) {
  try {
    const answer = await act();
    if (answer?.text) notice(answer.text);
    return true;
  } catch (error) {
    const text = error.message.charAt(0).toUpperCase() + error.message.slice(1);
    notice(/[.!?]$/.test(text) ? text : `${text}.`, error);
    return false;
  }
}
