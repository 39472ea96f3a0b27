import { useSignal } from "@preact/signals";
import { call, post, runPath, type Refused } from "../api/client";
import type { Feed } from "../state/feed";
import { go, runHref } from "../router";
import type { Message, State } from "../state/fold";
import { requestOf } from "./again";
import { Markdown } from "./markdown";
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

/** What was said before, in a conversation that its caller keeps. */
export function Earlier({ feed }: { feed: Feed }) {
  const { earlier } = (feed.tree.top.fold.state.queued?.input ?? {}) as { earlier?: { role?: unknown; content?: unknown }[] };
  if (!Array.isArray(earlier) || !earlier.length) return null;
  return (
    <details class="thought">
      <summary>What was said before</summary>
      {earlier.slice(-100).map((m, i) => <div key={i} class="earlier"><p class="muted">{clean(cut(String(m?.role), 40))}</p><Markdown text={cut(String(m?.content ?? ""), 20_000)} /></div>)}
    </details>
  );
}

/** A field to go on with a chat once its turn has ended. */
export function Chat({ feed }: { feed: Feed }) {
  feed.slow.value;
  const s = feed.tree.top.fold.state;
  const problem = useSignal("");
  const { message, context, earlier = [], ...rest } = (s.queued?.input ?? {}) as { message?: string; context?: string; earlier?: { role: string; content: string }[] };
  const answer = (s.end?.result as { text?: string } | undefined)?.text;
  if (s.queued?.job !== "chat" || s.queued.parent || !s.end || !(context || answer)) return null;
  async function submit(e: SubmitEvent) {
    e.preventDefault();
    const next = String(new FormData(e.currentTarget as HTMLFormElement).get("message"));
    const before = [...earlier, { role: "user", content: message }, { role: "assistant", content: answer }]; // a turn without a context remembers nothing
    const input = { ...rest, message: next, ...(context ? { context } : { earlier: before }) };
    await post<State>("/v1/runs", { ...requestOf(s), input }).then((run) => go(runHref(run.run_id)), (e: Refused) => (problem.value = e.message));
  }
  return (
    <section class="say" aria-label="The conversation">
      <form onSubmit={submit}>
        <textarea name="message" required rows={2} aria-label="Next message" placeholder="Go on with the conversation" />
        <div class="bar"><button class="primary">Send</button></div>
      </form>
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
