// The list of the caller's runs: pages as they are read, and the changes that the server tells.
import { signal } from "@preact/signals";
import { get, type Refused } from "../api/client";
import { watchRuns } from "../api/stream";
import type { Job, Summary } from "../api/types";

/** The jobs that can be started. */
export const jobs = signal<readonly Job[]>([]);
/** The runs that were read, the newest first. */
export const runs = signal<readonly Summary[]>([]);
/** more: there are older runs than those that were read. */
export const reading = signal<{ state: "reading" | "read" | "failed"; more: boolean; why?: string }>({ state: "reading", more: true });

/** Most runs of a page. */
const most = 1000;

const before = (a: Summary, b: Summary) => a.queued_at > b.queued_at || (a.queued_at === b.queued_at && a.run_id < b.run_id);

/** The list with the changed runs in it. Of two words about a run the later one counts. */
export function merge(list: readonly Summary[], changed: readonly Summary[]): Summary[] {
  const news = new Map(changed.map((r) => [r.run_id, r]));
  const merged = list.map((r) => {
    const now = news.get(r.run_id);
    news.delete(r.run_id);
    return now && now.seq >= r.seq ? now : r;
  });
  if (!news.size) return merged;
  const fresh = [...news.values()].sort((a, b) => (before(a, b) ? -1 : 1));
  const whole: Summary[] = [];
  let at = 0;
  for (const r of merged) {
    while (at < fresh.length && before(fresh[at]!, r)) whole.push(fresh[at++]!);
    whole.push(r);
  }
  return whole.concat(fresh.slice(at));
}

let next = "";
let busy: Promise<void> | undefined;
let stale = false; // the list is to be read again from the beginning

/** Reads the next page, or all that was read again after a change that was not told. */
export function read(): Promise<void> {
  return (busy ??= readPages().finally(() => (busy = undefined)));
}

async function readPages() {
  reading.value = { ...reading.peek(), state: "reading" };
  try {
    if (!stale) await page(next);
    while (stale) {
      stale = false;
      const had = runs.peek().length;
      let whole: readonly Summary[] = [];
      let at = "";
      do {
        const { list, cursor } = await fetchPage(at);
        whole = whole.concat(list);
        at = cursor;
      } while (at && whole.length < had);
      runs.value = whole;
      next = at;
    }
    reading.value = { state: "read", more: next !== "" };
  } catch (e) {
    reading.value = { state: "failed", more: next !== "", why: (e as Refused).message };
  }
}

async function page(at: string) {
  const { list, cursor } = await fetchPage(at);
  next = cursor;
  runs.value = merge(runs.peek(), list);
}

async function fetchPage(at: string) {
  const { runs: list, next: cursor = "" } = await get<{ runs: Summary[]; next?: string }>(`/v1/runs?limit=${most}${at && "&cursor=" + at}`);
  return { list, cursor };
}

/** Keeps the list up to date until the returned function is called. */
export function watch(): () => void {
  let waiting: Summary[] = [];
  return watchRuns({
    list() {
      stale = true;
      get<{ jobs: Job[] }>("/v1/jobs").then((answer) => (jobs.value = answer.jobs), () => {}); // what is wrong shows in the list
      waiting = [];
      void read().then(() => (runs.value = merge(runs.peek(), waiting)));
    },
    runs(changed) {
      if (busy) waiting.push(...changed); // a page that was asked for before may say less
      runs.value = merge(runs.peek(), changed);
    },
  });
}
