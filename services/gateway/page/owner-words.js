// Numbers, times, and what the server says, in the words of this page.
import { around, button, make } from "./text.js";

const TITLES = {
  unreachable: "The server cannot be reached",
  broken_off: "The connection was lost",
  rate_limited: "That was too much in a short time",
  role_insufficient: "This key may not do that",
  key_required: "This needs a key",
  key_invalid: "This key does not open it",
  queue_unavailable: "The queue of work is not there",
  catalog_unavailable: "The record of documents is not there",
  internal: "Something went wrong on the server",
};
const TEXTS = {
  unreachable: "Nothing is lost. Look whether Ragstone runs and you are connected, then try again.",
};
// The server's sentences name doors of its API; whoever reads this page has buttons.
const DOORS = [
  [/^that /, "That "],
  [/\s*Send force: true to promote it all the same\./, ""],
  [/POST \/v1\/jobs\/[^\s/]+\/retry/g, "“Retry”"],
  [/POST \/v1\/jobs\/[^\s/]+\/cancel/g, "“Cancel”"],
  [/DELETE \/v1\/indexes\/[^\s/;.]+/g, "“Remove”"],
  [/GET \/v1\/indexes(\/[^\s/;.]+)? says/g, "the list of indexes says"],
  [/GET \/v1\/indexes(\/[^\s/;.]+)?/g, "the list of indexes"],
  [/POST \/v1\/indexes\/[^\s/]+\/promote/g, "“Promote”"],
  [/POST \/v1\/gaps\/[^\s/]+\/reopen/g, "“Open again”"],
  [/\s*\(POST \/v1\/golden\/make\)/g, ""],
  [/GET \/v1\/(jobs|gaps|golden|evaluations|feedback|keys)\b(\/[^\s/;.]+(\/events)?)?/g, "the list on this page"],
];

/** A sentence of the server, with the name of a button in place of each door. */
export function plainly(sentence) {
  let said = sentence ?? "";
  for (const [door, words] of DOORS) said = said.replace(door, words);
  return said;
}

/** A failure as a sentence. */
export function reasonOf(failure) {
  return TEXTS[failure.code] ?? plainly(failure.message);
}

/** A box that says what went wrong and offers another try; ``again`` may be left out. */
export function trouble(failure, again) {
  const said = around("div", [
    make("p", TITLES[failure.code] ?? "That did not work", { className: "problem-title" }),
    make("p", reasonOf(failure)),
  ], {}, { role: "alert" });
  return around("div", [said, again ? button("Try again", again) : null], { className: "problem" }, { "data-code": failure.code });
}

/** "1 document", "3 documents". */
export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** "12 KB". */
export function bytes(count) {
  const units = ["bytes", "KB", "MB", "GB"];
  let at = 0;
  let left = count;
  while (left >= 1000 && at < units.length - 1) {
    left /= 1000;
    at += 1;
  }
  return `${at === 0 || left >= 100 ? Math.round(left) : left.toFixed(1)} ${units[at]}`;
}

/** "2 min 5 s". */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** "86 %". */
export function percent(share, digits = 0) {
  return `${(100 * share).toFixed(digits)} %`;
}

/** "+0.028", with a real minus. */
export function signed(number, digits = 3) {
  const text = Math.abs(number).toFixed(digits);
  return `${number < 0 ? "−" : "+"}${text}`;
}

/** A moment as people say it; today only the time. It stays the same while the day does. */
export function when(moment) {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return "";
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (date.toDateString() === new Date().toDateString()) return `today, ${time}`;
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return `${date.toLocaleDateString([], { day: "numeric", month: "short", year })}, ${time}`;
}

/** The moment as an element. */
export function moment(at, prefix = "") {
  return make("time", `${prefix}${when(at)}`, { dateTime: at, title: new Date(at).toLocaleString() });
}
