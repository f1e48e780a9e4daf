// Background work: what waits, runs, is done or failed; to be retried or cancelled.
import { call } from "./home.js";
import { openDialog } from "./owner-dialog.js";
import { KINDS, STATES, bar, outcome, stateBadge } from "./owner-jobs.js";
import { Listing } from "./owner-list.js";
import { OwnerView, act, empty, headed, say } from "./owner-view.js";
import { moment, plainly, plural, reasonOf } from "./owner-words.js";
import { around, button, make } from "./text.js";

const PAGE = 50;
const MOST = 200;
const LEAD = "Everything that is done in the background. What failed says why, and can be tried again.";

const jobAddress = (job) => `/v1/jobs/${encodeURIComponent(job.id)}`;

/** The view. */
export function workView() {
  const view = new OwnerView("work", "Work", { lead: LEAD, look });
  const chips = new Map();
  const kind = around("select", [make("option", "Every kind", { value: "" }), ...Object.entries(KINDS).map(([value, text]) => make("option", text, { value }))]);
  const list = make("ul", "", { className: "rows", id: "jobs" });
  const none = empty("No work here");
  const more = button("Show more", () => {
    size = Math.min(MOST, size + PAGE);
    view.again();
  }, { hidden: true });
  const all = button("Retry all failed", () => openDialog(retryAll()), { hidden: true });
  let state = "";
  let size = PAGE;
  let failed = 0;

  const rows = new Listing(list, { key: (job) => job.id, draw, does: {
    retry: (job) => ordered(job, "retry", "It is queued again."),
    cancel: (job) => ordered(job, "cancel", "It is cancelled."),
    items: (job) => openDialog({ title: "Documents of this batch", text: [itemsOf(job)] }),
    result: (job) => openDialog({ title: KINDS[job.kind] ?? job.kind, text: resultOf(job.result) }),
  } });

  for (const [value, text] of [["", "All"], ...Object.entries(STATES).map(([name, [word]]) => [name, word])]) {
    const count = make("span", "", { className: "figure" });
    const chip = button("", () => choose(value), { className: "filter" }, { "aria-pressed": String(value === "") });
    chip.append(make("span", text), " ", count);
    chips.set(value, { chip, count });
  }
  view.body.append(
    around("div", [
      around("div", [...chips.values()].map(({ chip }) => chip), { className: "chips" }, { role: "group", "aria-label": "By state" }),
      around("label", [make("span", "Kind"), kind], { className: "field" }),
    ], { className: "filters" }),
    headed("Jobs, newest first", all),
    list,
    none,
    around("div", [more], { className: "actions" }),
  );
  kind.addEventListener("change", () => view.again());

  function choose(value) {
    state = value;
    size = PAGE;
    for (const [name, { chip }] of chips) chip.setAttribute("aria-pressed", String(name === value));
    view.again();
  }

  async function look() {
    const asked = new URLSearchParams({ limit: size });
    if (state) asked.set("state", state);
    if (kind.value) asked.set("kind", kind.value);
    const { items, counts, next_cursor: next } = await call(`/v1/jobs?${asked}`);
    rows.show(items);
    for (const [name, { count }] of chips) {
      const number = name ? counts[name] : Object.values(counts).reduce((sum, one) => sum + one, 0);
      if (count.textContent !== String(number)) count.textContent = number;
    }
    none.hidden = items.length > 0;
    none.firstChild.textContent = state || kind.value ? "No such work" : "Nothing was sent yet: bring files in under Documents";
    more.hidden = next === null || size >= MOST;
    failed = counts.failed;
    all.hidden = failed === 0;
    return counts.queued + counts.running > 0;
  }

  async function ordered(job, what, said) {
    try {
      await call(`${jobAddress(job)}/${what}`, { method: "POST" });
      say(said);
    } catch (failure) {
      say(reasonOf(failure));
    }
    view.again();
  }

  function retryAll() {
    const only = kind.value || null;
    return {
      title: only ? `Retry all failed: ${KINDS[only]}` : `Retry ${plural(failed, "failed job")}?`,
      text: "Each is queued again and begins anew. One whose document was sent or forgotten since then is left alone.",
      action: "Retry them",
      async does() {
        const { retried, skipped } = await call("/v1/jobs/retry", { json: { kind: only } });
        view.again();
        const left = skipped ? ` ${plural(skipped, "job")} left alone.` : "";
        say(`${plural(retried, "job")} queued again.${left}`);
      },
    };
  }

  return view;
}

function draw(job) {
  const name = job.document_id ?? KINDS[job.kind] ?? job.kind;
  const facts = [job.document_id ? KINDS[job.kind] : null, job.attempts > 1 ? `begun ${job.attempts} times` : null].filter(Boolean);
  const over = job.state !== "queued" && job.state !== "running";
  return around("li", [
    around("div", [make("span", name, { className: "row-title", dir: "auto" }), stateBadge(job)], { className: "row-line" }),
    bar(job),
    around("p", [facts.length ? `${facts.join(" · ")} · ` : "", moment(over ? job.updated_at : job.created_at)], { className: "row-facts" }),
    ...outcome(job),
    around("div", [
      over ? null : act("cancel", "Cancel", { of: name }),
      job.state === "failed" || job.state === "cancelled" ? act("retry", "Retry", { of: name }) : null,
      job.kind === "batch" ? act("items", "Its documents", { of: name }) : null,
      job.state === "succeeded" && job.kind !== "document" && job.result ? act("result", "What came of it", { of: name }) : null,
    ], { className: "row-acts" }),
  ], { className: "row" });
}

/** The documents of a batch, a page at a time. */
function itemsOf(job) {
  const list = make("ul", "", { className: "rows" });
  const told = make("p", "Loading…", { className: "note" }, { role: "status" });
  const more = button("Show more", () => load(), { hidden: true });
  let cursor = null;
  async function load() {
    try {
      const at = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
      const page = await call(`${jobAddress(job)}/items?limit=${PAGE}${at}`);
      list.append(...page.items.map(itemLine));
      cursor = page.next_cursor;
      more.hidden = cursor === null;
      const { succeeded, failed, queued, running } = page.counts;
      told.textContent = `${succeeded} done, ${failed} failed, ${queued + running} to come.`;
    } catch (failure) {
      told.textContent = reasonOf(failure);
    }
  }
  load();
  return around("div", [told, list, more]);
}

function itemLine(item) {
  return around("li", [
    around("div", [
      make("span", item.document_id ?? `Line ${item.n}`, { className: "row-title", dir: "auto" }),
      item.unchanged ? make("span", "unchanged", { className: "figure" }) : null,
      stateBadge(item),
    ], { className: "row-line" }),
    item.reason ? make("p", plainly(item.reason), { className: "reason bad", dir: "auto" }) : null,
  ], { className: "row" });
}

function resultOf(result) {
  if (typeof result.text === "string") return [make("p", result.text, { className: "prose", dir: "auto" })];
  const rows = Object.entries(result).filter(([, value]) => value === null || typeof value !== "object").flatMap(([name, value]) => [
    make("dt", name.replaceAll("_", " ")), make("dd", String(value ?? "–"), { dir: "auto" }),
  ]);
  return [around("dl", rows, { className: "facts" })];
}
