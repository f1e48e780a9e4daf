// The page: asks, shows each checked sentence as it comes, and at last the whole answer.
import { startLibrary, stopLibrary } from "./library.js";
import { chipFor, close, open } from "./panel.js";
import { $, make, withoutMarkdown } from "./text.js";
import { eventsOf, problemOf } from "./wire.js";

const STAGES = {
  clean: "Reading the question…",
  retrieve: "Looking through the documents…",
  write: "Writing from what was found…",
  check: "Checking every sentence once more…",
};
let asking = null;

async function ask(question) {
  asking?.abort();
  const mine = (asking = new AbortController());
  begin(question);
  let ended = false;
  try {
    const response = await fetch("/v1/ask", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ question, stream: true }),
      signal: mine.signal,
    });
    if (!response.ok) throw new Error(await problemOf(response));
    for await (const { event, data } of eventsOf(response)) {
      if (event === "stage") say(STAGES[data.stage] ?? "Working…", true);
      else if (event === "sentence") addSentence(data.text, data.citations);
      else if (event === "error") throw new Error(data.detail);
      else if (event === "answer") {
        finish(data);
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
  $("text").replaceChildren(make("p"));
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

function addSentence(text, citations) {
  const paragraph = $("text").lastElementChild;
  if (paragraph.childNodes.length) paragraph.append(" ");
  paragraph.append(...pieces(text, citations));
}

/** A sentence as text with a chip in place of each marker that has a citation. */
function pieces(text, citations) {
  const known = new Map(citations.map((citation) => [citation.n, citation]));
  return text.split(/(\[\d+\])/).map((part) => {
    const citation = /^\[\d+\]$/.test(part) ? known.get(Number(part.slice(1, -1))) : undefined;
    return citation ? chipFor(citation) : withoutMarkdown(part);
  });
}

function finish(answer) {
  $("text").replaceChildren();
  if (answer.status === "answered") {
    $("text").append(make("p"));
    for (const claim of answer.claims) addSentence(claim.text, answer.citations);
  } else showKindly(answer.text);
  $("answer").classList.toggle("kind", answer.status !== "answered");
  $("sources").replaceChildren(...answer.citations.map(sourceLine));
  $("note").textContent = answer.degraded.length ? `Answered with less than usual: ${words(answer.degraded)}.` : "";
}

/** An abstention: its sentences, then the closest topics, each a question to ask next. */
function showKindly(text) {
  let list = null;
  for (const line of text.split("\n").filter(Boolean)) {
    if (!line.startsWith("- ")) {
      $("text").append(make("p", line));
      continue;
    }
    if (!list) $("text").append((list = make("ul")));
    list.append(make("li", line.slice(2)));
  }
}

const words = (names) => names.map((name) => name.replaceAll("_", " ")).join(", ");

function sourceLine(citation) {
  const line = make("li", "", { value: citation.n });
  const within = citation.section.split(" > ").filter((heading) => heading !== citation.title).join(" > ");
  const where = within ? `${citation.title} — ${within}` : citation.title;
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
