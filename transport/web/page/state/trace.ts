// What a run's State leaves out and its page shows: when things happened, in which attempt, and with what result.
import { isPart, type WireEvent } from "../api/types";
import type { Payloads, Saying } from "./events";
import { Fold, isDelta, type Failure } from "./fold";

export type SegmentState = "pending" | "processing" | "waiting" | "held" | "canceling" | "completed" | "failed" | "canceled" | "skipped" | "lost";

/** A time in which a thing did not change its state. Times are milliseconds since 1970. */
export interface Segment {
  state: SegmentState;
  from: number;
  /** Missing while it goes on. */
  to?: number;
  /** The attempt of a task, or the round of a step. */
  attempt: number;
  /** The event that began it. */
  seq: number;
  says: string;
}

/** A thing that takes time. */
export interface Row {
  kind: "run" | "task" | "model" | "tool" | "step" | "question";
  run: string;
  name: string;
  /** What a sub-run is called below its step, which has the name already. */
  within?: string;
  segments: Segment[];
  rows: Row[];
  /** The tokens of a model call that has ended. */
  usage?: Payloads["llm.completed"]["usage"];
}

/** The step that a thing of a plan belongs to, and its round; the names of a plan's sub-runs and questions end in it. */
export function stepOf(name = ""): { step?: string; round: number } {
  const [, step, round] = /^(.+)#(\d+)$/s.exec(name) ?? [];
  return { step, round: Number(round ?? 1) };
}

/** The step whose item the step is, as draft is of draft[1]. */
export const wholeOf = (step: string) => /^(.+)\[\d+\]$/s.exec(step)?.[1];

/** What the models below the row have used, and for how long it ran, in milliseconds. */
export interface Cost { calls: number; input: number; output: number; ms: number }

export function costOf(row: Row, now: number): Cost {
  const sum: Cost = { calls: 0, input: 0, output: 0, ms: 0 };
  const add = (r: Row) => {
    if (r.kind === "model") sum.calls += r.segments.length;
    sum.input += r.usage?.prompt_tokens ?? 0;
    sum.output += r.usage?.completion_tokens ?? 0;
    r.rows.forEach(add);
  };
  add(row);
  for (const s of row.segments) if (s.state !== "pending" && s.state !== "held" && s.state !== "waiting" && s.state !== "skipped") sum.ms += (s.to ?? now) - s.from;
  return sum;
}

/** The rows by which a run is summed up: its tasks, or the steps of a plan. */
export function partsOf(root: Row): Row[] {
  const steps = root.rows.flatMap((r) => r.rows).filter((r) => r.kind === "step" && r.segments.some((s) => s.state !== "skipped"));
  return root.rows.length === 1 && steps.length ? steps : root.rows.filter((r) => r.kind !== "question");
}

/** A model call or a tool call. */
export interface CallDetail {
  name: string;
  model: boolean;
  provider?: string;
  arguments?: unknown;
  result?: unknown;
  error?: Failure;
  end?: Payloads["llm.completed"];
  from: number;
  to?: number;
}

/** A thing of the answer, in the order of appearance. */
export interface Item { kind: "text" | "thought" | "call"; name: string }

export interface Crash extends Omit<Payloads["task.failed"], "error"> { seq: number; error: Failure }

/** A step of a plan began or ended. */
export interface Move { step: string; seq: number; outcome?: string; next?: string; why: string }

/** One run of a tree. */
export class RunTrace {
  fold = new Fold();
  readonly root: Row;
  readonly items: Item[] = [];
  readonly calls = new Map<string, CallDetail>();
  readonly thoughts = new Map<string, Payloads["thought.done"]>();
  readonly crashes: Crash[] = [];
  readonly moves: Move[] = [];
  /** Who asked for its cancel, and why. */
  canceling?: Payloads["run.canceling"];
  private rows = new Map<string, Row>();
  private streams = new Set<string>();

  constructor(readonly id: string, root?: Row) {
    this.root = root ?? { kind: "run", run: id, name: "run", segments: [], rows: [] };
  }

  /** Adds the event, and returns the sub-run that it began. */
  apply(e: WireEvent): Row | undefined {
    const last = this.fold.state.updated_at;
    if (!this.fold.apply(e)) return;
    if (isDelta(e.type)) {
      this.delta(e as WireEvent & Saying);
      return;
    }
    return this.milestone(e as WireEvent & Saying, Date.parse(e.ts), last);
  }

