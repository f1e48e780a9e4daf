// A report beside the page: fetched with the key, shown in a frame that is of no origin and may fetch nothing.
// It repeats what models and documents said, so nothing of it is ever part of this page.
import { home } from "./home.js";
import { save } from "./owner-saving.js";
import { say } from "./owner-view.js";
import { reasonOf } from "./owner-words.js";
import { $, around, button, make } from "./text.js";

/** Opens a finished evaluation's report. */
export async function showReport(one) {
  const address = `/v1/evaluations/${encodeURIComponent(one.id)}/report`;
  const html = await (await home.send(address, { accept: "text/html" })).text();
  const dialog = $("owner-report");
  const frame = make("iframe", "", { title: `Report: ${one.name}` }, { sandbox: "allow-scripts", src: "/assets/report.html" });
  // The frame's own origin has no name, so it cannot be named here; it is this element's window, and nobody else's.
  frame.addEventListener("load", () => frame.contentWindow.postMessage({ html }, "*"), { once: true });
  const saving = (form, ending) => button(`Save as ${form}`, () => {
    save(`${address}?as=${form === "HTML" ? "html" : "markdown"}`, `report-${one.id}.${ending}`).catch((failure) => say(reasonOf(failure)));
  });
  dialog.replaceChildren(
    around("div", [
      make("h2", one.name, { id: "owner-report-title", dir: "auto" }),
      around("div", [saving("HTML", "html"), saving("Markdown", "md"), button("Close", () => dialog.close())], { className: "actions" }),
    ], { className: "headed" }),
    frame,
  );
  dialog.showModal();
}
