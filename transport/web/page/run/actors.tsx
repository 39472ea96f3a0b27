import { setQuery } from "../router";
import type { Feed } from "../state/feed";
import type { Child } from "../state/fold";
import { stepOf, type Crash, type RunTrace } from "../state/trace";
import { lookOf, Sign, type Look } from "./sign";
import { clean, cut, plural } from "./text";

/** The tree of actors: who runs, who was started again, and why. */
export function Actors({ feed }: { feed: Feed }) {
  feed.slow.value;
  return <ul class="actors"><RunActor feed={feed} run={feed.tree.top} /></ul>;
}

const taskLooks: Record<string, Look> = { running: "processing", waiting: "pending", completed: "completed", failed: "failed" };

/** How many children of one actor are drawn. */
const most = 200;

function RunActor({ feed, run }: { feed: Feed; run: RunTrace }) {
  const s = run.fold.state;
  const left = (task?: string) => s.children.filter((c) => (c.task ?? "") === (task ?? "") || (!task && !s.tasks.some((t) => t.task === c.task)));
  const begun = new Map(s.steps.map((step, i) => [step.step, i])); // what steps did at once has their order
  const place = (c: Child) => begun.get(stepOf(c.name).step ?? "") ?? 0;
  const children = (task?: string) => left(task).sort((a, b) => place(a) - place(b)).slice(0, most).map((c) => {
    const child = feed.tree.runs.get(c.child);
    return child && <RunActor key={c.child} feed={feed} run={child} />;
  });
  const progress = (task: string) => s.progress.find((p) => p.task === task);
  return (
    <li>
      <p class="actor">
        <Sign look={lookOf(s)} /> <strong>{clean(run.root.name)}</strong> <span class="muted">{run.root.within ? "run of " + clean(s.queued?.job ?? "") : "run"}</span>
        {s.recoveries > 0 && <span class="count warn">recovered {s.recoveries === 1 ? "once" : `${s.recoveries} times`}</span>}
        {s.node && <span class="muted">on {clean(s.node)}</span>}
      </p>
      <ul>
        {s.tasks.slice(0, most).map((t) => {
          const p = progress(t.task);
          return (
            <li key={t.task}>
              <p class="actor">
                <Sign look={s.end && t.status !== "completed" && t.status !== "failed" ? "canceled" : taskLooks[t.status]!} /> <span>{clean(t.task)}</span> <span class="muted">task</span>
                {t.attempt > 1 && <span class="count warn">restarted {t.attempt === 2 ? "once" : `${t.attempt - 1} times`}</span>}
                {p && <span class="muted num">{p.done}{p.total ? ` of ${p.total}` : ""} {clean(p.unit ?? "")}</span>}
              </p>
              {run.crashes.filter((c) => c.task === t.task).slice(-20).map((c) => <CrashView key={c.seq} crash={c} run={run.id} top={feed.id} />)}
              <ul>{children(t.task)}</ul>
            </li>
          );
        })}
        {s.tasks.length > most && <li class="muted">and {plural(s.tasks.length - most, "more task")}</li>}
        {children()}
      </ul>
    </li>
  );
}

function CrashView({ crash: c, run, top }: { crash: Crash; run: string; top: string }) {
  return (
    <details class="crash">
      <summary>
        <Sign look="failed" /> attempt {c.attempt}: <strong>{c.cause.replaceAll("_", " ")}</strong> <span class="untrusted">{clean(cut(c.error?.message ?? "", 300))}</span>
      </summary>
      <p class="muted">{c.will_retry ? `Another attempt came after ${c.delay_ms ?? 0} ms.` : "No other attempt followed."} <button class="quiet" onClick={() => setQuery({ seq: String(c.seq), run: run === top ? undefined : run })}>Event {c.seq}</button></p>
      {c.error?.stack && <pre tabIndex={0} aria-label="Stack">{clean(cut(c.error.stack, 50_000))}</pre>}
    </details>
  );
}
