// Calls to the server. See deploy/dashboard/openapi.yaml.

/** What the server, or the way to it, had against a call. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.error || `the server answered ${status}`);
    this.status = status;
    this.code = body.code || 'unknown';
    this.nextStep = body.next_step;
    this.field = body.field;
  }
}

const PATIENCE_MS = 20_000;
let forgeryToken = '';
let whenLoggedOut = () => {};

/** @param loggedOut called when the session is over */
export function begin(session, loggedOut) {
  forgeryToken = session ? session.csrf_token : '';
  whenLoggedOut = loggedOut;
}

export function get(path, parameters = {}, signal) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') query.set(key, String(value));
  }
  const text = query.toString();
  return call('GET', `api/${path}${text ? `?${text}` : ''}`, undefined, signal);
}

export function post(path, body, signal) { return call('POST', `api/${path}`, body, signal); }

export function remove(path) { return call('DELETE', `api/${path}`); }

async function call(method, path, body, signal) {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  const options = {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
    headers: { accept: 'application/json' },
    signal: signal && AbortSignal.any ? AbortSignal.any([signal, limit]) : signal || limit,
  };
  if (method !== 'GET') options.headers['x-pushfleet-csrf'] = forgeryToken;
  if (body !== undefined) {
    options.headers['content-type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (signal && signal.aborted) throw error;
    throw new Problem(0, {
      code: 'unreachable',
      error: error.name === 'TimeoutError' ? 'the dashboard\'s server did not answer in 20 s' : 'the dashboard\'s server cannot be reached',
      next_step: 'Look whether pushfleet dashboard runs; this page goes on by itself.',
    });
  }
  if (answer.status === 204) return null;
  let value = {};
  try {
    value = await answer.json();
  } catch (error) {
    if (signal && signal.aborted) throw error;
    if (answer.ok) throw new Problem(answer.status,
      { error: 'the server\'s answer is not JSON; is there a proxy between?' });
  }
  if (answer.ok) return value;
  const problem = new Problem(answer.status, value && typeof value === 'object' ? value : {});
  if (problem.status === 401 && path !== 'api/session') whenLoggedOut();
  throw problem;
}
