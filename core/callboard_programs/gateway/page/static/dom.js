// Builds elements from texts. Instances' texts may be hostile, so no text is ever read as markup.

// Makes characters visible that are invisible or change the reading direction, as the panel does.
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{DI}]/gu;

export function visible(value) {
  const plain = ["string", "number", "boolean"].includes(typeof value);
  const text = plain ? String(value) : value == null ? "" : JSON.stringify(value);
  return text.replace(HIDDEN, (c) => (c === "\n" || c === "\t" ? c : escaped(c)));
}

function escaped(c) {
  const hex = c.codePointAt(0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
}

// Does the same on one line, with at most `most` characters.
export function line(value, most = 300) {
  const text = visible(value).replace(/\s+/g, " ").trim();
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

// Returns JSON with the same meaning, in which every character is visible.
export function jsonText(value) {
  return JSON.stringify(value, null, 2).replace(HIDDEN, (c) =>
    c === "\n"
      ? c
      : Array.from({ length: c.length }, (_, i) => escaped16(c.charCodeAt(i))).join(""),
  );
}

function escaped16(unit) {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

// Returns the objects in a list, at most as many as a page can show. Any other value counts as an
// empty list.
export function list(value, most = 200) {
  if (!Array.isArray(value)) return [];
  return value.filter((one) => one !== null && typeof one === "object").slice(0, most);
}

export function object(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

export function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// Shows one child for each item, and keeps the children whose items stay, so that focus and reading
// aren't disturbed. `make` returns {node, update}, and `update` is called with each new item.
const kept = new WeakMap();

export function each(parent, items, keyOf, make) {
  const before = kept.get(parent) ?? new Map();
  const now = new Map();
  let moved = false;
  let place = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    if (now.has(key)) continue;
    const child = before.get(key) ?? make(item);
    before.delete(key);
    now.set(key, child);
    child.update(item);
  }
  for (const gone of before.values()) {
    moved = true;
    gone.node.remove();
    gone.end?.();
  }
  place = parent.firstChild;
  for (const child of now.values()) {
    if (child.node === place) place = place.nextSibling;
    else {
      moved ||= place !== null;
      parent.insertBefore(child.node, place);
    }
  }
  kept.set(parent, now);
  if (moved) for (const child of now.values()) child.moved?.();
}

// Replaces an element's content only when it has changed.
const shown = new WeakMap();

export function fill(parent, value, make) {
  const text = JSON.stringify(value);
  if (shown.get(parent) === text) return;
  shown.set(parent, text);
  parent.replaceChildren(...make(value).filter((child) => child !== null));
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function clock(seconds) {
  const then = new Date(number(seconds) * 1000);
  const today = then.toDateString() === new Date().toDateString();
  return today ? then.toLocaleTimeString() : then.toLocaleString();
}

export function duration(ms) {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

// Returns the last part of a path, of any operating system.
export function fileName(path) {
  return line(path).split(/[\\/]/).pop();
}
