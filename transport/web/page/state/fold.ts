// The reducer: what a run's events add up to. The one in Go (messages.Fold) is the judge of what is legal; this one
// trusts the server, and says the same State of the same log. A test feeds both.
import { isPart, type Status, type WireEvent } from "../api/types";
import { afterBytes, byteLength, firstBytes } from "./bytes";
import type { Kind, Payloads, Saying } from "./events";
import { amountOf, answered, plus, type Budget, type Purse } from "./purse";
import { Table } from "./table";

export interface Task { task: string; status: "running" | "waiting" | "completed" | "failed"; attempt: number }
export interface Stream {
  stream: string;
  task?: string;
  thought?: boolean;
  closed?: boolean;
  media_type?: string;
  /** The ordinal of the next delta. */
  index: number;
  /** What is kept: without the first bytes, if some were dropped. */
  text: string;
  /** The length in UTF-8, with what was dropped. */
  bytes: number;
  dropped?: number;
}
export type Progress = Payloads["progress"];
export type LogLine = Payloads["log"]["lines"][number];
export interface Call { call: string; task?: string; model?: boolean; name: string; ended?: boolean; progress?: Payloads["tool.progress"]; reserved?: Budget; estimated?: boolean }
export type Artifact = Payloads["run.completed"]["artifacts"][number];
export interface Input {
  request: string;
  task?: string;
  prompt: string;
  schema?: unknown;
  kind?: Payloads["input.required"]["kind"];
  timeout_ms?: number;
  asked_at?: string;
  answered_at?: string;
  attempt?: number;
  id?: string;
  value?: unknown;
  closed?: boolean;
}
export interface Child { child: string; job: string; task?: string; name?: string; status: Status; waited_ms?: number; grant?: Budget }
export interface Step { step: string; task?: string; rounds: number; outcome?: string; running?: boolean }
export type Kept = Payloads["step.kept"];
export type Notice = Payloads["notice"];
/** Something said to the run, and what became of it. */
export type Message = Payloads["message.queued"] & { seq: number; position: number; task?: string; at?: string; seen?: boolean; dropped?: string };
export type Failure = Payloads["run.failed"]["error"];
export interface End { by: string; cause?: string; task?: string; error?: Failure; result?: unknown; degraded?: boolean; at: string }

/** The sum of a log up to the number seq; its fields are those of messages.State. */
export interface State {
  run_id: string;
  seq: number;
  status: Status;
  canceling?: boolean;
  node?: string;
  epoch?: number;
  queued_at: string;
  updated_at: string;
  /** The run before in its conversation, while this one waits for it. */
  after?: string;
  place?: string;
  held_at?: string;
  began_at?: string;
  queued?: Payloads["run.queued"];
  tasks: Task[];
  streams: Stream[];
  progress: Progress[];
  log: { next: number; lines: LogLine[] };
  calls: Call[];
  artifacts: Artifact[];
  artifact_tasks?: string[];
  inputs: Input[];
  messages: Message[];
  children: Child[];
  steps: Step[];
  kept: Kept[];
  notices: Notice[];
  purse?: Purse;
  end?: End;
  recoveries: number;
  milestone: number;
}

type Rewind = Payloads["run.recovered"]["rewind"];
type Delta = Payloads["text.delta"];

/** How many log lines a State keeps: the newest. */
const logTail = 64;
const deltas = new Set<string>(["progress", "log", "merged", "text.delta", "thought.delta", "tool.progress"] satisfies Kind[]);

/** Reports whether the event may be merged with its neighbours. */
export const isDelta = (type: string) => deltas.has(type);

/** The State lacks a text that the server leaves out: begin anew with a snapshot. */
export class Reset extends Error {}

/** Grows a State in place. */
export class Fold {
  readonly state: State;
  private tasks; private streams; private calls; private inputs; private children; private steps; private kept; private messages;
  private progress; private artifacts;

