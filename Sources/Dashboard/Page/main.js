// Login, pages, the stream, and what is always there.

import * as api from './api.js';
import { progress, stopTool } from './activity.js';
import { notice, show } from './dialog.js';
import { address, button, h, link, name, put, say } from './dom.js';
import { count } from './format.js';
import { letters } from './keyboard.js';
import { follow } from './live.js';
import { login } from './login.js';
import { PAGES, VIEWS } from './pages.js';

const $ = (id) => document.getElementById(id);
const main = $('main');
const REFRESH_MS = 4000;
let session = null;
let stop = null;
let view = null;
let place = { name: '', parameters: {} };
let loading = null;
let lastLoad = 0;
let latest = null;

const desk = {
  get session() { return session; },
  /** Goes to a view. @param replace no new entry in the history: a filter while it is typed */
  go(viewName, parameters = {}, replace = false) {
    const next = address(viewName, parameters);
    if (next === location.hash) { desk.refresh(); return; }
    if (replace) { history.replaceState(null, '', next); route(); } else { location.hash = next; }
  },
  refresh() { if (view) load(); },
};

// MARK: Pages

function route() {
  if (!session) return;
  const [, viewName = '', query = ''] = /^#\/([a-z]*)(?:\?(.*))?$/.exec(location.hash) || [];
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const known = Object.hasOwn(VIEWS, viewName) ? viewName : 'overview';
  const isNew = known !== place.name || ['app', 'letter'].includes(known);
  place = { name: known, parameters };
  closeMenu();
  if (isNew) {
    view = VIEWS[known](desk);
    view.name = known;
    const title = h('h1', { tabindex: -1, id: 'title' }, view.title);
    put(main, title, h('div', { id: 'problem', class: 'problem', role: 'alert', hidden: true }), view.element);
    if (document.activeElement === document.body || document.activeElement?.closest('nav, main')) title.focus({ preventScroll: true });
    scrollTo(0, 0);
    if (view.isStreamed && latest) view.live(latest);
    view.focus?.();
  }
  for (const item of document.querySelectorAll('#pages a')) {
    const isHere = item.dataset.page === (PAGES.find((page) => page.name === known || page.parts?.includes(known)) || {}).name;
    if (isHere) item.setAttribute('aria-current', 'page'); else item.removeAttribute('aria-current');
  }
  load();
}

async function load() {
  loading?.abort();
  const mine = loading = new AbortController();
  const shown = view;
  lastLoad = Date.now();
  main.setAttribute('aria-busy', 'true');
  try {
    await shown.load(place.parameters, mine.signal);
    if (mine.signal.aborted) return;
    tellProblem(null);
    say($('title'), shown.title);
    document.title = `${shown.title} – ${session.fleet ? `${session.fleet} – ` : ''}PushFleet`;
  } catch (error) {
    if (!mine.signal.aborted && session) tellProblem(error);
  } finally {
    if (loading === mine) {
      loading = null;
      main.removeAttribute('aria-busy');
      main.dataset.loaded = place.name;
    }
  }
}

function tellProblem(error) {
  const box = $('problem');
  if (!box) return;
  box.hidden = !error;
  const text = error ? error.message : '';
  if (box.sign === text) return;
  box.sign = text;
  put(box, error && [h('p', null, h('b', null, text.charAt(0).toUpperCase() + text.slice(1)),
    error.nextStep && ` – ${error.nextStep}`), button('Try again', load)]);
}

// MARK: The stream

const SAID = { live: 'live', late: 'no news for 10 s', away: 'connecting…' };

function listen() {
  stop?.();
  stop = follow({
    overview(value) {
      latest = value;
      const missing = Object.entries(value.sources).filter(([,
        source]) => !source.ok).map(([source]) => (source === 'redis' ? 'Redis' : 'RabbitMQ'));
      tellState(missing.length ? 'bad' : 'live', missing.length ? `${missing.join(' and ')} away` : SAID.live);
      if (!view || document.hidden) return;
      if (view.isStreamed) { view.live(value); tellProblem(null); return; }
      // What is being read, or written, stays as it is.
      if (view.isStill || loading || document.querySelector('dialog[open]') || Date.now() - lastLoad < REFRESH_MS) return;
      load();
    },
    jobs(value) { tellJobs(value.items); view?.jobs?.(value); },
    session() { enter('Your session is over.'); },
    state(next) { if (next !== 'live') tellState(next, SAID[next]); },
    check() { api.get('session').catch((error) => { if (error.status === 401) enter('Your session is over.'); }); },
  });
}

