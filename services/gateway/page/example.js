// Embeds the widget with the settings that were chosen, and writes the tag for one's own page.
import { copy } from "./copying.js";
import { $, make } from "./text.js";

let shown = null;

function tag() {
  const script = make("script", "", { src: new URL("/widget.js", location.href).href, async: true });
  const chosen = { key: $("key").value.trim(), title: $("name").value.trim(), position: $("position").value, theme: $("theme").value };
  for (const [name, value] of Object.entries(chosen)) if (value) script.dataset[name] = value;
  return script;
}

function write() {
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const { src, dataset } = tag();
  const settings = Object.entries(dataset).map(([name, value]) => ` data-${name}="${escaped(value)}"`);
  $("tag").textContent = `<script src="${src}"${settings.join("")} async></script>`;
}

function show() {
  write();
  document.querySelector("ragstone-widget")?.remove();
  shown?.remove();
  shown = tag();
  document.body.append(shown);
}

$("choose").addEventListener("input", write);
$("choose").addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
$("copy").addEventListener("click", async () => {
  $("copied").textContent = (await copy($("tag").textContent)) ? "Copied." : "Your browser did not let us; select it by hand.";
});
show();