  /** Continues from a State on the wire, which leaves empty lists out. */
  constructor(from: Partial<State> = {}) {
    const s: State = { run_id: "", seq: 0, status: "pending", queued_at: "", updated_at: "", recoveries: 0, milestone: 0,
      tasks: [], streams: [], progress: [], calls: [], artifacts: [], artifact_tasks: [], inputs: [], messages: [], children: [], steps: [], kept: [], notices: [],
      ...from, log: { next: from.log?.next ?? 0, lines: from.log?.lines ?? [] } };
    for (const t of s.streams) t.bytes = (t.dropped ?? 0) + byteLength(t.text);
    this.state = s;
    this.tasks = new Table(s.tasks, (t) => t.task);
    this.streams = new Table(s.streams, (t) => t.stream);
    this.calls = new Table(s.calls, (c) => c.call);
    this.inputs = new Table(s.inputs, (i) => i.request);
    this.messages = new Table(s.messages, (m) => m.message);
    this.children = new Table(s.children, (c) => c.child);
    this.steps = new Table(s.steps, (t) => t.step);
    this.kept = new Table(s.kept, (k) => k.task + "\0" + k.step);
    this.progress = new Table(s.progress, (p) => p.task ?? "");
    this.artifacts = new Table(s.artifacts, (a) => a.name);
  }

  task(name: string) { return this.tasks.get(name); }
  stream(name: string) { return this.streams.get(name); }
  call(id: string) { return this.calls.get(id); }
  input(request: string) { return this.inputs.get(request); }
  step(name: string) { return this.steps.get(name); }

  /** Adds the event, and reports whether it is past the State. */
  apply(e: WireEvent): boolean {
    const s = this.state;
    if (e.seq <= s.seq) return false;
    if (isPart(e)) return this.replace(e.payload as Delta);
    this.complete(e as Saying);
    this.say(e as WireEvent & Saying);
    s.run_id = e.run_id;
    s.seq = e.seq;
    s.updated_at = e.ts;
    if (!isDelta(e.type)) s.milestone = e.seq;
    return true;
  }

