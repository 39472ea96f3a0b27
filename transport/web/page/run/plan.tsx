import { useEffect, useRef } from "preact/hooks";
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

const wide = 150;
const high = 52;
const gapX = 36;
const gapY = 18;

/** The plan as a graph, with the path that the run took. */
export function PlanGraph({ feed }: { feed: Feed }) {
  feed.slow.value;
  const run = feed.tree.top;
  const steps = stepsOf(run);
  const places = layout(steps);
  const width = Math.max(...[...places.values()].map((p) => p.x)) + wide + 8;
  const height = Math.max(...[...places.values()].map((p) => p.y)) + high + 8;
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
  const graph = useRef<HTMLDivElement>(null);
  const runs = steps.filter((s) => outcome(s.name)?.running && !run.fold.state.end);
  const now = places.get((runs.find((s) => asking.has(s.name)) ?? runs[0])?.name ?? "");
  useEffect(() => { // the step that runs, or waits for an answer, is seen
    if (now) graph.current!.scrollTo({ left: now.x - (graph.current!.clientWidth - wide) / 2, top: now.y - (graph.current!.clientHeight - high) / 2 });
  }, [now?.x, now?.y]);
  return (
    <div class="plan">
      <div class="graph" ref={graph} tabIndex={0} role="group" aria-label="The plan's graph">
        <div class="canvas" style={{ width: `${width}px`, height: `${height}px` }}>
          <svg width={width} height={height} aria-hidden="true">
            {edges.map((e) => <path key={e.from + " " + e.to} d={curve(places.get(e.from)!, places.get(e.to)!)} class={`edge ${took(e) ? "took" : ""} ${e.fails ? "fails" : ""}`} />)}
          </svg>
          {steps.map((s) => {
            const { x, y } = places.get(s.name)!;
            const state = outcome(s.name);
            const look = (state?.running ? (run.fold.state.end ? "canceled" : asking.has(s.name) ? "waiting" : "running") : state?.outcome) as Look | undefined;
            const move = run.moves.findLast((m) => m.step === s.name);
            return (
              <button key={s.name} class={`step ${look ?? "never"}`} style={{ left: `${x}px`, top: `${y}px`, width: `${wide}px`, height: `${high}px` }} disabled={!move}
                title={clean(cut(move?.why ?? s.if ?? "", 400))} onClick={() => move && setQuery({ seq: String(move.seq), run: undefined })}>
                <span class="step-name">{look ? <Sign look={look} /> : <span class="visually-hidden">not reached</span>} <strong class="cut">{clean(s.name)}</strong>{(state?.rounds ?? 0) > 1 && <span class="count num">×{state!.rounds}</span>}
                  {items.has(s.name) && <span class="count num">{items.get(s.name)!.over} of {items.get(s.name)!.all}</span>}</span>
                <span class="muted cut">{clean(does(s))}</span>
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

/** Each step stands in the column after those that it waits for. */
function layout(steps: PlanStep[]): Map<string, { x: number; y: number }> {
  const before = new Map(steps.map((s) => [s.name, list(s.needs)]));
  for (const s of steps) for (const to of list(s.on_failure)) before.get(to)?.push(s.name);
  const columns = new Map<string, number>();
  const column = (name: string, path: string[]): number => {
    const known = columns.get(name);
    if (known !== undefined || path.includes(name)) return known ?? 0;
    const at = Math.max(-1, ...(before.get(name) ?? []).filter((n) => before.has(n)).map((n) => column(n, [...path, name]))) + 1;
    columns.set(name, at);
    return at;
  };
  const rows: number[] = [];
  return new Map(steps.map((s) => {
    const c = column(s.name, []);
    const r = (rows[c] = (rows[c] ?? -1) + 1);
    return [s.name, { x: 4 + c * (wide + gapX), y: 4 + r * (high + gapY) }];
  }));
}

function curve(a: { x: number; y: number }, b: { x: number; y: number }): string {
  const [x1, y1, x2, y2] = [a.x + wide, a.y + high / 2, b.x, b.y + high / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`;
}
