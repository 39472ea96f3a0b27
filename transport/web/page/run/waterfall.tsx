import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { setQuery } from "../router";
import { useKeys } from "../shell/keys";
import { Virtual } from "../shell/virtual";
import type { Feed } from "../state/feed";
import type { Row, Segment, Tree } from "../state/trace";
import { useNow } from "./now";
import { scaleOf, type Scale } from "./scale";
import { Sign, wordOf } from "./sign";
import { clean, cut, duration } from "./text";

interface Line { row: Row; name: string; depth: number; key: string }

/** The rows as lines, without what closed rows hold. */
function lines(row: Row, closed: Set<string>, depth = 0, path = "", out: Line[] = [], above?: Row): Line[] {
  const key = `${path}/${row.run} ${row.kind} ${row.name}`;
  out.push({ row, name: (above?.kind === "step" && row.within) || row.name, depth, key });
  if (!closed.has(key)) row.rows.forEach((child, i) => lines(child, closed, depth + 1, path + i, out, row));
  return out;
}

/** All times at which something happened, ascending. */
function times(tree: Tree, now: number | undefined): number[] {
  const all = [...tree.beats];
  const add = (row: Row) => {
    for (const s of row.segments) {
      all.push(s.from);
      if (s.to !== undefined) all.push(s.to);
    }
    row.rows.forEach(add);
  };
  add(tree.top.root);
  if (now !== undefined) all.push(now);
  return Array.from(Float64Array.from(all).sort());
}

export function Waterfall({ feed }: { feed: Feed }) {
  const version = feed.slow.value;
  const { tree } = feed;
  const ended = !!tree.top.fold.state.end || feed.reading.value;
  const clock = useNow(!ended);
  const now = Math.max(clock, Date.parse(tree.top.fold.state.updated_at) || 0);
  const collapse = useSignal(true);
  const zoom = useSignal<[number, number]>([0, 1]);
  const closed = useSignal(new Set<string>());
  const active = useSignal("");

  const scale = useMemo(() => scaleOf(times(tree, ended ? undefined : now), collapse.value), [tree, version, ended || now, collapse.value]);
  const list = useMemo(() => lines(tree.top.root, closed.value), [tree, version, closed.value]);
  const toggle = (key: string, open?: boolean) => {
    const next = new Set(closed.value);
    if (open ?? next.has(key)) next.delete(key);
    else next.add(key);
    closed.value = next;
  };
  function keyDown(e: KeyboardEvent) {
    const at = Math.max(0, list.findIndex((l) => l.key === active.value));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: list.length - 1 }[e.key];
    if (to !== undefined) {
      const line = list[Math.min(list.length - 1, Math.max(0, to))]!;
      active.value = line.key;
      const box = e.currentTarget as HTMLElement;
      requestAnimationFrame(() => box.querySelector<HTMLElement>(".wf-row[tabindex='0']")?.focus());
    } else if (e.key === "ArrowLeft" || e.key === "ArrowRight") {
      toggle(list[at]!.key, e.key === "ArrowRight");
    } else {
      return;
    }
    e.preventDefault();
  }
  const view = useRef({ by: (_: number) => {}, pan: (_: number) => {} });
  const [a, b] = zoom.value;
  view.current = {
    by: (factor) => {
      const half = Math.min(0.5, ((b - a) / 2) * factor);
      const left = Math.min(1 - 2 * half, Math.max(0, (a + b) / 2 - half));
      zoom.value = [left, left + 2 * half];
    },
    pan: (part) => {
      const left = Math.min(1 - (b - a), Math.max(0, a + (b - a) * part));
      zoom.value = [left, left + b - a];
    },
  };
  useKeys(() => [
    { key: "+", says: "Zoom in on the timeline", do: () => view.current.by(0.5) },
    { key: "-", says: "Zoom out", do: () => view.current.by(2) },
    { key: "[", says: "Earlier", do: () => view.current.pan(-0.5) },
    { key: "]", says: "Later", do: () => view.current.pan(0.5) },
    { key: "0", says: "See the whole time", do: () => (zoom.value = [0, 1]) },
    { key: "i", says: "Cut idle time short, or show it", do: () => (collapse.value = !collapse.value) },
  ]);
  const shown = list.findIndex((l) => l.key === active.value);
  return (
    <section class="waterfall" aria-label="Timeline" style={{ "--rows": list.length }}>
      <Brush scale={scale} tree={tree} now={now} zoom={zoom.value} onZoom={(z) => (zoom.value = z)} by={view.current.by} pan={view.current.pan} collapse={collapse.value}
        onCollapse={(on) => (collapse.value = on)} />
      <Virtual count={list.length} rowHeight={26} role="group" aria-label="What ran, and when" onKeyDown={keyDown} show={shown >= 0 ? shown : undefined}
        row={(i) => (
          <WaterfallRow key={list[i]!.key} line={list[i]!} scale={scale} zoom={zoom.value} now={now} closed={closed.value.has(list[i]!.key)}
            active={shown < 0 ? i === 0 : i === shown} toggle={toggle} top={feed.id} choose={() => (active.value = list[i]!.key)} />
        )} />
    </section>
  );
}

