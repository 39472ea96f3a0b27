// Runs Looopy's own client code, unchanged: node looopy.mjs '[{"url": "http://127.0.0.1:7878"}]'. For each run it
// prints a line of JSON: what the client shows of a turn of session-123 that somebody else began, and how that ended.
import { readFile } from "node:fs/promises";
import { EventSource as Source } from "eventsource";

const code = await readFile(new URL("looopy.js", import.meta.url), "utf8");

const run = ({ url }) => new Promise((resolve) => {
  const got = { text: "", thoughts: [], ended: "" };
  // The code names no conversation, and stops at task-complete alone; a failed turn closes the source here.
  class EventSource extends Source {
    constructor(path, init) {
      super(url + path + "?contextId=session-123", init);
      this.addEventListener("message", ({ data }) => {
        const { kind, status } = JSON.parse(data);
        if (kind === "task-complete") got.ended = "completed";
        if (status?.state !== "failed" && status?.state !== "canceled") return;
        got.ended = status.state;
        this.close();
      });
    }
    close() {
      super.close();
      setTimeout(() => resolve(got), 1);
    }
  }
  new Function("EventSource", "appendToUI", "showThought", "console", code)(EventSource,
    (text) => { got.text += text; }, (thought) => { got.thoughts.push(thought); }, { error: () => {} });
});

for (const one of JSON.parse(process.argv[2])) process.stdout.write(JSON.stringify(await run(one)) + "\n");
