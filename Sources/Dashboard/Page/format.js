// Numbers, durations and times, the same everywhere.

import { h } from './dom.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

export const UNKNOWN = '–';

const known = (value) => typeof value === 'number' && Number.isFinite(value);

/** 12,345 */
export function count(value) { return known(value) ? whole.format(value) : UNKNOWN; }

/** 12.3K: where the last digits do not matter. */
export function brief(value) { return known(value) ? (Math.abs(value) < 10_000 ? whole : short).format(value) : UNKNOWN; }

/** One thing, two things. */
export function plural(value, one, many = `${one}s`) { return `${count(value)} ${value === 1 ? one : many}`; }

/** 640 ms, 1.2 s, 34 s, 12 min, 3 h 20 min, 5 d 2 h */
export function duration(ms) {
  if (!known(ms)) return UNKNOWN;
  if (ms < 999.5) return `${whole.format(Math.max(0, ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 119.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  if (minutes < 48 * 60) return pair(minutes, 60, 'h', 'min');
  return pair(Math.round(minutes / 60), 24, 'd', 'h');
}

function pair(value, base, large, small) {
  const rest = value % base;
  return `${whole.format(Math.floor(value / base))} ${large}${rest ? ` ${rest} ${small}` : ''}`;
}

/** To the second, as far as it has any: 2 min 40 s. For delays that queues are named by. */
export function exactly(ms) {
  if (!known(ms)) return UNKNOWN;
  if (ms % 1000) return `${whole.format(ms)} ms`;
  const parts = [[86_400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  let rest = ms / 1000;
  const words = [];
  for (const [size, unit] of parts) {
    if (rest >= size) words.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return words.join(' ');
}

/** What a person types for a duration: 500ms, 30s, 10m, 2h, 1d; null if it is none. */
export function parseDuration(text) {
  const found = /^\s*(\d{1,9})\s*(ms|s|m|min|h|d)\s*$/.exec(text);
  if (!found) return null;
  return Number(found[1]) * { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 }[found[2]];
}

/** A moment for people: the time if it is near, else the day as well; in full when pointed at. */
export function moment(ms, now = Date.now()) {
  if (!known(ms)) return UNKNOWN;
  const at = new Date(ms);
  const text = Math.abs(now - ms) < 12 * 3_600_000 ? clock.format(at) : `${day.format(at)}, ${minute.format(at)}`;
  return h('time', { datetime: iso(at), title: iso(at) }, text);
}

/** How long ago, in full when pointed at. */
export function ago(ms, now) {
  if (!known(ms)) return UNKNOWN;
  const at = new Date(ms);
  return h('time', { datetime: iso(at), title: iso(at) }, duration(Math.max(0, now - ms)));
}

/** A day, and how far it is. */
export function until(ms, now) {
  if (!known(ms)) return UNKNOWN;
  const days = Math.floor((ms - now) / 86_400_000);
  const left = days < 0 ? 'over' : days === 0 ? 'today' : plural(days, 'day');
  return [h('time', { datetime: iso(new Date(ms)) }, date.format(new Date(ms))), ' ',
    h('span', { class: 'muted' }, left)];
}

export function minuteOf(ms) { return minute.format(new Date(ms)); }

// A time that no calendar knows must not stop the page.
function iso(at) { return Number.isNaN(at.getTime()) ? 'unknown' : at.toISOString(); }

export function bytes(value) {
  if (!known(value)) return UNKNOWN;
  if (value < 10_000) return `${whole.format(value)} B`;
  return value < 1_048_576 * 2 ? `${whole.format(value / 1024)} KiB` : `${whole.format(value / 1_048_576)} MiB`;
}
