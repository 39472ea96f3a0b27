import assert from "node:assert/strict";
import { after, test } from "node:test";
import { accessible, closeBrowser, open, openTab, pictures, Server } from "./kit.mjs";

after(closeBrowser);

/** Starts runs of each sort, as a day's work looks. */
async function aDay(server) {
  const repositories = ["spf13/cobra", "mark3labs/mcp-go", "fastify/fastify", "Textualize/rich", "colinhacks/zod", "golang/go", "sqlite/sqlite", "preactjs/preact"];
  for (let i = 0; i < 40; i++) await server.submit({ title: repositories[i % repositories.length], words: i }, "generate");
  await server.submit({ title: "Why is the sky blue? Answer in two sentences, and name your sources.", words: 5 }, "prompt");
  const failing = (title, steps) => server.submit({ title, tasks: [{ name: "analyze", tries: 1, steps }] }, "generate");
  await failing("example/broken", [{ do: "fail", text: "no such branch" }]);
  await failing("example/crashes", [{ do: "panic", text: "nil map" }]);
  const canceled = await server.submit({ title: "example/slow", tasks: [{ name: "fetch", steps: [{ do: "hang" }] }] }, "generate");
  await server.call("POST", `/v1/runs/${canceled}/cancel`);
  await server.until(canceled, (s) => s.status === "canceled");
  await server.submit({ title: "Compare the two drafts and ask before you publish", ask: true });
  await server.submit({ title: "torvalds/linux", tasks: [{ name: "fetch", steps: [{ do: "hang" }] }] }, "generate");
}

const rows = (page) => page.locator(".rows .row");
const row = (page, words) => rows(page).filter({ hasText: words });

test("runs: pictures of the list", async (t) => {
  const server = await Server.start(t);
  await pictures(t, "none", server.url, (page) => page.getByText("No runs yet").waitFor());
  await aDay(server);
  await pictures(t, "runs", server.url, (page) => row(page, "torvalds/linux").waitFor());
  await pictures(t, "start", server.url + "/?start=play", (page) => page.getByLabel("title").waitFor());
});
