// Talks to the gateway: server-sent events over fetch, and errors as sentences.

/** Yields {event, data} from a response body in the text/event-stream format. */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = "message";
  let data = [];
  for (;;) {
    const { value, done } = await reader.read();
    rest += done ? "\n" : value;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (data.length) yield { event, data: JSON.parse(data.join("\n")) };
        event = "message";
        data = [];
      } else if (line.startsWith("event:")) event = line.slice(6).trim();
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    }
    if (done) return;
  }
}

/** What went wrong, in the server's words where it has some. */
export async function problemOf(response) {
  try {
    const problem = await response.json();
    return problem.detail ?? `The server answered ${response.status}.`;
  } catch {
    return `The server answered ${response.status}.`;
  }
}

/** JSON of a GET or another method; throws an Error with the server's sentence. */
export async function call(path, options = {}) {
  const response = await fetch(path, options);
  if (!response.ok) throw new Error(await problemOf(response));
  return response.json();
}
