// The source beside the answer: a document's text with the quoted place marked.
import { whereOf } from "./copying.js";
import { home } from "./home.js";
import { $, isWebAddress, make, showMarked } from "./text.js";

const AROUND = 6000;
const NARROW = matchMedia("(max-width: 60rem)");
let opener = null;
let opened = null;

/** Shows the source of a citation; focus comes back to ``from`` when it is closed. */
export async function open(citation, from) {
  from.ownerDocument.querySelector('[aria-expanded="true"][data-n]')?.setAttribute("aria-expanded", "false");
  opener = from;
  opened = citation;
  from.setAttribute("aria-expanded", "true");
  tell(citation);
  const panel = $("panel");
  if (panel.open) panel.close();
  // On a narrow screen it lies over the answer, so that nothing behind it may take the focus.
  if (NARROW.matches) panel.showModal();
  else panel.show();
  $("panel-title").focus({ preventScroll: true });
  try {
    const response = await home.send(citation.url.split("#")[0], { accept: "text/plain" });
    const text = await response.text();
    if (opened !== citation) return;
    showMarked($("panel-text"), text, citation, AROUND);
    centre();
  } catch (error) {
    if (opened !== citation) return;
    $("panel-note").textContent = `The whole text could not be opened. ${error.message}`;
  }
}

/** Closes the panel and gives the focus back. */
export function close() {
  if ($("panel").open) $("panel").close();
}

function tell(citation) {
  $("panel-title").textContent = citation.title;
  const where = whereOf(citation).slice(citation.title.length).replace(/^( › |, )/, "");
  $("panel-where").textContent = where;
  $("panel-note").textContent = "";
  $("panel-text").replaceChildren(make("mark", citation.quote));
  $("panel-open").href = citation.url;
  $("panel-web").hidden = !isWebAddress(citation.source);
  if (isWebAddress(citation.source)) $("panel-web").href = citation.source;
}

function centre() {
  const box = $("panel-text");
  const mark = box.querySelector("mark");
  if (mark) box.scrollTop = mark.offsetTop - box.clientHeight / 3;
}

/** The answer may have been drawn anew meanwhile: then the same number in it. */
function giveBack() {
  const same = opener?.isConnected ? opener : document.querySelector(`[data-n="${opened?.n}"]`);
  opener?.setAttribute("aria-expanded", "false");
  opener = opened = null;
  same?.setAttribute("aria-expanded", "false");
  same?.focus();
}

$("panel").addEventListener("close", () => {
  if (!$("panel").open && opener) giveBack();
});
$("panel-close").addEventListener("click", close);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && $("panel").open) close();
});