function tellState(kind, text) {
  $('state').className = `state ${kind}`;
  say($('state'), text);
}

let jobRows = '';

function tellJobs(items) {
  const running = items.filter((job) => job.state === 'running').slice(0, 3);
  const box = $('jobs');
  const rows = running.map((job) => job.id).join();
  if (rows !== jobRows) {
    jobRows = rows;
    put(box, running.map((job) => h('div', { class: 'job' }, h('span'), h('span', { class: 'drawn' }),
      link('activity', {}, 'Activity'), stopTool(desk, job))));
  }
  running.forEach((job, index) => {
    const [text, drawing] = box.children[index].children;
    say(text, `${job.kind}: ${count(job.done)} of ${count(job.total)}`);
    put(drawing, progress(job));
  });
}

// MARK: Who is there

async function enter(why) {
  stop?.();
  stop = null;
  session = null;
  view = null;
  loading?.abort();
  latest = null;
  tellJobs([]);
  document.querySelector('dialog[open]')?.remove();
  $('side').hidden = $('menu').hidden = true;
  tellState('', '');
  put($('notices'));
  put($('user'));
  say($('fleet'), '');
  document.title = 'PushFleet';
  delete main.dataset.loaded;
  api.begin(null, () => {});
  welcome(await login(main, why));
}

function welcome(value) {
  session = value;
  api.begin(session, () => { if (session) enter('Your session is over.'); });
  say($('fleet'), session.fleet || '');
  put($('user'), name(session.user), session.may_act ? ', may act' : ', may only look');
  $('user').title = `PushFleet ${session.version}`;
  $('logout').hidden = session.login !== 'token';
  $('side').hidden = $('menu').hidden = false;
  closeMenu();
  place = { name: '', parameters: {} };
  listen();
  route();
}

$('logout').addEventListener('click', async () => {
  try {
    await api.remove('session');
    enter('You are logged out.');
  } catch (error) {
    notice(`${error.message}.`, error);
  }
});

// MARK: What is always there

function closeMenu() {
  $('menu').setAttribute('aria-expanded', 'false');
  $('side').classList.remove('open');
}

$('menu').addEventListener('click', () => {
  const isOpen = $('side').classList.toggle('open');
  $('menu').setAttribute('aria-expanded', String(isOpen));
  if (isOpen) $('pages').querySelector('a').focus();
});
$('side').addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && $('side').classList.contains('open')) { closeMenu(); $('menu').focus(); }
});
$('skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });
put($('pages'), PAGES.map((page) => h('li', null, h('a',
  { href: address(page.name), 'data-page': page.name, 'aria-keyshortcuts': `g ${page.key}` }, page.title))));

$('theme').value = document.documentElement.dataset.theme || 'auto';
$('theme').addEventListener('change', () => {
  const theme = $('theme').value;
  if (theme === 'auto') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = theme;
  try { localStorage.setItem('pushfleet.theme', theme); } catch { /* for this visit, then */ }
});

letters({
  pages: PAGES,
  go: (viewName) => { if (session) desk.go(viewName); },
  search: () => {
    if (!session) return;
    const input = main.querySelector('[data-search]');
    if (input) input.focus(); else desk.go('find');
  },
  help: (content) => show('Keyboard', content),
  button: $('keys'),
});

addEventListener('hashchange', route);
document.addEventListener('visibilitychange', () => { if (!document.hidden && session) desk.refresh(); });
api.get('session').then(welcome,
  (error) => enter(error.status === 401 ? '' : `${error.message}. ${error.nextStep || ''}`));
