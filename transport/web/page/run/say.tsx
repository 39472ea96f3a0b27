import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, get, post, runPath, type Refused } from "../api/client";
import type { Job, Summary } from "../api/types";
import type { Feed } from "../state/feed";
import { go, runHref } from "../router";
import type { Message, State } from "../state/fold";
import { requestOf } from "./again";
import { Markdown } from "./markdown";
import { stepsOf } from "./plan";
import { clean, cut, plural } from "./text";

/** What was said to the run, and a field to say more while it works, if its job takes messages. */
export function Say({ feed }: { feed: Feed }) {
  feed.slow.value;
  const s = feed.tree.top.fold.state;
  const job = s.queued?.job;
  const takes = useSignal(false);
  const live = takes.value && s.status === "processing" && !s.canceling;
  const open = useSignal(false);
  const problem = useSignal("");
  useEffect(() => {
    takes.value = stepsOf(feed.tree.top).some((step) => step.receive);
    if (job) get<Job>("/v1/jobs/" + encodeURIComponent(job)).then((j) => (takes.value ||= !!j.messages), () => {}); // only sub-runs have it: nobody talks to them
  }, [feed, job]);
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

/** Most turns of a conversation that are read. */
const mostTurns = 20;

/** What was said before: by the caller who keeps the conversation, or in the turns that the server has. */
export function Earlier({ feed }: { feed: Feed }) {
  feed.slow.value;
  const { queued } = feed.tree.top.fold.state;
  const { earlier } = (queued?.input ?? {}) as { earlier?: { role?: unknown; content?: unknown }[] };
  const context = queued?.parent ? undefined : queued?.labels?.context;
  const before = useSignal<Summary[]>([]);
  const turns = useSignal<State[] | string | undefined>(undefined);
  useEffect(() => {
    if (!context) return;
    get<{ runs: Summary[] }>(`/v1/runs?limit=1000&label=${encodeURIComponent("context:" + context)}`).then(({ runs }) => {
      const own = runs.findIndex((r) => r.run_id === feed.id);
      before.value = own < 0 ? [] : runs.slice(own + 1);
    }, () => {}); // the turn itself is shown all the same
  }, [feed, context]);
  const said = Array.isArray(earlier) ? earlier.slice(-100) : [];
  if (!said.length && !before.value.length) return null;
  const read = () => {
    turns.value ??= "Reading…";
    Promise.all(before.value.slice(0, mostTurns).reverse().map((r) => get<State>(runPath(r.run_id)))).then((all) => (turns.value = all), (e: Refused) => (turns.value = e.message));
  };
  const n = before.value.length;
  return (
    <details class="thought" onToggle={(e) => (e.currentTarget as HTMLDetailsElement).open && n > 0 && typeof turns.value !== "object" && read()}>
      <summary>What was said before{n > 0 && <span class="muted"> {plural(n, "turn")}</span>}</summary>
      {n > mostTurns && <p class="earlier muted">The newest {mostTurns} of {n} turns.</p>}
      {typeof turns.value === "string" ? <p class="earlier muted">{turns.value}</p> : turns.value?.map((t) => <Turn key={t.run_id} turn={t} />)}
      {said.map((m, i) => <Words key={i} by={String(m?.role)} text={String(m?.content ?? "")} />)}
    </details>
  );
}

function Turn({ turn: { run_id, status, queued, end } }: { turn: State }) {
  const { message } = (queued?.input ?? {}) as { message?: string };
  const answer = (end?.result as { text?: string } | undefined)?.text;
  return (
    <>
      <Words by="user" text={message ?? ""} />
      <Words by="assistant" text={answer ?? `This turn is ${status}.`} link={runHref(run_id)} />
    </>
  );
}

function Words({ by, text, link }: { by: string; text: string; link?: string }) {
  return <div class="earlier"><p class="muted">{link ? <a href={link}>{by}</a> : clean(cut(by, 40))}</p><Markdown text={cut(text, 20_000)} /></div>;
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
