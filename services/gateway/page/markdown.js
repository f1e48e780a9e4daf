// The answer's Markdown as elements: paragraphs, lists, tables and code. Text is only ever put in as text.
import { around, make, withoutMarkdown } from "./text.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ITEM = /^\s*(?:([-*+])|(\d{1,3})[.)])\s+(.*)$/;
const ROW = /^\s*\|.*$/;
const RULE = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;

/**
 * Fills an element with a text; ``chip`` makes the element for a marker's number, or gives undefined.
 * Blocks that are there already stay, so that a growing text moves no focus and is not read out anew.
 */
export function showMarkdown(element, text, chip) {
  const made = blocks(text.split("\n"), (line) => inline(line, chip));
  let same = 0;
  while (same < made.length && element.childNodes[same]?.isEqualNode(made[same])) same += 1;
  element.replaceChildren(...[...element.childNodes].slice(0, same), ...made.slice(same));
}

function blocks(lines, within) {
  const made = [];
  let at = 0;
  while (at < lines.length) {
    const from = at;
    if (!lines[at].trim()) at += 1;
    else if (FENCE.test(lines[at])) {
      const fence = lines[at].trim().match(/^[`~]+/)[0];
      at += 1;
      while (at < lines.length && !lines[at].trim().startsWith(fence)) at += 1;
      made.push(code(lines.slice(from + 1, at).join("\n")));
      at += 1;
    } else if (ROW.test(lines[at])) {
      while (at < lines.length && ROW.test(lines[at])) at += 1;
      made.push(table(lines.slice(from, at), within));
    } else if (ITEM.test(lines[at])) {
      const ordered = ITEM.exec(lines[at])[2] !== undefined;
      while (at < lines.length && lines[at].trim() && !FENCE.test(lines[at])) {
        const item = ITEM.exec(lines[at]);
        if (item && (item[2] !== undefined) !== ordered) break;
        at += 1;
      }
      made.push(list(lines.slice(from, at), ordered, within));
    } else {
      while (at < lines.length && lines[at].trim() && !FENCE.test(lines[at]) && !ROW.test(lines[at])) {
        if (at > from && ITEM.test(lines[at])) break;
        at += 1;
      }
      made.push(filled("p", within(lines.slice(from, at).join(" "))));
    }
  }
  return made;
}

function code(text) {
  // Long lines are scrolled to, which the keyboard has to reach too.
  return around("pre", [make("code", text)], { tabIndex: 0 });
}

function list(lines, ordered, within) {
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) items.push({ text: item[3], value: item[2] });
    else items[items.length - 1].text += ` ${line.trim()}`;
  }
  const made = make(ordered ? "ol" : "ul");
  for (const { text, value } of items) {
    const entry = filled("li", within(text));
    if (ordered) entry.value = Number(value);
    made.append(entry);
  }
  return made;
}

function table(rows, within) {
  const made = make("table");
  const ruled = rows.length > 1 && RULE.test(rows[1]);
  rows.forEach((row, n) => {
    if (ruled && n === 1) return;
    const cells = row.trim().slice(1).replace(/\|$/, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    made.append(filled("tr", cells.map((cell) => filled(ruled && n === 0 ? "th" : "td", within(cell)))));
  });
  return around("div", [made], { className: "table", tabIndex: 0 });
}

/** A line as text, code and chips; what stands in code is no marker. */
function inline(line, chip) {
  return line.split(/(`[^`\n]+`)/).flatMap((part) => {
    if (/^`[^`\n]+`$/.test(part)) return [make("code", part.slice(1, -1))];
    return part.split(/(\[\d+\])/).map((piece) => {
      const made = /^\[\d+\]$/.test(piece) ? chip(Number(piece.slice(1, -1))) : undefined;
      return made ?? withoutMarkdown(piece);
    });
  });
}

/** Each block finds its own direction, so that an answer in Arabic or Hebrew reads from the right. */
function filled(tag, children) {
  return around(tag, children, { dir: "auto" });
}
