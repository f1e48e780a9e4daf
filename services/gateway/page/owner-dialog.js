// One dialog for whatever needs a word first: a confirmation, a small form, and what came of it.
import { $, around, button, make } from "./text.js";
import { say } from "./owner-view.js";
import { reasonOf } from "./owner-words.js";

const drafts = new Map(); // what was typed into a form that was left, by the form's name

/**
 * Opens the dialog. ``step``: {title, text (a string or elements), fields, action, danger, draft, does}.
 * ``does(values)`` may give {result: [elements]} to be shown, {step} to go on with another step, or nothing: it closes.
 * When it throws, the dialog says why and keeps what was typed.
 */
export function openDialog(step) {
  const dialog = $("owner-dialog");
  show(dialog, step);
  if (!dialog.open) {
    dialog.showModal();
    dialog.addEventListener("close", leave, { once: true });
  }
  focusFirst(dialog);
}

function show(dialog, step) {
  const fields = (step.fields ?? []).map((field) => made(field, drafts.get(step.draft)?.[field.name]));
  const said = make("div", "", { className: "dialog-said" }, { role: "alert" });
  const act = step.action
    ? make("button", step.action, { type: "submit", className: step.danger ? "danger" : "primary" })
    : null;
  const form = around("form", [
    make("h2", step.title, { id: "owner-dialog-title", tabIndex: -1, dir: "auto" }),
    ...textOf(step.text),
    ...fields.map((field) => field.element),
    said,
    around("div", [button(act ? "Cancel" : "Close", () => dialog.close()), act], { className: "dialog-foot" }),
  ], { noValidate: true });
  const changed = () => {
    const values = valuesOf(fields);
    if (step.draft) drafts.set(step.draft, values);
    for (const field of fields) field.element.hidden = Boolean(field.when && !field.when(values));
  };
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (act && act.getAttribute("aria-disabled") !== "true") submit({ dialog, step, fields, said, act });
  });
  dialog.replaceChildren(form);
  changed();
}

async function submit({ dialog, step, fields, said, act }) {
  const empty = fields.find((field) => field.required && !field.element.hidden && !String(field.value()).trim());
  if (empty) {
    said.textContent = `${empty.label}: please fill this in.`;
    empty.input.focus();
    return;
  }
  said.textContent = "";
  act.setAttribute("aria-disabled", "true");
  act.classList.add("working");
  const form = dialog.firstChild;
  try {
    const came = await step.does(valuesOf(fields));
    drafts.delete(step.draft);
    if (dialog.firstChild !== form) return;
    const next = came?.step ?? (came?.result && { title: came.title ?? step.title, text: came.result });
    if (!next) {
      dialog.close();
      return;
    }
    show(dialog, next);
    focusFirst(dialog);
  } catch (failure) {
    if (!failure.code) throw failure;
    said.textContent = reasonOf(failure);
    if (!said.isConnected) say(reasonOf(failure));
  } finally {
    act.setAttribute("aria-disabled", "false");
    act.classList.remove("working");
  }
}

/** What it said, a secret perhaps, stays nowhere; the focus goes back to what opened it, or to the view if that is gone. */
function leave(event) {
  event.target.replaceChildren();
  if (document.activeElement === document.body) document.querySelector(".owner:not([hidden])")?.focus({ preventScroll: true });
}

function focusFirst(dialog) {
  const first = dialog.querySelector("input:not([type=checkbox]), textarea, select");
  (first ?? dialog.querySelector("h2")).focus();
}

function textOf(text) {
  if (!text) return [];
  return typeof text === "string" ? [make("p", text, { dir: "auto" })] : text;
}

function valuesOf(fields) {
  return Object.fromEntries(fields.map((field) => [field.name, field.value()]));
}

function made(field, drafted) {
  const input = inputOf(field);
  const check = field.kind === "check";
  const first = drafted ?? field.value;
  if (check) input.checked = Boolean(first);
  else if (first !== undefined) input.value = first;
  const hint = field.hint ? make("span", field.hint, { className: "note", id: `hint-${field.name}` }) : null;
  if (hint) input.setAttribute("aria-describedby", hint.id);
  const label = make("span", field.required || check ? field.label : `${field.label} (optional)`);
  const parts = check ? [around("span", [input, label], { className: "check" }), hint] : [label, input, hint];
  return {
    ...field,
    input,
    element: around("label", parts, { className: "field" }),
    value: () => (check ? input.checked : input.value),
  };
}

function inputOf(field) {
  const common = { name: field.name, required: Boolean(field.required) && field.kind !== "check" };
  if (field.kind === "check") return make("input", "", { ...common, type: "checkbox" });
  if (field.kind === "textarea") return make("textarea", "", { ...common, rows: 4, maxLength: field.max ?? 4000, dir: "auto" });
  if (field.kind === "select") {
    return around("select", field.options.map(([value, text]) => make("option", text, { value })), common);
  }
  return make("input", "", { ...common, type: field.kind ?? "text", maxLength: field.max ?? 2000, autocomplete: "off" });
}
