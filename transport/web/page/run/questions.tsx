import { useSignal } from "@preact/signals";
import { post, runPath, type Refused } from "../api/client";
import type { Schema } from "../api/types";
import type { Feed } from "../state/feed";
import type { Input } from "../state/fold";
import { Markdown } from "./markdown";
import { clean, cut, pretty } from "./text";

/** What the run and its sub-runs ask, answered in place. */
export function Questions({ feed }: { feed: Feed }) {
  feed.slow.value;
  const open = [...feed.tree.runs.values()].filter((r) => !r.fold.state.end).flatMap((r) => r.fold.state.inputs.filter((i) => !i.closed).map((input) => ({ run: r.id, input })));
  if (!open.length) return null;
  return <div class="questions">{open.slice(0, 20).map(({ run, input }) => <Question key={run + input.request + input.attempt} run={run} input={input} />)}</div>;
}

function Question({ run, input }: { run: string; input: Input }) {
  const problem = useSignal("");
  const sent = useSignal(false);
  const name = "q-" + run + input.request;
  async function answer(value: unknown) {
    problem.value = "";
    sent.value = true;
    await post(runPath(run, `/input/${encodeURIComponent(input.request)}`), { value }).catch((e: Refused) => {
      problem.value = e.problem.errors?.map((one) => one.message).join("; ") || e.message;
      sent.value = false;
    });
  }
  return (
    <section class="question" aria-labelledby={name}>
      <div id={name}><Markdown text={input.prompt} /></div>
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
  const fields: [string, Schema][] = schema.type === "object" && schema.properties ? Object.entries(schema.properties) : [["", schema]];
  function submit(e: SubmitEvent) {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    try {
      const values = fields.map(([name, s]) => [name, read(form.elements.namedItem("f" + name) as HTMLInputElement, s)] as const);
      onAnswer(fields[0]![0] === "" ? values[0]![1] : Object.fromEntries(values.filter(([, v]) => v !== undefined)));
    } catch {
      (form.querySelector("textarea") ?? form.querySelector("input"))?.setCustomValidity("This is not JSON");
      form.reportValidity();
    }
  }
  return (
    <form onSubmit={submit} onInput={(e) => (e.target as HTMLInputElement).setCustomValidity("")}>
      {fields.map(([name, s]) => <Field key={name} name={name} schema={s} secret={input.kind === "secret"} label={label} required={name === "" || !!schema.required?.includes(name)} />)}
      <div class="bar"><button class="primary" disabled={busy}>Answer</button></div>
    </form>
  );
}

function Field({ name, schema, secret, label, required }: { name: string; schema: Schema; secret: boolean; label: string; required: boolean }) {
  const id = "f" + name;
  const own = name ? { id, name: id } : { id, name: id, "aria-labelledby": label };
  return (
    <div class="field">
      {name && <label for={id}>{clean(schema.title ?? name)}{schema.description && <span class="muted"> {clean(schema.description)}</span>}</label>}
      {control()}
    </div>
  );
  function control() {
    const initial = schema.default === undefined ? "" : typeof schema.default === "string" ? schema.default : pretty(schema.default);
    if (schema.enum) return <select {...own} required={required}>{schema.enum.map((v) => <option key={String(v)} value={JSON.stringify(v)}>{clean(String(v))}</option>)}</select>;
    switch (schema.type) {
      case "boolean":
        return <input {...own} type="checkbox" defaultChecked={schema.default === true} />;
      case "integer":
      case "number":
        return <input {...own} type="number" step={schema.type === "integer" ? 1 : "any"} min={schema.minimum} max={schema.maximum} required={required} defaultValue={initial} />;
    }
    if (secret) return <input {...own} type="password" autocomplete="off" required={required} />;
    return <textarea {...own} rows={isText(schema) ? 2 : 4} minLength={schema.minLength} maxLength={schema.maxLength} required={required} placeholder={isText(schema) ? "" : "JSON"} defaultValue={initial} />;
  }
}

const isText = (s: Schema) => s.type === "string" || (s.type === undefined && !s.properties && !s.items);

/** The value of a field, or nothing where it is empty. */
function read(field: HTMLInputElement, schema: Schema): unknown {
  if (schema.enum) return JSON.parse(field.value);
  if (schema.type === "boolean") return field.checked;
  if (isText(schema)) return field.value === "" ? undefined : field.value;
  return field.value.trim() === "" ? undefined : JSON.parse(field.value);
}
