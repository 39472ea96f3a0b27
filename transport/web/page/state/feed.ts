import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { follow } from "../api/stream";
import type { Problem, WireEvent } from "../api/types";
import { Tree } from "./trace";

/** The longest that one frame may spend on events, and the shortest time between two drawings, in milliseconds. */
const share = 40;
const pause = 40;

/** What the page knows of a run. Events are folded in frames, 25 a second at most, however fast they come. */
export class Feed {
  tree: Tree;
  /** Changes with each frame that brings events. */
  readonly tick = signal(0);
  /** Changes four times a second at most, for what is dear to draw. */
  readonly slow = signal(0);
  readonly problem = signal<Problem | undefined>(undefined);
  private queue: WireEvent[] = [];
  private next = 0;
  private frame = 0;
  private wait = 0;
  private drawn = 0;
  private timer = 0;
  private stop: () => void;

  constructor(readonly id: string) {
    this.tree = new Tree(id);
    this.stop = follow(id, 0, {
      events: (events) => this.add(events),
      snapshot: (state) => {
        this.queue = [];
        this.next = 0;
        this.tree = new Tree(id);
        this.tree.begin(state);
        this.changed();
      },
      problem: (p) => (this.problem.value = p),
    }, { tree: true });
  }

  close() {
    this.stop();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.wait);
    clearTimeout(this.timer);
  }

  private add(events: WireEvent[]) {
    for (const e of events) this.queue.push(e);
    if (!this.frame && !this.wait) this.wait = setTimeout(() => this.soon(), Math.max(0, this.drawn + pause - performance.now()));
  }

  private soon() {
    this.wait = 0;
    this.frame = requestAnimationFrame(() => this.work());
  }

  private work() {
    this.frame = 0;
    this.drawn = performance.now();
    const until = this.drawn + share;
    while (this.next < this.queue.length) {
      this.tree.apply(this.queue[this.next++]!);
      if (this.next % 64 === 0 && performance.now() > until) break;
    }
    if (this.next < this.queue.length) this.soon();
    else this.queue.length = this.next = 0;
    this.changed();
  }

  private changed() {
    this.tick.value++;
    if (this.timer) return;
    this.slow.value = this.tick.peek();
    this.timer = setTimeout(() => {
      this.timer = 0;
      if (this.slow.peek() !== this.tick.peek()) this.slow.value = this.tick.peek();
    }, 250);
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