  private say(e: Saying & { ts?: string; seq?: number }) {
    const s = this.state;
    switch (e.type) {
      case "run.queued":
        s.queued = e.payload;
        s.queued_at = e.ts!;
        s.after = e.payload.after;
        s.place = e.payload.place;
        s.log.next = 1;
        break;
      case "run.held":
        s.held_at = e.ts;
        break;
      case "run.moved":
        Object.assign(s, { after: e.payload.after, place: e.payload.place, held_at: undefined });
        break;
      case "run.released":
        this.begins(e.ts!);
        break;
      case "run.started":
        s.status = "processing";
        this.begins(e.ts!);
        this.own(e.payload);
        break;
      case "run.recovered":
        this.recover(e.payload);
        break;
      case "run.canceling":
        s.canceling = true;
        break;
      case "run.completed":
        this.end("completed", e.payload, e.ts!, { by: e.payload.by, result: e.payload.result, degraded: e.payload.degraded });
        break;
      case "run.failed": {
        const { by, cause, task, error } = e.payload;
        this.end("failed", e.payload, e.ts!, { by, cause, task, error });
        break;
      }
      case "run.canceled":
        this.end("canceled", e.payload, e.ts!, { by: e.payload.by, cause: e.payload.cause });
        break;
      case "task.started":
        this.tasks.put({ ...e.payload, status: "running" });
        break;
      case "task.completed":
        this.forfeit(e.payload.task);
        this.tasks.put({ ...e.payload, status: "completed" });
        break;
      case "task.failed":
        this.forfeit(e.payload.task);
        this.tasks.put({ task: e.payload.task, attempt: e.payload.attempt, status: e.payload.will_retry ? "waiting" : "failed" });
        break;
      case "task.restarted":
        this.restart(e.payload);
        break;
      case "progress":
        this.progress.put(e.payload);
        break;
      case "log":
        this.log(e.payload.lines);
        break;
      case "merged":
        for (const part of e.payload.parts) this.say(part);
        break;
      case "text.delta":
        this.append(e.payload, false);
        break;
      case "thought.delta":
        this.append(e.payload, true);
        break;
      case "text.done":
        this.close(e.payload, false);
        break;
      case "text.closed": {
        const dropped = e.payload.dropped ? { text: "", dropped: e.payload.bytes } : {};
        this.streams.change(e.payload.stream, { closed: true, ...dropped });
        break;
      }
      case "thought.done":
        this.close(e.payload, true);
        break;
      case "llm.started":
        this.calls.put({ call: e.payload.call, task: e.payload.task, model: true, name: e.payload.model, reserved: e.payload.reserved });
        this.spend({ model_calls: 1 });
        if (e.payload.reserved) this.purse({ reserved: plus(s.purse!.reserved, e.payload.reserved) });
        break;
      case "tool.started":
        this.calls.put({ call: e.payload.call, task: e.payload.task, name: e.payload.tool });
        this.spend({ tool_calls: 1 });
        break;
      case "llm.completed":
        for (const message of e.payload.seen ?? []) this.messages.change(message, { seen: true });
        this.calls.change(e.payload.call, { ended: true });
        this.release(e.payload.call);
        if (e.payload.usage) this.spend(amountOf(e.payload.usage), e.payload.usage.estimated);
        break;
      case "usage":
        if (e.payload.call) {
          const used = amountOf(e.payload.usage);
          this.purse({ reserved: plus(s.purse!.reserved, used) });
          this.calls.change(e.payload.call, { reserved: plus(this.calls.get(e.payload.call)?.reserved, used), estimated: true });
          break;
        }
        this.spend({ ...amountOf(e.payload.usage), model_calls: e.payload.model_calls, tool_calls: e.payload.tool_calls }, e.payload.usage.estimated);
        break;
      case "budget.warning":
        this.purse({ warned: [...(s.purse?.warned ?? []), e.payload.unit] });
        break;
      case "budget.granted":
        if (e.payload.child) this.grant(e.payload.child, e.payload.grant);
        else this.purse({ refilled: plus(s.purse?.refilled, e.payload.grant), warned: [] });
        break;
      case "tool.completed":
        this.calls.change(e.payload.call, { ended: true });
        break;
      case "tool.progress":
        this.calls.change(e.payload.call, { progress: e.payload });
        break;
      case "artifact.partial":
      case "artifact.written":
        this.write(e.payload);
        break;
      case "input.required": {
        const { request, task, prompt, schema, kind, timeout_ms } = e.payload;
        const attempt = task ? this.tasks.get(task)?.attempt : s.recoveries;
        this.inputs.put({ request, task, prompt, schema, kind, timeout_ms, asked_at: e.ts, attempt });
        break;
      }
      case "input.received": {
        const secret = this.inputs.get(e.payload.request)?.kind === "secret";
        const value = secret ? undefined : e.payload.value;
        if (this.inputs.get(e.payload.request)?.kind === "budget") this.add(answered(value));
        this.inputs.change(e.payload.request, { closed: true, id: e.payload.id, answered_at: e.ts, value });
        break;
      }
      case "message.queued":
        this.messages.put({ ...e.payload, seq: e.seq!, position: 1 + s.messages.filter((m) => !m.at && !m.dropped).length });
        break;
      case "message.delivered":
        this.messages.change(e.payload.message, { task: e.payload.task, at: e.payload.at });
        break;
      case "message.dropped":
        this.messages.change(e.payload.message, { dropped: e.payload.reason });
        break;
      case "step.kept":
        this.kept.put(e.payload);
        break;
      case "notice":
        s.notices.push(e.payload);
        break;
      case "child.started":
        this.children.put({ ...e.payload, grant: undefined, status: "processing" });
        if (e.payload.grant) this.grant(e.payload.child, e.payload.grant);
        break;
      case "child.ended":
        if (this.children.get(e.payload.child)?.grant) this.purse({ granted: plus(s.purse?.granted, this.children.get(e.payload.child)!.grant, -1) });
        this.children.change(e.payload.child, { status: e.payload.status, waited_ms: e.payload.waited_ms, grant: undefined });
        if (e.payload.spent) this.spend(e.payload.spent, e.payload.estimated);
        if (e.payload.added) this.add(e.payload.added);
        break;
      case "step.started": {
        const { step, task } = e.payload;
        this.steps.put({ step, task, rounds: (this.steps.get(step)?.rounds ?? 0) + 1, running: true });
        break;
      }
      case "step.ended": {
        const { step, task, outcome } = e.payload;
        this.steps.put({ ...(this.steps.get(step) ?? { step, task, rounds: 0 }), outcome, running: false });
        break;
      }
    }
  }

