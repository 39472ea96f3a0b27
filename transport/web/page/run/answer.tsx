import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Feed } from "../state/feed";
import type { CallDetail, Item, RunTrace } from "../state/trace";
import { Blocks, Markdown, MarkdownBlock } from "./markdown";
import { LogLines, Output } from "./output";
import { stepsOf } from "./plan";
import { Earlier } from "./say";
import { Sign } from "./sign";
import { clean, cut, duration, plural, pretty, size } from "./text";
import { useNow } from "./now";

/** How many things of an answer are drawn at first: the newest. */
const shown = 100;

/** The longest text that is drawn, in characters. */
const most = 400_000;

/** What a run and its sub-runs said, thought and called, in the order of appearance. */
export function Answer({ feed }: { feed: Feed }) {
  feed.slow.value;
  const { top, runs } = feed.tree;
  const end = top.fold.state.end;
  const speaking = [...runs.values()].filter((r) => r.items.length + r.fold.state.log.lines.length > 0);
  const steps = stepsOf(top).map((s) => s.name);
  if (steps.length) { // what steps did at once came in any order
    const place = (r: RunTrace) => steps.indexOf(r.root.name.replace(/(\[\d+\])?(, round \d+)?$/, ""));
    speaking.sort((a, b) => place(a) - place(b) || inOrder.compare(a.root.name, b.root.name));
  }
  const said = speaking.map((run) => <Said key={run.id} feed={feed} run={run} />);
  if (steps.length && end?.result !== undefined) {
    return (
      <div class="answer">
        <Result value={end.result} />
        {said.length > 0 && <details><summary>What the steps said</summary><div class="answer">{said}</div></details>}
        <Spoken feed={feed} />
      </div>
    );
  }
  return (
    <div class="answer" aria-busy={!end}>
      <Follower feed={feed} />
      <Earlier feed={feed} />
      {said}
      {!speaking.some((r) => r.items.some((i) => i.kind === "text")) && end?.result !== undefined && <Result value={end.result} />}
      {!speaking.length && end?.result === undefined && (
        <p class="empty muted">{end ? "The run said nothing." : feed.reading.value ? "Reading the events…" : "The run has said nothing yet. What it does is in the timeline."}</p>
      )}
      <Spoken feed={feed} />
    </div>
  );
}

const inOrder = new Intl.Collator("en", { numeric: true });

/** Keeps the end of a growing answer in view, unless the reader has scrolled up. */
function Follower({ feed }: { feed: Feed }) {
  feed.tick.value;
  const mark = useRef<HTMLSpanElement>(null);
  const follows = useRef<boolean | undefined>(undefined);
  useLayoutEffect(() => {
    const view = mark.current!.closest(".view")!;
    let top = 0;
    const look = () => {
      const atEnd = view.scrollTop + view.clientHeight >= view.scrollHeight - 20;
      if (atEnd || view.scrollTop < top) follows.current = atEnd;
      top = view.scrollTop;
    };
    view.addEventListener("scroll", look, { passive: true });
    return () => view.removeEventListener("scroll", look);
  }, []);
  useLayoutEffect(() => {
    if (feed.reading.peek()) return;
    follows.current ??= !feed.tree.top.fold.state.end; // an answer that is whole is read from its beginning
    const view = mark.current!.closest(".view")!;
    if (follows.current) queueMicrotask(() => (view.scrollTop = view.scrollHeight)); // after the texts are drawn
  });
  return <span ref={mark} hidden />;
}

/** A further text of a program's output, which readers see as one with the first. */
const further = /^(std(?:out|err))\.\d+$/;

