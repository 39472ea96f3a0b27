import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { post, type Refused } from "../api/client";
import type { Status } from "../api/types";
import { go, runHref } from "../router";
import { Sign } from "../run/sign";
import { clean, cut } from "../run/text";
import { useKeys } from "../shell/keys";

interface Line { name: string; job: string; when: string; next: string; last?: string; run?: string; status?: Status; paused?: boolean; waiting?: string; dropped?: number; note?: string }

const lines = signal<Line[] | undefined>(undefined);
const read = () => post<Line[]>("/schedules", { action: "ls" }).then((all) => (lines.value = all));

/** A time as the schedule's zone has it. */
const zoned = (time: string) => time.replace("T", " ").replace(/\.\d+/, "").replace(/Z$/, " UTC").replace(/([+-]\d\d:\d\d)$/, " $1");

/** The caller's schedules: when they start a run, what became of the last one, and why one was refused. */
export function SchedulesPage() {
  const problem = useSignal("");
  const act = (work: () => Promise<unknown>) => {
    problem.value = "";
    work().catch((e: Refused) => (problem.value = e.message));
  };
  useEffect(() => {
    document.title = "Schedules · lastword";
    act(read);
    const timer = setInterval(() => document.hidden || act(read), 10_000);
    return () => clearInterval(timer);
  }, []);
  useKeys(() => [{ key: "u", says: "All runs", do: () => go("/") }]);
  const order = (action: string, name: string) => act(() => post("/schedules", { action, name }).then(read));
  return (
    <section class="schedules">
      <p><a href="/">All runs</a></p>
      <h1>Schedules</h1>
      {problem.value && <p class="bad" role="alert">{problem.value}</p>}
      {lines.value?.length === 0 && <p class="muted">There are no schedules of yours. The server's operator writes them into the file of <code>--jobs</code>.</p>}
      {!!lines.value?.length && (
        <div class="wide" tabIndex={0} role="group" aria-label="The schedules">
          <table>
            <thead><tr>{["Schedule", "Job", "When", "Next", "Last", "Result", "Actions"].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
            <tbody>
              {lines.value.map((l) => (
                <tr key={l.name}>
                  <th scope="row">{clean(l.name)}</th>
                  <td data-name="Job">{clean(l.job)}</td>
                  <td data-name="When">{clean(l.when)}</td>
                  <td class="num" data-name="Next">{l.paused ? "paused" : <time dateTime={l.next} title={new Date(l.next).toLocaleString()}>{zoned(l.next)}</time>}</td>
                  <td class="num" data-name="Last">{l.last && (l.run || l.dropped) && <time dateTime={l.last} title={new Date(l.last).toLocaleString()}>{zoned(l.last)}</time>}</td>
                  <td>
                    {l.run && <a href={runHref(l.run)}>{l.status ? <Sign look={l.status} word /> : "its run"}</a>}
                    {l.waiting && <p class="muted">The start of {zoned(l.waiting)} waits for the run before.</p>}
                    {!!l.dropped && <p class="muted">{l.dropped} {l.dropped === 1 ? "start was" : "starts were"} dropped{l.note && ":"}</p>}
                    {l.note && <p>{clean(cut(l.note, 500))}</p>}
                  </td>
                  <td><span class="bar">
                    <button onClick={() => order("run", l.name)} aria-label={`Run now: ${l.name}`}>Run now</button>
                    <button onClick={() => order(l.paused ? "resume" : "pause", l.name)} aria-label={`${l.paused ? "Resume" : "Pause"} ${l.name}`}>{l.paused ? "Resume" : "Pause"}</button>
                  </span></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
