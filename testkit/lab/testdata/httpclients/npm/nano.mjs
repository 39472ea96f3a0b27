// Runs NANO's own client code, unchanged: node nano.mjs poll|push '[{"url": "http://127.0.0.1:8080", "story": "plain"}]'.
// The code asks /mcp and ws://localhost:8080/ws for the prompt Hello; only these three differ here. For each run it
// prints a line of JSON: what the client writes, and whether it has come to its end.
import { readFile } from "node:fs/promises";
import WS from "ws";

const [how, runs] = process.argv.slice(2);
const code = await readFile(new URL(`nano-${how}.js`, import.meta.url), "utf8");
const AsyncFunction = (async () => {}).constructor;

async function run({ url, story }) {
  const told = (body) => body.replace('"Hello"', JSON.stringify(story));
  const got = { text: "", ended: false };
  let closed = Promise.resolve();
  const shim = {
    fetch: async (path, init) => {
      const answer = await fetch(url + path, { ...init, body: told(init.body) });
      const body = await answer.json();
      const last = body.result?.chunks?.at(-1);
      got.ended ||= body.result?.has_more === false && last?.end === true && !last.error;
      return { json: async () => body };
    },
    sleep: () => new Promise((resolve) => setTimeout(resolve, 5)),
    process: { stdout: { write: (text) => { got.text += text; } } },
    console: { log: () => {} },
    // A browser's socket refuses to send before it is open; the code does not wait for that.
    WebSocket: class {
      constructor() {
        const ws = new WS(url.replace("http", "ws") + "/ws");
        closed = new Promise((resolve) => ws.on("close", resolve));
        this.send = (text) => ws.on("open", () => ws.send(told(text)));
        ws.on("error", () => {});
        ws.on("message", (data) => {
          this.onmessage({ data: data.toString() });
          const { params } = JSON.parse(data);
          if (!params?.end) return;
          got.ended = !params.error;
          ws.close();
        });
      }
    },
  };
  try {
    await new AsyncFunction(...Object.keys(shim), code)(...Object.values(shim));
    await closed;
  } catch {
    got.ended = false;
  }
  return got;
}

for (const one of JSON.parse(runs)) process.stdout.write(JSON.stringify(await run(one)) + "\n");