function WaterfallRow({ line: { row, name, depth, key }, scale, zoom: [a, b], now, closed, active, toggle, choose, top }: {
  line: Line; scale: Scale; zoom: [number, number]; now: number; closed: boolean; active: boolean; top: string;
  toggle(key: string): void; choose(): void;
}) {
  const last = row.segments.at(-1);
  const first = row.segments[0];
  const took = first && last ? duration((last.to ?? now) - first.from) : "";
  function click(e: MouseEvent) {
    if (!first) return;
    choose();
    const track = (e.currentTarget as HTMLElement).querySelector(".track")!.getBoundingClientRect();
    const time = e.detail ? scale.time(a + ((e.clientX - track.left) / track.width) * (b - a)) : first.from;
    const s = row.segments.findLast((s) => s.from <= time) ?? first;
    const run = row.kind === "run" && first.seq === s.seq && depth > 0 ? parentOf(row.run) : row.run;
    setQuery({ seq: String(s.seq), run: run === top ? undefined : run });
  }
  return (
    <button class="wf-row" tabIndex={active ? 0 : -1} onClick={click} aria-expanded={row.rows.length ? !closed : undefined}>
      <span class="wf-name" style={{ paddingLeft: `${6 + Math.min(depth, 8) * 14}px` }}>
        <span class="twist" aria-hidden="true" onClick={(e) => { if (row.rows.length) e.stopPropagation(), toggle(key); }}>{row.rows.length ? (closed ? "▸" : "▾") : ""}</span>
        {last && <Sign look={last.state} />}
        <span class={`cut kind-${row.kind}`}>{clean(cut(name, 80))}</span>
        {row.segments.filter((s) => s.state === "failed" || s.state === "lost").length > 0 && row.kind === "task" && last!.attempt > 1 && <span class="count num">×{last!.attempt}</span>}
      </span>
      <span class="track" aria-hidden="true">
        {scale.breaks.map((x) => <span key={x.at} class="break" style={{ left: `${((x.at - a) / (b - a)) * 100}%` }} />)}
        {row.segments.map((s) => <Bar key={s.from + s.state} segment={s} scale={scale} a={a} b={b} now={now} />)}
      </span>
      <span class="took num muted">{took}</span>
      <span class="visually-hidden">{spoken(row, now)}</span>
    </button>
  );
}

const parentOf = (run: string) => run.replace(/\.c\d+$/, "");

function Bar({ segment: s, scale, a, b, now }: { segment: Segment; scale: Scale; a: number; b: number; now: number }) {
  const from = (scale.place(s.from) - a) / (b - a);
  const to = (scale.place(s.to ?? now) - a) / (b - a);
  if (to < 0 || from > 1) return null;
  const left = Math.max(0, from);
  return <span class={`segment ${s.state}`} style={{ left: `min(${left * 100}%, 100% - 3px)`, width: `max(3px, ${(Math.min(1, to) - left) * 100}%)` }} title={`${wordOf(s.state)} ${duration((s.to ?? now) - s.from)}\n${clean(cut(s.says, 200))}`} />;
}

