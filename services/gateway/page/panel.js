// The panel beside the answer: a citation's source text with the quoted place marked.
import { $, make, showMarked } from "./text.js";
import { problemOf } from "./wire.js";

const AROUND = 6000;
let opener = null;

/** A button "[n]" that opens its citation. */
export function chipFor(citation) {
  const chip = make("button", `[${citation.n}]`, { type: "button", className: "chip" });
  chip.setAttribute("aria-label", `Source ${citation.n}: ${citation.title}`);
  chip.setAttribute("aria-controls", "panel");
  chip.setAttribute("aria-expanded", "false");
  chip.addEventListener("click", () => open(citation, chip));
  return chip;
}

/** Shows the source of a citation; focus comes back to ``from`` when it is closed. */
export async function open(citation, from) {
  opener?.setAttribute("aria-expanded", "false");
  opener = from;
  from.setAttribute("aria-expanded", "true");
  $("panel").hidden = false;
  $("panel-title").textContent = citation.title;
  $("panel-where").textContent = [citation.section, citation.place, citation.source].filter(Boolean).join(" · ");
  $("panel-open").href = citation.url;
  $("panel-text").textContent = citation.quote;
  $("panel-title").focus({ preventScroll: true });
  try {
    const response = await fetch(citation.url.split("#")[0], { headers: { Accept: "text/plain" } });
    if (!response.ok) throw new Error(await problemOf(response));
    const text = await response.text();
    if (opener !== from) return;
    showMarked($("panel-text"), text, citation, AROUND)?.scrollIntoView({ block: "nearest" });
    centre();
  } catch (error) {
    if (opener === from) $("panel-where").textContent = error.message;
  }
}

/** Closes the panel and gives the focus back. */
export function close() {
  if ($("panel").hidden) return;
  $("panel").hidden = true;
  opener?.setAttribute("aria-expanded", "false");
  opener?.focus();
  opener = null;
}

function centre() {
  const box = $("panel-text");
  const mark = box.querySelector("mark");
  if (mark) box.scrollTop = mark.offsetTop - box.offsetTop - box.clientHeight / 3;
}

$("panel-close").addEventListener("click", close);
addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});
