import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { accessible, closeBrowser, load, open, picture, pictures, scrolled, Server, worked } from "./kit.mjs";

after(closeBrowser);

const guide = `# A guide to the garden

The *garden* needs **three** things, in \`this order\`:

1. Water, at least twice a week
2. Light
   - morning sun
   - no wind
3. Time

> Nothing grows faster when it is watched.

| plant | water | note |
|---|---|---|
| tomato | 2 l | likes [sun](https://example.com/sun) |
| mint | 1 l | takes over |

\`\`\`go
func main() { fmt.Println("grow") }
\`\`\`
`;
const index = `# Garden

> What grows here, and where.

Read the beds first.

## Docs

- [Beds](https://example.com/beds.md): where things grow
- [Pond](https://example.com/pond.md): who lives there

## More pages

- [Log](log.md): what was done
`;
const emit = (name, payload, more) => ({ do: "emit", name, payload, ...more });

/** A run with something for every view. */
const rich = {
  title: "Write a guide to the garden",
  tasks: [
    { name: "understand", steps: [
      emit("llm.started", { call: "m1", model: "qwen3-8b", provider: "lmstudio" }),
      emit("thought.done", { stream: "plan.thought", text: "The beds come first, and then the pond.", sha256: "4b791c1635f5bbfe7456709b22fd32243b74da517778c43810b05f0aeafffefa" }),
      { do: "say", name: "plan", text: "I look at **what grows** where. ", times: 2, ms: 20 },
      emit("llm.completed", { call: "m1", model: "qwen3-8b", verdict: "completed", evidence: "done-marker", finish_reason: "tool_calls", first_token_ms: 120, usage: { prompt_tokens: 812, completion_tokens: 64 } }),
      emit("tool.started", { call: "t1", tool: "read_file", arguments: { path: "garden/beds.md" } }, { ms: 60 }),
      emit("tool.completed", { call: "t1", result: { text: "three beds, one pond" } }),
    ] },
    { name: "write", tries: 3, steps: [
      { do: "progress", done: 1, total: 4, name: "files", ms: 50 },
      { do: "panic", text: "assignment to entry in nil map", attempt: 1 },
      { do: "progress", done: 2, total: 4, name: "files", ms: 60 },
      { do: "file", name: "llms.txt", text: index },
      { do: "file", name: "guide.md", text: guide },
      { do: "file", name: "facts.json", text: '{"beds":3,"pond":true}' },
      { do: "child", child: { title: "ask a neighbour", words: 20 } },
      { do: "say", name: "answer", text: guide },
    ] },
  ],
};

const pill = (page, word) => page.locator(".pill", { hasText: word });
const tab = (page, name) => page.getByRole("tab", { name });
const event = (page, words) => page.locator(".event-list .event", { hasText: words });
const ended = (s) => s.end !== undefined;

test("run: every view, and pictures of them", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit(rich, "generate");
  await server.until(id, ended);
  const page = await open(t, `${server.url}/runs/${id}`);
  await pill(page, "completed").waitFor();
  assert.match(await page.title(), /completed · Write a guide/);

  // the timeline: attempts and the wait between them are segments of one row
  const write = page.locator(".wf-row", { hasText: "write" });
  assert.match(await write.textContent(), /write.*task: failed.*pending.*completed, attempt 2/);
  assert.deepEqual(await write.locator(".segment").evaluateAll((all) => all.map((s) => s.className)), ["segment failed", "segment pending", "segment completed"]);

  // who asked for an llms.txt sees it first
  assert.equal(await tab(page, "Files").getAttribute("aria-selected"), "true");

  // the answer is Markdown; a call opens to its arguments and its result
  await tab(page, "Answer").click();
  await page.locator(".answer h3", { hasText: "A guide to the garden" }).waitFor();
  assert.equal(await page.locator(".answer table td").first().textContent(), "tomato");
  await page.locator(".call.tool summary").click();
  await page.locator(".call-body pre", { hasText: "three beds, one pond" }).waitFor();

  // a crash has its stack under the actor that crashed
  await tab(page, "Actors").click();
  await page.getByText("restarted once").last().waitFor();
  await page.locator(".crash summary").click();
  await page.locator(".crash pre", { hasText: "goroutine" }).waitFor();

  // files: an llms.txt beside its sources and what a check finds
  await tab(page, "Files").click();
  await page.getByRole("link", { name: "example.com/pond.md" }).waitFor();
  await page.locator(".findings", { hasText: "section-name" }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download guide.md" }).click()]);
  assert.equal(readFileSync(await download.path(), "utf8"), guide);
  const [log] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  const lines = readFileSync(await log.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.at(-1).type, "run.completed");

  // the menu is whole on a phone
  await page.setViewportSize({ width: 360, height: 740 });
  await page.locator(".menu summary").click();
  const menu = await page.locator(".menu .pop").boundingBox();
  assert.ok(menu.x >= 0 && menu.x + menu.width <= 360, `the menu is from ${menu.x} to ${menu.x + menu.width}`);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 1280, height: 800 });

  // run again
  await page.getByRole("button", { name: "Run again" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(id));
  await pill(page, "completed").waitFor();

  await pictures(t, "run", `${server.url}/runs/${id}`, async (page) => {
    await tab(page, "Answer").click();
    await page.locator(".answer h3", { hasText: "A guide" }).waitFor();
  });
  await pictures(t, "files", `${server.url}/runs/${id}`, (page) => page.locator(".findings").waitFor(), { keep: "none" });
  await pictures(t, "why", `${server.url}/runs/${id}`, async (page) => {
    await tab(page, "Why").click();
    await page.locator(".why li", { hasText: "assignment to entry in nil map" }).waitFor();
  }, { keep: "laptop-light" });
});