function spoken(row: Row, now: number): string {
  const parts = row.segments.slice(-6).map((s) => `${wordOf(s.state)}${s.attempt > 1 ? `, attempt ${s.attempt},` : ""} ${duration((s.to ?? now) - s.from)}`);
  return `${row.kind}: ${parts.join("; ")}`;
}

/** The whole time in small. A pointer draws over it what the rows show; buttons do the same. */
function Brush({ scale, tree, now, zoom: [a, b], onZoom, by, pan, collapse, onCollapse }: {
  scale: Scale; tree: Tree; now: number; zoom: [number, number]; onZoom(z: [number, number]): void;
  by(factor: number): void; pan(part: number): void; collapse: boolean; onCollapse(on: boolean): void;
}) {
  const from = useRef<number | undefined>(undefined);
  const at = (e: PointerEvent) => {
    const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
    return Math.min(1, Math.max(0, (e.clientX - box.left) / box.width));
  };
  const down = (e: PointerEvent) => {
    from.current = at(e);
    (e.currentTarget as HTMLElement).setPointerCapture(e.pointerId);
  };
  const move = (e: PointerEvent) => {
    if (from.current === undefined) return;
    const to = at(e);
    if (Math.abs(to - from.current) > 0.005) onZoom([Math.min(from.current, to), Math.max(from.current, to)]);
  };
  const all = a === 0 && b === 1;
  const start = scale.time(0);
  const marks: { at: number; ms: number }[] = []; // those that have room for their words
  for (const x of scale.breaks) {
    const at = (x.at - a) / (b - a);
    if (at >= 0 && at <= 1 && at - (marks.at(-1)?.at ?? -1) > 0.3) marks.push({ at, ms: x.ms });
  }
  return (
    <div class="brush-row">
      <div class="bar zoom">
        <button class="quiet" onClick={() => by(0.5)} aria-label="Zoom in" disabled={b - a < 0.001}>+</button>
        <button class="quiet" onClick={() => by(2)} aria-label="Zoom out" disabled={all}>−</button>
        <button class="quiet" onClick={() => pan(-0.5)} aria-label="Earlier" disabled={a === 0}>‹</button>
        <button class="quiet" onClick={() => pan(0.5)} aria-label="Later" disabled={b >= 1}>›</button>
        <button class="quiet" onClick={() => onZoom([0, 1])} disabled={all}>All</button>
      </div>
      <div class="brush" aria-hidden="true" onPointerDown={down} onPointerMove={move} onPointerUp={() => (from.current = undefined)} onDblClick={() => onZoom([0, 1])}>
        {tree.top.root.segments.map((s) => <Bar key={s.from + s.state} segment={s} scale={scale} a={0} b={1} now={now} />)}
        {tree.top.root.rows.slice(0, 200).flatMap((r) => r.segments.map((s) => <Bar key={r.name + s.from} segment={s} scale={scale} a={0} b={1} now={now} />))}
        {!all && <span class="window" style={{ left: `${a * 100}%`, width: `${(b - a) * 100}%` }} />}
      </div>
      {(scale.breaks.length > 0 || !collapse) && <button class="quiet idle" aria-pressed={collapse} onClick={() => onCollapse(!collapse)} title="Cut stretches in which nothing happened short">Cut idle</button>}
      <div class="axis num muted" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].filter((p) => marks.every((x) => Math.abs(x.at - p) > 0.24)).map((p) => <span key={p} style={{ left: `${p * 100}%`, transform: `translateX(-${p * 100}%)` }}>{duration(scale.time(a + p * (b - a)) - start)}</span>)}
        {marks.map((x) => <span key={"b" + x.at} class="cut-time" style={{ left: `${x.at * 100}%`, transform: `translateX(-${x.at * 100}%)` }}>idle {duration(x.ms)}</span>)}
      </div>
    </div>
  );
}
