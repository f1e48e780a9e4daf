// Text and offsets. Everything is put into the page as text, never as HTML.

/** The UTF-16 index of a code point's offset; citations count code points, JavaScript strings do not. */
export function indexOfCodePoint(text, offset) {
  let index = 0;
  for (let seen = 0; seen < offset && index < text.length; seen += 1) {
    const code = text.codePointAt(index);
    index += code > 0xffff ? 2 : 1;
  }
  return index;
}

/** Splits a text at two code-point offsets: before, between and after. */
export function cut(text, start, end) {
  const from = indexOfCodePoint(text, start);
  const to = from + indexOfCodePoint(text.slice(from), end - start);
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}

/** Fills an element with a text and marks the place; gives the mark back, or null without a place. */
export function showMarked(element, text, place, around = Infinity) {
  element.replaceChildren();
  if (!place || !(place.end > place.start)) {
    element.textContent = text;
    return null;
  }
  const [before, quoted, after] = cut(text, place.start, place.end);
  const mark = document.createElement("mark");
  mark.textContent = quoted;
  const head = before.length > around ? "…" + before.slice(-around) : before;
  const tail = after.length > around ? after.slice(0, around) + "…" : after;
  element.append(head, mark, tail);
  return mark;
}

/** "#12-80" as a place, or null. */
export function placeOf(hash) {
  const match = /^#(\d+)-(\d+)$/.exec(hash);
  return match ? { start: Number(match[1]), end: Number(match[2]) } : null;
}

/** Sentences are shown without inline Markdown: link targets, emphasis and code marks are left out. */
export function withoutMarkdown(text) {
  return text
    .replace(/!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])/g, "$1")
    .replace(/(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)/g, "$1")
    .replace(/`([^`\n]+)`/g, "$1")
    .replace(/^\s*(?:#{1,6}\s+|[-*+]\s+|>\s?)/gm, "");
}

/** Finds an element by its id. */
export const $ = (id) => document.getElementById(id);

/** Makes an element with a text, properties, and attributes that are no properties. */
export function make(tag, text = "", properties = {}, attributes = {}) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

/** Makes an element around others; what is null or undefined is left out. */
export function around(tag, children, properties = {}, attributes = {}) {
  const element = make(tag, "", properties, attributes);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Makes a button that does something. */
export function button(text, does, properties = {}, attributes = {}) {
  const element = make("button", text, { type: "button", ...properties }, attributes);
  element.addEventListener("click", () => does(element));
  return element;
}

/** Is it the address of a web page, and safe to follow? */
export function isWebAddress(text) {
  try {
    return ["http:", "https:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