test("run: a plan is a graph with the path taken", async (t) => {
  const server = await Server.start(t);
  const began = (step) => emit("step.started", { step });
  const over = (step, outcome, reason) => emit("step.ended", { step, outcome, reason });
  const id = await server.submit({ title: "Publish", plan: { steps: [
    { name: "draft", job: "prompt", on_failure: "mend" }, { name: "mend", job: "prompt" }, { name: "ask", ask: { prompt: "Sure?" }, needs: ["draft"] },
    { name: "publish", write: { name: "a.md" }, needs: ["mend"] }, { name: "tell", job: "prompt", needs: ["ask", "publish"] },
  ] }, tasks: [{ name: "steps", steps: [
    began("draft"), over("draft", "failed"), over("ask", "skipped", "draft failed"), began("mend"), over("mend", "completed"), began("publish"), over("publish", "completed"), began("tell"), { do: "hang" },
  ] }] }, "plan");
  const page = await open(t, `${server.url}/runs/${id}`);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await tab(page, "Plan").click();
  await page.waitForFunction(() => {
    const [step, graph] = [".step.processing", ".graph"].map((one) => document.querySelector(one)?.getBoundingClientRect());
    return step && step.left >= graph.left && step.right <= graph.right; // on a phone, too, the step that runs is seen
  });
  await page.locator(".step.completed", { hasText: "publish" }).waitFor();
  assert.deepEqual(await page.locator(".step").evaluateAll((all) => all.map((s) => s.className)), ["step failed", "step completed", "step skipped", "step completed", "step processing"]);
  assert.equal(await page.locator(".edge.took").count(), 3, "from draft by its failure to mend, to publish, and to tell");
  await accessible(page, "a plan");
  await page.locator(".path button", { hasText: "draft failed" }).click();
  await page.locator(".detail pre", { hasText: '"skipped"' }).waitFor();
});

test("run: a plan of twelve long names fits, and zooms, and pictures of it", async (t) => {
  const server = await Server.start(t);
  const name = (i) => `ask-the-editor-which-chapters-come-first-now-${i}`;
  const planned = (beside) => {
    const steps = Array.from({ length: 12 }, (_, i) => ({ name: name(i), job: "prompt", needs: i ? [name(Math.max(0, i - beside))] : [] }));
    return server.submit({ title: "Notes", plan: { steps }, tasks: [{ name: "steps", steps: [emit("step.started", { step: name(0) }), { do: "hang" }] }] }, "plan");
  };
  const cuts = (names) => names.filter((s) => s.scrollHeight > s.clientHeight + 1 || s.scrollWidth > s.clientWidth + 1 || s.closest(".step").scrollHeight > s.closest(".step").clientHeight + 1).length;
  const page = await open(t, `${server.url}/runs/${await planned(3)}`);
  await page.locator(".step.processing").waitFor();
  assert.equal(await page.locator(".step strong").evaluateAll(cuts), 0, "names that are cut where three steps are side by side");
  await page.goto(`${server.url}/runs/${await planned(1)}`);
  await page.locator(".step.processing").waitFor();
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await tab(page, "Plan").click();
    const seen = [await page.locator(".graph").evaluate((g) => g.scrollWidth - g.clientWidth), await page.locator(".step strong").evaluateAll(cuts)];
    assert.deepEqual(seen, [0, 0], `at ${width}: how much too wide, and how many names are cut`);
    await accessible(page, `a plan at ${width}`);
    if (width === 1280) await picture(page, "names-laptop-light");
  }
  const wide = () => page.locator(".step").first().evaluate((s) => s.getBoundingClientRect().width);
  const before = await wide();
  await page.getByRole("button", { name: "Larger" }).click();
  await page.waitForFunction((before) => document.querySelector(".step").getBoundingClientRect().width > before, before);
  await page.getByRole("button", { name: "Fit" }).click();
  await page.waitForFunction((before) => document.querySelector(".step").getBoundingClientRect().width === before, before);
});

