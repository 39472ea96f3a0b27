import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, get, runPath, type Refused } from "../api/client";
import type { Job } from "../api/types";
import { go, place, runHref, setQuery } from "../router";
import { requestOf } from "../run/again";
import { Fields, valueOf } from "../shell/form";
import type { State } from "../state/fold";

type Request = Partial<ReturnType<typeof requestOf>>;

/**
 * Starts a run of a job, by a form that is made from the job's JSON Schema. The address says that it is open, and which run's
 * input fills it.
 */
export function StartDialog({ jobs }: { jobs: readonly Job[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const wanted = place.value.query.get("start");
  const job = jobs.find((j) => j.name === wanted) ?? jobs[0];
  const from = place.value.query.get("from") ?? "";
  const [like, setLike] = useState<Request & { from?: string }>({});
  useEffect(() => {
    if (from) get<State>(runPath(from)).then((s) => setLike({ ...requestOf(s), from }), () => setLike({ from }));
  }, [from]);
  const open = wanted !== null && !!job && (!from || like.from === from);
  useEffect(() => {
    if (!open) return dialog.current!.close();
    dialog.current!.showModal();
    dialog.current!.querySelector<HTMLElement>(".field input, .field textarea, .field select")?.focus();
  }, [open]);
  return (
    <dialog ref={dialog} class="start" aria-labelledby="start-title" onClose={() => place.peek().query.has("start") && setQuery({ start: "", from: "" })}>
      {open && <StartForm key={job.name + from} job={job} jobs={jobs} like={from && like.job === job.name ? like : {}} onCancel={() => dialog.current!.close()} />}
    </dialog>
  );
}

function StartForm({ job, jobs, like, onCancel }: { job: Job; jobs: readonly Job[]; like: Request; onCancel(): void }) {
  const had = (like.input ?? {}) as Record<string, unknown>;
  const problem = useSignal("");
  const busy = useSignal(false);
  const key = useRef(newKey());
  async function submit(e: SubmitEvent) {
    e.preventDefault();
    const filled = valueOf(e.currentTarget as HTMLFormElement, job.schema);
    if (filled === undefined) return;
    const unseen = Object.entries(had).filter(([name]) => !job.schema.properties?.[name]); // what the form has no field for
    const input = { ...Object.fromEntries(unseen), ...filled };
    busy.value = true;
    problem.value = "";
    try {
      const { run_id } = await call<{ run_id: string }>("POST", "/v1/runs", { job: job.name, input, labels: like.labels, limits: like.limits }, { "Idempotency-Key": key.current });
      go(runHref(run_id));
    } catch (e) {
      const { errors } = (e as Refused).problem;
      problem.value = errors?.map((one) => [one.location, one.message].filter(Boolean).join(": ")).join("; ") || (e as Refused).message;
    }
    busy.value = false;
  }
  return (
    <form onSubmit={submit} onInput={() => (key.current = newKey())}>
      <h2 id="start-title">{like.job ? "Run again with changes" : "Start a run"}</h2>
      <label for="start-job">Job</label>
      <select id="start-job" value={job.name} onChange={(e) => setQuery({ start: e.currentTarget.value, from: "" })}>
        {jobs.map((j) => <option key={j.name}>{j.name}</option>)}
      </select>
      <p class="muted">{/^.*?[.](?=\s|$)/s.exec(job.description)?.[0] ?? job.description}</p>
      <Fields schema={job.schema} values={had} />
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
