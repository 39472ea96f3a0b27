// A client of lastword's HTTP API in one file, for Node 20 or newer, Deno, Bun and browsers: start, follow, answer, cancel
// and say.
//
//   const client = new Client("http://127.0.0.1:7878");
//   const run = await client.start("prompt", { prompt: "Why is the sky blue?" });
//   for await (const event of client.follow(run)) console.log(event.seq, event.type);
//
// follow comes back with its cursor when the connection is cut: nothing is lost, and nothing comes twice. The other calls
// are repeated when nobody answers; a repeated call is still one start, one answer, one message. From a shell:
//
//   node client.mjs start JOB [INPUT]    node client.mjs answer RUN REQUEST VALUE    node client.mjs cancel RUN
//   node client.mjs follow RUN [AFTER]   node client.mjs say RUN TEXT
//
// LASTWORD_SERVER and LASTWORD_TOKEN name the server and its token.

const ENDS = new Set(["run.completed", "run.failed", "run.canceled"]);

// Refused says that the server has refused a request. docs/errors.md lists the codes.
export class Refused extends Error {
  constructor(status, { detail, title, code = "", retryable = false } = {}) {
    super(detail ?? title ?? `HTTP ${status}`);
    Object.assign(this, { status, code, retryable });
  }
}

export class Client {
  // patience is for how many milliseconds a call is repeated while nobody answers.
  constructor(server = "http://127.0.0.1:7878", { token, patience = 60_000, signal } = {}) {
    Object.assign(this, { server: server.replace(/\/$/, ""), token, patience, signal });
  }

  // start starts a run and returns its id. more may have labels, limits and busy. The same key is the same run.
  async start(job, input = {}, { key = crypto.randomUUID(), ...more } = {}) {
    return (await this.#call("POST", "/v1/runs", { job, input, ...more }, { "Idempotency-Key": key })).run_id;
  }

  // state returns what the run's events add up to.
  state(run) {
    return this.#call("GET", path(run));
  }

  // answer answers a question of the run: the payload of input.required has its name, request.
  async answer(run, request, value) {
    await this.#call("POST", path(run, "input", request), { value }, {}, true);
  }

  async cancel(run, reason = "") {
    await this.#call("POST", path(run, "cancel"), { reason });
  }

  // say says something to a run that works, and returns the id of the message.
  async say(run, text, { mode = "steer", id = crypto.randomUUID() } = {}) {
    return (await this.#call("POST", path(run, "messages"), { id, content: text, mode })).message;
  }

  // follow yields the run's events after the cursor until its end. The cursor of an event is event.cursor.
  async *follow(run, after = 0) {
    for (let silent = Date.now(); ; ) {
      try {
        const url = `${path(run, "events")}?after=${encodeURIComponent(after)}`;
        const response = await this.#open("GET", url, undefined, { Accept: "application/x-ndjson" });
        for await (const event of events(response.body)) {
          after = event.cursor ??= event.seq;
          yield event;
          if (ENDS.has(event.type)) return;
          silent = Date.now();
        }
      } catch (error) {
        const over = error instanceof Refused ? !error.retryable : Date.now() - silent > this.patience;
        if (over || this.signal?.aborted) throw error;
      }
      await pause();
    }
  }

  // wait returns the run's last event.
  async wait(run) {
    let last;
    for await (last of this.follow(run));
    return last;
  }

  async #call(method, path, body, headers = {}, once = false) {
    for (let begun = Date.now(), repeated = false; ; repeated = true) {
      try {
        const text = await (await this.#open(method, path, body, headers)).text();
        return text ? JSON.parse(text) : null;
      } catch (error) {
        if (once && repeated && error.status === 409) return null; // the first try has arrived
        const fatal = error instanceof Refused && !error.retryable;
        if (fatal || this.signal?.aborted || Date.now() - begun > this.patience) throw error;
      }
      await pause();
    }
  }

  async #open(method, path, body, headers) {
    if (this.token) headers = { ...headers, Authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers = { ...headers, "Content-Type": "application/json" };
    const response = await fetch(this.server + path, { method, headers, signal: this.signal, body: body && JSON.stringify(body) });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({ retryable: response.status >= 500 }));
    throw new Refused(response.status, problem);
  }
}

const path = (run, ...parts) => "/v1/runs/" + [run, ...parts].map(encodeURIComponent).join("/");

const pause = () => new Promise((resolve) => setTimeout(resolve, 50 + 450 * Math.random()));

// events yields the events of one connection. A line without its end is the rest of a cut connection.
async function* events(body) {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.trim() === "") continue; // the server is alive
      const event = JSON.parse(line);
      if (event.problem) throw new Refused(0, event.problem);
      if (event.type) yield event;
    }
  }
}

async function main(command, ...args) {
  const client = new Client(process.env.LASTWORD_SERVER, { token: process.env.LASTWORD_TOKEN });
  switch (command) {
    case "start":
      return console.log(await client.start(args[0], args[1] && JSON.parse(args[1])));
    case "follow":
      for await (const event of client.follow(...args)) console.log(JSON.stringify(event));
      return;
    case "answer":
      return client.answer(args[0], args[1], JSON.parse(args[2]));
    case "cancel":
      return client.cancel(...args);
    case "say":
      return console.log(await client.say(...args));
  }
  throw new Error(`there is no command ${command}: use start, follow, answer, cancel or say`);
}

if (globalThis.process?.argv[1]?.endsWith("client.mjs")) await main(...process.argv.slice(2));
