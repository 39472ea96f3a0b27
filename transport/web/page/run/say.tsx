import { useSignal } from "@preact/signals";
import { call, post, runPath, type Refused } from "../api/client";
import type { Feed } from "../state/feed";
import type { Message } from "../state/fold";
import { clean, cut } from "./text";

/** What was said to the run, and a field to say more while it works. */
export function Say({ feed }: { feed: Feed }) {
  feed.slow.value;
  const s = feed.tree.top.fold.state;
  const live = s.status === "processing" && !s.canceling;
  const open = useSignal(false);
  const problem = useSignal("");
  if (!live && !s.messages.length) return null;
  const act = (work: Promise<unknown>) => {
    problem.value = "";
    return work.catch((e: Refused) => void (problem.value = e.message));
  };
  async function submit(e: SubmitEvent) {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const mode = (e.submitter as HTMLButtonElement).value;
    const content = String(new FormData(form).get("content"));
    await act(post(runPath(feed.id, "/messages"), { content, mode }).then(() => form.reset()));
  }
  return (
    <section class="say" aria-label="Messages to the run">
      {s.messages.slice(-20).map((m) => (
        <p key={m.message}>
          {clean(cut(m.content, 500))} <span class="muted">{fate(m)}</span>
          {!m.at && !m.dropped && live && <button class="quiet" onClick={() => act(call("DELETE", runPath(feed.id, `/messages/${encodeURIComponent(m.message)}`)))}>Take back</button>}
        </p>
      ))}
      {live && !open.value && <button class="quiet" onClick={() => (open.value = true)}>Say something</button>}
      {live && open.value && (
        <form onSubmit={submit}>
          <textarea name="content" required maxLength={32768} rows={2} aria-label="Message to the run" />
          <div class="bar"><button class="primary" value="steer">Say</button><button value="interrupt">Interrupt</button></div>
        </form>
      )}
      {problem.value && <p class="bad" role="alert">{problem.value}</p>}
    </section>
  );
}

/** What became of a message. */
function fate(m: Message): string {
  if (m.dropped) return m.dropped === "revoked" ? "taken back" : "not delivered: the run ended";
  if (!m.at) return "waits";
  return m.seen ? "seen by the model" : "delivered";
}
