// Golden questions: proposed from the documents, approved or rejected by the owner.
import { call } from "./home.js";
import { openDialog } from "./owner-dialog.js";
import { Listing } from "./owner-list.js";
import { act, badge, empty, headed, say } from "./owner-view.js";
import { Watch } from "./owner-watch.js";
import { plainly, plural, reasonOf } from "./owner-words.js";
import { around, button, make } from "./text.js";

const PAGE = 10;
const STATES = { proposed: "Proposed", approved: "Approved", rejected: "Rejected" };
const NONE = {
  proposed: ["No proposal waits", "“Propose questions” makes some from your documents."],
  approved: ["None is approved yet", "Approve proposals, or import your own with the command line."],
  rejected: ["None was rejected", "What you reject is kept here, and can be approved after all."],
};
const BEHAVIOURS = { abstain: "should be answered with: not in the documents", decline: "should be declined" };

/** A part of the evaluations' view. */
export function goldenPart(view) {
  const chips = new Map();
  const list = make("ul", "", { className: "rows", id: "golden" });
  const none = empty("", make("p"));
  const more = button("Show more", () => {
    size = Math.min(200, size + 40);
    view.again();
  }, { hidden: true });
  const approveAll = button("Approve all shown", () => decide(shown, "approved"), { hidden: true });
  const propose = button("Propose questions", () => openDialog(proposing()));
  const watch = new Watch((job) => {
    working = job.state === "queued" || job.state === "running";
    if (job.state === "succeeded") {
      const made = job.result?.proposed ?? 0;
      say(made ? `${plural(made, "question")} proposed.` : "No further question could be made from the documents.");
    }
    if (job.state === "failed") say(`No questions were proposed. ${plainly(job.reason ?? "")}`);
    view.again();
  });
  let state = "proposed";
  let size = PAGE;
  let shown = [];
  let working = false;

  const rows = new Listing(list, { key: (one) => one.question.id, draw, does: {
    approve: (one) => decide([one], "approved"),
    reject: (one) => decide([one], "rejected"),
  } });
  for (const [value, text] of Object.entries(STATES)) {
    const count = make("span", "", { className: "figure" });
    const chip = button("", () => choose(value), { className: "filter" }, { "aria-pressed": String(value === state) });
    chip.append(make("span", text), " ", count);
    chips.set(value, { chip, count });
  }

  function choose(value) {
    state = value;
    size = PAGE;
    for (const [name, { chip }] of chips) chip.setAttribute("aria-pressed", String(name === value));
    view.again();
  }

  async function look() {
    const { items, counts, next_cursor: next } = await call(`/v1/golden?state=${state}&limit=${size}`);
    shown = items;
    rows.show(items);
    for (const [name, { count }] of chips) {
      const number = String(counts[name] ?? 0);
      if (count.textContent !== number) count.textContent = number;
    }
    none.hidden = items.length > 0;
    [none.firstChild.textContent, none.lastChild.textContent] = NONE[state];
    more.hidden = next === null || size >= 200;
    approveAll.hidden = state !== "proposed" || items.length < 2;
    return working;
  }

  async function decide(questions, wanted) {
    try {
      await call("/v1/golden", { method: "PUT", json: { items: questions.map((one) => ({ question: one.question, state: wanted })) } });
      say(`${plural(questions.length, "question")} ${wanted}.`);
    } catch (failure) {
      say(reasonOf(failure));
    }
    view.again();
  }

  function proposing() {
    return {
      title: "Propose golden questions",
      text: "Questions are made from your documents in the background. None is asked in an evaluation before you approve it.",
      draft: "golden",
      fields: [
        { name: "limit", label: "How many at most", kind: "number", value: "50", required: true },
        { name: "by_model", label: "Also ask the judging model, where one is set", kind: "check" },
      ],
      action: "Propose",
      async does({ limit, by_model: byModel }) {
        const { job_id: job } = await call("/v1/golden/make", { json: { limit: Number(limit), by_model: byModel } });
        working = true;
        watch.follow(job);
        choose("proposed");
        say("Questions are being made.");
      },
    };
  }

  const element = around("section", [
    headed("Golden questions", approveAll, propose),
    around("div", [...chips.values()].map(({ chip }) => chip), { className: "chips" }, { role: "group", "aria-label": "By state" }),
    list,
    none,
    around("div", [more], { className: "actions" }),
  ]);
  return { element, look };
}

function draw(one) {
  const { question, state, flagged } = one;
  const documents = [...new Set(question.gold.map((span) => span.document_id))];
  return around("li", [
    around("div", [
      make("span", question.text, { className: "row-title question", dir: "auto" }),
      flagged ? badge("Look again", "doubt") : null,
    ], { className: "row-line" }),
    question.expected ? make("p", question.expected, { className: "row-facts", dir: "auto" }) : null,
    BEHAVIOURS[question.behaviour] ? make("p", `It ${BEHAVIOURS[question.behaviour]}.`, { className: "row-facts" }) : null,
    documents.length ? make("p", `From ${documents.join(", ")}`, { className: "row-facts", dir: "auto" }) : null,
    flagged ? make("p", plainly(flagged), { className: "reason doubt" }) : null,
    around("div", [
      state === "approved" ? null : act("approve", "Approve", { of: question.text, className: "strong" }),
      state === "rejected" ? null : act("reject", "Reject", { of: question.text }),
    ], { className: "row-acts" }),
  ], { className: "row" });
}
