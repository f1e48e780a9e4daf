// The calibration: from when on a question is answered rather than turned away, fitted on the owner's own content.
import { call, home } from "./home.js";
import { openDialog } from "./owner-dialog.js";
import { bar } from "./owner-jobs.js";
import { morph } from "./owner-list.js";
import { headed, say } from "./owner-view.js";
import { Watch, isOver } from "./owner-watch.js";
import { moment, percent, plainly, plural } from "./owner-words.js";
import { around, button, make } from "./text.js";

const RISKS = [
  ["0.02", "2 in 100: careful, silent more often"],
  ["0.05", "5 in 100: the usual"],
  ["0.1", "10 in 100: answers more, errs more"],
];

/** A part of the evaluations' view. */
export function calibrationPart(view) {
  const state = make("div", "", { className: "row" });
  const told = make("p", "", { className: "note" }, { role: "status" });
  const start = button("Calibrate", () => openDialog(calibrating()));
  const back = button("Use the product’s own values", () => openDialog(goingBack()), { className: "tool", hidden: true });
  const watch = new Watch((job) => heard(job));
  let under = null;

  function heard(job) {
    under = isOver(job.state) ? null : job;
    if (job.state === "succeeded") told.textContent = "The calibration is done.";
    if (job.state === "failed") told.textContent = `The calibration failed. ${plainly(job.reason ?? "")}`;
    view.again();
  }

  async function look() {
    const [{ calibration, stale }, { items }] = await Promise.all([
      call("/v1/calibrations"),
      call("/v1/jobs?kind=calibration&state=queued&state=running&limit=1"),
    ]);
    under = items[0] ?? null;
    const fresh = around("div", [...wordsOf(calibration, stale), under ? bar(under) : null], { className: "row" });
    morph(state, fresh);
    if (under) told.textContent = under.state === "queued" ? "A calibration waits for its turn." : "A calibration is under way.";
    start.hidden = under !== null;
    back.hidden = calibration === null;
    return under !== null;
  }

  function calibrating() {
    return {
      title: "Calibrate",
      text: "Questions are made from your content, some of which it cannot answer, and the thresholds are fitted to tell them apart. It runs in the background for some minutes; questions are answered all the while.",
      draft: "calibration",
      fields: [{ name: "risk", label: "Of the questions that are answered, so many may be ones that had better been turned away", kind: "select", options: RISKS, value: "0.05", required: true }],
      action: "Calibrate",
      async does({ risk }) {
        const { job_id: job } = await call("/v1/calibrations", { json: { risk: Number(risk) } });
        watch.follow(job);
        view.again();
        say("The calibration is under way.");
      },
    };
  }

  function goingBack() {
    return {
      title: "Use the product’s own values?",
      text: "The calibration is forgotten; it can be made again.",
      action: "Forget the calibration",
      danger: true,
      async does() {
        await home.send("/v1/calibrations", { method: "DELETE" });
        view.again();
        say("The product’s own values hold again.");
      },
    };
  }

  const element = around("section", [headed("Calibration", back, start), around("div", [state], { className: "rows" }), told]);
  return { element, look };
}

function wordsOf(found, stale) {
  if (!found) {
    const text = "The product’s own values hold. They fit most content; a calibration fits them to yours.";
    return [make("p", "Not calibrated", { className: "row-title" }), make("p", text, { className: "row-facts" })];
  }
  const withheld = found.thresholds.answerable === null;
  const promise = withheld
    ? `The chosen risk of ${percent(found.risk)} cannot be kept on this content; answers are not withheld by probability.`
    : `Of questions like these, ${percent(found.expected_coverage)} of the answerable ${found.enforced ? "are" : "would be"} answered, and ${percent(found.expected_risk, 1)} of what is answered should have been turned away (chosen: ${percent(found.risk)}).`;
  const asked = Object.values(found.asked).reduce((sum, one) => sum + one, 0);
  return [
    around("p", [moment(found.created_at, "Calibrated ")], { className: "row-title" }),
    make("p", promise),
    make("p", `Fitted on ${plural(asked, "question")} made of ${plural(found.chunks, "chunk")}.`, { className: "row-facts" }),
    ...found.notes.map((note) => make("p", plainly(note), { className: "reason doubt" })),
    stale ? make("p", plainly(stale), { className: "reason doubt" }) : null,
  ].filter(Boolean);
}
