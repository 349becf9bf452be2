// The stream of events, and what the page says about it.

/**
 * @param on listeners: overview(value), jobs(value), session() when it is over, state('live' | 'late' | 'away')
 * @returns a function that ends it
 */
export function follow(on) {
  let source = null;
  let timer = null;
  let last = Date.now();
  let state = '';
  let isOver = false;

  function tell(next) {
    if (next === state) return;
    state = next;
    on.state(next);
  }

  function open() {
    source = new EventSource('api/events');
    source.addEventListener('overview', (event) => {
      last = Date.now();
      tell('live');
      on.overview(JSON.parse(event.data));
    });
    source.addEventListener('jobs', (event) => on.jobs(JSON.parse(event.data)));
    source.addEventListener('session', () => { stop(); on.session(); });
    source.addEventListener('error', () => {
      tell('away');
      // A browser goes on by itself after a broken line, and gives up after an answer that is no stream.
      if (source.readyState !== EventSource.CLOSED || isOver) return;
      clearTimeout(timer);
      timer = setTimeout(() => { on.check(); if (!isOver) open(); }, 3000);
    });
  }

  const watch = setInterval(() => { if (state === 'live' && Date.now() - last > 10_000) tell('late'); }, 1000);

  function stop() {
    isOver = true;
    clearTimeout(timer);
    clearInterval(watch);
    source.close();
  }

  open();
  return stop;
}
