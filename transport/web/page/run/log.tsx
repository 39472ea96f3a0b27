import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { WireEvent } from "../api/types";
import { setQuery } from "../router";
import { useKeys } from "../shell/keys";
import { Virtual } from "../shell/virtual";
import type { Saying } from "../state/events";
import type { Feed } from "../state/feed";
import type { Tree } from "../state/trace";
import { isDelta } from "../state/fold";
import { clean, clock, cut, plural, pretty } from "./text";

/** What an event says, on one line. Sub-runs have the names of their steps. */
function line(e: WireEvent, tree: Tree): string {
  const p = (e as WireEvent & Saying).payload as Record<string, any> | undefined;
  const child = tree.runs.get(p?.child)?.root.name;
  if (child && e.type === "child.started") return clean(child === p!.job ? `${child} starts as a sub-run` : `${cut(child, 80)} is a run of ${p!.job}`);
  if (child && e.type === "child.ended") return clean(`${cut(child, 80)} ${p!.status}`);
  if (e.message) return clean(cut(e.message, 300));
  switch (e.type) {
    case "tool.started":
    case "llm.started":
      return clean(cut(`${p?.tool ?? p?.model} ${JSON.stringify(p?.arguments) ?? ""}`, 300));
    case "llm.completed":
      return clean(`${p?.model} ${p?.verdict} ${p?.finish_reason ?? ""}`);
    case "tool.completed":
      return clean(cut(p?.error?.message ?? JSON.stringify(p?.result) ?? "", 300));
    case "text.delta":
    case "thought.delta":
    case "text.done":
    case "thought.done":
      return clean(`${p?.stream}: ${JSON.stringify(cut(String(p?.text), 200))}`);
    case "text.closed":
      return clean(`${p?.stream}: ${plural(p?.bytes, "byte")}${p?.dropped ? ", no longer kept" : ""}`);
    case "progress":
    case "tool.progress":
      return clean(`${p?.task === p?.unit ? "" : (p?.task ?? p?.call ?? "") + " "}${p?.done}${p?.total ? " of " + p.total : ""} ${p?.unit ?? ""}`);
    case "log":
      return clean(cut(p?.lines?.map((l: { text: string }) => l.text).join(" · ") ?? "", 300));
    case "merged":
      return clean(p?.parts?.map((part: Saying) => part.type).join(", ") ?? "");
  }
  return clean(cut(JSON.stringify(p) ?? "", 300));
}

/** What a filter's words are looked for in. */
const hay = (e: WireEvent, tree: Tree) => `${tree.runs.get(e.run_id)?.root.name} ${e.type} ${e.message ?? ""} ${cut(JSON.stringify(e.payload) ?? "", 2000)}`.toLowerCase();

/** The indexes of the events that pass a filter. They grow with the log. */
class Matches {
  readonly at: number[] = [];
  private seen = 0;
  private words: string[];

  constructor(private tree: Tree, text: string, private milestones: boolean) {
    this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
  }

  read(events: WireEvent[]): this {
    for (; this.seen < events.length; this.seen++) if (this.passes(events[this.seen]!)) this.at.push(this.seen);
    return this;
  }

  private passes(e: WireEvent): boolean {
    if (this.milestones && isDelta(e.type)) return false;
    if (!this.words.length) return true;
    const text = hay(e, this.tree);
    return this.words.every((w) => (w.length > 1 && w[0] === "-" ? !text.includes(w.slice(1)) : text.includes(w)));
  }
}