  private purse(changed: Partial<Purse>) {
    this.state.purse = { ...this.state.purse, ...changed };
  }

  private spend(b: Budget, estimated?: boolean) {
    if (!Object.values(b).some(Boolean)) return;
    this.purse({ spent: plus(this.state.purse?.spent, b), estimated: this.state.purse?.estimated || estimated });
  }

  private add(b: Budget) {
    this.purse({ added: plus(this.state.purse?.added, b), warned: [] });
  }

  private grant(child: string, more: Budget) {
    const b = plus(more); // without the time, which all share
    this.purse({ granted: plus(this.state.purse?.granted, b) });
    this.children.change(child, { grant: plus(this.children.get(child)?.grant, b) });
  }

  private release(call: string) {
    const reserved = this.calls.get(call)?.reserved;
    if (!reserved) return;
    this.purse({ reserved: plus(this.state.purse?.reserved, reserved, -1) });
    this.calls.change(call, { reserved: undefined });
  }

  /** Nobody will say what the task's open calls have used. */
  private forfeit(task: string) {
    for (const c of this.state.calls) {
      if (c.task !== task || c.ended || !c.reserved) continue;
      this.spend(c.reserved, true);
      this.release(c.call);
    }
  }

  /** Takes back what the text has after the piece; the event that says so has the same number, and follows. */
  private replace(d: Delta): false {
    const t = this.streams.get(d.stream);
    if (!t || d.offset > t.bytes) throw new Reset();
    const text = firstBytes(t.text, d.offset - (t.dropped ?? 0)) + d.text;
    this.streams.put({ ...t, text, bytes: d.offset + byteLength(d.text) });
    return false;
  }

  /** Puts the text into the event that the server has left out, because the page has it. */
  private complete({ type, payload }: Saying) {
    if ((type === "text.done" || type === "thought.done") && payload.omitted) {
      const t = this.streams.get(payload.stream);
      if (t?.bytes !== payload.bytes || t?.dropped) throw new Reset();
      payload.text = t!.text;
      delete payload.omitted;
      delete payload.bytes;
    } else if (type === "run.completed") {
      const { stream, bytes, sha256, omitted, ...rest } = (payload.result ?? {}) as Record<string, unknown>;
      const t = omitted === true ? this.streams.get(String(stream)) : undefined;
      if (t?.bytes === bytes && sha256) payload.result = { text: t!.text, ...rest };
    }
  }

  /** Its wait for the run before is over. */
  private begins(ts: string) {
    const s = this.state;
    if (s.after) Object.assign(s, { after: undefined, held_at: undefined, began_at: ts });
  }

  private own(from: { node?: string; epoch?: number }) {
    this.state.node = from.node;
    this.state.epoch = from.epoch;
  }

  private append(d: Delta, thought: boolean) {
    const t = this.streams.get(d.stream) ?? { stream: d.stream, task: d.task, thought, index: 0, text: "", bytes: 0 };
    const begin = d.offset + (d.dropped ?? 0);
    const gone = begin > t.bytes; // what is missing was not read before
    const text = afterBytes(d.text, gone ? 0 : t.bytes - begin);
    const so = gone ? { text, bytes: begin + byteLength(text), dropped: begin } : { text: t.text + text, bytes: t.bytes + byteLength(text) };
    this.streams.put({ ...t, ...so, media_type: d.media_type ?? t.media_type, index: d.index + Math.max(d.count ?? 1, 1) });
  }

