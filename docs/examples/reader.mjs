// Reads a run of a lastword server until it ends, in a browser or in Node. It comes back with its cursor when the
// connection is cut: nothing is lost, and nothing comes twice.
//
//   for await (const event of readRun("http://127.0.0.1:7878", runID)) console.log(event.seq, event.type);
//
// options: token (a bearer token), after (the cursor), signal (an AbortSignal). Errors carry the server's code.

const TERMINALS = new Set(["run.completed", "run.failed", "run.canceled"]);

export async function* readRun(server, run, { token, after = 0, signal } = {}) {
  for (let pause = 100; ; pause = Math.min(2 * pause, 5000)) {
    try {
      for await (const event of readOnce(server, run, { token, after, signal })) {
        if (event.seq <= after) continue;
        if ((event.from ?? event.seq) > after + 1) throw fatal("reset", `events after ${after} are missing`);
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
  const url = `${server}/v1/runs/${encodeURIComponent(run)}/events?after=${after}`;
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

function fatal(code, message) {
  return Object.assign(new Error(message), { code, fatal: true });
}
