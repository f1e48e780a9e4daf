// Files on their way in: one request a file, so that each has its own progress and its own outcome.
import { heldKey } from "./home.js";
import { STATES, stateOf } from "./owner-jobs.js";
import { Listing } from "./owner-list.js";
import { act, badge } from "./owner-view.js";
import { Watch, isOver } from "./owner-watch.js";
import { bytes, plainly, plural, reasonOf } from "./owner-words.js";
import { around, button, make } from "./text.js";
import { Failure } from "./wire.js";

const AT_ONCE = 3;
const TRIES = 4;
const EMPTY = "The file is empty: there is nothing to take in.";
const OWN_STATES = { waiting: ["Waiting to be sent", "plain"], sending: ["Sending", "now"], refused: ["Not taken", "bad"] };

/** The list of what is sent. ``arrived()`` is told when a document went live. */
export class Sending {
  constructor({ described, arrived }) {
    Object.assign(this, { described, arrived, items: [], next: 0, sending: 0, drawing: false });
    this.list = make("ul", "", { className: "rows" });
    this.told = make("p", "", { className: "sent-told" }, { role: "status" });
    this.clear = button("Clear what is done", () => this.tidy(), { className: "tool" });
    this.element = around("section", [
      around("div", [this.told, this.clear], { className: "headed" }),
      around("div", [this.list], { className: "scroll", tabIndex: 0 }, { role: "region", "aria-label": "Files that were sent" }),
    ], { hidden: true });
    this.rows = new Listing(this.list, { key: (item) => item.n, draw, does: { again: (item) => this.again(item.n) } });
    this.watch = new Watch((job) => this.heard(job));
  }

  /** ``files``: [{file, path}]; a path with folders becomes the document's id. */
  add(files) {
    const { type, tags } = this.described();
    for (const { file, path } of files) {
      const item = { n: (this.next += 1), file, path, type, tags, state: "waiting", sent: 0, job: null, reason: "", warning: null };
      this.items.push(file.size ? item : { ...item, state: "refused", reason: EMPTY });
    }
    this.draw();
    this.pump();
  }

  again(n) {
    Object.assign(this.items.find((item) => item.n === n), { state: "waiting", sent: 0, reason: "", job: null });
    this.draw();
    this.pump();
  }

  tidy() {
    this.items = this.items.filter((item) => !isOver(item.state) && item.state !== "refused");
    this.draw();
  }

  pump() {
    while (this.sending < AT_ONCE) {
      const item = this.items.find((one) => one.state === "waiting");
      if (!item) return;
      item.state = "sending";
      this.sending += 1;
      this.send(item).finally(() => {
        this.sending -= 1;
        this.draw();
        this.pump();
      });
    }
  }

  async send(item) {
    try {
      const { jobs: [job] } = await delivered(item, () => this.draw());
      item.job = job.id;
      item.state = job.unchanged ? "succeeded" : job.state;
      item.reason = job.unchanged ? "It is there already, unchanged." : "";
      if (!job.unchanged) this.watch.follow(job.id);
    } catch (failure) {
      if (!failure.code) throw failure;
      item.state = "refused";
      item.reason = reasonOf(failure);
    }
  }

  heard(job) {
    const item = this.items.find((one) => one.job === job.id);
    if (!item) return;
    Object.assign(item, { state: job.state, stage: job.stage, done: job.done, total: job.total, warning: job.warning });
    item.reason = job.state === "failed" || job.state === "cancelled" ? plainly(job.reason ?? "") : "";
    this.draw();
    if (job.state === "succeeded") this.arrived();
  }

  /** At most once a frame, however much comes. */
  draw() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.element.hidden = this.items.length === 0;
      this.clear.hidden = !this.items.some((item) => isOver(item.state) || item.state === "refused");
      this.rows.show(this.items.map(({ file, ...item }) => ({ ...item, size: file.size })));
      const said = summary(this.items);
      if (this.told.textContent !== said) this.told.textContent = said;
    });
  }
}

function draw(item) {
  const [word, tone] = OWN_STATES[item.state] ?? [stateOf(item), STATES[item.state]?.[1]];
  const share = item.state === "sending" ? item.sent : item.total ? item.done / item.total : undefined;
  const moving = item.state === "sending" || item.state === "running";
  return around("li", [
    around("div", [
      make("span", item.path, { className: "row-title", dir: "auto" }),
      make("span", bytes(item.size), { className: "figure" }),
      badge(word, tone),
    ], { className: "row-line" }),
    moving ? make("progress", "", {}, { max: 1, ...(share === undefined ? {} : { value: share }), "aria-label": `${word}: ${item.path}` }) : null,
    item.reason ? make("p", item.reason, { className: item.state === "refused" || item.state === "failed" ? "reason bad" : "reason note", dir: "auto" }) : null,
    item.warning ? make("p", item.warning, { className: "reason doubt", dir: "auto" }) : null,
    item.state === "refused" && item.size ? around("div", [act("again", "Send again", { of: item.path })], { className: "row-acts" }) : null,
  ], { className: "row" });
}

function summary(items) {
  const count = (...states) => items.filter((item) => states.includes(item.state)).length;
  const parts = [`${count("succeeded")} of ${plural(items.length, "file")} taken in`];
  const bad = count("refused");
  const failed = count("failed");
  if (bad) parts.push(`${bad} not taken`);
  if (failed) parts.push(`${failed} failed`);
  return `${parts.join(", ")}.`;
}

/** Sends one file; waits and tries again where the server says that it was too much at once. */
async function delivered(item, progressed) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await post(item, progressed);
    } catch (failure) {
      if (tries >= TRIES || failure.status !== 429) throw failure;
      await new Promise((done) => setTimeout(done, 1000 * Math.min(60, failure.retryAfterS ?? 5)));
    }
  }
}

/** By XMLHttpRequest, since fetch tells nothing about how much was sent. */
function post(item, progressed) {
  const form = new FormData();
  form.append("files", item.file, item.file.name);
  if (item.path.includes("/")) form.append("manifest", JSON.stringify([{ id: item.path }]));
  if (item.type) form.append("type", item.type);
  if (item.tags) form.append("tags", item.tags);
  const request = new XMLHttpRequest();
  request.open("POST", "/v1/documents");
  request.setRequestHeader("Accept", "application/json");
  const key = heldKey();
  if (key) request.setRequestHeader("Authorization", `Bearer ${key}`);
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    item.sent = event.loaded / event.total;
    progressed();
  });
  return new Promise((resolve, reject) => {
    request.addEventListener("load", () => {
      if (request.status === 202) resolve(JSON.parse(request.responseText));
      else reject(failureOf(request));
    });
    request.addEventListener("error", () => {
      reject(new Failure("unreachable", "The file did not arrive."));
    });
    request.send(form);
  });
}

function failureOf(request) {
  const status = request.status;
  const retryAfterS = Number.parseInt(request.getResponseHeader("Retry-After") ?? "", 10) || null;
  try {
    const problem = JSON.parse(request.responseText);
    return new Failure(problem.code, problem.detail, { status, retryAfterS });
  } catch {
    return new Failure("internal", `The server answered ${status}.`, { status, retryAfterS });
  }
}
