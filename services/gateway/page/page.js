// The page: asks, shows each checked sentence as it comes, and at last the whole answer.
import { startLibrary, stopLibrary } from "./library.js";
import { chipFor, close, open } from "./panel.js";
import { showMarkdown } from "./markdown.js";
import { $, make } from "./text.js";
import { eventsOf, problemOf } from "./wire.js";

const STAGES = {
  clean: "Reading the question…",
  decompose: "Taking the question apart…",
  retrieve: "Looking through the documents…",
  write: "Writing from what was found…",
  check: "Checking every sentence once more…",
};
const TURNS = 6;
const ANSWER_CHARS = 2000;
const turns = [];
let asking = null;
let said = "";
let citations = new Map();

/** ``alone``: not as a follow-up to what was asked before. */
async function ask(question, alone = false) {
  asking?.abort();
  const mine = (asking = new AbortController());
  begin(question);
  let ended = false;
  try {
    const response = await fetch("/v1/ask", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ question, stream: true, history: alone ? [] : turns }),
      signal: mine.signal,
    });
    if (!response.ok) throw new Error(await problemOf(response));
    for await (const { event, data } of eventsOf(response)) {
      if (event === "stage") say(STAGES[data.stage] ?? "Working…", true);
      else if (event === "sentence") addSentence(data.text, data.citations);
      else if (event === "error") throw new Error(data.detail);
      else if (event === "answer") {
        finish(question, data);
        ended = true;
      }
    }
    if (!ended) throw new Error("The answer broke off. Please ask again.");
  } catch (error) {
    if (asking !== mine && mine.signal.aborted) return;
    if (!ended) fail(mine.signal.aborted ? "Stopped." : error.message);
  } finally {
    if (asking === mine) {
      asking = null;
      rest();
    }
  }
}

function begin(question) {
  close();
  $("asked").textContent = question;
  $("text").replaceChildren();
  $("understood").replaceChildren();
  $("parts").textContent = "";
  said = "";
  citations = new Map();
  $("sources").replaceChildren();
  $("note").textContent = "";
  $("note").classList.remove("bad");
  $("answer").classList.remove("kind");
  $("answer").hidden = false;
  $("answer").setAttribute("aria-busy", "true");
  $("examples").hidden = true;
  $("send").hidden = true;
  $("stop").hidden = false;
  say("Sending the question…", true);
}

function rest() {
  $("answer").setAttribute("aria-busy", "false");
  $("send").hidden = false;
  $("stop").hidden = true;
  $("examples").hidden = false;
  say("", false);
}

function say(text, working) {
  $("stage").textContent = text;
  $("stage").classList.toggle("working", working);
}

function addSentence(text, cited) {
  said += text;
  for (const citation of cited) citations.set(citation.n, citation);
  showSaid();
}

function showSaid() {
  showMarkdown($("text"), said, (n) => (citations.has(n) ? chipFor(citations.get(n)) : undefined));
}

function finish(question, answer) {
  said = answer.text;
  citations = new Map(answer.citations.map((citation) => [citation.n, citation]));
  showSaid();
  showUnderstood(question, answer.rewritten);
  if (answer.sub_questions.length) $("parts").textContent = `Looked up in parts: ${answer.sub_questions.join(" · ")}`;
  $("answer").classList.toggle("kind", answer.status !== "answered");
  $("sources").replaceChildren(...answer.citations.map(sourceLine));
  $("note").textContent = answer.degraded.length ? `Answered with less than usual: ${words(answer.degraded)}.` : "";
  turns.push({ question: answer.rewritten ?? question, answer: answer.text.slice(0, ANSWER_CHARS) });
  turns.splice(0, turns.length - TURNS);
}

/** What a follow-up was taken for, and a way out when it was none. */
function showUnderstood(question, rewritten) {
  if (!rewritten) return;
  const button = make("button", "Ask it on its own", { type: "button", className: "quiet" });
  button.addEventListener("click", () => ask(question, true));
  $("understood").replaceChildren(`Understood as: ${rewritten} `, button);
}

const words = (names) => names.map((name) => name.replaceAll("_", " ")).join(", ");

function sourceLine(citation) {
  const line = make("li", "", { value: citation.n });
  const within = citation.section.split(" > ").filter((heading) => heading !== citation.title).join(" > ");
  const where = [[citation.title, within].filter(Boolean).join(" — "), citation.place].filter(Boolean).join(", ");
  const button = make("button", where, { type: "button" });
  button.addEventListener("click", () => open(citation, button));
  line.append(button);
  return line;
}

function fail(message) {
  $("note").textContent = message;
  $("note").classList.add("bad");
}

function show(view) {
  for (const name of ["ask", "library"]) {
    const chosen = name === view;
    $(`view-${name}`).hidden = !chosen;
    $(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  close();
  if (view === "library") startLibrary();
  else stopLibrary();
}

function send() {
  const question = $("question").value.trim();
  if (question) ask(question);
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
});
$("stop").addEventListener("click", () => asking?.abort());
for (const example of document.querySelectorAll(".example")) {
  example.addEventListener("click", () => {
    $("question").value = example.textContent;
    send();
  });
}
for (const [name, other] of [["ask", "library"], ["library", "ask"]]) {
  $(`tab-${name}`).addEventListener("click", () => show(name));
  $(`tab-${name}`).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    show(other);
    $(`tab-${other}`).focus();
  });
}
addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
  event.preventDefault();
  show("ask");
  $("question").focus();
});
