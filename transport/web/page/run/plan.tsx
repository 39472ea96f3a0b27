import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { setQuery } from "../router";
import type { Feed } from "../state/feed";
import { stepOf, wholeOf, type RunTrace } from "../state/trace";
import { Sign, type Look } from "./sign";
import { clean, cut } from "./text";

/** A step of a plan, as the run's input has it. */
interface PlanStep { name: string; job?: string; plan?: unknown; read?: { name: string }; write?: { name: string }; ask?: unknown; receive?: unknown; needs?: string | string[]; if?: string; on_failure?: string | string[] }

const list = (names?: string | string[]) => (typeof names === "string" ? [names] : Array.isArray(names) ? names : []);

/** The steps that the run was asked for, if it is a plan. */
export function stepsOf(run: RunTrace): PlanStep[] {
  const plan = (run.fold.state.queued?.input as { plan?: { steps?: PlanStep[] } } | undefined)?.plan;
  const steps = Array.isArray(plan?.steps) ? plan.steps.filter((s) => typeof s?.name === "string") : [];
  return run.fold.state.queued?.job === "plan" ? steps.slice(0, 300) : [];
}

const gap = 28;

/** The plan as a graph, with the path that the run took. */
export function PlanGraph({ feed }: { feed: Feed }) {
  feed.slow.value;
  const run = feed.tree.top;
  const steps = stepsOf(run);
  const graph = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setRoom(graph.current!.clientWidth - 16));
    watch.observe(graph.current!);
    return () => watch.disconnect();
  }, []);
  const { places, wide, high, width, height } = layout(steps, room);
  const zoom = useSignal(0); // 0 fits the graph into its room, as long as it can be read
  const scale = zoom.value || Math.max(least, Math.min(1, room / width || 1));
  const by = useRef((_: number) => {});
  by.current = (factor) => (zoom.value = factor && Math.max(0.3, Math.min(2, scale * factor)));
  const outcome = (name: string) => run.fold.step(name);
  const asking = new Set(run.fold.state.inputs.filter((i) => !i.closed).map((i) => stepOf(i.request).step));
  const items = new Map<string, { all: number; over: number }>();
  for (const s of run.fold.state.steps) {
    const whole = wholeOf(s.step);
    if (!whole) continue;
    const { all, over } = items.get(whole) ?? { all: 0, over: 0 };
    items.set(whole, { all: all + 1, over: over + (s.running ? 0 : 1) });
  }
  const edges = steps.flatMap((s) => [
    ...list(s.needs).map((from) => ({ from, to: s.name, fails: false })),
    ...list(s.on_failure).filter((to) => to !== "continue").map((to) => ({ from: s.name, to, fails: true })),
  ]).filter((e) => places.has(e.from) && places.has(e.to));
  const took = (e: { from: string; to: string; fails: boolean }) => {
    const from = outcome(e.from)?.outcome;
    const to = outcome(e.to);
    return !!to && to.outcome !== "skipped" && (e.fails ? from === "failed" : from !== undefined && from !== "skipped");
  };
  const runs = steps.filter((s) => outcome(s.name)?.running && !run.fold.state.end);
  const now = places.get((runs.find((s) => asking.has(s.name)) ?? runs[0])?.name ?? "");
  useEffect(() => { // the step that runs, or waits for an answer, is seen
    if (now) graph.current!.scrollTo({ left: (now.x + wide / 2) * scale - graph.current!.clientWidth / 2, top: (now.y + high / 2) * scale - graph.current!.clientHeight / 2 });
  }, [now?.x, now?.y, scale]);
  return (
    <div class="plan">
      <div class="bar" role="group" aria-label="Size of the graph">
        <button class="quiet" aria-label="Larger" disabled={scale >= 2} onClick={() => by.current(1.25)}>+</button>
        <button class="quiet" aria-label="Smaller" disabled={scale <= 0.3} onClick={() => by.current(0.8)}>−</button>
        <button class="quiet" aria-pressed={!zoom.value} onClick={() => by.current(0)}>Fit</button>
        <span class="muted num">{Math.round(100 * scale)} %</span>
      </div>
      <div class="graph" ref={graph} tabIndex={0} role="group" aria-label="The plan's graph">
        <div class="canvas" style={{ width: `${width}px`, height: `${height}px`, zoom: scale }}>
          <svg width={width} height={height} aria-hidden="true">
            {edges.map((e) => <path key={e.from + " " + e.to} d={curve(places.get(e.from)!, places.get(e.to)!, wide, high)} class={`edge ${took(e) ? "took" : ""} ${e.fails ? "fails" : ""}`} />)}
          </svg>
          {steps.map((s) => {
            const { x, y } = places.get(s.name)!;
            const state = outcome(s.name);
            const look = (state?.running ? (run.fold.state.end ? "canceled" : asking.has(s.name) ? "waiting" : "processing") : state?.outcome) as Look | undefined;
            const move = run.moves.findLast((m) => m.step === s.name);
            return (
              <button key={s.name} class={`step ${look ?? "never"}`} style={{ left: `${x}px`, top: `${y}px`, width: `${wide}px`, height: `${high}px` }} disabled={!move}
                title={clean(cut(move?.why ?? s.if ?? "", 400))} onClick={() => move && setQuery({ seq: String(move.seq), run: undefined })}>
                <span class="step-name">{look ? <Sign look={look} /> : <span class="visually-hidden">not reached</span>} <strong>{clean(s.name).split(/(?<=[_-])/).flatMap((part) => [part, <wbr />])}</strong></span>
                <span class="step-name"><span class="muted cut">{clean(does(s))}</span>{(state?.rounds ?? 0) > 1 && <span class="count num">×{state!.rounds}</span>}
                  {items.has(s.name) && <span class="count num">{items.get(s.name)!.over} of {items.get(s.name)!.all}</span>}</span>
              </button>
            );
          })}
        </div>
      </div>
      <ol class="path" aria-label="The path taken">
        {run.moves.slice(-500).map((m) => (
          <li key={m.seq}><button class="quiet" onClick={() => setQuery({ seq: String(m.seq), run: undefined })}><span class="num muted">{m.seq}</span> {m.outcome ? <Sign look={m.outcome as Look} /> : <span class="sign" aria-hidden="true">→</span>} <strong>{clean(m.step)}</strong> <span class="muted">{clean(cut(m.why, 200))}</span></button></li>
        ))}
      </ol>
    </div>
  );
}

