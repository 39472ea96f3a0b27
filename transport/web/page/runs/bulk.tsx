import { signal, useSignal } from "@preact/signals";
import { get, post, runPath, type Refused } from "../api/client";
import type { Summary } from "../api/types";
import { retryOf } from "../run/again";
import { plural } from "../run/text";
import type { State } from "../state/fold";
import { isEnded } from "./filter";
import { runs } from "./store";

/** The ids of the runs that the reader has selected. */
export const picked = signal<ReadonlySet<string>>(new Set());

/** Selects the runs, or no longer. */
export function pick(ids: string[], on = !ids.every((id) => picked.peek().has(id))) {
  const next = new Set(picked.peek());
  for (const id of ids) on ? next.add(id) : next.delete(id);
  picked.value = next;
}

/** What can be done with the selected runs at once. */
export function Bulk() {
  const sure = useSignal(false);
  const said = useSignal("");
  const chosen = runs.value.filter((r) => picked.value.has(r.run_id));
  const live = chosen.filter((r) => !isEnded(r) && !r.canceling);
  const broken = chosen.filter((r) => r.status === "failed" || r.status === "canceled");
  async function each(word: string, list: Summary[], act: (id: string) => Promise<unknown>) {
    sure.value = false;
    const failures: string[] = [];
    for (const { run_id } of list) await act(run_id).then(() => pick([run_id], false), (e: Refused) => failures.push(e.message)); // one after the other: a server takes so many at once
    said.value = `${word} ${plural(list.length - failures.length, "run")}${failures.length ? `; ${failures.length} refused: ${failures[0]}` : ""}`;
  }
  return (
    <>
      {chosen.length > 0 && (
        <div class="bulk" role="group" aria-label="Selected runs">
          <strong class="num">{plural(chosen.length, "run")} selected</strong>
          {sure.value ? (
            <>
              <button class="danger" onClick={() => each("Canceled", live, (id) => post(runPath(id, "/cancel"), { reason: "canceled in the list of runs" }))}>Yes, cancel {plural(live.length, "run")}</button>
              <button onClick={() => (sure.value = false)}>Keep {live.length === 1 ? "it" : "them"}</button>
            </>
          ) : (
            <>
              <button class="danger" disabled={!live.length} onClick={() => (sure.value = true)}>Cancel {live.length || ""}</button>
              <button disabled={!broken.length} title="Start those that failed or were canceled again, with what they have kept" onClick={() => each("Started", broken, async (id) => post("/v1/runs", retryOf(await get<State>(runPath(id)))))}>Retry {broken.length || ""}</button>
            </>
          )}
          <button class="quiet" onClick={() => (picked.value = new Set())}>Select none</button>
        </div>
      )}
      <p class={said.value ? "bulk" : "visually-hidden"} role="status">{said.value}{said.value && <button class="quiet" aria-label="Close" onClick={() => (said.value = "")}>✕</button>}</p>
    </>
  );
}
