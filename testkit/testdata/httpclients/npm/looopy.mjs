// Runs Looopy's own client code, unchanged, against a server: node looopy.mjs http://127.0.0.1:7878 STORY. The turn is
// begun with a POST whose answer is left unread, and a question is answered before the client reads: the code takes
// the end of a stream for an error. It prints what the client shows, and how the turn ended, as JSON.
import { readFile } from "node:fs/promises";
import { EventSource as Source } from "eventsource";

const [server, story] = process.argv.slice(2);
const shown = { text: "", thoughts: [], ended: "" };
const left = new AbortController();
const begun = await fetch(server + "/api/sse/message", {
  method: "POST", signal: left.signal, body: JSON.stringify({ message: story, contextId: "session-123" }),
});
if (!begun.ok) throw new Error(await begun.text());
left.abort();
await new Promise((resolve) => setTimeout(resolve, 200));

// The code names no conversation and stops at task-complete alone; a failed turn closes the source here.
class EventSource extends Source {
  constructor(path, init) {
    super(server + path + "?contextId=session-123", init);
    this.addEventListener("message", ({ data }) => {
      const { kind, status } = JSON.parse(data);
      if (kind === "task-complete") shown.ended = "completed";
      if (status?.state !== "failed" && status?.state !== "canceled") return;
      shown.ended = status.state;
      this.close();
    });
  }
  close() {
    super.close();
    clearTimeout(patience);
    setTimeout(() => process.stdout.write(JSON.stringify(shown)), 10);
  }
}
const patience = setTimeout(() => process.exit(1), 20000);
const console = { error: () => {} };
const code = await readFile(new URL("looopy.js", import.meta.url), "utf8");
new Function("EventSource", "appendToUI", "showThought", "console", code)(
  EventSource, (text) => { shown.text += text; }, (thought) => { shown.thoughts.push(thought); }, console);
