// The page: asks, keeps what was asked, and opens sources beside the answer.
import { answerView } from "./answer.js";
import { Conversation } from "./asking.js";
import { copy } from "./copying.js";
import { remember, startHistory } from "./history.js";
import { call, home } from "./home.js";
import { keyForm } from "./keyform.js";
import { close, open } from "./panel.js";
import { addView, showView } from "./tabs.js";
import { $, button } from "./text.js";

const HEARD_MS = 8000;
const STEPS = ["clean", "retrieve", "write", "check"];
let hearing = null;
const owned = new Set(); // views of the owner that are there already

const view = { wire: home, language: document.body.dataset.language, open, ask: (question, alone) => ask(question, alone), tools };

const conversation = new Conversation(home, {
  view,
  place(element) {
    close();
    $("answers").replaceChildren(element);
    $("view-ask").toggleAttribute("data-asked", true);
    $("opening").hidden = true;
    $("shared").hidden = true;
  },
  say(text, working = false, stage = null) {
    $("stage").textContent = text;
    $("progress").hidden = !working;
    const at = STEPS.indexOf(stage === "decompose" ? "retrieve" : stage);
    [...$("steps").children].forEach((step, n) => {
      step.dataset.state = n < at ? "done" : n === at ? "now" : "later";
    });
  },
  hear(text) {
    clearTimeout(hearing);
    const line = document.createElement("p");
    line.textContent = text;
    $("heard").append(line);
    hearing = setTimeout(() => $("heard").replaceChildren(), HEARD_MS);
  },
  busy(yes) {
    $("answers").toggleAttribute("data-busy", yes);
    $("send").hidden = yes;
    $("stop").hidden = !yes;
  },
  ended(question, answer) {
    remember(question, answer);
    followUps();
  },
  needsKey(shown, failure, again) {
    shown.element.dataset.status = "failed";
    shown.element.append(keyForm(failure, () => {
      meet();
      again();
    }));
    shown.element.querySelector("input").focus();
  },
});

function ask(question, alone = false) {
  showView("ask");
  $("question").value = question;
  grow();
  if (location.search) history.replaceState(null, "", location.pathname);
  conversation.ask(question, alone);
}

/** What one can do with an answer on this page, beside what goes everywhere. */
function tools(question, answer, { rest, flash }) {
  const share = button("Link", async () => {
    const address = new URL("/", location.href);
    address.searchParams.set("q", answer.rewritten ?? question);
    flash(share, (await copy(address.href)) ? "Link copied" : "Your browser did not let us");
  }, { className: "tool" }, { "aria-label": "Copy a link to this question" });
  let shown = null;
  const why = button("Why this answer?", async () => {
    if (shown) {
      shown.hidden = !shown.hidden;
    } else {
      const { whyView } = await import("./why.js");
      shown ??= whyView(question, answer);
      rest.append(shown);
    }
    why.setAttribute("aria-expanded", String(!shown.hidden));
  }, { className: "tool" }, { "aria-expanded": "false" });
  return [share, why];
}

/** Says that the next question is taken as a follow-up, and offers a way out. */
function followUps() {
  $("following").hidden = conversation.turns.length === 0;
}

function showEarlier({ question, answer }) {
  conversation.stop();
  $("question").value = question;
  const shown = answerView(question, view);
  conversation.place(shown.element);
  shown.finish(answer);
  grow();
  scrollTo({ top: 0, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  shown.element.tabIndex = -1;
  shown.element.focus({ preventScroll: true });
}

/** As high as its text, so that a long question is seen whole. */
function grow() {
  const field = $("question");
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

function send() {
  const question = $("question").value.trim();
  if (question) ask(question);
  else $("question").focus();
}

/** Who is here, and what may they do? Without a key that is needed, asks for it before the first question. */
async function meet() {
  try {
    const me = await call("/v1/me");
    $("door").replaceChildren();
    if (me.public || !["write", "admin"].includes(me.role) || owned.size) return;
    owned.add("owner");
    const { startOwner } = await import("./owner.js");
    startOwner(me, { open, ask });
  } catch (error) {
    if (error.status !== 401 || $("answers").childElementCount) return;
    $("door").replaceChildren(keyForm(error, meet));
  }
}

function fromLink() {
  const question = new URLSearchParams(location.search).get("q")?.trim();
  if (!question) return false;
  $("question").value = question;
  $("shared").hidden = false;
  $("send").focus();
  return true;
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
});
$("question").addEventListener("input", grow);
$("stop").addEventListener("click", () => {
  conversation.stop();
  $("question").focus();
});
$("afresh").addEventListener("click", () => {
  conversation.forget();
  followUps();
  $("answers").replaceChildren();
  $("view-ask").removeAttribute("data-asked");
  $("opening").hidden = false;
  $("question").value = "";
  grow();
  close();
  $("question").focus();
});
for (const example of document.querySelectorAll(".example")) {
  example.addEventListener("click", () => ask(example.textContent));
}
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) return;
  event.preventDefault();
  close();
  showView("ask");
  $("question").focus();
});

addView("ask");
startHistory(showEarlier);
if (!fromLink() && matchMedia("(pointer: fine)").matches) $("question").focus();
grow();
meet();
// Models that are loaded on the first question are loaded while it is typed.
home.call("/v1/warmup", { method: "POST" }).catch(() => {});
