// The index that serves, and others beside it: built, compared, promoted, taken back, removed.
import { call, home } from "./home.js";
import { openDialog } from "./owner-dialog.js";
import { Listing } from "./owner-list.js";
import { OwnerView, act, badge, empty, headed, say } from "./owner-view.js";
import { duration, moment, plainly, plural, signed } from "./owner-words.js";
import { around, button, make } from "./text.js";

const LEAD = "Answers come from one index. To change the model behind it, build a second one beside it, compare, and switch in one step; questions are answered all the while.";
const STATES = {
  building: ["Being built", "now"],
  ready: ["Ready to serve", "good"],
  serving: ["Serving", "good"],
  standby: ["Standing by", "plain"],
  failed: ["Failed", "bad"],
  retired: ["Being removed", "quiet"],
};
const OWN = "own";
const EMBEDDERS = [
  ["all-MiniLM-L6-v2", "all-MiniLM-L6-v2: English, small and quick"],
  ["multilingual-e5-small", "multilingual-e5-small: a hundred languages"],
  [OWN, "Another one, by its name or folder"],
];

const indexAddress = (index) => `/v1/indexes/${encodeURIComponent(index.id)}`;

/** The view. */
export function indexesView() {
  const view = new OwnerView("indexes", "Indexes", { lead: LEAD, look });
  const list = make("ul", "", { className: "rows stacked", id: "indexes" });
  const none = empty("There is no index yet", make("p", "The first document makes it."));
  const build = button("Build another index", () => openDialog(building(done)), { className: "primary", hidden: true });
  const back = button("Roll back", () => openDialog(rollingBack(done)), { hidden: true });
  const rows = new Listing(list, { key: (index) => index.id, draw, does: {
    promote: (index) => openDialog(promoting(index, done)),
    remove: (index) => openDialog(removing(index, done)),
    cancel: (index) => view.guard(async () => {
      await call(`/v1/jobs/${encodeURIComponent(index.job_id)}/cancel`, { method: "POST" });
      done("The build is cancelled.");
    }),
    retry: (index) => view.guard(async () => {
      await call(`/v1/jobs/${encodeURIComponent(index.job_id)}/retry`, { method: "POST" });
      done("The build goes on.");
    }),
  } });
  view.body.append(headed("Indexes of this space", back, build), list, none);

  function done(said) {
    say(said);
    view.again();
  }

  async function look() {
    const { items } = await call("/v1/indexes");
    rows.show(items);
    none.hidden = items.length > 0;
    build.hidden = items.length === 0 || items.some((index) => index.state === "building");
    back.hidden = !items.some((index) => index.state === "standby");
    return items.some((index) => ["building", "retired"].includes(index.state) || (index.lag > 0 && index.state !== "failed"));
  }

  return view;
}

function draw(index) {
  const [word, tone] = STATES[index.state] ?? [index.state, "plain"];
  const serving = index.state === "serving";
  const name = index.embedder.name;
  return around("li", [
    around("div", [make("span", name, { className: "row-title", dir: "auto" }), badge(word, tone)], { className: "row-line" }),
    index.state === "building" ? progress(index) : null,
    around("p", [factsOf(index), moment(index.promoted_at ?? index.created_at, !index.promoted_at ? "begun " : serving ? "serving since " : "served from ")], { className: "row-facts" }),
    index.reason ? make("p", plainly(index.reason), { className: index.state === "failed" ? "reason bad" : "reason note" }) : null,
    index.truncated ? make("p", `${plural(index.truncated, "chunk")} longer than this model reads: they stand in it by their beginning.`, { className: "reason doubt" }) : null,
    index.comparison && !serving ? comparisonOf(index) : null,
    around("div", [
      index.state === "ready" || index.state === "standby" ? act("promote", "Promote", { of: name, className: "strong" }) : null,
      index.state === "building" && index.job_id ? act("cancel", "Cancel", { of: name }) : null,
      index.state === "failed" && index.job_id ? act("retry", "Retry", { of: name }) : null,
      ["ready", "standby", "failed"].includes(index.state) ? act("remove", "Remove", { of: name, className: "risky" }) : null,
    ], { className: "row-acts" }),
  ], { className: "row", id: `index-${index.id}` });
}

function factsOf(index) {
  const { dimension, query_prompt: asked, document_prompt: given } = index.embedder;
  const prompts = [asked ? `questions begin with “${asked}”` : "", given ? `chunks begin with “${given}”` : ""].filter(Boolean);
  const partly = ["building", "failed"].includes(index.state) && index.vectors < index.chunks;
  const amount = !partly ? plural(index.chunks, "chunk") : `${index.vectors} of ${plural(index.chunks, "chunk")}`;
  const behind = index.state !== "serving" && index.state !== "building" && index.lag ? `${plural(index.lag, "change")} behind` : "";
  return `${[amount, dimension ? `${dimension} wide` : "", ...prompts, behind].filter(Boolean).join(" · ")} · `;
}

