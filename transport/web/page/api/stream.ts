// One WebSocket per tab carries what the tab follows. It is closed while the tab is hidden, comes back after a failure,
// and goes on after the cursor of each subscription.
import { signal } from "@preact/signals";
import { get, signedOut } from "./client";
import { isPart, type Problem, type Summary, type WireEvent, type WireState } from "./types";

export interface Connection {
  state: "idle" | "connecting" | "live" | "reconnecting" | "paused";
  /** How often the tab has tried since it was live. */
  attempt: number;
  /** Events that came late, because the tab was away. */
  replayed: number;
  /** Events that are missing. The server promises none. */
  gap: number;
}

export const connection = signal<Connection>({ state: "idle", attempt: 0, replayed: 0, gap: 0 });

export interface Follower {
  /** Events, and the number of the newest one when the page asked. */
  events(events: WireEvent[], head: number): void;
  /** The State to begin with. What was folded before is void: events go on from here. */
  snapshot(state: WireState): void;
  /** The run has ended, and the follower has its terminal. */
  end?(): void;
  /** The run cannot be followed. */
  problem?(problem: Problem): void;
}

export interface FollowOptions {
  /** Begin with the State instead of the events after the cursor. */
  snapshot?: boolean;
  /** The events of sub-runs as well. */
  tree?: boolean;
  level?: "milestone";
  /** Most deltas a second. */
  rate?: number;
}

/** Follows a run after the cursor, until the returned function is called. */
export function follow(run: string, after: number | string, to: Follower, options: FollowOptions = {}): () => void {
  return add(new RunSubscription(run, after, to, options));
}

export interface Watcher {
  /** Any run may have changed: read the list. */
  list(): void;
  /** These are new, or in another status. */
  runs(changed: Summary[]): void;
}

/** Watches the caller's runs, until the returned function is called. */
export function watchRuns(to: Watcher): () => void {
  return add({
    open: () => ({ op: "subscribe" }),
    take(m) {
      if (m.op === "list") to.list();
      else if (m.op === "runs") to.runs(m.runs!);
      else if (m.op === "problem") return { reopen: 2000 };
    },
  });
}

/** What the server sends; docs/http.md describes it. */
interface Message {
  op: string;
  id?: string;
  events?: WireEvent[];
  head?: number;
  cursor?: number | string;
  state?: WireState;
  problem?: Problem;
  runs?: Summary[];
}

interface Subscription {
  /** What asks for it, after each connect. */
  open(): object;
  /** Takes a message. It may answer it, and says "over" where no more will come. */
  take(message: Message): object | "over" | void;
}

/** How many events the server sends before the page has acknowledged some. */
const credit = 32_768;

class RunSubscription implements Subscription {
  private seen = new Map<string, number>(); // of each run the number of its last event
  private since = Infinity; // when the tab was back
  private away = false;
  private read = 0; // events that are not acknowledged

  constructor(private run: string, private cursor: number | string, private to: Follower, private options: FollowOptions) {
    if (typeof cursor === "number") this.seen.set(run, cursor);
  }

  open() {
    const back = this.away;
    this.read = 0;
    this.since = back ? Date.now() : Infinity;
    this.away = true;
    const { snapshot, ...rest } = this.options;
    return { op: "subscribe", run: this.run, done: "digest", ...rest, ...(snapshot && !back ? { snapshot } : { after: this.cursor }), credit };
  }

  take(m: Message) {
    if (m.cursor !== undefined) this.cursor = m.cursor;
    switch (m.op) {
      case "events": {
        const fresh = m.events!.filter((e) => this.fresh(e));
        if (fresh.length) this.to.events(fresh, m.head ?? 0);
        this.read += m.events!.length;
        if (this.read < credit / 4) return;
        const read = this.read;
        this.read = 0;
        return { op: "ack", events: read };
      }
      case "snapshot":
        this.seen = new Map([[this.run, m.state!.seq]]);
        return this.to.snapshot(m.state!);
      case "end":
        this.to.end?.();
        return "over";
      case "problem":
        if (m.problem!.code === "reset") { // the log has no such cursor
          this.options = { ...this.options, snapshot: true };
          this.away = false;
          return { reopen: 0 };
        }
        this.to.problem?.(m.problem!);
        return "over";
    }
  }

