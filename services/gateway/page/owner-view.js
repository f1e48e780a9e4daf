// What the owner's views have in common: a heading, a place for troubles, and looking again while they are shown.
import { keyForm } from "./keyform.js";
import { trouble } from "./owner-words.js";
import { $, around, make } from "./text.js";

const BUSY_MS = 1500;
const IDLE_MS = 6000;
let silence = null;

/** Says something in passing, also to those who listen. */
export function say(text) {
  const line = $("owner-said");
  clearTimeout(silence);
  line.textContent = text;
  silence = setTimeout(() => (line.textContent = ""), 7000);
}

/** One view of the owner. ``look()`` reads what is there and says whether something is under way. */
export class OwnerView {
  constructor(name, label, { lead, look }) {
    Object.assign(this, { name, label, look, timer: null, shown: false, failed: null });
    this.door = make("div");
    this.body = make("div", "", { className: "owner-body" });
    this.element = around("div", [make("h1", label), make("p", lead, { className: "lead" }), this.door, this.body], {
      id: `view-${name}`, className: "owner", hidden: true, tabIndex: -1,
    });
    this.tab = make("button", label, { type: "button", id: `tab-${name}`, tabIndex: -1, hidden: true }, {
      role: "tab", "aria-controls": `view-${name}`, "aria-selected": "false",
    });
  }

  start() {
    if (this.shown) return;
    this.shown = true;
    history.replaceState(null, "", `#${this.name}`);
    this.tab.scrollIntoView({ inline: "nearest", block: "nearest" });
    this.again();
  }

  stop() {
    this.shown = false;
    clearTimeout(this.timer);
    if (location.hash === `#${this.name}`) history.replaceState(null, "", location.pathname + location.search);
  }

  /** Looks now, and then again and again while the view is shown. */
  async again() {
    clearTimeout(this.timer);
    const mine = (this.turn = Symbol("turn"));
    let busy = false;
    if (!document.hidden) busy = await this.guard(() => this.look());
    if (this.shown && this.turn === mine) this.timer = setTimeout(() => this.again(), busy ? BUSY_MS : IDLE_MS);
  }

  /** Does something; when it fails, the view says why, once, and asks for a key where one is missing. */
  async guard(does) {
    try {
      const came = await does();
      this.failed = null;
      this.door.replaceChildren();
      return came;
    } catch (failure) {
      if (!failure.code) throw failure;
      this.tell(failure);
      return undefined;
    }
  }

  tell(failure) {
    const print = `${failure.code} ${failure.message}`;
    if (this.failed === print) return;
    this.failed = print;
    const box = failure.status === 401 ? keyForm(failure, () => this.retry()) : trouble(failure, () => this.retry());
    this.door.replaceChildren(box);
  }

  retry() {
    this.failed = null;
    this.again();
  }
}

/** A heading with what one can do beside it. */
export function headed(title, ...actions) {
  return around("div", [make("h2", title), around("div", actions, { className: "actions" })], { className: "headed" });
}

/** What to do where there is nothing yet. */
export function empty(title, ...parts) {
  return around("div", [make("p", title, { className: "empty-title" }), ...parts], { className: "empty" });
}

/** A button for a row: what it does stands in the row's list. */
export function act(does, text, { of = "", className = "", ...attributes } = {}) {
  const more = of ? { "aria-label": `${text}: ${of}` } : {};
  return make("button", text, { type: "button", className: `act ${className}`.trim() }, { "data-do": does, ...more, ...attributes });
}

/** A small word with a colour, never by the colour alone. */
export function badge(text, tone = "plain") {
  return make("span", text, { className: "badge" }, { "data-tone": tone });
}
