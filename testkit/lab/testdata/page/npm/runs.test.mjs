import assert from "node:assert/strict";
import { after, test } from "node:test";
import { accessible, closeBrowser, load, open, picture, pictures, scrolled, Server } from "./kit.mjs";

after(closeBrowser);

/** Starts runs of each sort, as a day's work looks. */
async function aDay(server) {
  const repositories = ["spf13/cobra", "mark3labs/mcp-go", "fastify/fastify", "Textualize/rich", "colinhacks/zod", "golang/go", "sqlite/sqlite", "preactjs/preact"];
  for (let i = 0; i < 40; i++) await server.submit({ title: repositories[i % repositories.length], words: i }, "generate");
  await server.submit({ title: "Why is the sky blue? Answer in two sentences, and name your sources.", words: 5 }, "prompt");
  const broken = (title, ...steps) => server.submit({ title, tasks: [{ name: "analyze", tries: 1, steps }] }, "generate");
  await broken("example/broken", { do: "fail", text: "no such branch" });
  await broken("example/crashes", { do: "panic", text: "nil map" });
  const canceled = await broken("example/slow", { do: "hang" });
  await server.call("POST", `/v1/runs/${canceled}/cancel`);
  await server.until(canceled, (s) => s.status === "canceled");
  await server.submit({ title: "Compare the two drafts and ask before you publish", ask: true });
  await server.submit({ title: "torvalds/linux", tasks: [{ name: "fetch", steps: [{ do: "hang" }] }] }, "generate");
}

const rows = (page) => page.locator(".rows .row");
const row = (page, words) => rows(page).filter({ hasText: words });
const inputs = (page) => page.locator(".rows .input").allTextContents();

test("runs: the list is live", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, server.url);
  await page.getByText("No runs yet").waitFor();
  const id = await server.submit({ title: "first", tasks: [{ name: "fetch", steps: [{ do: "hang" }] }] });
  await row(page, "first").getByText("processing").waitFor();
  await server.submit({ title: "second" });
  await row(page, "second").getByText("completed").waitFor();
  await server.call("POST", `/v1/runs/${id}/cancel`);
  await row(page, "first").getByText("canceled", { exact: true }).waitFor();
  assert.deepEqual(await inputs(page), ["second", "first"]);
});

test("runs: a run that asks waits for an answer", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit({ title: "Publish it", ask: true });
  await server.submit({ title: "something else" });
  const page = await open(t, server.url);
  await row(page, "Publish it").getByText("waiting for a person").waitFor();
  await page.getByRole("button", { name: "waiting" }).click();
  await row(page, "something else").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "waiting" }).click();
  await server.call("POST", `/v1/runs/${id}/input/sure`, { value: "yes" });
  await row(page, "Publish it").getByText("completed").waitFor();
});

test("runs: a run that is silent is marked, and one whose sub-run asks waits", async (t) => {
  const server = await Server.start(t);
  await server.submit({ title: "silent", tasks: [{ name: "a", steps: [{ do: "hang" }] }] });
  await server.submit({ title: "above", tasks: [{ name: "a", steps: [{ do: "child", child: { title: "below", ask: true } }] }] });
  const page = await open(t, server.url + "/?children=1");
  for (const title of ["below", "above"]) await row(page, title).getByText("waiting for a person").waitFor();
  await row(page, "silent").getByText("processing").waitFor();
  assert.equal(await page.getByText("silent 2 min").count(), 0);
  await page.clock.setFixedTime(Date.now() + 150_000);
  await row(page, "silent").getByText("silent 2 min").waitFor();
  assert.equal(await page.getByText("silent 2 min").count(), 1);
  await accessible(page, "a marked run");
});