  private close(d: Payloads["text.done"], thought: boolean) {
    const t: Partial<Stream> & Pick<Stream, "stream" | "index"> = this.streams.get(d.stream) ?? { stream: d.stream, task: d.task, thought, index: 0 };
    const text = d.text ?? "";
    this.streams.put({ ...t, media_type: d.media_type ?? t.media_type, text, bytes: byteLength(text), dropped: undefined, closed: true });
  }

  private log(lines: LogLine[]) {
    const log = this.state.log;
    const fresh = lines.filter((line) => line.number >= log.next);
    if (!fresh.length) return;
    log.lines = [...log.lines, ...fresh].slice(-logTail);
    log.next = fresh[fresh.length - 1]!.number + 1;
  }

  private write({ task, ...artifact }: Payloads["artifact.written"]) {
    this.state.artifact_tasks![this.artifacts.put(artifact)] = task ?? "";
  }

  /** Another attempt begins: what the task said and wrote is taken back. */
  private restart({ task, attempt }: Payloads["task.restarted"]) {
    const s = this.state;
    this.tasks.put({ task, attempt, status: "running" });
    for (const t of s.streams) {
      if (t.task === task) this.streams.put({ stream: t.stream, task, thought: t.thought, index: 0, text: "", bytes: 0 });
    }
    const i = s.progress.findIndex((p) => p.task === task);
    if (i >= 0) this.progress.drop(i);
    const tasks = s.artifact_tasks!;
    for (let i = tasks.length - 1; i >= 0; i--) {
      if (tasks[i] !== task) continue;
      this.artifacts.drop(i);
      const last = tasks.pop()!;
      if (i < tasks.length) tasks[i] = last;
    }
  }

  private recover(p: Payloads["run.recovered"]) {
    this.rewind(p.rewind);
    for (const t of this.state.tasks) {
      if (t.status === "running") this.forfeit(t.task);
      if (t.status === "running" || (p.restart && t.status === "completed")) this.tasks.put({ ...t, status: "waiting" });
    }
    this.own(p);
    this.state.recoveries++;
  }

  /** Goes back to what the journal holds: open texts that the rewind does not name vanish. */
  private rewind(r: Rewind) {
    const s = this.state;
    const marks = new Map(r.streams?.map((m) => [m.stream, m]));
    const open = r.open ? s.streams.filter((t) => !t.closed) : [];
    open.slice(0, (r.open?.length ?? 0) / 2).forEach(({ stream }, i) => {
      marks.set(stream, { stream, bytes: r.open![2 * i]!, index: r.open![2 * i + 1]! });
    });
    for (let i = s.streams.length - 1; i >= 0; i--) {
      const t = s.streams[i]!;
      if (t.closed) continue;
      const m = marks.get(t.stream);
      if (m) this.streams.put({ ...t, text: firstBytes(t.text, m.bytes - (t.dropped ?? 0)), bytes: m.bytes, index: m.index });
      else this.streams.drop(i);
    }
    s.progress = r.progress ?? [];
    this.progress = new Table(s.progress, (p) => p.task ?? "");
    s.log = { next: (r.log?.at(-1)?.number ?? 0) + 1, lines: r.log ?? [] };
    for (const c of s.calls) if (c.progress && !c.ended) this.calls.put({ ...c, progress: undefined });
    for (const p of r.tools ?? []) this.calls.change(p.call, { progress: p });
  }

  private end(
    status: Status,
    { artifacts, artifact_count, rewind }: { artifacts: Artifact[]; artifact_count?: number; rewind?: Rewind },
    at: string,
    end: Omit<End, "at">,
  ) {
    const s = this.state;
    if (rewind) this.rewind(rewind);
    s.status = status;
    if (s.purse?.reserved && Object.keys(s.purse.reserved).length) {
      this.spend(s.purse.reserved, true);
      this.purse({ reserved: undefined });
    }
    s.end = { ...end, at };
    if (!artifact_count) s.artifacts = artifacts;
    else if (status === "canceled") s.artifacts = s.artifacts?.map((a) => ({ ...a, partial: true }));
    s.artifact_tasks = undefined;
  }
}
