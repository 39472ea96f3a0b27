import { signal, useComputed } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { connection } from "../api/stream";
import type { Job } from "../api/types";
import { go, place, setQuery } from "../router";
import { useKeys } from "../shell/keys";
import { rowHeight } from "../shell/rows";
import { bring, Virtual } from "../shell/virtual";
import { wordOf } from "../run/sign";
import { Bulk, pick, picked } from "./bulk";
import { filterOf, lookOf, passes, searchHelp, statuses } from "./filter";
import { Row } from "./row";
import { StartDialog } from "./start";
import { jobs, read, reading, runs, watch } from "./store";
import { useNow } from "../run/now";
import { clean, plural } from "../run/text";
import { spentOf } from "../state/purse";

function toggleStatus(status: string) {
  const { statuses: wanted } = filterOf(place.peek().query);
  setQuery({ status: (wanted.includes(status) ? wanted.filter((s) => s !== status) : [...wanted, status]).join(",") });
}

/** The id of the run that the reader was at, also when they come back to the list. */
const at = signal("");

export function RunsPage() {
  const box = useRef<HTMLDivElement>(null);
  const shown = useComputed(() => {
    const filter = filterOf(place.value.query);
    return runs.value.filter((r) => passes(filter, r));
  });
  useEffect(() => {
    document.title = "Runs · lastword";
    return watch();
  }, []);

  const move = (by: number) => {
    const list = shown.peek();
    const next = Math.max(0, Math.min(list.length - 1, list.findIndex((r) => r.run_id === at.peek()) + by));
    at.value = list[next]?.run_id ?? "";
    const rows = box.current?.querySelector(".rows");
    if (rows) bring(rows, next, rowHeight.peek());
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-row="${next}"] a`)?.focus());
  };
  const start = () => setQuery({ start: place.peek().query.get("job") || jobs.peek()[0]?.name });
  useKeys(() => [
    { key: "j", says: "Next run", do: () => move(1) },
    { key: "k", says: "Previous run", do: () => move(-1) },
    { key: "/", says: "Search", do: () => document.getElementById("search")?.focus() },
    { key: "n", says: "Start a run", do: start },
    { key: "v", says: "Select the run, or no longer", do: () => at.peek() && pick([at.peek()]) },
    { key: "s", says: "Show sub-runs, or hide them", do: () => setQuery({ children: place.peek().query.has("children") ? "" : "1" }) },
    { key: "x", says: "Show all: no search, no filters", do: () => go("/") },
    ...statuses.map((status, i) => ({ key: String(i + 1), shown: "1–7", says: i ? "" : "Filter by a status, by its place", do: () => toggleStatus(status) })),
  ]);
  const arrows = (e: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[e.key];
    if (!by) return;
    e.preventDefault();
    move(by);
  };

  const list = shown.value;
  const spends = useComputed(() => runs.value.some((r) => spentOf(r.purse, r.budget, true).length)).value;
  const filter = filterOf(place.value.query);
  const all = list.length > 0 && list.every((r) => picked.value.has(r.run_id));
  const column = (name: string) => <span key={name} role="columnheader" class={name === "Began" ? "age" : name.toLowerCase()}>{name}</span>;
  const index = list.findIndex((r) => r.run_id === at.value);
  const left = useRef(-1); // where the reader was when they left the list
  if (left.current < 0) left.current = index;
  const { state, more } = reading.value;
  const { search } = location; // how many are found is said when the search changes, not whenever a run comes
  const found = useMemo(() => (search && state === "read" ? plural(list.length, "run") + " found" : ""), [search, state]);
  const now = useNow(true);
  useEffect(() => { // what is searched for may be older than what was read
    if (state === "read" && more && list.length < 50) void read();
  }, [state, more, list.length]);

  return (
    <section class="runs">
      <div class="runs-bar">
        <h1>Runs</h1>
        <Filters jobs={jobs.value} />
        <button class="primary" onClick={start} disabled={!jobs.value.length}>Start a run</button>
      </div>
      <Bulk />
      <p class="visually-hidden" role="status">{found}</p>
      {list.length === 0 ? <Empty jobs={jobs.value} onStart={start} /> : (
        <div class="table" role="table" aria-label="Runs" aria-rowcount={list.length + 1} ref={box} onKeyDown={arrows}
          style={{ "--labels": filter.labels.length ? `repeat(${filter.labels.length}, minmax(4rem, 9rem))` : "", "--spent": spends ? "minmax(0, 14rem)" : "", "--age": filter.times ? "10.5rem" : "5rem" }}>
          <div class="row head" role="row" aria-rowindex={1}>
            <span role="columnheader" class="pick"><input type="checkbox" aria-label={`Select all ${list.length} runs`} checked={all} onChange={() => pick(list.map((r) => r.run_id), !all)} /></span>
            {["Status", "Job", "Input"].map(column)}
            {filter.labels.map((name) => <span key={"label " + name} role="columnheader" class="label cut">{clean(name)}</span>)}
            {["Cause", ...(spends ? ["Spent"] : []), filter.times ? "Began" : "Age", "Duration"].map(column)}
          </div>
          <Virtual class="rows" count={list.length} rowHeight={rowHeight.value} show={left.current} onEnd={() => state === "read" && more && void read()}
            keyOf={(i) => list[i]!.run_id} row={(i) => <Row key={list[i]!.run_id} run={list[i]!} index={i} now={now} filter={filter} spends={spends} picked={picked.value.has(list[i]!.run_id)} onPick={() => pick([list[i]!.run_id])} current={i === Math.max(0, index)} onOpen={() => (at.value = list[i]!.run_id)} />} />
        </div>
      )}
      <StartDialog jobs={jobs.value} />
    </section>
  );
}

function Filters({ jobs }: { jobs: readonly Job[] }) {
  const { query } = place.value;
  const filter = filterOf(query);
  const { statuses: wanted, job, children } = filter;
  const counts = new Map<string, number>(); // of what was read, by what is searched for
  for (const r of runs.value) if (passes({ ...filter, statuses: [] }, r)) counts.set(lookOf(r), (counts.get(lookOf(r)) ?? 0) + 1);
  const more = reading.value.more ? "+" : "";
  const names = [...new Set([...jobs.map((j) => j.name), ...(job ? [job] : [])])];
  return (
    <div class="filters" role="search">
      <input id="search" type="search" placeholder="Search: words, label:value, since:2h" aria-label="Search runs" title={searchHelp.map(([what, says]) => `${what}  ${says}`).join("\n")} value={query.get("q") ?? ""}
        onInput={(e) => setQuery({ q: e.currentTarget.value })} onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()} />
      <div class="chips" role="group" aria-label="Status">
        {statuses.map((s) => <button key={s} class="chip" aria-pressed={wanted.includes(s)} onClick={() => toggleStatus(s)} title={wordOf(s)}>{s}{counts.has(s) && <span class="count num">{counts.get(s)}{more}</span>}</button>)}
      </div>
      <select aria-label="Job" value={job} onChange={(e) => setQuery({ job: e.currentTarget.value })}>
        <option value="">All jobs</option>
        {names.map((name) => <option key={name}>{name}</option>)}
      </select>
      <label class="check"><input type="checkbox" checked={children} onChange={(e) => setQuery({ children: e.currentTarget.checked ? "1" : "" })} /> sub-runs</label>
      <Columns />
    </div>
  );
}

/** Which labels are columns, and whether times are absolute. The address keeps it. */
function Columns() {
  const { labels, times } = filterOf(place.value.query);
  const names = [...new Set(runs.value.flatMap((r) => Object.keys(r.labels ?? {})).filter((name) => name !== "traceparent" && name !== "tracestate" && !name.includes(",")).concat(labels))].sort().slice(0, 50);
  return (
    <details class="menu" onKeyDown={(e) => e.key === "Escape" && (e.currentTarget.open = false)}>
      <summary class="button">Columns</summary>
      <div class="pop">
        <label class="check"><input type="checkbox" checked={times} onChange={() => setQuery({ times: times ? "" : "1" })} /> times, not ages</label>
        {names.map((name) => <label key={name} class="check"><input type="checkbox" checked={labels.includes(name)} onChange={() => setQuery({ labels: (labels.includes(name) ? labels.filter((l) => l !== name) : [...labels, name]).join(",") })} /> {clean(name)}</label>)}
      </div>
    </details>
  );
}

function Empty({ jobs, onStart }: { jobs: readonly Job[]; onStart(): void }) {
  const { state, more, why } = reading.value;
  if (state === "failed") {
    return (
      <div class="empty" role="alert">
        <h2>The list cannot be read</h2>
        <p>{why}. The page tries again once the server answers.</p>
        <button onClick={() => void read()}>Try now</button>
      </div>
    );
  }
  if (state === "reading" && connection.value.state === "reconnecting") {
    return (
      <div class="empty" role="alert">
        <h2>The server does not answer</h2>
        <p>The page shows the list as soon as it does. <code>lastword serve</code> starts a server.</p>
      </div>
    );
  }
  if (state === "reading" || more) return <p class="empty muted">Reading the list…</p>;
  if (runs.value.length) {
    return (
      <div class="empty">
        <h2>No run is like this</h2>
        <p>{runs.value.length} {runs.value.length === 1 ? "run is" : "runs are"} left out by the search and the filters.</p>
        <button onClick={() => go("/")}>Show all</button>
      </div>
    );
  }
  const example = jobs.find((j) => j.name === "generate") ? `{"job":"generate","input":{"repository":"spf13/cobra"}}` : `{"job":"${jobs[0]?.name ?? "JOB"}","input":{}}`;
  return (
    <div class="empty">
      <h2>No runs yet</h2>
      <p>Start one here, or from a program:</p>
      <pre tabIndex={0}>{`curl ${location.origin}/v1/runs -H 'Content-Type: application/json' \\\n  -d '${example}'`}</pre>
      <button class="primary" onClick={onStart} disabled={!jobs.length}>Start a run</button>
    </div>
  );
}

