// Keys: who may do what. A secret is shown once, when its key is made.
import { copy } from "./copying.js";
import { call, heldKey, holdKey, home } from "./home.js";
import { openDialog } from "./owner-dialog.js";
import { Listing } from "./owner-list.js";
import { OwnerView, act, badge, empty, headed, say } from "./owner-view.js";
import { moment, plural } from "./owner-words.js";
import { around, button, make } from "./text.js";

const LEAD = "Each program and each person gets a key of their own, so that one can be revoked without the others.";
const ROLES = {
  read: "read: asks, searches, reads sources",
  write: "write: changes documents and everything else of its space",
  admin: "admin: everything, in every space; keys too",
};

/** The view, for those who may do everything. */
export function keysView() {
  const view = new OwnerView("keys", "Keys", { lead: LEAD, look });
  const list = make("ul", "", { className: "rows", id: "keys" });
  const none = empty("There is no key yet", make("p", "As long as there is none, whoever is on this machine may do everything. With the first one everybody needs a key, you too; so the first one is for you."));
  const more = button("Show more", () => {
    size = Math.min(200, size + 50);
    view.again();
  }, { hidden: true });
  const rows = new Listing(list, { key: (key) => key.id, draw, does: { revoke: (key) => openDialog(revoking(key, () => view.again())) } });
  const create = button("Create a key", () => openDialog(creating(first, () => view.again())), { className: "primary" });
  let size = 50;
  let first = false;
  view.body.append(headed("Keys", create), list, none, around("div", [more], { className: "actions" }));

  async function look() {
    const { items, next_cursor: next } = await call(`/v1/keys?limit=${size}`);
    rows.show(items.map((key) => ({ ...key, over: isOver(key) })));
    first = items.length === 0;
    none.hidden = !first;
    more.hidden = next === null || size >= 200;
    return false;
  }

  return view;
}

function isOver(key) {
  return key.revoked_at !== null || (key.expires_at !== null && new Date(key.expires_at) <= new Date());
}

function draw(key) {
  const limits = [
    key.requests_per_minute ? `${plural(key.requests_per_minute, "question")} a minute` : null,
    key.daily_tokens ? `${plural(key.daily_tokens, "token")} a day` : null,
  ];
  const where = key.space ? `space ${key.space}` : "every space";
  const facts = [where, ...limits, key.public ? key.allowed_origins.join(", ") : null, `rs_${key.id}_…`].filter(Boolean).join(" · ");
  return around("li", [
    around("div", [
      make("span", key.name, { className: "row-title", dir: "auto" }),
      badge(key.role, key.role === "admin" ? "doubt" : "plain"),
      key.public ? badge("public", "plain") : null,
      key.over ? badge(key.revoked_at ? "Revoked" : "Run out", "quiet") : null,
    ], { className: "row-line" }),
    make("p", facts, { className: "row-facts", dir: "auto" }),
    around("p", [
      key.last_used_at ? moment(key.last_used_at, "used ") : "never used",
      " · ", moment(key.created_at, "made "),
      ...(key.revoked_at ? [" · ", moment(key.revoked_at, "revoked ")] : []),
      ...(key.expires_at && !key.revoked_at ? [" · ", moment(key.expires_at, key.over ? "ran out " : "until ")] : []),
    ], { className: "row-facts" }),
    key.over ? null : around("div", [act("revoke", "Revoke", { of: key.name, className: "risky" })], { className: "row-acts" }),
  ], { className: "row" });
}

function creating(first, done) {
  const read = ({ role }) => role === "read";
  const isPublic = (values) => read(values) && values.public;
  const roles = Object.entries(ROLES).filter(([role]) => !first || role === "admin");
  return {
    title: first ? "Create the first key" : "Create a key",
    text: first ? "It is an admin key, for you: from now on nobody gets in without a key. This tab goes on with it." : "",
    draft: "key",
    fields: [
      { name: "name", label: "What it is for", required: true, max: 100, hint: first ? "Such as: my own." : "Such as: website, or a person’s name." },
      { name: "role", label: "What it may do", kind: "select", options: roles, required: true, value: first ? "admin" : "read" },
      { name: "space", label: "Space", max: 63, when: ({ role }) => role !== "admin", hint: "Left empty: main." },
      { name: "public", label: "It stands in a web page for everybody to see", kind: "check", when: read },
      { name: "allowed_origins", label: "Web addresses of those pages, with spaces between", required: true, when: isPublic, hint: `Such as ${location.origin}` },
      { name: "requests_per_minute", label: "Questions a minute at most", kind: "number" },
      { name: "daily_tokens", label: "Tokens of the model a day at most", kind: "number", hint: "0: no limit." },
      { name: "expires_at", label: "Good until the end of", kind: "date" },
    ],
    action: "Create it",
    async does(values) {
      const made = await call("/v1/keys", { json: wanted(values, isPublic(values)) });
      if (first || !heldKey()) holdKey(made.secret);
      done();
      return { title: `The key for “${made.key.name}”`, result: secretOf(made.secret) };
    },
  };
}

function wanted(values, isPublic) {
  return {
    name: values.name.trim(),
    role: values.role,
    space: values.role === "admin" ? null : values.space.trim() || null,
    public: isPublic,
    allowed_origins: isPublic ? values.allowed_origins.split(/[\s,]+/).filter(Boolean) : [],
    requests_per_minute: values.requests_per_minute === "" ? null : Number(values.requests_per_minute),
    daily_tokens: values.daily_tokens === "" ? null : Number(values.daily_tokens),
    expires_at: values.expires_at ? new Date(`${values.expires_at}T23:59:59`).toISOString() : null,
  };
}

function secretOf(secret) {
  const shown = make("code", secret, { className: "secret", tabIndex: 0 });
  const told = make("span", "", { className: "note" }, { role: "status" });
  const copied = button("Copy", async () => {
    told.textContent = (await copy(secret)) ? "Copied." : "Your browser did not let us; select it and copy it by hand.";
  }, { className: "primary" });
  return [
    make("p", "Copy it now: it is shown this once, and nobody can read it again."),
    shown,
    around("div", [copied, told], { className: "actions" }),
  ];
}

function revoking(key, done) {
  const own = heldKey()?.startsWith(`rs_${key.id}_`);
  return {
    title: `Revoke the key for “${key.name}”?`,
    text: own
      ? "This is the key that you use now: you will need another one to go on."
      : "Whoever uses it is refused from within a second on. It cannot be brought back; a new key can be made.",
    action: "Revoke it",
    danger: true,
    async does() {
      await home.send(`/v1/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" });
      say(`The key for “${key.name}” is revoked.`);
      done();
    },
  };
}