function Said({ feed, run }: { feed: Feed; run: RunTrace }) {
  feed.slow.value;
  const all = useSignal(false);
  const items = run.items.filter((i) => i.kind !== "text" || !run.fold.stream(further.exec(i.name)?.[1] ?? ""));
  const hidden = all.value ? 0 : Math.max(0, items.length - shown);
  const gone = run.fold.state.streams.reduce((n, s) => n + (s.dropped ?? 0), 0);
  return (
    <section>
      {run.id !== feed.id && <h3 class="muted">{clean(run.root.name)}</h3>}
      {gone > 0 && <p class="muted">The first {size(gone)} of the output are no longer kept, here or in the log: no search finds them. A larger <code>max_output</code> keeps more.</p>}
      {hidden > 0 && <button class="quiet" onClick={() => (all.value = true)}>Show {hidden} earlier</button>}
      {items.slice(hidden).map((item) => <AnswerItem key={item.kind + item.name} feed={feed} run={run} item={item} several={items.filter((i) => i.kind === "text").length > 1} />)}
      {run.fold.state.log.lines.length > 0 && !run.fold.stream("stderr") && <LogLines lines={run.fold.state.log.lines} />}
    </section>
  );
}

function AnswerItem({ feed, run, item, several }: { feed: Feed; run: RunTrace; item: Item; several: boolean }) {
  if (item.kind === "call") return <Call feed={feed} run={run} id={item.name} />;
  if (item.kind === "thought") return <Thought feed={feed} run={run} name={item.name} />;
  return <Text feed={feed} run={run} name={item.name} heading={several} />;
}

/** A text that may still grow. Each frame draws its last block alone. */
function Text({ feed, run, name, heading }: { feed: Feed; run: RunTrace; name: string; heading: boolean }) {
  feed.tick.value;
  const blocks = useRef<Blocks | undefined>(undefined);
  const joined = useRef({ of: [] as string[], text: "" });
  const parts = run.fold.state.streams.filter((s) => s.stream === name || further.exec(s.stream)?.[1] === name);
  const of = parts.map((s) => s.text);
  if (of.length !== joined.current.of.length || of.some((t, i) => t !== joined.current.of[i])) joined.current = { of, text: of.join("") };
  const { text } = joined.current;
  if (!text) return null;
  const growing = !parts.at(-1)!.closed && !run.fold.state.end;
  const type = parts[0]!.media_type ?? (/^answer(\.\d+)?$/.test(name) ? "text/markdown" : "text/plain");
  if (type === "application/json") return <section>{heading && <p class="stream-name muted mono">{clean(cut(name, 80))}</p>}<pre tabIndex={0}>{pretty(text)}</pre></section>;
  if (type !== "text/markdown") return <Output text={text} name={name} growing={growing} reading={feed.reading.value} />;
  blocks.current ??= new Blocks();
  const more = text.length - most;
  return (
    <div class={`markdown said ${growing ? "growing" : ""}`}>
      {heading && <p class="stream-name muted mono">{clean(cut(name, 80))}</p>}
      {blocks.current.of(more > 0 ? text.slice(0, most) : text).map((b) => <MarkdownBlock key={b.from} text={b.text} />)}
      {more > 0 && <p class="muted">The text goes on for {more.toLocaleString("en")} characters. The downloaded events have all of it.</p>}
    </div>
  );
}

function Thought({ feed, run, name }: { feed: Feed; run: RunTrace; name: string }) {
  feed.slow.value;
  const open = useSignal(false);
  const stream = run.fold.stream(name);
  const done = run.thoughts.get(name);
  if (!stream?.text) return null;
  return (
    <details class="thought" onToggle={(e) => (open.value = (e.currentTarget as HTMLDetailsElement).open)}>
      <summary>
        {stream.closed ? "Thought" : "Thinking"}{done?.thought_type && `, ${clean(done.thought_type)}`}
        <span class="muted num"> {size(stream.bytes)}{done?.confidence !== undefined && ` · confidence ${Math.round(done.confidence * 100)} %`}</span>
      </summary>
      {open.value && <Markdown text={stream.text} />}
    </details>
  );
}

