// What people see while a server is away, and after it is back.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { after, test } from "node:test";
import { accessible, closeBrowser, open, openTab, pictures, Server } from "./kit.mjs";

after(closeBrowser);

const row = (page, words) => page.locator(".rows .row").filter({ hasText: words });
const badge = (page, words) => page.locator(".badge").filter({ hasText: words });
const hanging = (title, more = {}) => ({ title, tasks: [{ name: "fetch", steps: [{ do: "hang" }] }], ...more });

test("lost: a server that is killed and started again", async (t) => {
  const server = await Server.start(t);
  await server.submit(hanging("lost with its server"));
  await server.submit(hanging("started again", { again: true }));
  const page = await open(t, server.url);
  await row(page, "lost with").getByText("processing").waitFor();
  await server.kill();
  await badge(page, "reconnecting").waitFor();
  assert.equal(await row(page, "lost with").count(), 1, "the list stays");
  await server.start();
  await badge(page, "live").waitFor();
  await row(page, "lost with").getByText("failed").waitFor();
  await row(page, "lost with").getByText("node lost").waitFor();
  await row(page, "started again").getByText("processing").waitFor();
  await server.submit({ title: "after the restart" });
  await row(page, "after the restart").waitFor();
});

test("lost: a page that opens just before the server goes", async (t) => {
  const server = await Server.start(t);
  await server.submit(hanging("known", { again: true }));
  const page = await open(t, "about:blank");
  await page.route("**/page-*.js", async (route) => { // the server goes between the document and the script
    const answer = await route.fetch();
    await server.kill();
    await route.fulfill({ response: answer });
  });
  await page.goto(server.url);
  await page.getByRole("heading", { name: "The server does not answer" }).waitFor();
  await accessible(page, "without a server");
  await server.start();
  await row(page, "known").getByText("processing").waitFor();
  await page.getByRole("button", { name: "Start a run" }).click();
  await page.getByLabel("title").waitFor();
});

test("lost: thirty seconds offline", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit(hanging("while away"));
  const page = await open(t, server.url);
  await row(page, "while away").getByText("processing").waitFor();
  await page.context().setOffline(true);
  await badge(page, "reconnecting").waitFor();
  await server.call("POST", `/v1/runs/${id}/cancel`);
  await sleep(30_000);
  assert.equal(await row(page, "while away").getByText("processing").count(), 1);
  await page.context().setOffline(false);
  await row(page, "while away").getByText("canceled", { exact: true }).waitFor();
  await badge(page, "live").waitFor();
});

test("lost: eight tabs", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit(hanging("watched by all"));
  const first = await open(t, server.url);
  const tabs = [first];
  for (let i = 1; i < 8; i++) tabs.push(await openTab(t, first.context(), server.url));
  for (const tab of tabs) await row(tab, "watched by all").getByText("processing").waitFor();
  await server.call("POST", `/v1/runs/${id}/cancel`);
  for (const tab of tabs) await row(tab, "watched by all").getByText("canceled", { exact: true }).waitFor();
});

test("lost: a hidden tab lets its connection go", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, "about:blank");
  const sockets = [];
  page.on("websocket", (socket) => sockets.push(socket));
  await page.goto(server.url);
  await badge(page, "live").waitFor();
  const hide = (hidden) => page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await hide(true);
  await badge(page, "paused").waitFor();
  assert.ok(sockets.at(-1).isClosed());
  await server.submit({ title: "unseen" });
  await hide(false);
  await row(page, "unseen").waitFor();
  assert.equal(sockets.length, 2);
});

test("sign in: with a token, and out again", async (t) => {
  const server = await Server.start(t, { tokens: true });
  await server.submit({ title: "mine" });
  const page = await open(t, server.url);
  const token = page.getByLabel("Token");
  await token.fill("lw_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").filter({ hasText: "token" }).waitFor();
  await token.fill(server.token);
  await token.press("Enter");
  await row(page, "mine").waitFor();
  const cookies = await page.context().cookies();
  assert.ok(!cookies.some((c) => c.value.includes(server.token)), "the browser is not given the token");
  const cookie = cookies.find((c) => c.name.startsWith("lastword_session_"));
  assert.ok(cookie.httpOnly && cookie.sameSite === "Strict", "scripts and other sites never see the session");
  assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]), [0, 0, ""]);
  await page.reload();
  await row(page, "mine").waitFor();
  await page.getByRole("button", { name: "Start a run" }).click();
  await page.getByLabel("title").fill("another");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/r_/);
  await page.getByRole("button", { name: "Sign out" }).click();
  await token.waitFor();
  await page.reload();
  await token.waitFor();
});

test("sign in: a token that is revoked", async (t) => {
  const server = await Server.start(t, { tokens: true });
  const page = await open(t, server.url);
  await page.getByLabel("Token").fill(server.token);
  await page.getByLabel("Token").press("Enter");
  await badge(page, "live").waitFor();
  server.addToken(); // in place of the other
  await page.getByLabel("Token").fill(server.token);
  await page.getByLabel("Token").press("Enter");
  await badge(page, "live").waitFor();
});

test("sign in: pictures", async (t) => {
  const server = await Server.start(t, { tokens: true });
  await pictures(t, "signin", server.url, (page) => page.getByLabel("Token").waitFor(), { keep: "none" });
});
