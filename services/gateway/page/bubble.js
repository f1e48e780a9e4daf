// The widget: a button in the corner of somebody's web page that opens a dialog to ask in. Nothing of it is global.
// The gateway makes one script of this and what it imports, and puts the style sheets in as STYLES.
import { Conversation } from "./asking.js";
import { whereOf } from "./copying.js";
import { problemBox } from "./problems.js";
import { around, button, isWebAddress, make, showMarked } from "./text.js";
import { Wire } from "./wire.js";

const AROUND = 600;
const HEARD_MS = 8000;
const SVG = "M4 5.5A1.5 1.5 0 0 1 5.5 4h13A1.5 1.5 0 0 1 20 5.5v9a1.5 1.5 0 0 1-1.5 1.5H11l-4.5 4v-4h-1A1.5 1.5 0 0 1 4 14.5z";

const tag = document.currentScript ?? document.querySelector('script[src*="/widget.js"]');
const { key = "", title = "Ask the documents", position = "right", theme = "auto" } = tag.dataset;
const wire = new Wire(new URL(".", tag.src).href, () => key || null);

function icon() {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  for (const [name, value] of Object.entries({ viewBox: "0 0 24 24", width: 24, height: 24, "aria-hidden": "true" })) picture.setAttribute(name, value);
  for (const [name, value] of Object.entries({ d: SVG, fill: "none", stroke: "currentColor", "stroke-width": 1.8, "stroke-linejoin": "round" })) path.setAttribute(name, value);
  picture.append(path);
  return picture;
}

/** The parts of the dialog, each made once. */
function parts() {
  const field = make("textarea", "", { rows: 1, dir: "auto", id: "question", enterKeyHint: "send", placeholder: "Your question" }, { "aria-label": "Your question" });
  const send = make("button", "Ask", { type: "submit", className: "primary" });
  const stop = button("Stop", () => conversation.stop(), { hidden: true });
  const stage = make("p", "", { className: "stage" }, { role: "status" });
  const heard = make("div", "", { className: "unseen" }, { role: "log", "aria-live": "polite" });
  const hello = make("p", "Ask in your own words. Every sentence of the answer is checked against the documents, and its number shows the source.", { className: "hello" });
  const log = around("div", [hello], { className: "log", tabIndex: 0 }, { role: "region", "aria-label": "Questions and answers" });
  const source = make("section", "", { className: "source", hidden: true }, { "aria-label": "Source" });
  const form = around("form", [field, send, stop], { className: "ask" });
  const heading = make("h2", title, { id: "title", dir: "auto" });
  const closer = button("Close", () => dialog.close(), { className: "closer" });
  const head = around("div", [heading, closer], { className: "head" });
  const dialog = around("dialog", [head, log, source, stage, form, heard], {}, { "aria-labelledby": "title" });
  const opener = around("button", [icon(), make("span", title)], { type: "button", className: "opener" }, { "aria-haspopup": "dialog", "aria-expanded": "false" });
  return { field, send, stop, stage, heard, log, source, form, dialog, opener };
}

const its = parts();
let hearing = null;

const conversation = new Conversation(wire, {
  view: { open: openSource },
  place(element) {
    closeSource();
    its.log.append(element);
    element.scrollIntoView({ block: "start" });
  },
  say(text, working = false) {
    its.stage.textContent = text;
    its.stage.classList.toggle("working", working);
  },
  hear(text) {
    clearTimeout(hearing);
    its.heard.append(make("p", text));
    hearing = setTimeout(() => its.heard.replaceChildren(), HEARD_MS);
  },
  busy(yes) {
    its.send.hidden = yes;
    its.stop.hidden = !yes;
  },
  ended() {},
  needsKey(shown, failure) {
    // A visitor cannot do anything about it, so the words are for whoever put the tag there.
    shown.element.dataset.status = "failed";
    shown.element.append(problemBox(failure));
  },
});

/** The quote with what stands around it, in place of the answers; the gateway's own page would want a key. */
async function openSource(citation, from) {
  const back = button("Back to the answer", () => closeSource(), { className: "back" });
  const text = make("div", "", { className: "source-text", tabIndex: 0, dir: "auto" });
  const note = make("p", "", { className: "note" }, { role: "status" });
  const link = isWebAddress(citation.source)
    ? make("a", "Open the original page", { href: citation.source, target: "_blank", rel: "noopener" })
    : null;
  text.append(make("mark", citation.quote));
  its.source.replaceChildren(...[back, make("h3", whereOf(citation), { dir: "auto" }), note, text, link].filter(Boolean));
  its.source.opener = from;
  its.source.hidden = false;
  its.log.hidden = true;
  from.setAttribute("aria-expanded", "true");
  back.focus();
  try {
    const response = await wire.send(citation.url.split("#")[0], { accept: "text/plain" });
    showMarked(text, await response.text(), citation, AROUND)?.scrollIntoView({ block: "center" });
  } catch (error) {
    note.textContent = `What stands around it could not be opened. ${error.message}`;
  }
}

function closeSource() {
  if (its.source.hidden) return;
  const from = its.source.opener;
  its.source.hidden = true;
  its.log.hidden = false;
  from.setAttribute("aria-expanded", "false");
  from.focus();
}

function ask() {
  const question = its.field.value.trim();
  if (!question) return;
  its.field.value = "";
  conversation.ask(question);
}

its.opener.addEventListener("click", () => {
  its.dialog.showModal();
  its.opener.setAttribute("aria-expanded", "true");
  its.field.focus();
});
its.dialog.addEventListener("close", () => {
  its.opener.setAttribute("aria-expanded", "false");
  its.opener.focus();
});
its.dialog.addEventListener("cancel", (event) => {
  // Escape goes one step back.
  if (its.source.hidden) return;
  event.preventDefault();
  closeSource();
});
its.dialog.addEventListener("pointerdown", (event) => {
  if (event.target === its.dialog) its.dialog.close(); // beside it
});
its.form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
its.field.addEventListener("keydown", (event) => {
  event.stopPropagation(); // the page around may have shortcuts
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    ask();
  }
});

function begin() {
  const host = make("ragstone-widget", "", {}, { "data-position": position === "left" ? "left" : "right", "data-theme": theme });
  const root = host.attachShadow({ mode: "open" });
  // Made by a script, so that a page that forbids style elements has nothing against it.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  root.adoptedStyleSheets = [sheet];
  root.append(its.opener, its.dialog);
  document.body.append(host);
}

if (document.body) begin();
else addEventListener("DOMContentLoaded", begin, { once: true });