test("run: three questions at once name their steps, and pictures of them", async (t) => {
  const server = await Server.start(t);
  const names = ["legal", "design", "release"];
  const id = await server.submit({ title: "Ask all", plan: { steps: names.map((name) => ({ name, ask: {} })) }, tasks: [{ name: "steps", steps: [
    ...names.flatMap((step) => [emit("step.started", { step }), { do: "ask", name: "beside", payload: { request: `${step}#1`, prompt: "Is it right?", schema: { type: "boolean" } } }])] }] }, "plan");
  const page = await open(t, `${server.url}/runs/${id}`);
  await page.locator(".question").nth(2).waitFor();
  assert.deepEqual((await page.locator(".question h2").allTextContents()).sort(), names.sort());
  await accessible(page, "three questions");
  await picture(page, "questions-laptop-light");
  for (const name of names) await page.locator(".question", { hasText: name }).getByRole("button", { name: "Yes" }).click();
  await pill(page, "completed").waitFor();
});

test("run: a chat goes on, and pictures of it", async (t) => {
  const server = await Server.start(t);
  const says = { tasks: [{ name: "respond", steps: [{ do: "say", name: "answer", text: "Hello." }, { do: "result", payload: { text: "Hello." } }] }], title: "x" };
  const goesOn = async (input) => {
    const id = await server.submit({ ...says, ...input }, "chat");
    const page = await open(t, `${server.url}/runs/${id}`);
    await page.getByLabel("Next message").fill("And then?");
    await accessible(page, "a chat");
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(id));
    const { message, context, earlier } = (await server.call("GET", `/v1/runs/${new URL(page.url()).pathname.slice(6)}`)).queued.input;
    assert.equal(message, "And then?");
    return { page, context, earlier };
  };
  const kept = await goesOn({ message: "Hi", context: "c_1" });
  assert.equal(kept.context, "c_1");
  await kept.page.getByText("What was said before 1 turn").click(); // of the server's conversation
  assert.deepEqual(await kept.page.locator(".earlier .markdown").allInnerTexts(), ["Hi", "Hello."]);
  await accessible(kept.page, "earlier turns");
  await picture(kept.page, "turns-laptop-light");
  const { page, earlier } = await goesOn({ message: "Hi" });
  assert.deepEqual(earlier, [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello." }]);
  await page.getByText("What was said before").click();
  await page.locator(".earlier", { hasText: "Hi" }).waitFor();
});

/** Pairs of controls and facts that stand over each other, beside what lists and closed menus hold. */
const overlaps = (page) => page.evaluate(() => {
  const all = [...document.querySelectorAll("button, a, input, select, h1, .facts > span, .pill, .axis span, .took, .path li, .compare td > *")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && !e.closest(".virtual .virtual, .visually-hidden, .skip"));
  const seen = (e) => { // what the boxes that scroll leave of it
    let { left, right, top, bottom } = e.getBoundingClientRect();
    for (let up = e.parentElement; up; up = up.parentElement) {
      if (getComputedStyle(up).overflow === "visible") continue;
      const box = up.getBoundingClientRect();
      [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return { left, right, top, bottom };
  };
  const boxes = all.map((e) => [e, seen(e)]).filter(([, b]) => b.right - b.left > 1 && b.bottom - b.top > 1);
  const found = [];
  for (const [i, [a, x]] of boxes.entries()) {
    for (const [b, y] of boxes.slice(i + 1)) {
      if (a.contains(b) || b.contains(a)) continue;
      if (Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1.5 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1.5) found.push(`${a.textContent || a.className} over ${b.textContent || b.className}`);
    }
  }
  return found.concat(document.documentElement.scrollWidth > innerWidth ? ["the page is wider than the screen"] : []);
});

/** A plan with items, rounds and a question, whose models have used tokens. */
function newsletter(result) {
  const began = (step) => emit("step.started", { step });
  const over = (step) => emit("step.ended", { step, outcome: "completed" });
  const child = (title, words) => ({ do: "child", child: { title, tasks: [{ name: "respond", steps: [
    emit("llm.started", { call: "m", model: "qwen3-8b" }), { do: "say", name: "answer", text: words },
    emit("llm.completed", { call: "m", model: "qwen3-8b", verdict: "completed", evidence: "done-marker", usage: { prompt_tokens: 400, completion_tokens: 50 } }),
  ] }] } });
  return { title: "Newsletter", plan: { name: "newsletter", steps: [
    { name: "draft", job: "prompt" }, { name: "refine", job: "prompt", needs: ["draft"] }, { name: "keep", write: { name: "draft.md" }, needs: ["refine"] },
    { name: "publish", ask: {}, needs: ["keep"] }, { name: "send", write: { name: "sent.md" }, needs: ["publish"] }, { name: "archive", write: { name: "all.md" }, needs: ["send"] },
  ] }, tasks: [{ name: "steps", steps: [
    began("draft"), began("draft[0]"), began("draft[1]"), child("draft[1]#1", "Of rivers."), over("draft[1]"), child("draft[0]#1", "Of bees."), over("draft[0]"), over("draft"),
    began("refine"), child("refine#1", "Better."), child("refine#2", "Best."), over("refine"), began("publish"),
    { do: "ask", payload: { request: "publish#1", prompt: "Publish it?", schema: { type: "object", required: ["now"], properties: { now: { type: "boolean", title: "Publish it now" }, channel: { type: "string", enum: ["mail", "web"] } } } } },
    over("publish"), { do: "result", payload: result },
  ] }] };
}

test("run: a plan has the names of its steps everywhere, its result is its answer, and pictures of it", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit(newsletter("# All is sent"), "plan");
  const page = await open(t, `${server.url}/runs/${id}`);
  await page.locator(".step.waiting", { hasText: "publish" }).waitFor(); // what a plan shows first is its graph
  await page.locator(".step", { hasText: "draft" }).getByText("2 of 2").waitFor();
  assert.deepEqual((await page.locator(".wf-name").allTextContents()).map((name) => name.replace(/^.*?(completed|processing|waiting for a person)/, "").trim()),
    ["plan", "steps", "draft", "draft[0]", "plan", "respond", "qwen3-8b", "draft[1]", "plan", "respond", "qwen3-8b", "refine", "plan", "respond", "qwen3-8b", "plan, round 2", "respond", "qwen3-8b", "publish", "question"].slice(0, await page.locator(".wf-name").count()));
  for (const [search, says] of [["child.ended", "draft[1] completed"], ["round run.completed", "refine, round 2: plan completed"]]) {
    await page.getByLabel("Filter the events").fill(search);
    await event(page, says).waitFor();
  }
  await page.getByText("4 model calls, 1,600 → 200 tokens").waitFor();
  for (const name of ["Answer", "Actors"]) {
    await tab(page, name).click();
    const words = await page.locator(".view").innerText();
    assert.ok(words.indexOf("draft[0]") < words.indexOf("draft[1]") && words.indexOf("draft[1]") < words.indexOf("refine, round 2"), `${name} is in order: ${words}`);
  }
  assert.doesNotMatch(await page.locator("body").innerText(), /\.c\d/);

  for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
    await page.setViewportSize(viewport);
    for (const name of await page.getByRole("tab").allTextContents()) {
      await page.getByRole("tab", { name }).click();
      assert.deepEqual(await overlaps(page), [], `${name} at ${viewport.width} × ${viewport.height}`);
    }
    await page.keyboard.press("?");
    assert.deepEqual(await page.locator("dialog[open]").evaluate((d) => [d.scrollWidth - d.clientWidth]), [0]);
    await page.keyboard.press("Escape");
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await pictures(t, "plan", `${server.url}/runs/${id}`, (page) => page.locator(".step.waiting").waitFor());

  await page.keyboard.press("a");
  assert.equal(await page.evaluate(() => document.activeElement.type), "checkbox");
  await page.getByLabel("Publish it now").check();
  await page.getByLabel("Channel").selectOption("web");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await pill(page, "completed").waitFor();
  await tab(page, "Answer").click();
  await page.locator(".answer h3.depth-1, .answer .depth-1", { hasText: "All is sent" }).waitFor();
  await page.getByText("What the steps said").click();
  await page.getByText("Of rivers.").waitFor();
});

test("run: what it cost, and beside another run", async (t) => {
  const server = await Server.start(t);
  const [id, other] = [await server.submit(newsletter("one\ntwo"), "plan"), await server.submit(newsletter("one\nthree"), "plan")];
  for (const run of [id, other]) {
    await server.until(run, (s) => s.inputs?.some((i) => !i.closed));
    await server.call("POST", `/v1/runs/${run}/input/publish%231`, { value: { now: true } });
    await server.until(run, ended);
  }
  const page = await open(t, `${server.url}/runs/${id}`);
  await tab(page, "Cost").click();
  const cells = (name) => page.locator(".costs tr", { hasText: name }).locator("td").allTextContents();
  await page.locator(".costs").waitFor();
  assert.deepEqual((await cells("draft")).slice(2), ["2", "800", "100"]);
  assert.deepEqual((await cells("The run")).slice(2), ["4", "1,600", "200"]);
  await accessible(page, "costs");

  await tab(page, "Compare").click();
  await page.getByLabel("Compare with").selectOption(other);
  await page.locator(".compare tr", { hasText: "Tokens in" }).waitFor();
  assert.deepEqual((await page.locator(".beside mark").allTextContents()).slice(-2), ["two\n", "three\n"]);
  assert.equal(new URL(page.url()).searchParams.get("with"), other);
  await accessible(page, "two runs");
  await page.setViewportSize({ width: 390, height: 844 });
  await tab(page, "Compare").click();
  assert.deepEqual(await overlaps(page), [], "two runs on a phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.reload();
  await page.locator(".compare tr", { hasText: "publish" }).waitFor();

  await page.keyboard.press("1"); // keys of views and of the run
  assert.equal(await tab(page, "Answer").getAttribute("aria-selected"), "true");
  await page.keyboard.press("r");
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  await page.locator(".facts", { hasText: new URL(page.url()).pathname.slice("/runs/".length) }).waitFor();
  await page.keyboard.press("u");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
});

test("run: the timeline zooms and cuts idle time short, and the log shows milestones alone", async (t) => {
  const server = await Server.start(t);
  const say = { do: "say", name: "answer", text: "word ", times: 5 };
  const id = await server.submit({ title: "Wait", tasks: [{ name: "wait", steps: [say, { do: "sleep", ms: 10_500 }, say] }] });
  await server.until(id, ended);
  const page = await open(t, `${server.url}/runs/${id}`);
  const idle = page.getByText(/^idle /);
  await idle.waitFor();
  await page.keyboard.press("i");
  await idle.waitFor({ state: "detached" });

  const part = page.locator(".brush .window");
  const shows = async (from, to) => {
    const at = await part.evaluate((w) => [w.style.left, w.style.width].map(parseFloat));
    assert.ok(Math.abs(at[0] - from) < 1 && Math.abs(at[1] - (to - from)) < 1, `the rows show ${at}`);
  };
  await page.keyboard.press("+");
  await part.waitFor();
  await shows(25, 75);
  await page.keyboard.press("]");
  await page.waitForFunction(() => document.querySelector(".brush .window").style.left === "50%");
  await page.keyboard.press("0");
  await part.waitFor({ state: "detached" });
  const { x, y, width, height } = await page.locator(".brush").boundingBox();
  await page.mouse.move(x + 0.2 * width, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + 0.6 * width, y + height / 2);
  await page.mouse.up();
  await part.waitFor();
  await shows(20, 60);

  await page.keyboard.press("m");
  await page.getByText(/^\d+ of \d+ events$/).waitFor();
  assert.equal(await event(page, "text.delta").count(), 0);
});

test("run: a link leads to an event", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit({ title: "Count", tasks: [{ name: "count", steps: [emit("artifact.partial", { name: "n", bytes: 1, sha256: "a".repeat(64), partial: true }, { times: 900, text: "once more" })] }] });
  await server.until(id, ended);
  const page = await open(t, `${server.url}/runs/${id}?seq=812`);
  await page.locator(".detail pre", { hasText: '"seq": 812' }).waitFor();
  assert.equal(await page.locator(".event[aria-pressed=true] .seq").textContent(), "812");
  await page.keyboard.press("j");
  await page.waitForURL(/seq=813/);
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.waitForURL(/seq=811/);
  await page.reload();
  await page.locator(".detail pre", { hasText: '"seq": 811' }).waitFor();
  await page.getByLabel("Filter the events").fill("task. -completed");
  await event(page, "task.started").waitFor();
  await page.getByText("of 905 events").waitFor();
  assert.equal(await event(page, "task.completed").count(), 0);
});

test("run: a question is answered in place", async (t) => {
  const server = await Server.start(t);
  const ask = (payload) => ({ do: "ask", payload });
  const id = await server.submit({ title: "Ask", tasks: [{ name: "talk", steps: [
    ask({ request: "sure", prompt: "Publish **it**?", schema: { type: "boolean" }, kind: "confirmation" }),
    ask({ request: "who", prompt: "For whom?", schema: { type: "object", required: ["name"], properties: { name: { type: "string", minLength: 2 }, age: { type: "integer" }, mood: { enum: ["calm", "loud"] } } } }),
    ask({ request: "key", prompt: "The key?", kind: "secret" }),
    ask({ request: "why", prompt: "**Why**?" }),
  ] }] });
  const page = await open(t, `${server.url}/runs/${id}`);
  await pill(page, "waiting for a person").waitFor();
  assert.equal(await page.locator(".question pre").textContent(), "Publish **it**?"); // Markdown hides nothing of a confirmation
  await accessible(page, "a question");
  await page.getByRole("button", { name: "Yes" }).click();
  await page.getByLabel("name").fill("Ann");
  await page.getByRole("spinbutton", { name: "Age" }).fill("7");
  await accessible(page, "a form");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.locator(".question input[type=password]").fill("s3cret");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  assert.equal(await page.locator(".question strong").textContent(), "Why");
  await page.locator(".question", { hasText: "Why?" }).locator("input, textarea").fill("because");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await pill(page, "completed").waitFor();
  const state = await server.until(id, ended);
  assert.deepEqual(state.inputs.map((i) => i.value), [true, { name: "Ann", age: 7 }, undefined, "because"]);
  assert.doesNotMatch(await page.content(), /s3cret/);
});

test("run: a cancel is asked for once, and shown until the run has ended, and pictures of that", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit({ title: "Slow", tasks: [{ name: "hold", steps: [{ do: "stay", ms: 1500 }] }] });
  const page = await open(t, `${server.url}/runs/${id}`);
  await pill(page, "processing").waitFor();
  await page.keyboard.press("c");
  await page.getByText("Cancel this run?").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.getByText("Cancel this run?").count(), 0);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel the run" }).click();
  await pill(page, "canceling").waitFor();
  await pill(page, "canceled").waitFor();
  await page.locator(".last-word", { hasText: "canceled by user" }).getByText("asked for on the page").waitFor();
  await accessible(page, "canceled");
  await picture(page, "canceled-laptop-light");
  assert.deepEqual(await page.locator(".wf-row").first().locator(".segment").evaluateAll((all) => all.map((s) => s.className.split(" ")[1]).slice(-2)), ["canceled", "canceled"]);
  assert.equal(await page.getByRole("button", { name: /^Cancel/ }).count(), 0);
});

