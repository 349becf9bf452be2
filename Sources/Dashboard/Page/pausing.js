// Pause and resume, wherever an app is shown.

import { post } from './api.js';
import { ask, attempt } from './dialog.js';
import { button, visible } from './dom.js';
import { parseDuration } from './format.js';

export function pauseTools(desk, app) {
  const label = visible(app.app);
  if (!app.paused) return button('Pause…', () => pause(desk, app.app), { 'aria-label': `Pause ${label}` });
  const text = app.paused.cause === 'hand' ? 'Resume' : 'Probe now';
  return button(text, () => resume(desk, app), { 'aria-label': `${text}: ${label}` });
}

async function pause(desk, app) {
  const values = await ask({
    title: `Pause ${app}?`,
    text: 'All workers stop sending for it within 2 seconds. Its messages wait in RabbitMQ and grow older: what is past its '
      + 'age limit or expiry is dead-lettered once the app goes on.',
    fields: [
      { name: 'reason', label: 'Why', hint: 'Others read it here, in status and in the workers\' logs.' },
      { name: 'time', label: 'For', hint: 'Such as 10m or 2h; empty until somebody resumes it.',
        check: (text) => (text.trim() && !(parseDuration(text) >= 1000) ? 'The time is a number and s, m, h or d, at least 1s; or nothing.' : '') },
    ],
    confirm: 'Pause',
  });
  if (!values) return;
  const order = { app, reason: values.reason };
  if (values.time.trim()) order.for_ms = parseDuration(values.time);
  if (await attempt(() => post('app/pause', order))) desk.refresh();
}

async function resume(desk, app) {
  if (app.paused.cause === 'hand') {
    const values = await ask({ title: `Resume ${app.app}?`, text: 'Workers go on within 2 seconds.',
      confirm: 'Resume' });
    if (!values) return;
  }
  if (await attempt(() => post('app/resume', { app: app.app }))) desk.refresh();
}
