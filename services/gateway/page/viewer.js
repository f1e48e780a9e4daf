// Shows a document's extracted text and marks the place that the address names (#start-end, in code points).
// The page itself holds no text: it fetches the same address, with the visitor's key where the gateway wants one.
import { home } from "./home.js";
import { keyForm } from "./keyform.js";
import { $, make, placeOf, showMarked } from "./text.js";

const path = location.pathname;
const name = decodeURIComponent(path.replace(/^\/v1\/documents\//, "").replace(/\/source$/, ""));
$("title").textContent = name;
document.title = name;

let text = null;

function show() {
  const mark = showMarked($("text"), text, placeOf(location.hash));
  $("note").textContent = mark ? "The quoted place is marked." : "";
  $("to-mark").hidden = !mark;
  mark?.scrollIntoView({ block: "center" });
}

async function load() {
  try {
    const response = await home.send(path + location.search, { accept: "text/plain" });
    text = await response.text();
  } catch (error) {
    tell(error);
    return;
  }
  $("door").replaceChildren();
  $("original").hidden = false;
  show();
}

function tell(error) {
  $("note").textContent = error.status === 401 ? "" : error.message;
  $("note").classList.toggle("bad", error.status !== 401);
  if (error.status !== 401) return;
  $("door").replaceChildren(keyForm(error, load));
  $("door").querySelector("input").focus();
}

/** By script, since a plain link cannot show a key. */
async function download() {
  const address = new URL(path + location.search, location.href);
  address.searchParams.set("as", "original");
  try {
    const response = await home.send(address.href, { accept: "*/*" });
    const named = /filename="?([^";]+)/.exec(response.headers.get("Content-Disposition") ?? "");
    const url = URL.createObjectURL(await response.blob());
    make("a", "", { href: url, download: named?.[1] ?? name.split("/").pop() }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    tell(error);
  }
}

$("to-mark").addEventListener("click", () => $("text").querySelector("mark")?.scrollIntoView({ block: "center" }));
$("original").addEventListener("click", download);
addEventListener("hashchange", () => text !== null && show());
load();
