// Why this answer: what was found, how it was judged, what was left out, in plain words.
import { whereOf } from "./copying.js";
import { home } from "./home.js";
import { around, button, make, withoutMarkdown } from "./text.js";

const STEPS = {
  decompose: "Took the question apart",
  retrieve: "Looked through the documents",
  "retrieve.embed": "Turned the question into numbers",
  "retrieve.vector": "Searched by meaning",
  "retrieve.bm25": "Searched by words",
  "retrieve.critic": "Judged each passage",
  "retrieve.rank": "Chose the best ones",
  write: "Wrote, and checked each sentence",
  check: "Looked whether the sources are still current",
  total: "All together",
};
const GATES = {
  good: "Something close to the question was found.",
  fallback: "Something close was found only after leaving the type filter out.",
  poor: "Nothing close to the question was found.",
};
const ROWS = 10;
const percent = (share) => `${Math.round(100 * share)} %`;

/** The view for an answer. It begins with what the answer tells of itself; the rest is asked for on demand. */
export function whyView(question, answer) {
  const steps = make("div");
  const more = button("Show every step", () => everyStep(), { className: "tool" });
  const status = make("p", "This asks the same question once more and takes a moment.", { className: "note" }, { role: "status" });

  async function everyStep() {
    more.disabled = true;
    status.textContent = "Asking once more…";
    try {
      const json = { question, history: answer.history ?? [], explain: true };
      const again = await home.call("/v1/ask", { json });
      steps.replaceChildren(...traceOf(again));
      status.textContent = "This is how it went when the question was asked again just now.";
      more.remove();
      steps.tabIndex = -1;
      steps.focus();
    } catch (error) {
      status.textContent = error.message;
      more.disabled = false;
    }
  }

  return around("section", [
    make("h3", "Why this answer"),
    verdict(answer),
    passages(answer.passages ?? [], answer),
    claims(answer),
    timings(answer.timings_ms),
    steps,
    status,
    more,
  ], { className: "why" });
}

function verdict(answer) {
  const said = {
    answered: `The documents answer this question with a probability of ${percent(answer.confidence)}. Each sentence was compared with the passages that it cites before it was shown.`,
    abstained: answer.reason === "nothing_relevant"
      ? "Nothing in the documents is close enough to the question, so nothing was written."
      : `Something was found, but no sentence could be backed by it (probability of an answer: ${percent(answer.confidence)}).`,
    declined: "The question was not searched for: it is one that whoever runs this page does not want to be answered here, or it speaks to the assistant itself.",
  };
  return make("p", said[answer.status]);
}

function passages(found, answer) {
  if (!found.length) return null;
  const used = new Set(answer.citations.map((citation) => citation.chunk_id));
  return table("What was found", ["Passage", "By meaning", "By words", "Judged relevant", "Cited"], found.map((passage) => [
    whereOf({ ...passage, place: null }),
    rank(passage.ranks, "vector"),
    rank(passage.ranks, "bm25"),
    passage.critic === null ? "not judged" : percent(passage.critic),
    used.has(passage.chunk_id) ? "yes" : "",
  ]));
}

function rank(ranks, list) {
  const best = Object.entries(ranks).filter(([name]) => name.startsWith(list)).map(([, place]) => place);
  return best.length ? `no. ${Math.min(...best)}` : "—";
}

function claims(answer) {
  if (!answer.claims.length) return null;
  const rows = answer.claims.map((claim) => [withoutMarkdown(claim.text), percent(claim.score)]);
  return table("How well each sentence is supported", ["Sentence", "Support"], rows);
}

function timings(all) {
  const rows = Object.entries(STEPS).filter(([name]) => all[name] !== undefined);
  if (rows.length < 2) return null; // given before: nothing took any time
  const longest = Math.max(...rows.map(([name]) => all[name]), 1);
  return table("How long it took", ["Step", "Milliseconds", ""], rows.map(([name, label]) => {
    const bar = make("meter", "", { min: 0, max: longest, value: all[name] }, { "aria-hidden": "true" });
    return [name.includes(".") ? `– ${label.toLowerCase()}` : label, Math.round(all[name]).toString(), bar];
  }));
}

/** Everything that an answer with explain tells beyond the others. */
function traceOf({ trace, status }) {
  if (!trace) return [make("p", "The gateway told nothing more.")];
  if (trace.declined) return [make("p", `It was declined: ${trace.declined}.`)];
  const found = trace.retrieval ?? {};
  const names = namesOf(found);
  return [
    trace.verdict && gate(trace.verdict),
    trace.question && make("p", `Searched for: ${trace.question}`, { dir: "auto" }),
    ...Object.entries(found.lists ?? {}).map(([list, rows]) => listTable(list, rows, found.questions ?? [])),
    left(found.drops ?? [], names),
    unsupported(trace.dropped ?? [], status),
  ].filter(Boolean);
}

function gate({ answerable, threshold, gate: name, reason }) {
  const limit = threshold === null ? "" : ` (an answer is tried from ${percent(threshold)} on)`;
  return make("p", `${GATES[name] ?? name} Probability that the documents answer it: ${percent(answerable)}${limit}. In detail: ${reason}.`);
}

function listTable(list, rows, questions) {
  const [kind, number] = list.split(":");
  const by = kind === "vector" ? "Found by meaning" : kind === "bm25" ? "Found by words" : `Found by ${kind}`;
  const part = questions.length > 1 && questions[number] ? ` for “${questions[number]}”` : "";
  const score = kind === "vector" ? "Distance (0 is the same)" : "Score";
  return table(`${by}${part}`, ["No.", "Document", score], rows.map((row) => [
    String(row.rank), row.document_id ?? "one that was not looked at any closer", (row.distance ?? row.score ?? 0).toFixed(2),
  ]));
}

function namesOf({ lists = {} }) {
  return new Map(Object.values(lists).flat().map((row) => [row.chunk_id, row.document_id]));
}

function left(drops, names) {
  if (!drops.length) return make("p", "No passage was left out.");
  const rows = drops.map((drop) => [names.get(drop.chunk_id) ?? "a passage", drop.reason]);
  return table("Passages that were left out", ["Document", "Why"], rows);
}

function unsupported(dropped, status) {
  if (!dropped.length) return status === "answered" ? make("p", "No sentence was left out.") : null;
  const rows = dropped.map((claim) => [withoutMarkdown(claim.text), `supported with ${percent(claim.score)} only`]);
  return table("Sentences that were written but left out", ["Sentence", "Why"], rows);
}

function table(caption, heads, rows) {
  const head = around("thead", [around("tr", heads.map((text) => make("th", text, { scope: "col" })))]);
  const cell = (value) => (value instanceof Element ? around("td", [value]) : make("td", value, { dir: "auto" }));
  const body = around("tbody", rows.slice(0, ROWS).map((row) => around("tr", row.map(cell))));
  const made = around("table", [make("caption", caption), head, body]);
  const frame = around("div", [made], { className: "table", tabIndex: 0 }, { role: "group", "aria-label": caption });
  const hidden = rows.length - ROWS;
  return around("div", [frame, hidden > 0 ? make("p", `and ${hidden} more`, { className: "note" }) : null]);
}
