// Tabs for those who have more than one view: the owner. Visitors see none.
import { $ } from "./text.js";

const views = new Map();

/** Adds a view by its name (the ids tab-NAME and view-NAME are in the page): what to do when it is shown and left. */
export function addView(name, { start = () => {}, stop = () => {} } = {}) {
  views.set(name, { start, stop, tab: $(`tab-${name}`), view: $(`view-${name}`) });
  const { tab, view } = views.get(name);
  tab.hidden = false;
  tab.addEventListener("click", () => showView(name));
  tab.addEventListener("keydown", (event) => step(event, name));
  $("tabs").hidden = views.size < 2;
  if (views.size < 2) return;
  for (const [other, known] of views) {
    known.view.setAttribute("role", "tabpanel");
    known.view.setAttribute("aria-labelledby", `tab-${other}`);
  }
  view.hidden = true;
}

/** Shows one view. */
export function showView(name) {
  for (const [other, { tab, view, start, stop }] of views) {
    const chosen = other === name;
    if (!view.hidden && !chosen) stop();
    view.hidden = !chosen;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) start();
  }
}

function step(event, name) {
  const names = [...views.keys()];
  const at = names.indexOf(name);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = names[(to + names.length) % names.length];
  showView(next);
  views.get(next).tab.focus();
}
