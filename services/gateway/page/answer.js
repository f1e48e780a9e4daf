// One answer as it comes, and when it is there: the checked sentences, their sources, and what one can do with them.
import { asText, copy, whereOf } from "./copying.js";
import { judging } from "./judging.js";
import { showMarkdown } from "./markdown.js";
import { problemBox } from "./problems.js";
import { around, button, make } from "./text.js";

const LABELS = { abstained: "Not in the documents", declined: "Not answered here" };
const LESS = {
  decomposition_skipped: "its parts were not looked up one by one",
  sentences_dropped: "a sentence was left out that the documents do not support",
  passages_dropped: "some passages did not fit",
  writer_failed: "the model that writes was not there, so these are the documents' own words",
  writer_unavailable: "the model that writes was not there",
  grounding_unavailable: "one of the checks was not there",
  critic_unavailable: "one of the judges of passages was not there",
  vector_unavailable: "the search by meaning was not there",
};
const ITEMS = /\n\s*\n[^\n]*\n((?:- .+\n?)+)\s*$/;

/**
 * An article for a question. ``view``: {wire, language, open(citation, from), ask(question, alone), tools(question, answer, {rest, flash})}.
 * Gives its element and what fills it: passages, sentence, finish, fail.
 */
export function answerView(question, view) {
  const text = make("div", "", { className: "said", lang: view.language ?? "" });
  const asked = make("h2", question, { className: "asked", dir: "auto" });
  const rest = make("div", "", { className: "rest" });
  const element = around("article", [asked, text, rest], { className: "answer" }, { "data-status": "coming" });
  let said = "";
  let citations = new Map();

  const show = () => showMarkdown(text, said, (n) => (citations.has(n) ? chip(citations.get(n), view.open) : undefined));

  function sentence(data) {
    said += data.text;
    for (const citation of data.citations) citations.set(citation.n, citation);
    show();
  }

  function finish(answer) {
    element.dataset.status = answer.status;
    const topics = answer.status === "abstained" ? topicsOf(answer.text) : [];
    said = topics.length ? answer.text.replace(ITEMS, (all, items) => all.slice(0, all.length - items.length)) : answer.text;
    citations = new Map(answer.citations.map((citation) => [citation.n, citation]));
    show();
    if (LABELS[answer.status]) asked.after(make("p", LABELS[answer.status], { className: "label" }));
    if (answer.rewritten) text.before(understood(answer.rewritten));
    const judge = judging(view.wire, answer.id);
    rest.replaceChildren(
      ...[
        topics.length ? topicList(topics) : null,
        answer.citations.length ? sourceList(answer) : null,
        notes(answer),
        around("div", [...tools(answer), around("span", judge.choices, { className: "judges" })], { className: "tools" }),
        judge.below,
      ].filter(Boolean),
    );
  }

  function fail(failure, again) {
    element.dataset.status = said ? "broken" : "failed";
    rest.replaceChildren(problemBox(failure, again));
  }

  function understood(whole) {
    const alone = button("Ask it on its own", () => view.ask(question, true), { className: "link" });
    return around("p", ["Understood as: ", make("q", whole, { dir: "auto" }), " ", alone], { className: "note understood" });
  }

  function topicList(topics) {
    const buttons = topics.map((topic) => around("li", [button(topic, () => view.ask(topic, true), { className: "choice", dir: "auto" })]));
    return around("ul", buttons, { className: "topics" });
  }

  function sourceList(answer) {
    const plain = said.replace(/\s*\[\d+\]/g, "").replace(/\s+/g, " ");
    const lines = answer.citations.map((citation) => {
      const opener = button(whereOf(citation), (from) => view.open(citation, from), { className: "link" }, {
        "aria-haspopup": "dialog", "aria-expanded": "false", "data-n": citation.n,
      });
      const quote = citation.quote.trim().replace(/\s+/g, " ");
      const known = plain.includes(quote.replace(/[.!?]$/, ""));
      return around("li", [opener, make("q", quote, { className: known ? "quote known" : "quote", dir: "auto" })], { value: citation.n });
    });
    return around("section", [make("h3", "Sources"), around("ol", lines, {}, { role: "list" })], { className: "sources" });
  }

  function tools(answer) {
    const copied = button("Copy", async () => {
      const done = await copy(asText(question, answer, (citation) => view.wire.address(citation.url)));
      flash(copied, done ? "Copied" : "Your browser did not let us");
    }, { className: "tool" }, { "aria-label": "Copy the answer with its sources" });
    return [copied, ...(view.tools?.(question, answer, { rest, flash }) ?? [])];
  }

  return { element, sentence, finish, fail };
}

/** A number in the text that opens its source. */
function chip(citation, open) {
  return button(String(citation.n), (from) => open(citation, from), { className: "chip" }, {
    "aria-label": `Source ${citation.n}: ${whereOf(citation)}`, "aria-haspopup": "dialog", "aria-expanded": "false", "data-n": citation.n,
  });
}

/** The nearest topics, which an answer that abstains lists in its last lines. */
function topicsOf(text) {
  const items = ITEMS.exec(text)?.[1] ?? "";
  return items.split("\n").map((line) => line.replace(/^- /, "").trim()).filter(Boolean);
}

/** How sure, how written, how long; and what was missing on the way. */
function notes(answer) {
  const parts = [];
  if (answer.status === "answered") {
    parts.push(`${Math.round(100 * answer.confidence)} % confident`);
    parts.push(answer.model.writer === "extractive" ? "in the documents’ own words" : `written by ${answer.model.name ?? answer.model.writer}`);
    if (!answer.cached) parts.push(`${(answer.timings_ms.total / 1000).toFixed(1)} s`);
  }
  if (answer.cached) parts.push("given before, and still true to the documents");
  const line = make("p", parts.join(" · "), { className: "meta" });
  const made = around("div", [line], { className: "notes" });
  if (answer.sub_questions.length) made.append(make("p", `Looked up in parts: ${answer.sub_questions.join(" · ")}`, { dir: "auto" }));
  if (answer.degraded.length) {
    made.append(make("p", `With less than usual: ${answer.degraded.map((name) => LESS[name] ?? name.replaceAll("_", " ")).join("; ")}.`));
  }
  return made;
}

/** Says for a moment in a button what came of it; to those who listen too. */
export function flash(element, text) {
  const before = element.dataset.before ?? element.textContent;
  element.dataset.before = before;
  element.textContent = text;
  const heard = make("span", text, { className: "unseen" }, { role: "status" });
  element.after(heard);
  setTimeout(() => {
    element.textContent = before;
    heard.remove();
  }, 2500);
}