  /** Reports whether the event is new, and counts what was replayed and what is missing. */
  private fresh(e: WireEvent): boolean {
    const last = this.seen.get(e.run_id) ?? 0;
    if (e.seq <= last) return false;
    if (isPart(e)) return true;
    this.seen.set(e.run_id, e.seq);
    const first = Math.max(e.from ?? e.seq, last + 1);
    const missing = this.options.level ? 0 : first - last - 1;
    const replayed = this.since < Infinity && Date.parse(e.ts) < this.since ? e.seq - first + 1 : 0;
    if (missing || replayed) {
      const { gap, replayed: had } = connection.peek();
      connection.value = { ...connection.peek(), gap: gap + missing, replayed: had + replayed };
    }
    return true;
  }
}

const subscriptions = new Map<string, Subscription>();
let socket: WebSocket | undefined;
let names = 0;
let timer = 0;

function add(s: Subscription): () => void {
  const id = String(++names);
  subscriptions.set(id, s);
  if (socket?.readyState === WebSocket.OPEN) send(id, s.open());
  else connect();
  return () => {
    if (!subscriptions.delete(id)) return;
    if (socket?.readyState === WebSocket.OPEN) send(id, { op: "unsubscribe" });
    if (!subscriptions.size) close("idle");
  };
}

function send(id: string, message: object) {
  socket?.send(JSON.stringify({ id, ...message }));
}

const show = (change: Partial<Connection>) => (connection.value = { ...connection.peek(), ...change });

/** Seconds to wait before an attempt: the first comes at once. */
const waits = [0, 0.5, 1, 2, 3, 5];

function connect() {
  clearTimeout(timer);
  if (socket || !subscriptions.size || document.hidden) return;
  const { state } = connection.peek();
  show({ state: state === "idle" || state === "paused" ? "connecting" : state });
  const s = (socket = new WebSocket(location.origin.replace(/^http/, "ws") + "/v1/ws"));
  s.onopen = () => {
    show({ state: "live", attempt: 0 });
    for (const [id, sub] of subscriptions) send(id, sub.open());
  };
  s.onmessage = (e) => take(JSON.parse(e.data));
  s.onclose = () => lost(s);
}

async function lost(s: WebSocket) {
  if (socket !== s) return;
  socket = undefined;
  const { attempt } = connection.peek();
  show({ state: "reconnecting", attempt: attempt + 1 });
  if (attempt === 0) await get("/v1/jobs").catch(() => {}); // a browser does not say that a WebSocket needs a token
  if (signedOut.peek()) return show({ state: "idle" });
  const wait = waits[Math.min(attempt, waits.length - 1)]! * (0.8 + 0.4 * Math.random());
  timer = setTimeout(connect, wait * 1000);
}

function take(m: Message) {
  const id = m.id ?? "";
  const s = subscriptions.get(id);
  const answer = s?.take(m);
  if (answer === "over") {
    subscriptions.delete(id);
    if (!subscriptions.size) close("idle");
  } else if (s && answer) {
    "reopen" in answer ? reopen(id, s, Number(answer.reopen)) : send(id, answer);
  }
}

/** Asks again after so many milliseconds, unless the tab has connected again by then. */
function reopen(id: string, s: Subscription, after: number) {
  const at = socket;
  setTimeout(() => socket === at && subscriptions.get(id) === s && send(id, s.open()), after);
}

function close(state: "idle" | "paused") {
  clearTimeout(timer);
  const s = socket;
  socket = undefined;
  s?.close();
  show({ state, attempt: 0 });
}

/** How long a hidden tab stays connected, in milliseconds. */
const hiddenFor = 5000;

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (!document.hidden) connect();
  else if (subscriptions.size) timer = setTimeout(() => close("paused"), hiddenFor);
});
addEventListener("online", connect);
addEventListener("offline", () => {
  const s = socket;
  if (!s) return;
  s.close(); // which waits for the server
  void lost(s);
});
signedOut.subscribe((out) => !out && connect());
