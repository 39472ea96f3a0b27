import { useSignal } from "@preact/signals";
import { post, runPath, type Refused } from "../api/client";
import type { Schema } from "../api/types";
import { Fields, valueOf } from "../shell/form";
import type { Feed } from "../state/feed";
import type { Input } from "../state/fold";
import { stepOf } from "../state/trace";
import { Markdown } from "./markdown";
import { clean, cut } from "./text";

/** What the run and its sub-runs ask, answered in place. */
export function Questions({ feed }: { feed: Feed }) {
  feed.slow.value;
  const open = [...feed.tree.runs.values()].filter((r) => !r.fold.state.end).flatMap((r) => r.fold.state.inputs.filter((i) => !i.closed).map((input) => ({ run: r.id, input })));
  if (!open.length) return null;
  /** What asks: the step of a plan, or the task. */
  const asker = (run: string, input: Input) => stepOf(input.request).step ?? (run === feed.id ? input.task : feed.tree.runs.get(run)?.root.name);
  return <div class="questions">{open.slice(0, 20).map(({ run, input }) => <Question key={run + input.request + input.attempt} run={run} input={input} from={open.length > 1 || stepOf(input.request).step ? asker(run, input) : undefined} />)}</div>;
}

function Question({ run, input, from }: { run: string; input: Input; from?: string }) {
  const problem = useSignal("");
  const sent = useSignal(false);
  const name = ("q-" + run + input.request).replace(/\s/g, "_");
  async function answer(value: unknown) {
    problem.value = "";
    sent.value = true;
    await post(runPath(run, `/input/${encodeURIComponent(input.request)}`), { value }).catch((e: Refused) => {
      problem.value = e.problem.errors?.map((one) => one.message).join("; ") || e.message;
      sent.value = false;
    });
  }
  return (
    <section class="question" aria-labelledby={from ? `${name}-from ${name}` : name}>
      {from && <h2 id={name + "-from"}>{clean(cut(from, 80))}</h2>}
      <div id={name} class="prompt" tabIndex={0}>{input.kind === "confirmation" || input.kind === "review" ? <pre>{input.prompt}</pre> : <Markdown text={input.prompt} />}</div>
      <AnswerForm input={input} label={name} busy={sent.value} onAnswer={answer} />
      {problem.value && <p class="bad" role="alert">{problem.value}</p>}
    </section>
  );
}

function AnswerForm({ input, label, busy, onAnswer }: { input: Input; label: string; busy: boolean; onAnswer(value: unknown): void }) {
  const schema = (input.schema ?? {}) as Schema;
  const yesNo = schema.type === "boolean" || (!input.schema && input.kind === "confirmation");
  if (yesNo) {
    return (
      <div class="bar">
        <button class="primary" disabled={busy} onClick={() => onAnswer(true)}>Yes</button>
        <button disabled={busy} onClick={() => onAnswer(false)}>No</button>
      </div>
    );
  }
  const choices = schema.enum ?? (schema.oneOf ?? schema.anyOf)?.map((s) => s.const).filter((c) => c !== undefined);
  if (choices?.length && choices.length <= 6) {
    return <div class="bar" role="group" aria-labelledby={label}>{choices.map((c, i) => <button key={i} disabled={busy} onClick={() => onAnswer(c)}>{clean(cut(typeof c === "string" ? c : JSON.stringify(c), 200))}</button>)}</div>;
  }
  const whole = schema.type === "object" && !!schema.properties;
  const form: Schema = whole ? schema : { required: ["answer"], properties: { answer: { ...(input.schema ? schema : { type: "string" }), ...(input.kind === "secret" && { type: "string", format: "password" }) } } };
  function submit(e: SubmitEvent) {
    e.preventDefault();
    const value = valueOf(e.currentTarget as HTMLFormElement, form);
    if (value) onAnswer(whole ? value : value.answer);
  }
  return (
    <form onSubmit={submit}>
      <Fields schema={form} all />
      <div class="bar"><button class="primary" disabled={busy}>Answer</button></div>
    </form>
  );
}
