// Answers as plain text, and the clipboard.

/** The answer with its sources, for a mail or a note. ``addressOf`` makes a citation's address whole. */
export function asText(question, answer, addressOf) {
  const sources = answer.citations.map((citation) => {
    const where = whereOf(citation);
    return `[${citation.n}] ${where}\n    “${citation.quote.trim().replace(/\s+/g, " ")}”\n    ${addressOf(citation)}`;
  });
  const parts = [question, answer.text];
  if (sources.length) parts.push(`Sources:\n${sources.join("\n")}`);
  return `${parts.join("\n\n")}\n`;
}

/** Title, section and place of a citation, as one line; the section without the title that begins it. */
export function whereOf(citation) {
  const headings = citation.section.split(" > ").filter((heading) => heading && heading !== citation.title);
  return [[citation.title, ...headings].join(" › "), citation.place].filter(Boolean).join(", ");
}

/** Puts a text into the clipboard; false when the browser does not let us. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text);
  }
}

/** Without https there is no clipboard to write to. */
function copyOldWay(text) {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
    before?.focus?.();
  }
}
