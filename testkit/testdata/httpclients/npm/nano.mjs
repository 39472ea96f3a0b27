// Runs NANO's own client code, unchanged, against a server: node nano.mjs poll|push http://127.0.0.1:8080 STORY.
// The code asks /mcp and ws://localhost:8080/ws for the prompt Hello; only these three differ here. It prints what the
// client writes, and as the last line whether it has come to its end.
import { readFile } from "node:fs/promises";
import WS from "ws";

const [how, server, story] = process.argv.slice(2);
const told = (body) => body.replace('"Hello"', JSON.stringify(story));
let ended = false;

const shim = {
  fetch: async (path, init) => {
    const answer = await fetch(server + path, { ...init, body: told(init.body) });
    const body = await answer.json();
    ended ||= body.result?.has_more === false && body.result.chunks.at(-1)?.end === true && !body.result.chunks.at(-1).error;
    return { json: async () => body };
  },
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  process: { stdout: process.stdout },
  console: { log: (text) => { if (text === "Stream started:" || text === "\\nStream complete") return; } },
  // A browser's socket refuses to send before it is open; the code does not wait for that.
  WebSocket: class {
    constructor() {
      const ws = new WS(server.replace("http", "ws") + "/ws");
      this.send = (text) => ws.on("open", () => ws.send(told(text)));
      ws.on("message", (data) => {
        this.onmessage({ data: data.toString() });
        const { params } = JSON.parse(data);
        if (!params?.end) return;
        ended = !params.error;
        ws.close();
      });
      ws.on("close", () => process.stdout.write("\n" + ended + "\n"));
    }
  },
};

const AsyncFunction = (async () => {}).constructor;
const code = await readFile(new URL(`nano-${how}.js`, import.meta.url), "utf8");
await new AsyncFunction(...Object.keys(shim), code)(...Object.values(shim));
if (how === "poll") process.stdout.write("\n" + ended + "\n");
