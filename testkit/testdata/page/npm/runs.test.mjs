import assert from "node:assert/strict";
import { after, test } from "node:test";
import { closeBrowser, open, Server } from "./kit.mjs";

after(closeBrowser);

test("runs: the page opens", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, server.url);
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  assert.equal(await page.title(), "lastword");
});