  private delta(e: Saying) {
    if (e.type === "merged") e.payload.parts.forEach((part) => this.delta(part));
    else if (e.type === "text.delta" || e.type === "thought.delta") this.stream(e.payload.stream, e.type === "thought.delta");
  }

  private stream(name: string, thought: boolean): undefined {
    if (this.streams.has(name)) return;
    this.streams.add(name);
    this.items.push({ kind: thought ? "thought" : "text", name });
  }

  private milestone(e: WireEvent & Saying, at: number, last: string): Row | undefined {
    const open = (row: Row, state: SegmentState, attempt = 1, says = e.message ?? "") => {
      close(row, at);
      row.segments.push({ state, from: at, attempt, seq: e.seq, says });
    };
    switch (e.type) {
      case "run.queued":
        if (this.root.name === "run") this.root.name = e.payload.job; // a step of a plan has its name already
        this.root.segments.length = 0;
        return void open(this.root, "pending");
      case "run.started":
        return void open(this.root, "processing");
      case "run.held":
        return void open(this.root, "held");
      case "run.released":
        return void open(this.root, "pending");
      case "run.canceling":
        this.canceling = e.payload;
        close(this.root, at, this.fold.state.status === "pending" ? undefined : "canceled"); // nothing but run.canceled ends it now
        return void open(this.root, "canceling");
      case "run.recovered":
        return void this.recovered(e, at, Date.parse(last));
      case "run.completed":
      case "run.failed":
      case "run.canceled":
        return void this.ended(e.type.slice(4) as "completed" | "failed" | "canceled", at);
      case "task.started":
        return void open(this.row("task", e.payload.task), "processing");
      case "task.restarted":
        return void open(this.row("task", e.payload.task), "processing", e.payload.attempt);
      case "task.completed":
        return void close(this.row("task", e.payload.task), at, "completed");
      case "task.failed": {
        const row = this.row("task", e.payload.task);
        close(row, at, "failed", e.message);
        if (e.payload.will_retry) open(row, "pending", e.payload.attempt, "waits for another attempt");
        this.crashes.push({ ...e.payload, seq: e.seq });
        return;
      }
      case "text.done":
        return this.stream(e.payload.stream, false);
      case "thought.done":
        this.thoughts.set(e.payload.stream, e.payload);
        return this.stream(e.payload.stream, true);
      case "llm.started":
        open(this.row("model", e.payload.model, e.payload.task, e.payload.call), "processing");
        return this.call(e.payload.call, { name: e.payload.model, model: true, provider: e.payload.provider, from: at });
      case "tool.started":
        open(this.row("tool", e.payload.tool, e.payload.task, e.payload.call), "processing");
        return this.call(e.payload.call, { name: e.payload.tool, model: false, arguments: e.payload.arguments, from: at });
      case "llm.completed":
        Object.assign(this.calls.get(e.payload.call) ?? {}, { end: e.payload, error: e.payload.error, to: at });
        this.row("model", e.payload.model, e.payload.task, e.payload.call).usage = e.payload.usage;
        return void close(this.row("model", e.payload.model, e.payload.task, e.payload.call), at, e.payload.verdict as SegmentState, e.message);
      case "tool.completed":
        Object.assign(this.calls.get(e.payload.call) ?? {}, { result: e.payload.result, error: e.payload.error, to: at });
        return void close(this.row("tool", "", e.payload.task, e.payload.call), at, e.payload.error ? "failed" : "completed", e.message);
      case "input.required": {
        const { step } = stepOf(e.payload.request);
        const asks = step && this.rows.get("step " + step);
        if (asks) open(asks, "waiting");
        return void open(this.row("question", step ? "question" : e.payload.request, e.payload.task, e.payload.request, step), "waiting");
      }
      case "input.received": {
        const row = this.row("question", e.payload.request, undefined, e.payload.request);
        open(row, "completed");
        const asked = this.rows.get("step " + stepOf(e.payload.request).step);
        if (asked?.segments.at(-1)?.state === "waiting") open(asked, "processing");
        return void close(row, at);
      }
      case "step.kept": {
        const { step, task, begun, error } = e.payload;
        const row = this.row("step", step, task, task + "\0" + step);
        open(row, begun ? "processing" : error ? "failed" : "completed");
        if (!begun) close(row, at);
        return;
      }
      case "child.started": {
        const { job, task, name, child } = e.payload;
        const { step, round } = stepOf(name);
        const nth = round > 1 ? `, round ${round}` : "";
        const row: Row = { kind: "run", run: child, name: (step ?? job) + nth, within: job + nth, segments: [], rows: [] };
        this.parent(task, step).rows.push(row);
        this.rows.set("child " + e.payload.child, row);
        open(row, "pending");
        return row;
      }
      case "child.ended": {
        const row = this.rows.get("child " + e.payload.child);
        return void (row && close(row, at, e.payload.status));
      }
      case "step.started":
        open(this.row("step", e.payload.step, e.payload.task, undefined, wholeOf(e.payload.step)), "processing", this.fold.step(e.payload.step)?.rounds);
        return void this.moves.push({ step: e.payload.step, seq: e.seq, why: without(e.payload.step, e.message) });
      case "step.ended": {
        const { step, outcome, next, reason } = e.payload;
        const row = this.row("step", step, e.payload.task, undefined, wholeOf(step));
        if (outcome === "skipped") open(row, "skipped", 0);
        close(row, at, outcome as SegmentState, e.message);
        return void this.moves.push({ step, seq: e.seq, outcome, next, why: reason || without(step, e.message) });
      }
    }
  }

