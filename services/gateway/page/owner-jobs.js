// Jobs in words: what they do, how far they are, what became of them.
import { badge } from "./owner-view.js";
import { duration, plainly } from "./owner-words.js";
import { around, make } from "./text.js";

export const STATES = {
  queued: ["Waiting", "plain"],
  running: ["Running", "now"],
  succeeded: ["Done", "good"],
  failed: ["Failed", "bad"],
  cancelled: ["Cancelled", "quiet"],
};
export const KINDS = {
  document: "Document",
  batch: "Many documents",
  cleanup: "Clean-up after forgetting",
  mend: "Repair of an index",
  evaluation: "Evaluation",
  golden: "Proposing golden questions",
  calibration: "Calibration",
  reembed: "Second index",
  ask: "Question for later",
};
const STAGES = {
  parse: "reading",
  chunk: "cutting into chunks",
  embed: "embedding",
  index: "indexing",
  publish: "publishing",
  load: "loading the model",
  follow: "catching up with changes",
  compare: "comparing",
};

/** "Running: embedding". */
export function stateOf(job) {
  const [word] = STATES[job.state] ?? [job.state];
  if (job.state !== "running" || !job.stage) return word;
  return `${word}: ${STAGES[job.stage] ?? job.stage.replaceAll("_", " ")}`;
}

/** The state as a badge. */
export function stateBadge(job) {
  return badge(stateOf(job), STATES[job.state]?.[1]);
}

/** How far it is; null when it does not run. */
export function bar(job, secondsLeft = null) {
  if (job.state !== "running") return null;
  const attributes = { "aria-label": "Progress" };
  if (job.total) Object.assign(attributes, { max: job.total, value: Math.min(job.done, job.total) });
  const words = [job.total ? `${job.done} of ${job.total}` : "", secondsLeft === null ? "" : `about ${duration(secondsLeft)} left`];
  const told = words.filter(Boolean).join(", ");
  return around("span", [make("progress", "", {}, attributes), make("span", told, { className: "figure" })], { className: "bar" });
}

/** Why it failed, and what an owner should look at. */
export function outcome(job) {
  const lines = [];
  if (job.reason && job.state !== "succeeded") {
    lines.push(make("p", plainly(job.reason), { className: job.state === "failed" ? "reason bad" : "reason note", dir: "auto" }));
  }
  if (job.warning) lines.push(warning(job.warning));
  return lines;
}

/** A warning with its mark. */
export function warning(text) {
  return around("p", [badge("Look at this", "doubt"), " ", make("span", text, { dir: "auto" })], { className: "reason" });
}