/** The events of a run and its sub-runs. */
export function Log({ feed, seq }: { feed: Feed; seq?: number }) {
  feed.slow.value;
  const text = useSignal("");
  const milestones = useSignal(false);
  const follow = useSignal(seq === undefined);
  const field = useRef<HTMLInputElement>(null);
  const { tree } = feed;
  const matches = useMemo(() => new Matches(tree, text.value, milestones.value), [tree, text.value, milestones.value]).read(tree.events).at;
  const picked = pick(tree.events, feed.id, seq);
  const place = picked < 0 ? -1 : search(matches, picked);

  const choose = (i: number) => {
    const e = tree.events[i];
    if (!e) return;
    follow.value = false;
    setQuery({ seq: String(e.seq), run: e.run_id === feed.id ? undefined : e.run_id });
  };
  const step = useRef((_by: number) => {});
  step.current = (by) => choose(matches[Math.min(matches.length - 1, Math.max(0, place < 0 ? (by > 0 ? 0 : matches.length - 1) : place + by))]!);
  useKeys(() => [
    { key: "j", says: "Next event", do: () => step.current(1) },
    { key: "k", says: "Event before", do: () => step.current(-1) },
    { key: "m", says: "Show milestones alone, or all events", do: () => (milestones.value = !milestones.value) },
    { key: "f", says: "Follow the newest event, or pause", do: () => (follow.value = !follow.value) },
    { key: "/", says: "Filter the events", do: () => field.current?.focus() },
  ]);
  useEffect(() => {
    if (seq !== undefined) follow.value = false;
  }, [seq]);

  return (
    <section class="log" aria-label="Events">
      <div class="bar">
        <input ref={field} type="search" placeholder="Filter: words, -without" aria-label="Filter the events" value={text.value}
          onInput={(e) => (text.value = e.currentTarget.value)} />
        <button aria-pressed={milestones.value} onClick={() => (milestones.value = !milestones.value)} title="Leave out texts as they grow, and progress">Milestones</button>
        <button aria-pressed={follow.value} onClick={() => (follow.value = !follow.value)} title="Stay at the newest event (f)">{follow.value ? "Following" : "Follow"}</button>
        <form onSubmit={(e) => { e.preventDefault(); jump(Number(new FormData(e.currentTarget as HTMLFormElement).get("number"))); }}>
          <input class="jump num" name="number" type="number" min="1" placeholder="go to no." aria-label="Go to the event with the number" />
        </form>
        <span class="muted num">{matches.length === tree.events.length ? plural(matches.length, "event") : `${matches.length.toLocaleString("en")} of ${plural(tree.events.length, "event")}`}</span>
      </div>
      {matches.length === 0 && <p class="empty muted">{tree.events.length ? "No event passes the filter." : "No event has come yet."}</p>}
      <Virtual count={matches.length} rowHeight={24} show={place >= 0 ? place : undefined} follow={follow.value}
        onFollow={(end) => { if (!end && follow.peek() && !tree.top.fold.state.end) follow.value = false; }}
        row={(i) => <LogRow key={i} event={tree.events[matches[i]!]!} top={feed.id} tree={tree} picked={i === place} choose={() => choose(matches[i]!)} />}
        class="event-list" aria-label="Events" role="group" tabIndex={0} />
      {picked >= 0 && <Detail event={tree.events[picked]!} />}
    </section>
  );

  function jump(number: number) {
    const i = pick(tree.events, feed.id, number);
    if (i >= 0) {
      if (search(matches, i) < 0) text.value = "", milestones.value = false;
      choose(i);
    }
  }
}

/** The index of the event that stands for the number, in the run that the address names. */
function pick(events: WireEvent[], top: string, seq?: number): number {
  if (seq === undefined) return -1;
  const run = new URLSearchParams(location.search).get("run") ?? top;
  return events.findIndex((e) => e.run_id === run && e.seq >= seq && (e.from ?? e.seq) <= seq);
}

/** The place of a value in an ascending list, or -1. */
function search(list: number[], value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return list[low] === value ? low : -1;
}

function LogRow({ event: e, top, tree, picked, choose }: { event: WireEvent; top: string; tree: Tree; picked: boolean; choose(): void }) {
  const bad = /failed$/.test(e.type);
  return (
    <button class={`event ${isDelta(e.type) ? "delta" : ""} ${bad ? "bad" : ""}`} aria-pressed={picked} onClick={choose} tabIndex={picked ? 0 : -1}>
      <span class="seq num">{e.seq}</span>
      <span class="time num">{clock(e.ts)}</span>
      <span class="type">{clean(e.type)}</span>
      <span class="says cut">{e.run_id !== top && <span class="child">{clean(cut(tree.runs.get(e.run_id)!.root.name, 40))}: </span>}{line(e, tree)}</span>
    </button>
  );
}

function Detail({ event }: { event: WireEvent }) {
  const text = useMemo(() => pretty(event), [event]);
  return (
    <div class="detail">
      <div class="bar">
        <strong class="num">{event.seq}</strong> <span>{clean(event.type)}</span> <span class="space" />
        <button class="quiet" onClick={() => navigator.clipboard?.writeText(JSON.stringify(event))}>Copy the JSON</button>
        <button class="quiet" onClick={() => setQuery({ seq: undefined, run: undefined })} aria-label="Close the event">✕</button>
      </div>
      <pre tabIndex={0} aria-label="The event as JSON">{text}</pre>
    </div>
  );
}