test("runs: the address keeps the search and the filters", async (t) => {
  const server = await Server.start(t);
  await aDay(server);
  const page = await open(t, server.url);
  await row(page, "torvalds").waitFor();
  await page.getByLabel("Search runs").fill("example -crashes");
  await page.getByRole("button", { name: "failed" }).click();
  await row(page, "example/slow").waitFor({ state: "detached" });
  assert.deepEqual(await inputs(page), ["example/broken"]);
  const { search } = new URL(page.url());
  assert.deepEqual(Object.fromEntries(new URLSearchParams(search)), { q: "example -crashes", status: "failed" });
  await page.reload();
  await row(page, "example/broken").waitFor();
  assert.deepEqual(await inputs(page), ["example/broken"]);
  await page.getByLabel("Job").selectOption("prompt");
  await page.getByText("No run is like this").waitFor();
  await accessible(page, "nothing found");
  await page.getByRole("button", { name: "Show all" }).click();
  await row(page, "torvalds").waitFor();
  assert.equal(new URL(page.url()).search, "");
});

test("runs: one box finds by time, label and text", async (t) => {
  const server = await Server.start(t);
  await server.submit({ title: "garden" }, "prompt", { labels: { team: "docs" } });
  await server.submit({ title: "pond" }, "prompt", { labels: { team: "code" } });
  const page = await open(t, server.url);
  await row(page, "pond").waitFor();
  const finds = async (search, ...titles) => {
    await page.getByLabel("Search runs").fill(search);
    await page.waitForFunction((n) => document.querySelectorAll(".rows .row").length === n, titles.length);
    assert.deepEqual(await inputs(page), titles, search);
  };
  await finds("since:1h", "pond", "garden");
  await finds("since:1h team:docs", "garden");
  await finds("-team:docs until:2999-01-01", "pond");
  await finds("until:1h");
  await finds("since:2999-01-01 pond");
  await finds("status:completed job:prompt -team:docs", "pond");
  await finds("-status:completed");
  await page.getByLabel("Search runs").press("Escape");
  await page.keyboard.press("x");
  await row(page, "garden").waitFor();
  await page.keyboard.press("7");
  await page.waitForURL(/status=canceled/);
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("since:2h").waitFor();
  await accessible(page, "the keys");
});

test("runs: labels as columns, times, and counts, and pictures of them", async (t) => {
  const server = await Server.start(t);
  await aDay(server);
  await server.submit({ title: "garden" }, "prompt", { labels: { team: "docs" } });
  const page = await open(t, server.url);
  await row(page, "garden").waitFor();
  await page.getByRole("button", { name: "failed 2" }).waitFor();
  await page.getByText("Columns").click();
  await page.getByLabel("team").check();
  await page.getByLabel("times, not ages").check();
  await page.keyboard.press("Escape");
  assert.equal(await row(page, "garden").locator(".label").textContent(), "docs");
  assert.match(await row(page, "garden").locator(".age").textContent(), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.equal(new URL(page.url()).search, "?labels=team&times=1");
  await page.reload();
  await page.getByRole("columnheader", { name: "team" }).waitFor();
  await accessible(page, "columns");
  await picture(page, "columns-laptop-light");
});

test("runs: selected runs are canceled, and retried, at once, and pictures of that", async (t) => {
  const server = await Server.start(t);
  for (const title of ["one", "two", "three"]) await server.submit({ title, tasks: [{ name: "fetch", steps: [{ do: "hang" }] }] });
  await server.submit({ title: "done" });
  const page = await open(t, server.url);
  await row(page, "done").getByText("completed").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement.textContent === "three");
  await page.keyboard.press("v"); // keys alone select a run
  await page.getByLabel("Select one").check();
  await page.getByText("2 runs selected").waitFor();
  await accessible(page, "two are selected");
  await picture(page, "selected-laptop-light");
  await page.getByRole("button", { name: "Cancel 2" }).click();
  await page.getByRole("button", { name: "Yes, cancel 2 runs" }).click();
  await page.getByText("Canceled 2 runs").waitFor();
  await row(page, "three").getByText("canceled", { exact: true }).waitFor();
  await row(page, "two").getByText("processing").waitFor();
  await page.getByLabel("Select all 4 runs").check();
  await page.getByText("4 runs selected").waitFor();
  await page.getByRole("button", { name: "Retry 2" }).click();
  await page.getByText("Started 2 runs").waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".rows .row").length === 6);
  assert.deepEqual((await inputs(page)).sort(), ["done", "one", "one", "three", "three", "two"]);
});

