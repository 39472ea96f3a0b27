import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { post, runPath, type Refused } from "../api/client";
import { go, runHref } from "../router";
import { useKeys } from "../shell/keys";
import type { State } from "../state/fold";
import type { Feed } from "../state/feed";
import { costOf, type RunTrace } from "../state/trace";
import { requestOf } from "./again";
import { costInWords } from "./cost";
import { spentOf } from "../state/purse";
import { lookOf, Pill, wordOf } from "./sign";
import { advice, clean, cut, duration, stamp } from "./text";
import { useNow } from "./now";

/** A run's input in a few words. */
export function inWords(input: unknown): string {
  if (typeof input === "string") return clean(cut(input, 200));
  const fields = (input ?? {}) as Record<string, unknown>;
  const plan = fields.plan as { name?: unknown; steps?: { name: string }[] } | undefined;
  const named = plan?.name ?? plan?.steps?.map((s) => s.name).join(" → ");
  const first = ["repository", "message", "text", "prompt", "title"].map((name) => fields[name]).find((v) => v && typeof v === "string");
  return clean(cut(String(named ?? first ?? Object.values(fields).find((v) => v && typeof v === "string") ?? ""), 200));
}

export function Head({ feed }: { feed: Feed }) {
  feed.slow.value;
  const s = feed.tree.top.fold.state;
  const reading = feed.reading.value;
  const words = s.queued?.title ? clean(cut(s.queued.title, 200)) : inWords(s.queued?.input);
  const says = reading ? "reading" : wordOf(lookOf(s));
  useEffect(() => {
    document.title = `${says} · ${cut(words, 40) || s.queued?.job || "run"} · lastword`;
    return () => (document.title = "lastword");
  }, [says, words]);
  return (
    <header class="run-head">
      <div class="run-title">
        {reading ? <span class="pill pending num">reading{feed.read < 1 && ` ${Math.floor(100 * feed.read)} %`}</span> : <Pill state={s} />}
        <h1 class="cut" title={words}>{clean(s.queued?.job ?? "run")}{words && <span class="muted"> {words}</span>}</h1>
        {!reading && <Actions feed={feed} />}
      </div>
      <Facts feed={feed} />
      {s.end && <LastWord state={s} canceling={feed.tree.top.canceling} />}
    </header>
  );
}

function Facts({ feed }: { feed: Feed }) {
  feed.slow.value;
  const s = feed.tree.top.fold.state;
  const now = useNow(!s.end);
  const queued = Date.parse(s.queued_at);
  const end = s.end ? Date.parse(s.end.at) : now;
  const last = feed.tree.events.at(-1);
  const silent = last && !feed.reading.value && ![...feed.tree.runs.values()].some((r) => ["waiting", "held"].includes(lookOf(r.fold.state))) && lookOf(s) === "processing" ? now - Date.parse(last.ts) : 0;
  const restarts = s.tasks.reduce((n, t) => n + t.attempt - 1, 0) + s.recoveries;
  const used = costInWords(costOf(feed.tree.top.root, now));
  const labels = Object.entries(s.queued?.labels ?? {}).filter(([name]) => name !== "traceparent" && name !== "tracestate");
  return (
    <p class="facts muted num">
      <span class="mono">{s.run_id}</span>
      {s.queued_at && <span><time dateTime={s.queued_at} title={s.queued_at}>{stamp(queued)}</time></span>}
      {s.queued_at && !feed.reading.value && <span>{s.end ? "took" : "for"} {duration(Math.max(0, end - queued))}</span>}
      {silent > 60_000 && <strong class="silent">no event for {duration(silent)}</strong>}
      {used && <span>{used}</span>}
      {spentOf(s.purse, s.queued?.limits.budget).map((words) => <span key={words}>{words}</span>)}
      {restarts > 0 && <span>restarted {restarts === 1 ? "once" : `${restarts} times`}</span>}
      {s.queued?.mode === "attached" && <span>attached to its caller</span>}
      {s.queued?.parent && <a href={runHref(s.queued.parent)}>part of another run</a>}
      {labels.map(([name, value]) => <span key={name}>{clean(`${name}: ${cut(value, 80)}`)}</span>)}
    </p>
  );
}

/** What the run goes without. */
export function Notices({ feed }: { feed: Feed }) {
  feed.slow.value;
  const { notices } = feed.tree.top.fold.state;
  return notices.length ? <ul class="notices" aria-label="What it goes without">{notices.map((n, i) => <li key={i}>{clean(cut(n.text, 500))}</li>)}</ul> : null;
}

function LastWord({ state: s, canceling }: { state: State; canceling?: RunTrace["canceling"] }) {
  const { end } = s;
  if (!end || s.status === "completed") {
    return end?.degraded ? <p class="last-word degraded">Its result is degraded: the model failed, and the work was done without it.</p> : null;
  }
  const cause = end.cause ?? "";
  return (
    <div class={`last-word ${s.status}`} role="group" aria-label="Last word">
      <p><strong>{cause.replaceAll("_", " ") || s.status}</strong>{end.task && <> in <code>{clean(end.task)}</code></>}{end.by !== "run" && <span class="muted"> (said by {end.by})</span>}</p>
      {canceling && (canceling.reason || canceling.by) && <p class="untrusted">{canceling.by && <>{clean(cut(canceling.by, 80))}: </>}{clean(cut(canceling.reason || "gave no reason", 2000))}</p>}
      {end.error && <p class="untrusted">{clean(cut(end.error.message, 2000))}</p>}
      <p class="muted">{advice[cause]}</p>
    </div>
  );
}

