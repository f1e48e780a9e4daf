// The documents tab: what is there, what is under way, and files to add.
import { $, make } from "./text.js";
import { call } from "./wire.js";

const EVERY_MS = 1500;
const JOBS = 12;
let timer = null;
let running = 0;
let cursor = null;

/** Shows the tab and keeps it fresh until stopLibrary(). */
export function startLibrary() {
  if (timer !== null) return;
  timer = setInterval(look, EVERY_MS);
  look();
  listDocuments();
}

/** Stops looking. */
export function stopLibrary() {
  clearInterval(timer);
  timer = null;
}

async function look() {
  try {
    const { items, counts } = await call(`/v1/jobs?limit=${JOBS}`);
    const active = counts.queued + counts.running;
    $("jobs").replaceChildren(...(items.length ? items.map(jobLine) : [make("li", "Nothing was sent yet.")]));
    if (active < running) listDocuments();
    running = active;
  } catch (error) {
    $("jobs").replaceChildren(make("li", error.message, { className: "bad" }));
  }
}

function jobLine(job) {
  const line = make("li");
  line.append(make("span", job.document_id ?? `${job.kind} of documents`));
  line.append(make("span", [job.state, job.state === "running" && job.stage].filter(Boolean).join(": ")));
  if (job.state === "running") {
    const bar = make("progress", "", job.total ? { max: job.total, value: job.done } : {});
    bar.setAttribute("aria-label", "Progress");
    line.append(bar);
  }
  if (job.state === "failed" && job.reason) line.append(make("span", job.reason, { className: "bad" }));
  if (job.warning) line.append(make("span", job.warning, { className: "note" }));
  return line;
}

async function listDocuments(more = false) {
  try {
    const at = more && cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const page = await call(`/v1/documents?limit=50${at}`);
    if (!more) $("documents").replaceChildren();
    $("documents").append(...page.items.map(documentLine));
    cursor = page.next_cursor;
    $("more").hidden = cursor === null;
    const shown = $("documents").childElementCount;
    $("count").textContent = `(${shown}${cursor === null ? "" : " and more"})`;
  } catch (error) {
    $("documents").replaceChildren(make("li", error.message, { className: "bad" }));
  }
}

function documentLine(found) {
  const line = make("li");
  const address = `/v1/documents/${encodeURIComponent(found.id)}`;
  line.append(make("a", found.title, { href: `${address}/source?as=text`, target: "_blank", rel: "noopener" }));
  line.append(make("span", [found.type, `${found.chunks} chunks`].filter(Boolean).join(" · "), { className: "note" }));
  if (found.warning) line.append(make("span", found.warning, { className: "note" }));
  const forget = make("button", "Forget", { type: "button" });
  forget.setAttribute("aria-label", `Forget ${found.title}`);
  forget.addEventListener("click", async () => {
    if (!confirm(`Forget “${found.title}”? It will not be in any answer from now on.`)) return;
    try {
      await call(address, { method: "DELETE" });
      line.remove();
    } catch (error) {
      line.append(make("span", error.message, { className: "bad" }));
    }
  });
  line.append(forget);
  return line;
}

function upload(files) {
  if (!files.length) return;
  const form = new FormData();
  for (const file of files) form.append("files", file);
  const request = new XMLHttpRequest(); // fetch tells nothing about how much was sent
  request.open("POST", "/v1/documents");
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) $("sending").value = event.loaded / event.total;
  });
  request.addEventListener("loadend", () => {
    $("sending").hidden = true;
    const accepted = request.status === 202;
    $("upload-note").classList.toggle("bad", !accepted);
    $("upload-note").textContent = accepted ? received(JSON.parse(request.responseText).jobs) : refused(request);
    look();
  });
  $("sending").value = 0;
  $("sending").hidden = false;
  $("upload-note").textContent = "Sending…";
  request.send(form);
}

function received(jobs) {
  const same = jobs.filter((job) => job.unchanged).length;
  const fresh = jobs.length - same;
  return [fresh && `${fresh} on the way.`, same && `${same} unchanged.`].filter(Boolean).join(" ");
}

function refused(request) {
  try {
    return JSON.parse(request.responseText).detail;
  } catch {
    return "The upload did not arrive. Is the server running?";
  }
}

$("files").addEventListener("change", (event) => {
  upload([...event.target.files]);
  event.target.value = "";
});
$("more").addEventListener("click", () => listDocuments(true));
for (const name of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(name, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", name === "dragover");
    if (name === "drop") upload([...event.dataTransfer.files]);
  });
}