test("runs: schedules, and pictures of them", async (t) => {
  const server = await Server.start(t);
  await pictures(t, "schedules", server.url + "/?schedules=1", (page) => page.getByText("paused").waitFor(), { keep: "laptop-light" });
  const page = await open(t, server.url);
  await page.getByRole("link", { name: "Schedules" }).click();
  await page.getByRole("button", { name: "Resume nightly" }).click();
  await page.getByText("2031-01-02 06:00:00 +01:00").waitFor();
  await page.getByRole("button", { name: "Run now: nightly" }).click();
  await page.getByText("1 start was dropped").waitFor();
  await page.getByText("the run before still works").waitFor();
  assert.equal(await page.getByRole("link", { name: "failed" }).getAttribute("href"), "/runs/r_last");
  await page.keyboard.press("u");
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
});

test("runs: again with changes", async (t) => {
  const server = await Server.start(t);
  const input = { title: "by hand", words: 3, mood: "loud", names: ["ann", "bob"], day: "2026-11-29", at: "2026-11-29T10:00:00.000Z", note: { a: 1 }, message: "unseen" };
  const id = await server.submit(input, "play", { labels: { team: "docs" } });
  await server.until(id, (s) => s.end);
  const page = await open(t, `${server.url}/runs/${id}`);
  await page.getByRole("link", { name: "Run again with changes" }).click();
  await page.getByRole("heading", { name: "Run again with changes" }).waitFor();
  await accessible(page, "a filled form");
  assert.equal(await page.getByLabel("Day", { exact: true }).getAttribute("type"), "date");
  assert.equal(await page.getByLabel("At", { exact: true }).getAttribute("type"), "datetime-local");
  await page.getByLabel("words").fill("4");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/r_/);
  const { runs } = await server.call("GET", "/v1/runs");
  const { queued } = await server.call("GET", `/v1/runs/${runs.find((r) => r.run_id !== id).run_id}`);
  assert.deepEqual([queued.input, queued.labels], [{ ...input, words: 4 }, { team: "docs" }]);
});

test("runs: a form made from the job's schema starts a run", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, server.url);
  await page.getByRole("button", { name: "Start a run" }).first().click();
  await page.getByLabel("Job", { exact: true }).last().selectOption("play");
  await page.getByRole("button", { name: "Start", exact: true }).click(); // the browser asks for the title
  await page.getByLabel("title").fill("by hand");
  await page.getByText("More options").click();
  await page.getByLabel("words").fill("3");
  await page.getByLabel("mood").selectOption("loud");
  await page.getByRole("checkbox", { name: "ask" }).check();
  await page.getByLabel("names").fill("ann\nbob\n");
  await page.getByLabel("tasks").fill("[{");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  assert.match(await page.getByLabel("tasks").evaluate((field) => field.validationMessage), /not JSON/);
  await page.getByLabel("tasks").fill("");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/r_/);
  const { runs } = await server.call("GET", "/v1/runs");
  assert.equal(runs.length, 1);
  const state = await server.call("GET", `/v1/runs/${runs[0].run_id}`);
  assert.deepEqual(state.queued.input, { title: "by hand", words: 3, mood: "loud", ask: true, names: ["ann", "bob"] });
  await page.goBack();
  await row(page, "by hand").waitFor();
});

test("runs: a form says why the server refuses", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, server.url + "/?start=play");
  await page.getByLabel("title").fill("x");
  await page.getByText("More options").click();
  await page.getByLabel("tasks").fill(`[{"name":7}]`);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "cannot be read" }).waitFor();
  assert.equal(await page.getByLabel("title").inputValue(), "x");
});

test("runs: a field that takes JSON or a text", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, server.url + "/?start=play");
  await page.getByLabel("title").fill("x");
  await page.getByText("More options").click();
  await page.getByLabel("note").fill("name: a\nsteps: []");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/r_/);
  const { runs } = await server.call("GET", "/v1/runs");
  const state = await server.call("GET", `/v1/runs/${runs[0].run_id}`);
  assert.deepEqual(state.queued.input, { title: "x", note: "name: a\nsteps: []" });
});

