// Earlier questions with their answers, in this browser only. A browser that keeps nothing, or broken entries, do no harm.
import { $, around, button, make } from "./text.js";

const KEPT_AS = "ragstone.history";
const OFF_AS = "ragstone.history.off";
const KEPT_MAX = 30;


let entries = read();
let shownBy = null;

/** Shows the list; ``show(entry)`` puts an earlier answer back into the page. */
export function startHistory(show) {
  shownBy = show;
  $("keep").checked = !isOff();
  $("keep").addEventListener("change", () => turn($("keep").checked));
  $("clear").addEventListener("click", () => {
    entries = [];
    write();
    list();
    $("keep").focus();
  });
  addEventListener("storage", (event) => {
    if (event.key !== KEPT_AS) return;
    entries = read();
    list();
  });
  list();
}

/** Keeps an answer, unless this is switched off. */
export function remember(question, answer) {
  if (isOff()) return;
  // Neither the passages that were looked through nor what was asked before.
  const { passages: _passages, history: _history, ...kept } = answer;
  entries = [{ question, at: new Date().toISOString(), answer: kept }, ...entries.filter((entry) => entry.question !== question)];
  entries = entries.slice(0, KEPT_MAX);
  write();
  list();
}

function turn(on) {
  keep(OFF_AS, on ? null : "yes");
  if (!on) entries = [];
  write();
  list();
}

function isOff() {
  try {
    return localStorage.getItem(OFF_AS) !== null;
  } catch {
    return false;
  }
}

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT_AS) ?? "[]");
    return Array.isArray(found) ? found.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(entry) {
  const answer = entry?.answer;
  const whole = typeof answer?.text === "string" && typeof answer?.id === "string" && typeof answer?.status === "string";
  const lists = [answer?.citations, answer?.sub_questions, answer?.degraded].every(Array.isArray);
  return typeof entry?.question === "string" && whole && lists && answer.timings_ms !== null && typeof answer.timings_ms === "object" && Boolean(answer.model);
}

/** The newest that fit: a full storage loses the oldest. */
function write() {
  for (let count = entries.length; count > 0; count = Math.floor(count / 2)) {
    if (keep(KEPT_AS, JSON.stringify(entries.slice(0, count)))) return;
  }
  keep(KEPT_AS, null);
}

function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

function list() {
  $("earlier-list").replaceChildren(...entries.map(line));
  $("clear").hidden = entries.length === 0;
  $("earlier-none").hidden = entries.length > 0;
  $("earlier-none").textContent = isOff() ? "Nothing is kept." : "What you ask appears here.";
}

function line(entry) {
  const opener = button("", () => shownBy(entry), { className: "earlier" });
  opener.append(make("span", entry.question, { dir: "auto" }), make("time", when(entry.at), { dateTime: entry.at }));
  return around("li", [opener]);
}

function when(at) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const today = date.toDateString() === new Date().toDateString();
  return today
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString([], { day: "numeric", month: "short" });
}
