// Evaluations: started, listed with their scores, and their reports opened; the golden questions and the calibration below.
import { call, home } from "./home.js";
import { calibrationPart } from "./owner-calibration.js";
import { openDialog } from "./owner-dialog.js";
import { goldenPart } from "./owner-golden.js";
import { Listing } from "./owner-list.js";
import { showReport } from "./owner-report.js";
import { OwnerView, act, badge, empty, headed, say } from "./owner-view.js";
import { moment, percent, plural, reasonOf, signed } from "./owner-words.js";
import { around, button, make } from "./text.js";

const LEAD = "How well questions are answered, measured. An evaluation asks every approved golden question as a visitor would, and judges what comes.";
const SUBJECTS = { all: "Search and answers", retrieval: "Search only", answers: "Answers only" };
const METRICS = [
  ["right", "right", percent],
  ["score", "score", (value) => signed(value, 2)],
  ["supported", "supported claims", percent],
  ["ndcg@10", "nDCG@10", (value) => value.toFixed(3)],
  ["recall@10", "found among ten", percent],
  ["gate_stops", "turned away rightly", percent],
  ["errors", "could not be asked", percent],
];

/** The view. */
export function evaluationsView() {
  const view = new OwnerView("evaluations", "Evaluations", { lead: LEAD, look });
  const list = make("ul", "", { className: "rows stacked", id: "evaluations" });
  const none = empty("Nothing was evaluated yet", make("p", "Approve golden questions below, then start an evaluation. It tells what a change makes better or worse."));
  const more = button("Show more", () => {
    size = Math.min(200, size + 20);
    view.again();
  }, { hidden: true });
  const golden = goldenPart(view);
  const calibration = calibrationPart(view);
  let size = 20;

  const rows = new Listing(list, { key: (one) => one.id, draw, does: {
    open: (one) => showReport(one).catch((failure) => say(reasonOf(failure))),
    cancel: (one) => view.guard(async () => {
      await call(`/v1/jobs/${encodeURIComponent(one.job_id)}/cancel`, { method: "POST" });
      view.again();
    }),
  } });
  view.body.append(
    headed("Reports", button("Start an evaluation", () => openDialog(starting(() => view.again())), { className: "primary" })),
    list,
    none,
    around("div", [more], { className: "actions" }),
    golden.element,
    calibration.element,
  );

  async function look() {
    const [{ items, next_cursor: next }, ...busy] = await Promise.all([reports(), golden.look(), calibration.look()]);
    rows.show(items);
    none.hidden = items.length > 0;
    more.hidden = next === null || size >= 200;
    return busy.some(Boolean) || items.some((one) => one.job && ["queued", "running"].includes(one.job.state));
  }

  /** Those that are not finished tell by their job how far they are. */
  async function reports() {
    const page = await call(`/v1/evaluations?limit=${size}`);
    const items = await Promise.all(page.items.map(async (one, n) => {
      if (one.finished || n >= 5) return one;
      return { ...one, job: await call(`/v1/jobs/${encodeURIComponent(one.job_id)}`).catch(() => null) };
    }));
    return { ...page, items };
  }

  return view;
}

function draw(one) {
  const figures = METRICS.filter(([name]) => one.metrics[name] !== undefined && !(name === "errors" && one.metrics[name] === 0));
  return around("li", [
    around("div", [
      make("span", one.name, { className: "row-title", dir: "auto" }),
      verdict(one),
    ], { className: "row-line" }),
    one.job?.state === "running" ? around("span", [
      make("progress", "", {}, { "aria-label": "Progress", ...(one.job.total ? { max: one.job.total, value: one.job.done } : {}) }),
      make("span", one.job.total ? `${one.job.done} of ${one.job.total}` : "", { className: "figure" }),
    ], { className: "bar" }) : null,
    around("p", [`${plural(one.questions, "question")} · ${SUBJECTS[one.subject] ?? one.subject} · `, moment(one.created_at)], { className: "row-facts" }),
    figures.length ? around("dl", figures.flatMap(([name, words, said]) => [
      around("div", [make("dt", words), make("dd", said(one.metrics[name]))]),
    ]), { className: "scores" }) : null,
    one.job?.reason && one.job.state === "failed" ? make("p", one.job.reason, { className: "reason bad" }) : null,
    around("div", [
      one.finished ? act("open", "Open the report", { of: one.name, className: "strong" }) : null,
      one.job && ["queued", "running"].includes(one.job.state) ? act("cancel", "Cancel", { of: one.name }) : null,
    ], { className: "row-acts" }),
  ], { className: "row" });
}

function verdict(one) {
  if (!one.finished) {
    const words = { queued: ["Waiting", "plain"], failed: ["Failed", "bad"], cancelled: ["Cancelled", "quiet"] };
    return badge(...(words[one.job?.state] ?? ["Running", "now"]));
  }
  if (one.vetoed === null) return null;
  return one.vetoed ? badge("Worse than before", "bad") : badge("Not worse than before", "good");
}

function starting(done) {
  return {
    title: "Start an evaluation",
    text: "It asks all approved golden questions in the background. With many questions and a language model this takes minutes.",
    draft: "evaluation",
    fields: [
      { name: "name", label: "Name", value: "golden", max: 200, required: true },
      { name: "subject", label: "What is judged", kind: "select", options: Object.entries(SUBJECTS), required: true, value: "all" },
      { name: "against", label: "Compare with the last one of the same questions", kind: "check", value: true },
      { name: "ablate", label: "Ask again with parts of the search switched off (takes longer)", kind: "check" },
    ],
    action: "Start",
    async does({ name, subject, against, ablate }) {
      const json = { name: name.trim(), subject, ablate, against: against && (await before()) ? "last" : null };
      await call("/v1/evaluations", { json });
      say("The evaluation is under way.");
      done();
    },
  };
}

/** Is there a finished one to compare with? */
async function before() {
  const { items } = await home.call("/v1/evaluations?limit=50");
  return items.some((one) => one.finished);
}
