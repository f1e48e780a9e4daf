// Talks to a gateway: JSON, server-sent events over fetch, and failures that say what happened.

const SILENCE_MS = 30_000; // the server says something at least every ten seconds

/** What went wrong: a stable code, and the server's own sentence where it has one. */
export class Failure extends Error {
  constructor(code, message, { status = 0, retryAfterS = null } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

/** A gateway at an address (empty: this page's own), and what gives the key to show it, or null. */
export class Wire {
  constructor(base, key) {
    this.base = base;
    this.key = key;
  }

  /** An address of the gateway, as it stands in an answer, made whole. */
  address(path) {
    return new URL(path, this.base || location.href).href;
  }

  /** Sends a request; throws a Failure for any answer but a good one. */
  async send(path, { accept = "application/json", json, ...options } = {}) {
    const headers = { Accept: accept, ...options.headers };
    const key = this.key();
    if (key) headers.Authorization = `Bearer ${key}`;
    if (json !== undefined) headers["Content-Type"] = "application/json";
    const body = json === undefined ? options.body : JSON.stringify(json);
    let response;
    try {
      response = await fetch(this.address(path), { method: json ? "POST" : "GET", ...options, headers, body });
    } catch (error) {
      throw error.name === "AbortError" ? error : new Failure("unreachable", "The server did not answer.");
    }
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  /** The JSON of an answer. */
  async call(path, options = {}) {
    return (await this.send(path, options)).json();
  }

  /** Asks a question; tells ``on(event, data)`` what comes on the way, and gives the whole answer. */
  async ask(body, { signal, on }) {
    const response = await this.send("/v1/ask", { json: { ...body, stream: true }, accept: "text/event-stream", signal });
    for await (const { event, data } of eventsOf(response)) {
      if (event === "answer") return data;
      if (event === "error") throw new Failure(data.code, data.detail, { status: data.status });
      on(event, data);
    }
    throw new Failure("broken_off", "The answer broke off.");
  }
}

async function failureOf(response) {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const more = { status: response.status, retryAfterS: Number.isFinite(seconds) ? seconds : null };
  try {
    const problem = await response.json();
    return new Failure(problem.code ?? "internal", problem.detail ?? `The server answered ${response.status}.`, more);
  } catch {
    return new Failure("internal", `The server answered ${response.status}.`, more);
  }
}

/** Yields {event, data} from a response body in the text/event-stream format. */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = "message";
  let data = [];
  for (;;) {
    const { value, done } = await read(reader);
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

/** The next piece of a stream; a stream that falls silent has lost its connection, whatever the browser believes. */
async function read(reader) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Failure("broken_off", "Nothing came for half a minute.")), SILENCE_MS);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error.name === "AbortError" || error instanceof Failure) throw error;
    throw new Failure("broken_off", "The connection was lost.");
  } finally {
    clearTimeout(timer);
  }
}
