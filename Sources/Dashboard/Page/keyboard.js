// Letters as short ways; everything can be reached with the tabulator as well. They can be switched off (WCAG 2.1.4).

import { h } from './dom.js';

export function letters({ pages, go, search, help, button }) {
  let isOn = true;
  try { isOn = localStorage.getItem('pushfleet.letters') !== 'off'; } catch { /* no storage: on */ }
  let after = 0;

  function tell() {
    const box = h('input', { type: 'checkbox' });
    box.checked = isOn;
    box.addEventListener('change', () => {
      isOn = box.checked;
      try { localStorage.setItem('pushfleet.letters', isOn ? 'on' : 'off'); } catch { /* for this visit, then */ }
    });
    const rows = [['/', 'the search field of this page'], ['?', 'this list'],
      ...pages.map((page) => [`g ${page.key}`, page.title])];
    help(h('div', null,
      h('p', null, 'Everything can be reached with Tab and Enter; Escape closes. In charts the arrow keys move along the minutes.'),
      h('dl', { class: 'facts keys' },
        rows.map(([keys, text]) => [h('dt', null, h('kbd', null, keys)), h('dd', null, text)])),
      h('label', { class: 'check' }, box, ' these letters are in use')));
  }

  button.addEventListener('click', tell);
  addEventListener('keydown', (event) => {
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest('input, textarea, select, dialog')) return;
    const page = Date.now() - after < 1500 && pages.find((one) => one.key === event.key);
    after = 0;
    if (page) { event.preventDefault(); go(page.name); return; }
    if (event.key === 'g') after = Date.now();
    if (event.key === '/') { event.preventDefault(); search(); }
    if (event.key === '?') { event.preventDefault(); tell(); }
  });
}
