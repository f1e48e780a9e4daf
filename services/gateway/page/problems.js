// Failures in plain words: what happened, and what to do about it.
import { button, make, around } from "./text.js";

const TITLES = {
  unreachable: "The server cannot be reached",
  broken_off: "The connection was lost",
  stopped: "Stopped",
  rate_limited: "That was many questions in a short time",
  busy: "Everybody is asking at once",
  key_required: "This needs a key",
  key_invalid: "This key does not open it",
  origin_not_allowed: "This page is not set up for it yet",
  question_too_long: "The question is too long",
  question_empty: "There is no question yet",
};
const TEXTS = {
  unreachable: "Look whether you are connected to the network, then ask again.",
  broken_off: "What you see was checked and stays true, but the answer is not complete. Please ask again.",
  stopped: "You stopped this answer. What you see was checked, but it is not complete.",
  key_required: "Whoever runs this page can give you one.",
  key_invalid: "It is unknown, was revoked or has run out. Whoever runs this page can give you another.",
};
const HOPELESS = new Set(["question_too_long", "question_empty", "invalid_request", "key_required", "key_invalid", "origin_not_allowed", "role_insufficient"]);

/** A box that says what went wrong. ``again``, where asking again may help, becomes a button that counts down first. */
export function problemBox(failure, again) {
  const title = TITLES[failure.code] ?? "That did not work";
  const text = TEXTS[failure.code] ?? failure.message;
  const box = make("div", "", { className: "problem" }, { "data-code": failure.code });
  const said = around("div", [make("p", title, { className: "problem-title" }), make("p", text)], {}, { role: "alert" });
  box.append(said);
  if (again && !HOPELESS.has(failure.code)) box.append(againButton(failure.retryAfterS, again));
  return box;
}

/** Counts down outside of the alert, which would else be read out every second. */
function againButton(waitS, again) {
  const made = button("Ask again", () => made.getAttribute("aria-disabled") !== "true" && again());
  let left = waitS ?? 0;
  const tick = () => {
    made.textContent = left > 0 ? `Ask again in ${duration(left)}` : "Ask again";
    made.setAttribute("aria-disabled", String(left > 0));
    if (left > 0 && (made.isConnected || left === waitS)) setTimeout(tick, 1000);
    left -= 1;
  };
  tick();
  return made;
}

function duration(seconds) {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