function progress(index) {
  const told = [`${index.vectors} of ${plural(index.chunks, "chunk")}`, index.seconds_left === null ? "" : `about ${duration(index.seconds_left)} left`];
  return around("span", [
    make("progress", "", {}, { max: Math.max(1, index.chunks), value: Math.min(index.vectors, index.chunks), "aria-label": "Built" }),
    make("span", told.filter(Boolean).join(", "), { className: "figure" }),
  ], { className: "bar" });
}

/** The verdict in words, and below it the figures. */
export function comparisonWords(found) {
  if (found.worse) return "Worse: it finds less than the serving index, beyond chance.";
  if (found.low > 0) return "Better: it finds more than the serving index, beyond chance.";
  if (found.low === 0 && found.high === 0) return "The same: both find alike.";
  return "No difference beyond chance: it is not shown to find less than the serving index.";
}

function comparisonOf(index) {
  const found = index.comparison;
  const golden = found.golden === "own" ? "of your approved golden questions" : "made from the content";
  const cells = [
    ["Serving index", found.serving.toFixed(3)],
    ["This index", found.candidate.toFixed(3)],
    ["Difference", signed(found.difference)],
    ["95 % interval", `${signed(found.low)} to ${signed(found.high)}`],
  ];
  return around("div", [
    make("p", comparisonWords(found), { className: found.worse ? "verdict bad" : "verdict" }),
    around("table", [
      make("caption", `${found.metric === "ndcg@10" ? "nDCG@10" : found.metric} (1 is best), by ${plural(found.questions, "question")} ${golden}`),
      around("thead", [around("tr", cells.map(([name]) => make("th", name, {}, { scope: "col" })))]),
      around("tbody", [around("tr", cells.map(([name, value]) => make("td", value, {}, { "data-label": name })))]),
    ], { className: "figures" }),
  ], { className: "comparison" });
}

function building(done) {
  const own = (values) => values.embedder === OWN;
  return {
    title: "Build another index",
    text: "It is built beside the serving one and compared with it. Nothing changes for visitors until you promote it.",
    draft: "index",
    fields: [
      { name: "embedder", label: "Model that turns texts into vectors", kind: "select", options: EMBEDDERS, required: true, value: EMBEDDERS[0][0] },
      { name: "own", label: "Name or folder of the model", required: true, when: own, max: 500, hint: "As RAGSTONE_EMBEDDER takes it; workers and retrievers must be able to load it." },
      { name: "query_prompt", label: "Words in front of each question", max: 2000, hint: "Left empty: what the model itself names. The same model with other words is another index." },
      { name: "document_prompt", label: "Words in front of each chunk", max: 2000 },
      { name: "promote", label: "Let it serve by itself when it is ready and not worse", kind: "check" },
    ],
    action: "Build it",
    async does(values) {
      await call("/v1/indexes", { json: {
        embedder: own(values) ? values.own.trim() : values.embedder,
        query_prompt: values.query_prompt || null,
        document_prompt: values.document_prompt || null,
        promote: values.promote,
      } });
      done("The index is being built.");
    },
  };
}

function promoting(index, done, force = false) {
  const found = index.comparison;
  return {
    title: force ? "Promote it all the same?" : `Let ${index.embedder.name} serve?`,
    text: force
      ? "It is expected to find less of what visitors ask for. The index that serves now stands by, and one step leads back to it."
      : [make("p", found ? comparisonWords(found) : "It was not compared with the serving one."), make("p", "From one moment to the next all questions go to it. The index that serves now stands by, and one step leads back to it.")],
    action: force ? "Promote it all the same" : "Promote",
    danger: force,
    async does() {
      try {
        return switched(await call(`${indexAddress(index)}/promote`, { json: { force } }), done);
      } catch (failure) {
        if (failure.code !== "index_worse" || force) throw failure;
        return { step: refused(index, failure, done) };
      }
    },
  };
}

function refused(index, failure, done) {
  return {
    title: "It is not promoted",
    text: [
      make("p", plainly(failure.message)),
      make("p", "Keep the serving index, or look at the figures and decide otherwise. Fewer golden questions say less: approve more of them under Evaluations for a surer comparison."),
    ],
    action: "Promote all the same…",
    danger: true,
    does: async () => ({ step: promoting(index, done, true) }),
  };
}

function switched(index, done) {
  done(index.state === "serving" ? `${index.embedder.name} serves now.` : "It is brought level first.");
  if (index.state === "serving") return undefined;
  return { title: "In a moment", result: [make("p", "It is not level with the content yet. It serves as soon as it is; the list shows when.")] };
}

function rollingBack(done) {
  return {
    title: "Go back to the index that served before?",
    text: "It was kept level with the content. The one that serves now stands by instead.",
    action: "Roll back",
    does: async () => switched(await call("/v1/indexes/rollback", { method: "POST" }), done),
  };
}

function removing(index, done) {
  return {
    title: `Remove ${index.embedder.name}?`,
    text: index.state === "standby"
      ? "Its vectors are deleted, and nothing leads back to it then except building it anew."
      : "Its vectors are deleted. The serving index is not touched.",
    action: "Remove it",
    danger: true,
    async does() {
      await home.send(indexAddress(index), { method: "DELETE" });
      done("It is being removed.");
    },
  };
}
