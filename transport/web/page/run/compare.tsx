import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Summary } from "../api/types";
import { place, runHref, setQuery } from "../router";
import { useFeed, type Feed } from "../state/feed";
import { costOf, partsOf, type Row } from "../state/trace";
import { age } from "../runs/row";
import { lookOf, Sign } from "./sign";
import { clean, cut, duration, pretty } from "./text";

/** The run beside another one of its job. The address names the other. */
export function Compare({ feed }: { feed: Feed }) {
  feed.slow.value;
  const job = feed.tree.top.fold.state.queued?.job;
  const other = place.value.query.get("with") ?? "";
  const [list, setList] = useState<Summary[]>([]);
  useEffect(() => {
    if (job) get<{ runs: Summary[] }>(`/v1/runs?limit=200&job=${encodeURIComponent(job)}`).then((a) => setList(a.runs.filter((r) => r.run_id !== feed.id && !r.run_id.includes("."))), () => {});
  }, [job, feed.id]);
  return (
    <div class="compare">
      <p class="bar">
        <label for="other">Compare with</label>
        <select id="other" value={other} onChange={(e) => setQuery({ with: e.currentTarget.value })}>
          <option value="">{list.length ? "another run" : "there is no other run of this job"}</option>
          {list.map((r) => <option key={r.run_id} value={r.run_id}>{clean(cut(r.input ?? r.run_id, 60))}, {r.status}, {age(Date.now() - Date.parse(r.queued_at))} ago</option>)}
          {other && !list.some((r) => r.run_id === other) && <option value={other}>{other}</option>}
        </select>
        {other && <a href={runHref(other)}>Open it</a>}
      </p>
      {other && <Two key={other} feed={feed} other={other} />}
    </div>
  );
}

function Two({ feed, other }: { feed: Feed; other: string }) {
  feed.slow.value;
  const b = useFeed(other);
  b?.slow.value;
  const problem = b?.problem.value;
  if (problem) return <p class="bad" role="alert">{problem.status === 404 ? "There is no such run." : problem.title}</p>;
  if (!b || b.reading.value) return <p class="muted">Reading the other run…</p>;
  const both = [feed, b].map((f) => f.tree.top);
  const now = Date.now();
  const costs = both.map((r) => costOf(r.root, now));
  const parts = both.map((r) => partsOf(r.root));
  const names = [...new Set(parts.flat().map((r) => r.name))].slice(0, 300);
  const time = (rows: Row[], name: string) => rows.filter((r) => r.name === name).reduce<number | undefined>((n, r) => (n ?? 0) + costOf(r, now).ms, undefined);
  const inputs = both.map((r) => (r.fold.state.queued?.input ?? {}) as Record<string, unknown>);
  const fields = [...new Set(inputs.flatMap((i) => Object.keys(i)))].filter((name) => JSON.stringify(inputs[0]![name]) !== JSON.stringify(inputs[1]![name]));
  const results = both.map((r) => lines(r.fold.state.end?.result ?? r.fold.state.end?.error?.message));
  return (
    <>
      <table>
        <thead><tr><td /><th scope="col" class="num">This run</th><th scope="col" class="num">The other</th><th scope="col" class="num">Difference</th></tr></thead>
        <tbody>
          <tr><th scope="row">Status</th>{both.map((r) => <td key={r.id} class="num"><Sign look={lookOf(r.fold.state)} word /></td>)}<td /></tr>
          <Numbers name="Time" values={costs.map((c) => c.ms)} say={duration} />
          <Numbers name="Model calls" values={costs.map((c) => c.calls)} />
          <Numbers name="Tokens in" values={costs.map((c) => c.input)} />
          <Numbers name="Tokens out" values={costs.map((c) => c.output)} />
          {names.map((name) => <Numbers key={name} name={name} part values={parts.map((rows) => time(rows, name))} say={duration} />)}
        </tbody>
      </table>
      <h3>Input</h3>
      {fields.length === 0 ? <p class="muted">The inputs are the same.</p> : fields.map((name) => <Beside key={name} name={name} sides={inputs.map((i) => lines(i[name]))} />)}
      <h3>Result</h3>
      {results[0]!.join("\n") === results[1]!.join("\n") ? <p class="muted">The results are the same.</p> : <Beside sides={results} />}
    </>
  );
}

function Numbers({ name, values: [a, b], say = (n) => n.toLocaleString("en"), part }: { name: string; values: (number | undefined)[]; say?(n: number): string; part?: boolean }) {
  const more = (a ?? 0) - (b ?? 0);
  if (!a && !b && !part) return null;
  return (
    <tr class={part ? "part" : ""}>
      <th scope="row">{clean(cut(name, 80))}</th>
      {[a, b].map((n, i) => <td key={i} class="num">{n === undefined ? "–" : say(n)}</td>)}
      <td class="num">{a === undefined || b === undefined || more === 0 ? "" : `${more > 0 ? "+" : "−"}${say(Math.abs(more))}`}</td>
    </tr>
  );
}

/** Two texts beside each other. A line that the other does not have is marked. */
function Beside({ name, sides }: { name?: string; sides: string[][] }) {
  const has = sides.map((s) => new Set(s));
  return (
    <div class="beside">
      {name && <p class="mono">{clean(name)}</p>}
      {sides.map((side, i) => (
        <pre key={i} tabIndex={0} aria-label={i ? "The other" : "This run"}>
          {side.length ? side.map((l, n) => (has[1 - i]!.has(l) ? l + "\n" : <mark key={n}>{l + "\n"}</mark>)) : <span class="muted">nothing</span>}
        </pre>
      ))}
    </div>
  );
}

/** A value's lines, as many as a page should draw. A text within is read as one. */
function lines(value: unknown): string[] {
  const text = (value as { text?: unknown } | null)?.text;
  return value === undefined || value === null ? [] : pretty(typeof text === "string" ? text : value, 60_000).split("\n");
}