function Actions({ feed }: { feed: Feed }) {
  feed.slow.value;
  const s = feed.tree.top.fold.state;
  const asks = useSignal(false);
  const problem = useSignal("");
  const sure = useRef<HTMLButtonElement>(null);
  const act = (work: () => Promise<unknown>) => {
    problem.value = "";
    work().catch((e: Refused) => (problem.value = e.message));
  };
  const askToCancel = () => {
    if (feed.tree.top.fold.state.end || feed.tree.top.fold.state.canceling) return;
    asks.value = true;
    requestAnimationFrame(() => sure.current?.focus());
  };
  const again = () => act(async () => {
    if (!feed.tree.top.fold.state.end) return;
    go(runHref((await post<State>("/v1/runs", requestOf(feed.tree.top.fold.state))).run_id));
  });
  useKeys(() => [
    { key: "c", says: "Cancel the run", do: askToCancel },
    { key: "r", says: "Run it again, once it has ended", do: again },
    { key: "y", says: "Copy the link", do: () => void navigator.clipboard?.writeText(location.origin + runHref(feed.id)) },
    { key: "d", says: "Download the events", do: () => save(feed) },
  ]);
  const cancel = () => {
    asks.value = false;
    act(() => post(runPath(feed.id, "/cancel"), { reason: "asked for on the page" }));
  };
  return (
    <div class="actions">
      {problem.value && <span class="bad" role="alert">{problem.value}</span>}
      {!s.end && !s.canceling && !asks.value && <button class="danger" onClick={askToCancel}>Cancel</button>}
      {!s.end && !s.canceling && asks.value && (
        <span class="asks" role="group" aria-label="Cancel this run?" onKeyDown={(e) => e.key === "Escape" && (asks.value = false)}>
          <span>Cancel this run?</span>
          <button ref={sure} class="danger" onClick={cancel}>Cancel the run</button>
          <button onClick={() => (asks.value = false)}>Keep it</button>
        </span>
      )}
      {!s.end && s.canceling && <button disabled>Canceling…</button>}
      {s.end && !s.queued?.parent && <button onClick={again}>Run again</button>}
      {s.end && s.queued && !s.queued.parent && <a class="button" href={`/?start=${encodeURIComponent(s.queued.job)}&from=${encodeURIComponent(feed.id)}`}>Run again with changes</a>}
      <Copy feed={feed} />
      <button onClick={() => save(feed)} title="The events as JSON lines">Download</button>
    </div>
  );
}

function Copy({ feed }: { feed: Feed }) {
  const done = useSignal("");
  const menu = useRef<HTMLDetailsElement>(null);
  const url = location.origin + runPath(feed.id);
  const server = location.origin === "http://127.0.0.1:7878" ? "" : ` --server ${location.origin}`;
  const things = () => ({
    "link": location.origin + runHref(feed.id),
    "run id": feed.id,
    "curl to watch it": `curl -N '${url}/events' -H 'Accept: text/event-stream'`,
    "curl to run it again": `curl '${location.origin}/v1/runs' -H 'Content-Type: application/json' -d '${JSON.stringify(requestOf(feed.tree.top.fold.state)).replaceAll("'", "'\\''")}'`,
    "Go to watch it": `c, err := client.New("${location.origin}", "")\nif err != nil {\n\treturn err\n}\nfor e, err := range c.Follow(ctx, "${feed.id}", messages.FollowOptions{}) {\n\tif err != nil {\n\t\treturn err\n\t}\n\tfmt.Println(e.Seq, e.Message)\n}`,
    "command line to check its proof": `curl -o '${feed.id}.proof' '${url}/proof' && lastword verify '${feed.id}.proof'`,
    "command line": `lastword runs watch ${feed.id}${server}`,
  });
  async function copy(name: string, text: string) {
    await navigator.clipboard.writeText(text).then(() => (done.value = `copied the ${name}`), () => (done.value = "the browser does not let this page copy"));
    menu.current!.open = false;
  }
  return (
    <details class="menu" ref={menu} onKeyDown={(e) => e.key === "Escape" && (menu.current!.open = false)}>
      <summary class="button">Copy as</summary>
      <div class="pop">
        {(Object.keys(things()) as (keyof ReturnType<typeof things>)[]).map((name) => <button key={name} class="quiet" onClick={() => copy(name, things()[name])}>{name[0]!.toUpperCase() + name.slice(1)}</button>)}
      </div>
      <span class="visually-hidden" role="status">{done.value}</span>
    </details>
  );
}

/** Saves what the page has read of the run, an event on each line. */
function save(feed: Feed) {
  const lines = feed.tree.events.filter((e) => e.run_id === feed.id).map((e) => JSON.stringify(e) + "\n");
  download(new Blob(lines, { type: "application/x-ndjson" }), `${feed.id}.jsonl`);
}

function download(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
