import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, type Refused } from "../api/client";
import type { Job } from "../api/types";
import { go, place, runHref, setQuery } from "../router";
import { Fields, valueOf } from "../shell/form";

/** Starts a run of a job, by a form that is made from the job's JSON Schema. The address says that it is open. */
export function StartDialog({ jobs }: { jobs: readonly Job[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const wanted = place.value.query.get("start");
  const job = jobs.find((j) => j.name === wanted) ?? jobs[0];
  const open = wanted !== null && !!job;
  useEffect(() => {
    if (!open) return dialog.current!.close();
    dialog.current!.showModal();
    dialog.current!.querySelector<HTMLElement>(".field input, .field textarea, .field select")?.focus();
  }, [open]);
  return (
    <dialog ref={dialog} class="start" aria-labelledby="start-title" onClose={() => place.peek().query.has("start") && setQuery({ start: "" })}>
      {open && <StartForm key={job.name} job={job} jobs={jobs} onCancel={() => dialog.current!.close()} />}
    </dialog>
  );
}

function StartForm({ job, jobs, onCancel }: { job: Job; jobs: readonly Job[]; onCancel(): void }) {
  const problem = useSignal("");
  const busy = useSignal(false);
  const key = useRef(newKey());
  async function submit(e: SubmitEvent) {
    e.preventDefault();
    const input = valueOf(e.currentTarget as HTMLFormElement, job.schema);
    if (input === undefined) return;
    busy.value = true;
    problem.value = "";
    try {
      const { run_id } = await call<{ run_id: string }>("POST", "/v1/runs", { job: job.name, input }, { "Idempotency-Key": key.current });
      go(runHref(run_id));
    } catch (e) {
      const { errors } = (e as Refused).problem;
      problem.value = errors?.map((one) => [one.location, one.message].filter(Boolean).join(": ")).join("; ") || (e as Refused).message;
    }
    busy.value = false;
  }
  return (
    <form onSubmit={submit} onInput={() => (key.current = newKey())}>
      <h2 id="start-title">Start a run</h2>
      <label for="start-job">Job</label>
      <select id="start-job" value={job.name} onChange={(e) => setQuery({ start: e.currentTarget.value })}>
        {jobs.map((j) => <option key={j.name}>{j.name}</option>)}
      </select>
      <p class="muted">{/^.*?[.](?=\s|$)/s.exec(job.description)?.[0] ?? job.description}</p>
      <Fields schema={job.schema} />
      <p class="bad" role="alert">{problem.value}</p>
      <div class="actions">
        <button type="button" onClick={onCancel}>Cancel</button>
        <button class="primary" disabled={busy.value}>Start</button>
      </div>
    </form>
  );
}

/** A form that is sent twice starts one run. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
