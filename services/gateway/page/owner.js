// The owner's part of the page: loaded only for those who may change something.
import { holdKey, heldKey } from "./home.js";
import { documentsView } from "./owner-documents.js";
import { evaluationsView } from "./owner-evaluations.js";
import { gapsView } from "./owner-gaps.js";
import { indexesView } from "./owner-indexes.js";
import { keysView } from "./owner-keys.js";
import { workView } from "./owner-work.js";
import { addView, showView } from "./tabs.js";
import { $, around, button, make } from "./text.js";

/** Adds the views that ``me`` may use. ``open(citation, from)`` shows a source, ``ask(question, alone)`` asks. */
export function startOwner(me, { open, ask }) {
  const views = [documentsView({ open }), workView(), gapsView({ ask }), evaluationsView(), indexesView()];
  if (me.role === "admin") views.push(keysView());
  const main = document.querySelector("main");
  for (const view of views) {
    main.append(view.element);
    $("tabs").append(view.tab);
    addView(view.name, { start: () => view.start(), stop: () => view.stop() });
  }
  document.body.append(
    make("dialog", "", { id: "owner-dialog", className: "dialog" }, { "aria-labelledby": "owner-dialog-title" }),
    make("dialog", "", { id: "owner-report", className: "report" }, { "aria-labelledby": "owner-report-title" }),
    make("p", "", { id: "owner-said", className: "toast" }, { role: "status" }),
  );
  main.append(whoLine(me));
  const shown = () => views.some((view) => `#${view.name}` === location.hash) && showView(location.hash.slice(1));
  addEventListener("hashchange", shown);
  document.addEventListener("visibilitychange", () => {
    for (const view of views) if (view.shown && !document.hidden) view.again();
  });
  shown();
}

/** Whose key this is, and a way to put it away. */
function whoLine(me) {
  if (!me.key_id || !heldKey()) return "";
  const leave = button("Put the key away", () => {
    holdKey(null);
    location.reload();
  }, { className: "link" });
  const where = me.space ? `space ${me.space}` : "every space";
  return around("p", [`Key “${me.name}”: ${me.role}, ${where}. `, leave], { className: "who note" });
}
