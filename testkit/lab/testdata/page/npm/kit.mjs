// What the cases share: servers that can be killed, pages that may not fail unseen, and a judge of accessibility.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes, createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** A server in a process of its own, with a folder that outlives the process. */
export class Server {
  folder = mkdtempSync(join(tmpdir(), "lastword-page-"));
  listen = "127.0.0.1:0";

  /** Starts a server for the test, and stops it after the test. */
  static async start(t, { tokens = false } = {}) {
    const s = new Server();
    if (tokens) s.addToken();
    await s.start();
    t.after(async () => {
      await s.kill();
      rmSync(s.folder, { recursive: true, force: true });
    });
    return s;
  }

  /** Makes a token of mia's in the file of tokens. */
  addToken() {
    this.token = "lw_" + randomBytes(32).toString("base64url");
    this.tokens = join(this.folder, "tokens");
    const digest = createHash("sha256").update(this.token).digest("hex");
    writeFileSync(this.tokens, `mia run:read,run:write ${digest}\n`, { mode: 0o600 });
  }

  async start() {
    const setup = JSON.stringify({ Listen: this.listen, Folder: this.folder, Tokens: this.tokens });
    this.process = spawn(process.env.SERVER, { env: { ...process.env, [process.env.SERVER_SETUP]: setup }, stdio: ["ignore", "pipe", "inherit"] });
    this.ended = new Promise((done) => this.process.once("exit", done));
    this.url = await new Promise((done, failed) => {
      this.process.stdout.once("data", (line) => done(String(line).trim()));
      this.process.once("exit", (code) => failed(new Error(`the server ended: ${code}`)));
    });
    this.listen = new URL(this.url).host;
  }

  /** Kills the server at once; start brings it back at the same address. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async call(method, path, body) {
    const headers = { "Content-Type": "application/json" };
    if (this.token) headers.Authorization = "Bearer " + this.token;
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${answer.ok ? "" : await answer.text()}`);
    return answer.json();
  }

  /** Starts a run and returns its id. page_test.go says what the input may hold. */
  async submit(input, job = "play", more = {}) {
    return (await this.call("POST", "/v1/runs", { job, input, ...more })).run_id;
  }

  /** Waits for a State of the run that the function accepts. */
  async until(id, accepts) {
    for (;;) {
      const state = await this.call("GET", `/v1/runs/${id}`);
      if (accepts(state)) return state;
      await this.call("GET", `/v1/runs/${id}?wait=10s&after=${state.seq}`);
    }
  }
}

let shared;
process.once("exit", () => shared?.close());

/** Chromium, one for all cases of a file. */
export async function browser() {
  shared ??= await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  return shared;
}
export const closeBrowser = () => shared?.close();

/** Opens the address in a browser of its own. A failure of the page's script, or of its policy, fails the case. */
export async function open(t, url, options = {}) {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(+(process.env.PATIENCE ?? 60_000));
  t.after(() => context.close());
  return openTab(t, context, url);
}

/** Opens the address in another tab of the browser. */
export async function openTab(t, context, url) {
  const page = await context.newPage();
  const failures = [];
  page.on("pageerror", (e) => failures.push(e.stack));
  page.on("console", (m) => /Content Security Policy|Trusted Type/i.test(m.text()) && failures.push(m.text()));
  t.after(() => assert.deepEqual(failures, []));
  await page.goto(url);
  return page;
}

/** The time that the page's main thread has worked, in milliseconds. Waiting for a busy machine does not count. */
export async function worked(page) {
  page.devtools ??= await page.context().newCDPSession(page);
  await page.devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const { metrics } = await page.devtools.send("Performance.getMetrics");
  return 1000 * metrics.find((m) => m.name === "TaskDuration").value;
}

/** The machine's load, to be named beside what a clock has measured. */
export const load = () => `load ${loadavg()[0].toFixed(1)}`;

/**
 * Scrolls the list down as a wheel does, and reads in Chromium's trace how many frames were drawn and dropped, and below
 * how many milliseconds 95 % of them kept the main thread.
 */
export async function scrolled(page, list, distance) {
  const { x, y, width, height } = await list.boundingBox();
  const devtools = await page.context().newCDPSession(page);
  const categories = ["toplevel", "cc", "blink", "devtools.timeline", "disabled-by-default-devtools.timeline.frame"];
  await page.context().browser().startTracing(page, { categories });
  await devtools.send("Input.synthesizeScrollGesture", { x: x + width / 2, y: y + height / 2, yDistance: -distance, speed: 4000, gestureSourceType: "mouse" });
  const { traceEvents } = JSON.parse(await page.context().browser().stopTracing());
  await devtools.detach();
  const named = (name) => traceEvents.filter((e) => e.name === name);
  const frames = named("DrawFrame").map((e) => e.ts).sort((a, b) => a - b);
  const work = named("ProxyMain::BeginMainFrame").filter((e) => e.tdur).map((e) => e.tdur / 1000).sort((a, b) => a - b);
  assert.ok(frames.length && work.length, "the trace has frames");
  return { drawn: frames.length, dropped: named("DroppedFrame").length, seconds: (frames.at(-1) - frames[0]) / 1e6, work: work[Math.floor(0.95 * work.length)] };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Requires that axe finds nothing. DevTools put it into the page: the page's policy would not let it in. */
export async function accessible(page, what) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Runtime.evaluate", { expression: axeSource });
  const { result, exceptionDetails } = await devtools.send("Runtime.evaluate", {
    expression: `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
      .then((r) => r.violations.map((v) => v.id + ": " + v.help + "\\n  " + v.nodes.map((n) => n.html + " " + n.any.map((a) => a.message)).join("\\n  ")))`,
    awaitPromise: true, returnByValue: true,
  });
  await devtools.detach();
  assert.equal(exceptionDetails, undefined);
  assert.deepEqual(result.value, [], what);
}

const sizes = { phone: [360, 740, 1], laptop: [1280, 800, 1], wide: [2560, 1440, 0.5] }; // with the picture's scale

/** Has axe judge the page at three sizes in both themes, and takes the pictures whose size and theme begin with keep. prepare brings the page to what is shown. */
export async function pictures(t, name, url, prepare, { keep = "", ...options } = {}) {
  mkdirSync(process.env.SHOTS, { recursive: true });
  for (const [size, [width, height, deviceScaleFactor]] of Object.entries(sizes)) {
    for (const theme of ["light", "dark"]) {
      const page = await open(t, url, { viewport: { width, height }, deviceScaleFactor, colorScheme: theme, reducedMotion: "reduce", ...options });
      await prepare(page);
      await accessible(page, `${name} ${size} ${theme}`);
      if (`${size}-${theme}`.startsWith(keep)) await picture(page, `${name}-${size}-${theme}`);
      await page.context().close();
    }
  }
}

/** Keeps a picture as WebP, which takes less than half of a PNG. */
export async function picture(page, name) {
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  writeFileSync(join(process.env.SHOTS, name + ".webp"), Buffer.from(data, "base64"));
}
