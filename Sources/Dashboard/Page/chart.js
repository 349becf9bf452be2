// Small drawings of series. Null is a gap, never a zero.

import { h, svg, put, say } from './dom.js';
import { brief, minuteOf, UNKNOWN } from './format.js';

const HEIGHT = 100;

/** The runs of known values as points. */
function runs(values, most, width) {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const found = [];
  let run = null;
  values.forEach((value, place) => {
    if (typeof value !== 'number') { run = null; return; }
    if (!run) found.push(run = []);
    run.push([place * step, HEIGHT - (most > 0 ? Math.max(0, value) / most : 0) * HEIGHT]);
  });
  return found;
}

const points = (run) => run.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
const largest = (values) => values.reduce((most, value) => (typeof value === 'number' && value > most ? value : most),
  0);
const latest = (values) => values.reduce((last, value) => (typeof value === 'number' ? value : last), undefined);

/** A line as high as the text beside it. */
export function sparkline(values, label) {
  const drawing = svg('svg', {
    class: 'spark', viewBox: '0 -4 100 108', preserveAspectRatio: 'none', role: 'img',
    'aria-label': `${label}: now ${brief(latest(values))}, at most ${brief(largest(values))}`,
  });
  for (const run of runs(values, largest(values), 100)) {
    if (run.length === 1) run.push([run[0][0] + 0.5, run[0][1]]);
    drawing.append(
      svg('polygon', { class: 'area',
        points: `${run[0][0]},${HEIGHT} ${points(run)} ${run[run.length - 1][0]},${HEIGHT}` }),
      svg('polyline', { class: 'line', points: points(run) }),
    );
  }
  return drawing;
}

/** A part of a whole as a bar: what is held, what is wanted beyond that. */
export function bar(value, whole, wanted = value, label = '') {
  const most = Math.max(whole, wanted, value, 1);
  const at = (number) => ((100 * Math.max(0, number)) / most).toFixed(1);
  return svg(
    'svg', { class: 'bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    svg('rect', { class: 'rest', x: 0, y: 0, width: 100, height: 8 }),
    wanted > value && svg('rect', { class: 'wanted', x: 0, y: 0, width: at(wanted), height: 8 }),
    svg('rect', { class: 'held', x: 0, y: 0, width: at(value), height: 8 }),
    whole > 0 && whole < most && svg('rect', { class: 'mark', x: at(whole), y: 0, width: 0.6, height: 8 }),
  );
}

/** A scale's end that people can read: few digits and zeros. */
function roundUp(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value);
}

/**
 * Some series over one time. Arrow keys and the pointer move along it.
 * @param lines [{ key, label, class }]
 * @param text how a value is written
 */
export function chart(title, lines, text) {
  const drawing = svg('svg', { viewBox: '0 -2 300 104', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const top = h('span', { class: 'most muted' });
  const legend = h('ul', { class: 'legend' });
  const marks = lines.map((line) => {
    const value = h('b');
    legend.append(h('li', { class: line.class }, h('span', { class: 'stroke', 'aria-hidden': 'true' }), line.label, ' ',
      value));
    return value;
  });
  const [from, at, to] = [h('span'), h('span', { class: 'at' }), h('span')];
  const plot = h('div', {
    class: 'plot', tabindex: 0, role: 'slider', 'aria-label': `${title}, by minute`, 'aria-valuemin': 0,
    on: {
      keydown: (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 }[event.key];
        if (!step || !series) return;
        event.preventDefault();
        point(Math.min(length() - 1, Math.max(0, (place ?? length() - 1) + step)));
      },
      pointermove: (event) => {
        const box = plot.getBoundingClientRect();
        if (series && box.width) point(Math.round(((event.clientX - box.left) / box.width) * (length() - 1)));
      },
      pointerleave: () => point(null),
      blur: () => point(null),
    },
  }, drawing, top);
  let series = null;
  let place = null;

  const length = () => Math.max(1, ...lines.map((line) => (series[line.key] || []).length));

  function point(next) {
    place = next === null ? null : Math.min(length() - 1, Math.max(0, next));
    draw();
  }

  function draw() {
    const values = lines.map((line) => series[line.key] || []);
    const most = roundUp(largest(values.flat()));
    drawing.replaceChildren(svg('line', { class: 'grid', x1: 0, x2: 300, y1: 50, y2: 50 }),
      svg('line', { class: 'grid', x1: 0, x2: 300, y1: 0, y2: 0 }));
    values.forEach((row, number) => {
      for (const run of runs(row, most, 300)) drawing.append(svg('polyline',
        { class: `line ${lines[number].class}`, points: points(run) }));
      const value = place === null ? latest(row) : row[place];
      say(marks[number], typeof value === 'number' ? text(value) : UNKNOWN);
    });
    const last = length() - 1;
    if (place !== null) {
      const x = last ? (place / last) * 300 : 0;
      drawing.append(svg('line', { class: 'cursor', x1: x, x2: x, y1: 0, y2: 100 }));
    }
    say(top, text(most));
    say(from, minuteOf(series.start_ms));
    say(to, minuteOf(series.start_ms + last * series.step_ms));
    const shown = place ?? last;
    say(at, place === null ? '' : minuteOf(series.start_ms + shown * series.step_ms));
    plot.setAttribute('aria-valuemax', String(last));
    plot.setAttribute('aria-valuenow', String(shown));
    plot.setAttribute('aria-valuetext', `${minuteOf(series.start_ms + shown * series.step_ms)}: ${
      lines.map((line, number) => `${line.label} ${marks[number].textContent}`).join(', ')}`);
  }

  const element = h('figure', { class: 'chart' }, h('figcaption', null, h('h2', null, title), legend), plot,
    h('div', { class: 'times muted', 'aria-hidden': 'true' }, from, at, to));
  return {
    element,
    set(next) {
      series = next;
      if (!series) { put(drawing); return; }
      if (place !== null) place = Math.min(place, length() - 1);
      draw();
    },
  };
}
