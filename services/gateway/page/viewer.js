// Shows a document's extracted text and marks the place that the address names (#start-end, in code points).
import { $, placeOf, showMarked } from "./text.js";

const path = location.pathname;
const name = decodeURIComponent(path.replace(/^\/v1\/documents\//, "").replace(/\/source$/, ""));
$("title").textContent = name;
document.title = name;

let text = null;

function show() {
  const mark = showMarked($("text"), text, placeOf(location.hash));
  $("note").textContent = mark ? "The quoted place is marked." : "";
  mark?.scrollIntoView({ block: "center" });
}

try {
  const response = await fetch(path + location.search, { headers: { Accept: "text/plain" } });
  if (!response.ok) throw new Error((await response.json()).detail);
  text = await response.text();
  show();
  addEventListener("hashchange", show);
} catch (error) {
  $("note").textContent = error.message;
  $("note").classList.add("bad");
}
