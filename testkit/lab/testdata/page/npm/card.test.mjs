// The run card in a host of MCP Apps: a frame that may run scripts, and nothing else.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { closeBrowser, open } from "./kit.mjs";

after(closeBrowser);

/** What a host does, with a server whose one run asks three questions. Runs in the page. */
function host(card) {
  const questions = [{ request: "color", prompt: "Which?", schema: { enum: ["red", "green"] } }, { request: "who", prompt: "Who?" },
    { request: "sure", prompt: "Really?", asks_person: true, page: "https://runs.example/runs/r_1" }];
  const run = { run_id: "r_1", job: "deploy", status: "waiting", seq: 1, questions: [questions[0]] };
  let asked = 0;
  const result = (text = "") => ({ structuredContent: structuredClone(run), content: [{ type: "text", text }] });
  const answers = {
    "ui/initialize": () => ({ protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" }, hostContext: { theme: "dark" },
      hostCapabilities: { serverTools: {}, serverResources: {}, openLinks: {} } }),
    "ui/open-link": () => ({}),
    "resources/read": () => ({ contents: [{ text: JSON.stringify({ streams: [{ stream: "text", text: "half of it" }] }) }] }),
    "tools/call": ({ name }) => {
      if (name === "run_answer") run.questions = [questions[++asked]];
      if (name === "run_cancel") Object.assign(run, { status: "canceled", questions: [] });
      return result(run.status === "canceled" ? "deploy was canceled" : "");
    },
  };
  window.said = [];
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">` + card;
  addEventListener("message", ({ data: m }) => {
    said.push([m.method, m.params?.name, JSON.stringify(m.params?.arguments)].join(" ").trim());
    const send = (more) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...more }, "*");
    if (m.id !== undefined && m.method) send({ id: m.id, result: answers[m.method](m.params) });
    if (m.method === "ui/notifications/initialized") send({ method: "ui/notifications/tool-result", params: result() });
  });
  document.body.append(frame);
}

test("the card shows a run, answers it and cancels it by calls of tools alone", async (t) => {
  const page = await open(t, "about:blank");
  await page.evaluate(host, readFileSync(process.env.CARD, "utf8"));
  const card = page.frameLocator("iframe");
  await card.getByText("half of it").waitFor();
  await card.getByRole("button", { name: "green" }).click();
  await card.getByLabel("Answer").fill("Mia");
  await card.getByRole("button", { name: "Answer" }).click();
  await card.getByText("A person answers at https://runs.example/runs/r_1").waitFor();
  await card.getByRole("button", { name: "Open the page" }).click();
  await card.getByRole("button", { name: "Cancel" }).click();
  await card.getByText("deploy was canceled").waitFor();
  assert.equal(await card.getByRole("status").innerText(), "canceled");
  assert.equal(await card.getByRole("button").count(), 0);
  const said = await page.evaluate(() => said);
  assert.equal(said[0], "ui/initialize");
  assert.deepEqual(said.filter((s) => /run_answer|run_cancel|open-link/.test(s)), [
    'tools/call run_answer {"run_id":"r_1","request":"color","value":"green"}', 'tools/call run_answer {"run_id":"r_1","request":"who","value":"Mia"}',
    "ui/open-link", 'tools/call run_cancel {"run_id":"r_1"}']);
});
