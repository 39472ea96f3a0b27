import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { follow } from "../api/stream";
import type { Problem, WireEvent } from "../api/types";
import { Reset } from "./fold";
import { Tree } from "./trace";

/** The longest that one frame may spend on events, and the shortest time between two drawings, in milliseconds. */
const share = 40;
const pause = 40;

/** How many times a drawing's own length it is to the next one, at least, and the longest time that makes. */
const times = 5;
const longest = 400;

/** The shortest time between two drawings of what is dear to draw, and that while the log is read. */
const slowly = 250;
const reading = 1000;

/** Calls back after the frame that is being made is drawn. */
function afterFrame(f: () => void) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = f;
  port2.postMessage(0);
}

/** Reports whether the text has the SHA-256, where the browser can tell: over https, or on this machine. */
async function isDigest(text: string, sha256: string): Promise<boolean> {
  if (!globalThis.crypto?.subtle) return true;
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(sum, (b) => b.toString(16).padStart(2, "0")).join("") === sha256;
}

/** What the page knows of a run. Events are folded in frames, 25 a second at most, however fast they come. */
export class Feed {
  tree: Tree;
  /** Changes with each frame that brings events. */
  readonly tick = signal(0);
  /** Changes four times a second at most, for what is dear to draw. */
  readonly slow = signal(0);
  /** The page reads what happened before it was opened: it does not know yet how the run is. */
  readonly reading = signal(true);
  readonly problem = signal<Problem | undefined>(undefined);
  private queue: WireEvent[] = [];
  private next = 0;
  private head = 0; // the newest event when the page was opened
  private frame = 0;
  private wait = 0;
  private due = 0; // when the next frame may begin
  private slowDue = 0;
  private timer = 0;
  private stop!: () => void;

  constructor(readonly id: string) {
    this.tree = new Tree(id);
    this.follow();
  }

  private follow(snapshot = false) {
    const { id } = this;
    this.stop = follow(id, 0, {
      events: (events, head) => {
        this.head = head;
        this.add(events);
      },
      snapshot: (state) => {
        this.queue = [];
        this.next = 0;
        this.tree = new Tree(id);
        this.tree.begin(state);
        this.head = state.seq;
        this.changed();
      },
      problem: (p) => (this.problem.value = p),
    }, { tree: true, snapshot });
  }

  /** Begins anew with the State: a text that the server has left out is not what the page has. */
  private reset() {
    this.stop();
    this.queue = [];
    this.next = 0;
    this.follow(true);
  }

  /** Adds an event. A text that was left out must have the digest that the event names. */
  private apply(e: WireEvent) {
    const done = e.payload as { text?: string; sha256?: string; omitted?: boolean } | undefined;
    const omitted = done?.omitted;
    this.tree.apply(e);
    if (omitted) void isDigest(done.text!, done.sha256!).then((right) => right || this.reset());
  }

  close() {
    this.stop();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.wait);
    clearTimeout(this.timer);
  }

  private add(events: WireEvent[]) {
    for (const e of events) this.queue.push(e);
    if (!this.frame && !this.wait) this.wait = setTimeout(() => this.soon(), Math.max(0, this.due - performance.now()));
  }

  private soon() {
    this.wait = 0;
    this.frame = requestAnimationFrame(() => this.work());
  }

  private work() {
    this.frame = 0;
    const began = performance.now();
    const until = began + share;
    while (this.next < this.queue.length) {
      try {
        this.apply(this.queue[this.next++]!);
      } catch (error) {
        if (!(error instanceof Reset)) throw error;
        return this.reset();
      }
      if (this.next % 64 === 0 && performance.now() > until) break;
    }
    this.changed();
    if (this.next < this.queue.length) return this.soon();
    this.queue.length = this.next = 0;
    if (this.reading.peek()) return; // little is drawn, and the rest is on its way
    this.due = began + pause;
    afterFrame(() => (this.due = began + Math.min(longest, Math.max(pause, times * (performance.now() - began)))));
  }

  /** How much of what happened before is read, from 0 to 1. */
  get read(): number {
    return this.head ? Math.min(1, this.tree.top.fold.state.seq / this.head) : 1;
  }

  private changed() {
    const wait = this.slowDue - performance.now();
    const caughtUp = this.reading.peek() && this.read === 1;
    if (caughtUp) this.reading.value = false;
    if (wait <= 0 || caughtUp) return this.drawAll();
    if (!this.reading.peek()) this.tick.value++;
    this.timer ||= setTimeout(() => this.drawAll(), wait);
  }

  private drawAll() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.slowDue = performance.now() + (this.reading.peek() ? reading : slowly);
    this.tick.value++;
    this.slow.value++;
  }
}

/** Follows the run while the component is shown. */
export function useFeed(id: string): Feed | undefined {
  const [feed, setFeed] = useState<Feed>();
  useEffect(() => {
    const opened = new Feed(id);
    setFeed(opened);
    return () => opened.close();
  }, [id]);
  return feed;
}
