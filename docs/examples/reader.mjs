// Reads a run of a lastword server until it ends, in a browser or in Node. It comes back with its cursor when the
// connection is cut: nothing is lost, and nothing comes twice. It asks for each long text once, and puts it back into
// the events that would repeat it.
//
//   for await (const event of readRun("http://127.0.0.1:7878", runID)) console.log(event.seq, event.type);
//
// options: token (a bearer token), after (the cursor), signal (an AbortSignal). Errors carry the server's code.

const TERMINALS = new Set(["run.completed", "run.failed", "run.canceled"]);

export async function* readRun(server, run, { token, after = 0, signal } = {}) {
  const texts = new Map(); // of each stream its text, and the length of that in bytes
  for (let pause = 100; ; pause = Math.min(2 * pause, 5000)) {
    try {
      for await (const event of readOnce(server, run, { token, after, signal })) {
        if (event.seq <= after) continue;
        if ((event.from ?? event.seq) > after + 1) throw fatal("reset", `events after ${after} are missing`);
        if (hear(texts, event)) continue;
        await complete(texts, event);
        after = event.seq;
        pause = 100;
        yield event;
        if (TERMINALS.has(event.type)) return;
      }
    } catch (error) {
      if (error.fatal || signal?.aborted) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause / 2 + Math.random() * pause));
  }
}

// readOnce yields the events of one connection.
async function* readOnce(server, run, { token, after, signal }) {
  const headers = { Accept: "application/x-ndjson" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const url = `${server}/v1/runs/${encodeURIComponent(run)}/events?after=${after}&done=digest`;
  const response = await fetch(url, { headers, signal });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    if (problem.retryable || response.status >= 500) throw new Error(problem.detail ?? response.statusText);
    throw fatal(problem.code, problem.detail ?? response.statusText);
  }
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") continue; // the server is alive
      const event = JSON.parse(line);
      if (event.problem) throw fatal(event.problem.code, event.problem.detail);
      if (event.type) yield event;
    }
  }
}

// hear keeps what the event says of texts. It reports whether an event of the same number follows.
function hear(texts, { type, payload }) {
  if (type === "merged") payload.parts.forEach((part) => hear(texts, part));
  if (type !== "text.delta" && type !== "thought.delta") return false;
  let { text, bytes } = texts.get(payload.stream) ?? { text: "", bytes: 0 };
  if (payload.offset < bytes) text = new TextDecoder().decode(utf8(text).subarray(0, payload.offset));
  texts.set(payload.stream, { text: text + payload.text, bytes: payload.offset + utf8(payload.text).length });
  return payload.part === true;
}

// complete puts back the text that the server has left out of a done event or of the result.
async function complete(texts, { type, payload }) {
  const from = type === "run.completed" ? payload.result : payload;
  if (from?.omitted !== true) return;
  const { stream, bytes, sha256, omitted, ...rest } = from;
  const text = texts.get(stream)?.text ?? "";
  if (globalThis.crypto?.subtle) {
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text)));
    const hex = Array.from(sum, (b) => b.toString(16).padStart(2, "0")).join("");
    if (hex !== sha256) throw fatal("reset", `the text ${stream} is not what the server said`);
  }
  if (type === "run.completed") payload.result = { text, ...rest };
  else Object.assign(payload, { text, bytes: undefined, omitted: undefined });
}

const utf8 = (text) => new TextEncoder().encode(text);

function fatal(code, message) {
  return Object.assign(new Error(message), { code, fatal: true });
}