test("runs: keys alone", async (t) => {
  const server = await Server.start(t);
  for (const title of ["third", "second", "first"]) await server.submit({ title });
  const page = await open(t, server.url);
  await row(page, "first").waitFor();
  const { keyboard } = page;
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the content");
  const lands = async (key, text) => {
    await keyboard.press(key);
    await page.waitForFunction((text) => document.activeElement?.textContent === text, text);
  };
  await lands("j", "first");
  await lands("j", "second");
  await lands("ArrowDown", "third");
  await lands("j", "third");
  await lands("k", "second");
  await keyboard.press("Enter");
  await page.waitForURL(/\/runs\/r_/);
  await page.goBack();
  await row(page, "first").waitFor();
  await lands("j", "third"); // the list is where it was left
  await keyboard.press("/");
  await keyboard.type("fir");
  await row(page, "second").waitFor({ state: "detached" });
  await keyboard.press("Escape");
  await keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await accessible(page, "keys");
  await keyboard.press("Escape");
  await keyboard.press("n");
  await page.getByRole("heading", { name: "Start a run" }).waitFor();
  await keyboard.type("typed");
  await keyboard.press("Enter");
  await page.waitForURL(/\/runs\/r_/);
});

test("runs: thousands of rows", async (t) => {
  const server = await Server.start(t);
  const count = 3000;
  for (let i = 0; i < count; i += 100) await Promise.all(Array.from({ length: 100 }, (_, k) => server.submit({ title: `run ${i + k}` })));
  const page = await open(t, server.url);
  await rows(page).first().waitFor();
  const { drawn, dropped, seconds, work } = await scrolled(page, page.locator(".rows"), 8000);
  t.diagnostic(`${(drawn / seconds).toFixed(1)} frames a second while scrolling, ${dropped} dropped; 95 % take less than ${work.toFixed(1)} ms of work; ${load()}`);
  assert.ok(work < 16.7, `a frame takes ${work} ms, 60 a second have 16.7`);
  await page.waitForFunction((count) => {
    const box = document.querySelector(".rows");
    box.scrollTop = box.scrollHeight; // older runs are read as the reader comes near
    return Number(document.querySelector('[role="table"]').ariaRowCount) === count + 1;
  }, count);
  await page.locator(".rows").evaluate((box) => (box.scrollTop = box.scrollHeight));
  assert.ok((await rows(page).count()) < 100, "only rows in view are drawn");
  await page.locator(".rows .input").filter({ hasText: /^run \d?\d$/ }).first().waitFor();
  const before = await inputs(page);
  await server.submit({ title: "late" });
  await page.waitForFunction((count) => Number(document.querySelector('[role="table"]').ariaRowCount) === count + 2, count);
  assert.deepEqual((await inputs(page)).slice(-5), before.slice(-5), "what is read stays where it is");
  await page.getByLabel("Search runs").fill("late");
  await row(page, "late").waitFor();
});

test("runs: the first paint", async (t) => {
  const server = await Server.start(t);
  await aDay(server);
  const page = await open(t, server.url);
  await row(page, "torvalds").waitFor();
  const paints = [];
  for (let i = 0; i < 5; i++) {
    await page.reload();
    await row(page, "torvalds").waitFor();
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  }
  t.diagnostic(`first contentful paint after ${paints.sort((a, b) => a - b)[2].toFixed(0)} ms, the median of five`);
});

test("runs: forced colours, and text at 200 %", async (t) => {
  const server = await Server.start(t);
  await aDay(server);
  const page = await open(t, server.url, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, forcedColors: "active", reducedMotion: "reduce" });
  await row(page, "torvalds").waitFor();
  await accessible(page, "forced colours at 200 %");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page scrolls sideways");
});

test("runs: pictures", async (t) => {
  const server = await Server.start(t);
  await pictures(t, "none", server.url, (page) => page.getByText("No runs yet").waitFor(), { keep: "none" });
  await aDay(server);
  await pictures(t, "runs", server.url, async (page) => {
    await row(page, "torvalds/linux").getByText("processing").waitFor();
    await page.clock.setFixedTime(Date.now() + 190_000);
    await page.getByText(/silent \d min/).waitFor();
  });
  await pictures(t, "start", server.url + "/?start=play", (page) => page.getByLabel("title").waitFor(), { keep: "laptop-light" });
});
