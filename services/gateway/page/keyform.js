// A field for the key, where a gateway wants one.
import { holdKey } from "./home.js";
import { problemBox } from "./problems.js";
import { around, make } from "./text.js";

/** A box that says why a key is needed and takes one; then goes on with ``again``. */
export function keyForm(failure, again) {
  const field = make("input", "", { type: "password", autocomplete: "off", spellcheck: false, required: true, placeholder: "rs_…" });
  const form = around("form", [
    around("label", [make("span", "Key"), field]),
    make("button", "Use this key", { type: "submit", className: "primary" }),
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    holdKey(field.value.trim());
    again();
  });
  const box = problemBox(failure);
  box.append(form, make("p", "It is kept for this tab only, and forgotten when you close it.", { className: "note" }));
  return box;
}