const does = (s: PlanStep) => (s.plan ? "plan" : s.read ? "read " + s.read.name : s.write ? "write " + s.write.name : s.ask ? "ask" : s.receive ? "receive" : (s.job ?? ""));

/** The smallest scale at which names can be read. */
const least = 0.75;

interface Spot { x: number; y: number; down: boolean }

/** Each step stands after those that it waits for: to the right where there is room for all, and else below them. */
function layout(steps: PlanStep[], room: number) {
  const before = new Map(steps.map((s) => [s.name, list(s.needs)]));
  for (const s of steps) for (const to of list(s.on_failure)) before.get(to)?.push(s.name);
  const ranks = new Map<string, number>();
  const rank = (name: string, path: string[]): number => {
    const known = ranks.get(name);
    if (known !== undefined || path.includes(name)) return known ?? 0;
    const at = Math.max(-1, ...(before.get(name) ?? []).filter((n) => before.has(n)).map((n) => rank(n, [...path, name]))) + 1;
    ranks.set(name, at);
    return at;
  };
  const beside: number[] = [];
  const cells = steps.map((s) => {
    const r = rank(s.name, []);
    return { name: s.name, rank: r, nth: (beside[r] = (beside[r] ?? -1) + 1) };
  });
  const most = 1 + Math.max(0, ...beside);
  const longest = Math.max(...steps.map((s) => s.name.length));
  const whole = Math.min(320, Math.max(150, 9 * longest + 40)); // a name on one line
  const fits = (n: number) => Math.floor((room - 8) / n) - gap;
  const down = fits(beside.length) < Math.min(whole, 190) && most < beside.length;
  const wide = Math.max(150, Math.min(whole, fits(down ? most : beside.length)));
  const lines = 9 * longest <= wide - 40 ? 1 : Math.min(5, 1 + Math.ceil((12 * longest) / (wide - 40))); // words leave room at their ends
  const high = 40 + 16 * lines;
  const spot = (along: number, across: number): Spot => (down ? { x: 4 + across * (wide + gap), y: 4 + along * (high + gap), down } : { x: 4 + along * (wide + gap), y: 4 + across * (high + gap), down });
  const end = spot(beside.length, most);
  return { places: new Map(cells.map((c) => [c.name, spot(c.rank, c.nth)])), wide, high, width: end.x - gap + 4, height: end.y - gap + 4 };
}

function curve(a: Spot, b: Spot, wide: number, high: number): string {
  if (a.down) {
    const [x1, y1, x2, y2] = [a.x + wide / 2, a.y + high, b.x + wide / 2, b.y];
    return `M${x1},${y1} C${x1},${(y1 + y2) / 2} ${x2},${(y1 + y2) / 2} ${x2},${y2}`;
  }
  const [x1, y1, x2, y2] = [a.x + wide, a.y + high / 2, b.x, b.y + high / 2];
  return `M${x1},${y1} C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}`;
}