  private call(id: string, detail: CallDetail): undefined {
    this.calls.set(id, detail);
    this.items.push({ kind: "call", name: id });
  }

  /** The row of a thing, made when it is first named. */
  private row(kind: Row["kind"], name: string, task?: string, call?: string, step?: string): Row {
    const key = kind + " " + (call ?? name);
    let row = this.rows.get(key);
    if (!row) {
      row = { kind, run: this.id, name, segments: [], rows: [] };
      this.rows.set(key, row);
      this.parent(task, step).rows.push(row);
    }
    return row;
  }

  private parent(task?: string, step?: string): Row {
    return (step && this.rows.get("step " + step)) || (task && this.rows.get("task " + task)) || this.root;
  }

  private recovered(e: WireEvent, at: number, last: number) {
    close(this.root, last, "lost", "its process died");
    this.root.segments.push({ state: "processing", from: at, attempt: this.fold.state.recoveries + 1, seq: e.seq, says: e.message ?? "" });
    for (const t of this.fold.state.tasks) {
      const row = this.rows.get("task " + t.task);
      if (t.status !== "waiting" || !row) continue;
      close(row, last, "lost", "its process died");
      row.segments.push({ state: "pending", from: at, attempt: t.attempt, seq: e.seq, says: "waits for another attempt" });
    }
  }

  private ended(state: "completed" | "failed" | "canceled", at: number) {
    close(this.root, at, state);
    for (const row of this.rows.values()) close(row, at, state === "completed" ? "completed" : "canceled");
  }
}

/** The sentence without the name that it begins with. */
const without = (name: string, says = "") => (says.startsWith(name + " ") ? says.slice(name.length + 1) : says);

/** Ends the row's last segment, if it goes on. Without a state it keeps its own. */
function close(row: Row, at: number, state?: SegmentState, says?: string) {
  const last = row.segments.at(-1);
  if (!last || last.to !== undefined) return;
  last.to = at;
  if (state) last.state = last.state === "pending" && state === "completed" ? "pending" : state;
  else if (last.state === "processing") last.state = "completed";
  if (says) last.says = says;
}

/** A run with its sub-runs. */
export class Tree {
  readonly events: WireEvent[] = [];
  /** When events came, one time of each second, in milliseconds since 1970. */
  readonly beats: number[] = [];
  private second = "";
  readonly runs = new Map<string, RunTrace>();
  readonly top: RunTrace;

  constructor(id: string) {
    this.top = new RunTrace(id);
    this.runs.set(id, this.top);
  }

  apply(e: WireEvent) {
    let run = this.runs.get(e.run_id);
    if (!run) this.runs.set(e.run_id, (run = new RunTrace(e.run_id)));
    if (isPart(e)) return void run.fold.apply(e);
    if (e.seq > run.fold.state.seq) this.events.push(e);
    const second = e.ts.slice(0, 19);
    if (second !== this.second) this.beats.push(Date.parse(e.ts));
    this.second = second;
    const child = run.apply(e);
    if (child) this.runs.set(child.run, new RunTrace(child.run, child));
  }

  /** Begins with a State, for a log that can no longer be read from its beginning. */
  begin(state: ConstructorParameters<typeof Fold>[0]) {
    this.top.fold = new Fold(state);
  }
}