function Call({ feed, run, id }: { feed: Feed; run: RunTrace; id: string }) {
  feed.slow.value;
  const open = useSignal(false);
  const call = run.calls.get(id);
  const progress = run.fold.call(id)?.progress;
  const going = !!call && call.to === undefined && !run.fold.state.end;
  const now = useNow(going);
  if (!call) return null;
  const look = call.to === undefined ? (going ? "processing" : "canceled") : call.error ? "failed" : call.end?.verdict === "canceled" ? "canceled" : "completed";
  return (
    <details class={`call ${call.model ? "model" : "tool"}`} onToggle={(e) => (open.value = (e.currentTarget as HTMLDetailsElement).open)}>
      <summary>
        <Sign look={look} /> <strong class="mono">{clean(cut(call.name, 80))}</strong> <span class="muted num">{callFacts(call)}{duration((call.to ?? now) - call.from)}</span>
        {!call.model && call.arguments !== undefined && <span class="mono muted cut args">{clean(cut(JSON.stringify(call.arguments), 120))}</span>}
      </summary>
      {progress && <p class="num">{progress.total ? <progress value={progress.done} max={progress.total} aria-label="Progress" /> : null} {progress.done}{progress.total ? ` of ${progress.total}` : ""} {clean(progress.unit ?? "")}</p>}
      {open.value && <CallBody call={call} />}
    </details>
  );
}

function callFacts({ model, end, provider }: CallDetail): string {
  if (!model) return "";
  const u = end?.usage;
  return [provider && clean(provider), u && (u.prompt_tokens || u.completion_tokens) ? `${u.prompt_tokens || "?"} → ${u.completion_tokens === undefined ? "?" : plural(u.completion_tokens, "token")}` : undefined, end?.finish_reason && clean(end.finish_reason), ""].filter((p) => p !== undefined).join(" · ");
}

function CallBody({ call }: { call: CallDetail }) {
  const end = call.end;
  return (
    <div class="call-body">
      {call.arguments !== undefined && <><p class="name">Arguments</p><pre tabIndex={0}>{pretty(call.arguments)}</pre></>}
      {call.result !== undefined && <><p class="name">Result</p><pre tabIndex={0}>{pretty(call.result)}</pre></>}
      {call.error && <><p class="name">Error</p><pre tabIndex={0} class="bad">{clean(call.error.code + ": " + cut(call.error.message, 20_000))}</pre></>}
      {end && <p class="muted num">verdict {clean(end.verdict)}, by {clean(end.evidence)}{end.first_token_ms ? `; first token after ${duration(end.first_token_ms)}` : ""}{end.usage?.reasoning_tokens ? `; ${end.usage.reasoning_tokens} of the tokens for thoughts` : ""}</p>}
      {end?.calls?.map((c) => <p key={c.call} class="muted">calls <code>{clean(c.tool)}</code> <span class="mono">{clean(cut(c.arguments, 500))}</span></p>)}
    </div>
  );
}

function Result({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : typeof (value as { text?: unknown } | null)?.text === "string" ? (value as { text: string }).text : undefined;
  return (
    <section>
      <h3 class="muted">Result</h3>
      {text !== undefined ? <Markdown text={text} /> : <pre tabIndex={0}>{pretty(value)}</pre>}
    </section>
  );
}

/** Tells a screen reader each sentence of the answer once it is whole, and the end; never single tokens. */
function Spoken({ feed }: { feed: Feed }) {
  feed.slow.value;
  const region = useRef<HTMLParagraphElement>(null);
  const told = useRef<{ name: string; length: number } | undefined>(undefined);
  const { top } = feed.tree;
  const item = top.items.findLast((i) => i.kind === "text");
  const text = (item && top.fold.stream(item.name)?.text) ?? "";
  const end = top.fold.state.end;
  useEffect(() => {
    if (feed.reading.peek()) return;
    if (!told.current) { // what was there before the reader came is not told
      told.current = { name: item?.name ?? "", length: text.length };
      return;
    }
    if (told.current.name !== item?.name || text.length < told.current.length) told.current = { name: item?.name ?? "", length: 0 };
    const fresh = text.slice(told.current.length, told.current.length + 5000);
    const whole = end ? fresh.length : (/[\s\S]*(?:[.!?:]["')\]]*\s|\n)/.exec(fresh)?.[0].length ?? 0);
    if (whole) {
      told.current.length += whole;
      region.current!.textContent = clean(fresh.slice(0, whole)).slice(-500);
    } else if (end) {
      region.current!.textContent = `The run is ${top.fold.state.status}.`;
    }
  }, [text, end, feed.reading.value]);
  return <p ref={region} class="visually-hidden" role="status" aria-live="polite" />;
}
