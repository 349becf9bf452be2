// Elements made by hand. Text becomes text nodes and nothing else: there is no way from a string to markup.

const SVG = 'http://www.w3.org/2000/svg';

// Controls, and what turns the direction of text or has no width: a name must not look like another one.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** A string as it can be shown: what cannot be seen is written as \u{…}. */
export function visible(value) {
  return String(value).replace(UNSEEN, (unseen) => `\\u{${unseen.codePointAt(0).toString(16)}}`);
}

/** The same for text of several lines. */
export function visibleLines(value) {
  return String(value).replace(/\r\n/g, '\n').split('\n').map((line) => line.split('\t').map(visible).join('\t')).join('\n');
}

/**
 * An element. Attributes: `on` is an object of listeners, `true` sets an attribute without value, false and null none.
 * Children: nodes, strings, arrays of them; null and false are left out.
 */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for the parts of a drawing. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'on') {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else {
      element.setAttribute(key, value === true ? '' : String(value));
    }
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

/** Replaces what is in an element. */
export function put(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Sets an element's text, if it is another one: screen readers and selections are left alone. */
export function say(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** Text that somebody else wrote, with its own direction. */
export function name(value) {
  const text = visible(value);
  return h('bdi', text.length > 90 ? { class: 'name long', title: text } : { class: 'name' }, text);
}

/** A place within the page: `#/view?key=value`. What is missing is left out. */
export function address(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') query.set(key, String(value));
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ''}`;
}

export function link(view, parameters, ...children) {
  return h('a', { href: address(view, parameters) }, children);
}

export function button(text, act, attributes = {}) {
  return h('button', { type: 'button', on: { click: act }, ...attributes }, text);
}
