// The owner's documents: bring in, look at what was understood, take back, forget.
import { call, home } from "./home.js";
import { warning } from "./owner-jobs.js";
import { Listing } from "./owner-list.js";
import { openDialog } from "./owner-dialog.js";
import { picker } from "./owner-picking.js";
import { save } from "./owner-saving.js";
import { Sending } from "./owner-sending.js";
import { OwnerView, act, badge, empty, headed, say } from "./owner-view.js";
import { bytes, moment, plural, reasonOf } from "./owner-words.js";
import { around, button, make } from "./text.js";

const PAGE = 50;
const MOST = 200;
const LEAD = "What answers rest on. A new file is asked about as soon as its work is done; a forgotten one is in no answer any more.";

const address = (found) => `/v1/documents/${encodeURIComponent(found.id)}`;

/** The view. ``open(citation, from)`` shows a text beside it. */
export function documentsView({ open }) {
  const view = new OwnerView("documents", "Documents", { lead: LEAD, look });
  const type = make("input", "", { type: "text", maxLength: 64, autocomplete: "off" });
  const tags = make("input", "", { type: "text", maxLength: 1000, autocomplete: "off" });
  const sending = new Sending({ described: () => ({ type: type.value.trim(), tags: tags.value.trim() }), arrived });
  const search = make("input", "", { type: "search", autocomplete: "off", spellcheck: false });
  const marked = button("To look at", () => {
    marked.setAttribute("aria-pressed", String(marked.getAttribute("aria-pressed") !== "true"));
    show();
  }, { className: "filter", hidden: true }, { "aria-pressed": "false" });
  const told = make("p", "", { className: "note" }, { role: "status" });
  const list = make("ul", "", { className: "rows", id: "documents" });
  const none = empty("Nothing is here yet", make("p", "Drop some files above. Ask about them a few seconds later."));
  const more = button("Show more", () => view.guard(() => load(PAGE)), { hidden: true });
  const rest = button("Load all, and search in them", () => view.guard(loadAll), { className: "tool", hidden: true });
  let loaded = [];
  let cursor = null;
  let settling = null;

  const rows = new Listing(list, { key: (found) => found.id, draw, does: {
    read: (found, from) => open(wholeOf(found), from),
    original: (found) => fetched(found),
    forget: (found) => openDialog(forgetting(found, () => view.again())),
  } });

  view.body.append(
    picker((files) => sending.add(files)),
    around("details", [
      make("summary", "Say what they are (optional)"),
      around("div", [
        around("label", [make("span", "Type of these files, such as faq"), type], { className: "field" }),
        around("label", [make("span", "Tags, with commas between"), tags], { className: "field" }),
      ], { className: "pair" }),
    ], { className: "more-about" }),
    sending.element,
    headed("All documents"),
    around("div", [
      around("label", [make("span", "Search titles, names, types and tags"), search], { className: "field grow" }),
      marked,
    ], { className: "filters" }),
    told,
    list,
    none,
    around("div", [more, rest], { className: "actions" }),
  );
  search.addEventListener("input", show);

  async function look() {
    const size = Math.min(MOST, Math.max(PAGE, loaded.length));
    if (loaded.length > MOST) return false;
    const page = await call(`/v1/documents?limit=${size}`);
    loaded = page.items;
    cursor = page.next_cursor;
    show();
    return false;
  }

  async function load(size) {
    const page = await call(`/v1/documents?limit=${size}&cursor=${encodeURIComponent(cursor)}`);
    const known = new Set(loaded.map((found) => found.id));
    loaded = [...loaded, ...page.items.filter((found) => !known.has(found.id))];
    cursor = page.next_cursor;
    show();
  }

  async function loadAll() {
    while (cursor !== null) await load(MOST);
  }

  /** Many may arrive at once; the list is read when they have. */
  function arrived() {
    clearTimeout(settling);
    settling = setTimeout(() => view.shown && view.again(), 400);
  }

  function show() {
    const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const only = marked.getAttribute("aria-pressed") === "true";
    const warned = loaded.filter((found) => found.warning).length;
    const shown = loaded.filter((found) => (!only || found.warning) && matches(found, words));
    rows.show(shown);
    marked.hidden = warned === 0 && !only;
    marked.textContent = `To look at (${warned})`;
    const all = `${cursor === null ? "" : "the first "}${plural(loaded.length, "document")}`;
    const of = words.length || only ? `${shown.length} of ${all}` : all.replace(/^the/, "The");
    const said = loaded.length ? of : "";
    if (told.textContent !== said) told.textContent = said;
    none.hidden = loaded.length > 0;
    more.hidden = rest.hidden = cursor === null;
    rest.hidden ||= !words.length;
  }

  async function fetched(found) {
    try {
      await save(`${address(found)}/source?as=original`, found.filename ?? found.id.split("/").pop());
    } catch (failure) {
      say(`The original did not come. ${reasonOf(failure)}`);
    }
  }

  return view;
}

function matches(found, words) {
  const text = [found.title, found.id, found.filename, found.type, ...found.tags].filter(Boolean).join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** A document as the panel takes it: a citation of everything. */
function wholeOf(found) {
  const url = `${address(found)}/source?as=text`;
  return { title: found.title, section: "", place: "what was understood", quote: "", url, source: found.source };
}

function draw(found) {
  const facts = [bytes(found.size_bytes), plural(found.chunks, "chunk"), found.id === found.title ? null : found.id].filter(Boolean);
  return around("li", [
    around("div", [
      make("span", found.title, { className: "row-title", dir: "auto" }),
      found.type ? badge(found.type) : null,
      ...found.tags.slice(0, 4).map((tag) => badge(tag, "quiet")),
    ], { className: "row-line" }),
    around("p", [`${facts.join(" · ")} · `, moment(found.updated_at)], { className: "row-facts" }),
    found.warning ? warning(found.warning) : null,
    around("div", [
      act("read", "What was understood", { of: found.title, "aria-haspopup": "dialog", "aria-expanded": "false" }),
      act("original", "Original", { of: found.title }),
      act("forget", "Forget", { of: found.title, className: "risky" }),
    ], { className: "row-acts" }),
  ], { className: "row" });
}

function forgetting(found, done) {
  return {
    title: `Forget “${found.title}”?`,
    text: "From that moment no answer rests on it. Its text, every version of it and the original file are removed, and cannot be brought back except by sending the file again.",
    action: "Forget it",
    danger: true,
    async does() {
      const receipt = await (await home.send(address(found), { method: "DELETE" })).json();
      done();
      return { title: `“${found.title}” is forgotten`, result: receiptOf(receipt) };
    },
  };
}

function receiptOf(receipt) {
  const figures = [
    [receipt.versions, "version"],
    [receipt.chunks, "chunk"],
    [receipt.vectors, "vector", "vectors, of all indexes"],
    [receipt.postings, "entry of the search by words", "entries of the search by words"],
    [receipt.blobs, "original file"],
    [receipt.cached_answers, "kept answer that rested on it", "kept answers that rested on it"],
    [receipt.cancelled_jobs.length, "job that was under way", "jobs that were under way"],
  ];
  const said = receipt.cleanup_job
    ? "No answer rests on it from now on. A part of the storage did not answer in time; a job removes what is left there and tries until it is done. You see it under Work."
    : "Everything is removed, and no answer rests on it from now on.";
  const list = figures.filter(([count]) => count > 0).map(([count, one, many]) => make("li", plural(count, one, many)));
  return [make("p", said), list.length ? make("p", "Removed:", { className: "note" }) : null, around("ul", list, { className: "receipt" })].filter(Boolean);
}