// Whichever comes first, the page shows the run's one last word.
test("run: a cancel races the end", async (t) => {
  const server = await Server.start(t);
  const words = new Set();
  for (let i = 0; i < 6; i++) {
    const id = await server.submit({ title: "Race", tasks: [{ name: "ask", steps: [{ do: "ask", payload: { request: "go", prompt: "Go on?", schema: { type: "boolean" } } }] }] });
    const page = await open(t, `${server.url}/runs/${id}`);
    await page.getByRole("button", { name: "Yes" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    const sure = page.getByRole("button", { name: "Cancel the run" });
    await sure.waitFor();
    const answer = () => server.call("POST", `/v1/runs/${id}/input/go`, { value: true }).catch(() => {});
    if (i % 2) await answer();
    await Promise.all([sure.click({ timeout: 5000 }).catch(() => {}), i % 2 ? undefined : answer()]); // the button goes with the run
    const { status } = await server.until(id, ended);
    await pill(page, status).waitFor();
    words.add(status);
    await page.context().close();
  }
  assert.ok([...words].every((word) => word === "completed" || word === "canceled"), [...words].join());
});

test("run: 100,000 events open, scroll and are found", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit({ title: "Long", tasks: [{ name: "count", steps: [emit("artifact.partial", { name: "n", bytes: 1, sha256: "a".repeat(64), partial: true }, { times: 100_000, text: "once more" })] }] });
  const { seq } = await server.until(id, ended);
  await server.kill();
  await server.start(); // which knows nothing of the run yet
  const page = await open(t, server.url);
  const before = await worked(page);
  await page.goto(`${server.url}/runs/${id}`);
  const shown = await page.waitForFunction((words) => { // in each frame: a locator looks twice a second
    const shows = ([where, word]) => [...document.querySelectorAll(where)].some((at) => at.textContent.includes(word));
    return words.every(shows) && performance.now();
  }, [[".pill", "completed"], ["main", `${seq.toLocaleString("en")} events`], [".wf-row .segment.completed", ""], [".event-list .event", "run.completed"]], { polling: "raf" });
  const took = await shown.jsonValue();
  const opened = (await worked(page)) - before;
  await pill(page, "completed").waitFor();
  await page.locator(".wf-row", { hasText: "count" }).locator(".segment.completed").waitFor();
  t.diagnostic(`opened after ${took.toFixed(0)} ms, of which the page worked ${opened.toFixed(0)} ms; ${load()}`);
  assert.ok(opened < 1000, `the page worked ${opened} ms to open`);

  await page.getByLabel("Go to the event with the number").fill("50000");
  await page.keyboard.press("Enter");
  await event(page, "50000").waitFor();

  const { drawn, dropped, seconds, work } = await scrolled(page, page.locator(".event-list"), 8000);
  t.diagnostic(`${(drawn / seconds).toFixed(1)} frames a second while scrolling, ${dropped} dropped; 95 % take less than ${work.toFixed(1)} ms of work; ${load()}`);
  assert.ok(work < 16.7, `a frame takes ${work} ms, 60 a second have 16.7`);
  await event(page, "50000").waitFor({ state: "detached" });
  await page.locator(".event-list").evaluate((box) => (box.scrollTop = 0));
  await event(page, "run.queued").waitFor();

  await page.getByLabel("Filter the events").fill("run.completed");
  await page.getByText(`1 of ${seq.toLocaleString("en")} events`).waitFor();
});

test("run: 500 tokens a second leave the page idle", async (t) => {
  const server = await Server.start(t);
  const text = guide.repeat(3).match(/\s*\S+/g); // a token is a word here
  const steps = text.map((word) => ({ do: "say", name: "answer", text: word, ms: 1 }));
  const id = await server.submit({ title: "Fast", tasks: [{ name: "write", steps: [{ do: "ask", payload: { request: "go", prompt: "Go?", schema: { type: "boolean" } } }, ...Array.from({ length: 12 }, () => steps).flat()] }] });
  const page = await open(t, `${server.url}/runs/${id}`);
  await page.getByRole("button", { name: "Yes" }).waitFor();
  const before = await worked(page);
  const from = Date.now();
  await page.getByRole("button", { name: "Yes" }).click();
  await pill(page, "completed").waitFor();
  const busy = (await worked(page)) - before;
  const took = Date.now() - from;
  const view = page.locator(".view-answer");
  await page.waitForFunction((view) => view.scrollTop + view.clientHeight > view.scrollHeight - 20, await view.elementHandle());
  const tokens = 12 * text.length;
  // it draws so many times a second at most, so the share of the time does not grow with the rate
  t.diagnostic(`${Math.round((1000 * tokens) / took)} tokens a second kept the page busy for ${((100 * busy) / took).toFixed(0)} % of the time; ${load()}`);
  assert.ok(busy / took < 0.3, `${busy} of ${took} ms`);
  assert.equal(await page.locator("[aria-live] .markdown, .markdown[aria-live], .answer[aria-live]").count(), 0, "tokens are in no live region");
  const state = await server.until(id, ended);
  const letters = (text) => text.replace(/[^a-z]/gi, "").replaceAll("https", "").replaceAll("examplecomsun", "");
  assert.ok(letters(await page.locator(".said").innerText()).length > 0.9 * letters(state.streams[0].text).length, "the whole text is drawn");
});

test("run: everything from a run is text", async (t) => {
  const server = await Server.start(t);
  const name = "<img src=x onerror=window.hacked=1>";
  const evil = ["<script>window.hacked=1</script>", name, "<svg/onload=window.hacked=1>", "[a](javascript:window.hacked=1)",
    "[b](data:text/html,<script>1</script>)", "![c](https://evil.example/x.png)", "[d](vbscript:x)", "[user](https://good.example@evil.example/)",
    "<https://ok.example/>", "<a href='javascript:1'>x</a>", "[ref]\n\n[ref]: javascript:alert(1)", "\u202Ereversed\u2066", "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "a\u200bb\u0001c", "<style>*{display:none}</style>", "<iframe src=//evil.example>", "| <b> | [y](javascript:1) |\n|---|---|\n| <i> | b |"].join("\n\n");
  const id = await server.submit({ title: name + evil.slice(0, 300), tasks: [{ name: "t" + name, tries: 2, steps: [
    { do: "say", name: "s" + name, text: evil },
    emit("tool.started", { call: "c1", tool: name, arguments: { evil } }, { attempt: 1 }),
    emit("tool.completed", { call: "c1", result: evil }, { attempt: 1 }),
    { do: "log", text: evil.slice(0, 900) },
    { do: "panic", text: evil, attempt: 1 },
    { do: "file", name: "evil.md", text: evil }, { do: "file", name: "llms.txt", text: "# " + evil }, { do: "file", name: "evil.svg", text: "<svg onload=window.hacked=1>" },
    { do: "ask", payload: { request: "q" + name, prompt: evil, schema: { type: "object", properties: { ["f" + name]: { type: "string", description: evil } } } } },
  ] }] });
  const page = await open(t, `${server.url}/runs/${id}`);
  const elsewhere = [];
  page.on("request", (r) => r.url().startsWith(server.url) || r.url().startsWith("data:") || elsewhere.push(r.url()));
  await pill(page, "waiting for a person").waitFor();
  const look = async (what) => {
    const found = await page.evaluate(() => ({
      hacked: window.hacked,
      elements: [...document.querySelectorAll("#page :is(script, img, iframe, style, svg, object, embed, b, i)")].map((e) => e.outerHTML),
      links: [...new Set([...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")))].filter((href) => !/^(#main|\/)/.test(href)),
      hidden: /[\u202a-\u202e\u2066-\u2069\u200b\u0001\u001b]/.test(document.body.innerText),
    }));
    assert.deepEqual(found, { hacked: undefined, elements: [], links: ["https://evil.example/x.png", "https://ok.example/"], hidden: false }, what);
  };
  await page.locator(".call.tool summary").click();
  await event(page, "task.failed").click();
  await look("the answer and an event");
  for (const name of ["Files", "Actors", "Input"]) {
    await tab(page, name).click();
    if (name === "Actors") await page.locator(".crash summary").click();
    await look(name);
  }
  await tab(page, "Files").click();
  for (const file of ["llms.txt", "evil.svg", "evil.md"]) {
    await page.locator(".file-list button", { hasText: file }).click();
    await page.getByRole("region", { name: file }).getByText(/onload|hacked/).first().waitFor();
    await look(file);
  }
  await page.locator(".brand").click();
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(elsewhere, []);
});

test("run: what is gone, and that nothing happens", async (t) => {
  const server = await Server.start(t);
  const closed = { stream: "out", bytes: 5, sha256: "4b9f2c32577beb1ebc8ab2a1e226faaa9176a81cd4eedbaa22f8a0db919972b5" };
  const id = await server.submit({ title: "Long", tasks: [{ name: "x", steps: [{ do: "say", name: "out", text: "gone\n" }, emit("text.closed", closed), { do: "say", name: "out.2", text: "kept\n" }, emit("text.closed", { ...closed, dropped: true }), { do: "hang" }] }] });
  const page = await open(t, server.url);
  await page.clock.install();
  await page.goto(`${server.url}/runs/${id}`);
  await page.getByText("The first 5 B of the output are no longer kept").waitFor();
  await page.getByRole("region", { name: "Output: out.2" }).getByText("1 line").waitFor();
  assert.equal(await page.getByText("no event for").count(), 0);
  await page.clock.fastForward("02:00");
  await page.getByText(/no event for 2 min/).waitFor();
  await accessible(page, "a silent run");
  await server.call("POST", `/v1/runs/${id}/cancel`, {});
  await page.getByText("no event for").waitFor({ state: "detached" });
});

test("run: the output of a program is one text, to the last of 500,002 lines", async (t) => {
  const server = await Server.start(t);
  const say = (name, text, times = 1) => ({ do: "say", name, text, times });
  const id = await server.submit({ title: "Lines", tasks: [{ name: "x", steps: [say("stdout", "line\n".repeat(1000), 300), say("stdout", "cut h"), say("stdout.2", "ere\n"), say("stdout.2", "line\n".repeat(1000), 200), say("stdout.2", "the end")] }] });
  await server.until(id, ended);
  const page = await open(t, server.url);
  await page.goto(`${server.url}/runs/${id}`);
  const output = page.getByRole("region", { name: "Output: stdout" });
  await output.getByText("500,002 lines").waitFor();
  assert.equal(await output.count(), 1);
  await output.getByRole("searchbox").fill("cut here");
  await output.getByText("1 of 500,002 lines").waitFor();
  await output.getByRole("searchbox").fill("");
  const lines = output.locator(".output-lines");
  await lines.evaluate((box) => (box.scrollTop = box.scrollHeight));
  const last = lines.locator(".output-line", { hasText: "the end" });
  await last.waitFor();
  const [box, row] = [await lines.boundingBox(), await last.boundingBox()];
  assert.ok(row.y >= box.y && row.y + row.height <= box.y + box.height, `the last line is at ${row.y}, and the box ends at ${box.y + box.height}`);
});

test("run: a text of 10 MB in one line", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit({ title: "One line", tasks: [{ name: "x", steps: [{ do: "say", name: "answer", text: "x".repeat(1000), times: 5_000 }, { do: "say", name: "out", text: "x".repeat(1000), times: 5_000 }, { do: "file", name: "line.txt", text: "y".repeat(3_000_000) }] }] });
  await server.until(id, ended);
  const page = await open(t, server.url);
  const before = await worked(page);
  await page.goto(`${server.url}/runs/${id}`);
  await page.getByText("The text goes on for").waitFor();
  await page.getByRole("region", { name: "Output: out" }).getByText("1 line").waitFor();
  await tab(page, "Files").click();
  await page.getByText("The first 300.0 kB of 3.0 MB").waitFor();
  const work = (await worked(page)) - before;
  t.diagnostic(`the page worked ${work.toFixed(0)} ms`);
  assert.ok(work < 5000, `the page worked ${work} ms`);
});

test("run: the keyboard alone", async (t) => {
  const server = await Server.start(t);
  const id = await server.submit({ title: "Ask", tasks: [{ name: "talk", steps: [{ do: "say", name: "answer", text: "Look." }, { do: "file", name: "a.txt", text: "here" }, { do: "ask", payload: { request: "sure", prompt: "Go on?", schema: { type: "boolean" } } }] }] });
  const page = await open(t, `${server.url}/runs/${id}`);
  await pill(page, "waiting for a person").waitFor();
  const tabTo = async (accepts) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const [name, shape] = await page.evaluate(() => {
        const e = document.activeElement;
        const style = getComputedStyle(e);
        return [e.getAttribute("aria-label") ?? e.textContent, style.outlineStyle !== "none" || style.boxShadow !== "none"];
      });
      if (!accepts(name)) continue;
      assert.ok(shape, `the focus on ${name} is seen`);
      return;
    }
    assert.fail(`Tab does not come to ${accepts}`);
  };
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Cancel the run").waitFor();
  await page.keyboard.press("Escape");
  await tabTo((name) => name === "Yes");
  await page.keyboard.press("Enter");
  await pill(page, "completed").waitFor();
  await tabTo((name) => /run: pending/.test(name));
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => /talk/.test(document.activeElement.textContent));
  await page.keyboard.press("Enter");
  await page.waitForURL(/seq=3/);
  await page.keyboard.press("/");
  await page.keyboard.type("artifact.written");
  await page.getByText(/^1 of \d+ events/).waitFor();
  await tabTo((name) => /^Answer/.test(name));
  await page.keyboard.press("ArrowRight");
  await page.locator(".file pre", { hasText: "here" }).waitFor();
});
