// Questions that the content did not answer, the most asked first, and what the owner makes of them.
import { call } from "./home.js";
import { openDialog } from "./owner-dialog.js";
import { stateOf } from "./owner-jobs.js";
import { Listing } from "./owner-list.js";
import { OwnerView, act, badge, empty, say } from "./owner-view.js";
import { Watch } from "./owner-watch.js";
import { moment, plainly, plural, reasonOf } from "./owner-words.js";
import { around, button, make } from "./text.js";

const PAGE = 50;
const MOST = 200;
const LEAD = "Questions that visitors asked and your documents did not answer, or not well. The most asked come first: one sentence from you answers them from then on.";
const STATES = { open: "Open", answered: "Answered", dismissed: "Dismissed" };
const NONE = {
  open: ["Nothing is open", "Questions that find no answer appear here by themselves."],
  answered: ["No fact was added yet", "Add one to an open question; it is listed here then."],
  dismissed: ["Nothing was dismissed", "What you dismiss is kept here, and can be opened again."],
};

const gapAddress = (gap) => `/v1/gaps/${encodeURIComponent(gap.id)}`;

/** The view. ``ask(question)`` asks one on the page's first view. */
export function gapsView({ ask }) {
  const view = new OwnerView("gaps", "Gaps", { lead: LEAD, look });
  const chips = new Map();
  const list = make("ul", "", { className: "rows stacked", id: "gaps" });
  const none = empty("", make("p"));
  const more = button("Show more", () => {
    size = Math.min(MOST, size + PAGE);
    view.again();
  }, { hidden: true });
  let state = "open";
  let size = PAGE;

  const changed = () => view.again();
  const rows = new Listing(list, { key: (gap) => gap.id, draw, does: {
    fact: (gap) => openDialog(adding(gap, false, { ask, changed })),
    negative: (gap) => openDialog(adding(gap, true, { ask, changed })),
    dismiss: (gap) => ordered(gap, "dismiss", "It is dismissed, and will not come back in other words."),
    reopen: (gap) => ordered(gap, "reopen", "It is open again."),
    ask: (gap) => ask(gap.question, true),
  } });

  for (const [value, text] of Object.entries(STATES)) {
    const count = make("span", "", { className: "figure" });
    const chip = button("", () => choose(value), { className: "filter" }, { "aria-pressed": String(value === state) });
    chip.append(make("span", text), " ", count);
    chips.set(value, { chip, count });
  }
  view.body.append(
    around("div", [...chips.values()].map(({ chip }) => chip), { className: "chips" }, { role: "group", "aria-label": "By state" }),
    list,
    none,
    around("div", [more], { className: "actions" }),
  );

  function choose(value) {
    state = value;
    size = PAGE;
    for (const [name, { chip }] of chips) chip.setAttribute("aria-pressed", String(name === value));
    view.again();
  }

  async function look() {
    const { items, counts, next_cursor: next } = await call(`/v1/gaps?state=${state}&limit=${size}`);
    rows.show(items);
    for (const [name, { count }] of chips) {
      if (count.textContent !== String(counts[name])) count.textContent = counts[name];
    }
    none.hidden = items.length > 0;
    [none.firstChild.textContent, none.lastChild.textContent] = NONE[state];
    more.hidden = next === null || size >= MOST;
    return false;
  }

  async function ordered(gap, what, said) {
    try {
      await call(`${gapAddress(gap)}/${what}`, { method: "POST" });
      say(said);
    } catch (failure) {
      say(reasonOf(failure));
    }
    view.again();
  }

  return view;
}

function draw(gap) {
  const times = [
    gap.asked ? `asked ${gap.asked === 1 ? "once" : `${gap.asked} times`} without an answer` : null,
    gap.judged_bad ? `called bad ${gap.judged_bad === 1 ? "once" : `${gap.judged_bad} times`}` : null,
  ].filter(Boolean);
  const open = gap.state === "open";
  return around("li", [
    around("div", [
      make("span", gap.question, { className: "row-title question", dir: "auto" }),
      gap.state === "answered" ? badge("A fact was added", "good") : null,
    ], { className: "row-line" }),
    around("p", [`${times.join(" · ")}${times.length ? " · " : ""}`, moment(gap.last_at, gap.asked + gap.judged_bad > 1 ? "last " : "")], { className: "row-facts" }),
    gap.others.length ? around("details", [
      make("summary", plural(gap.others.length, "other wording")),
      around("ul", gap.others.map((other) => make("li", other, { dir: "auto" }))),
    ]) : null,
    gap.nearest.length ? make("p", `Nearest: ${gap.nearest.join(" · ")}`, { className: "row-facts", dir: "auto" }) : null,
    around("div", [
      open ? act("fact", "Add a fact", { of: gap.question, className: "strong" }) : null,
      open ? act("negative", "Add a negative fact", { of: gap.question }) : null,
      act("ask", gap.state === "answered" ? "Ask it now" : "Ask it", { of: gap.question }),
      open ? act("dismiss", "Dismiss", { of: gap.question }) : act("reopen", "Open again", { of: gap.question }),
    ], { className: "row-acts" }),
  ], { className: "row" });
}

function adding(gap, negative, { ask, changed }) {
  const hint = negative
    ? "Say what is not so, in a whole sentence with its subject, such as: Juno has never worked with Kubernetes."
    : "One or a few whole sentences that stand for themselves, with names instead of he, she or it.";
  return {
    title: negative ? "Add a negative fact" : "Add a fact",
    text: [make("p", gap.question, { className: "question", dir: "auto" })],
    draft: `gap ${gap.id} ${negative}`,
    fields: [
      { name: "text", label: negative ? "What is not so" : "What is true", kind: "textarea", required: true, hint, max: 4000 },
      { name: "source", label: "Where you know it from", max: 2000, hint: "A web address or a few words; it is shown with the answer." },
    ],
    action: "Add it",
    async does({ text, source }) {
      const json = { text: text.trim(), negative, source: source.trim() || null };
      const added = await call(`${gapAddress(gap)}/fact`, { json });
      changed();
      return { title: "The fact is kept", result: followed(gap, added.job_id, { ask, changed }) };
    },
  };
}

/** What becomes of the fact, while the owner looks. */
function followed(gap, jobId, { ask, changed }) {
  const told = make("p", "It is being taken in…", {}, { role: "status" });
  const asks = button("Ask the question", () => {
    asks.closest("dialog").close();
    ask(gap.question, true);
  }, { className: "primary", hidden: true });
  const watch = new Watch((job) => {
    if (job.state === "succeeded") {
      told.textContent = "Answered now: the fact is among what answers rest on.";
      asks.hidden = false;
      changed();
    } else if (job.state === "failed" || job.state === "cancelled") {
      told.textContent = `It could not be taken in. ${plainly(job.reason ?? "")} The text is kept; retry the job under Work.`;
    } else told.textContent = `${stateOf(job)}…`;
  });
  watch.follow(jobId);
  return [told, asks];
}
