import { computed } from "@preact/signals";
import type { Summary } from "../api/types";
import { wordOf, type Look } from "../run/sign";
import { silentAfter, standings } from "../state/events";
import { runs } from "./store";

/** What the list shows. The address keeps it. */
export interface Filter {
  words: string[];
  /** Runs that began in this time, in milliseconds since 1970. */
  since?: number;
  until?: number;
  statuses: string[];
  job: string;
  /** Runs that other runs have started, too. */
  children: boolean;
  /** Labels that are columns. */
  labels: string[];
  /** When a run began is shown as a time, and not as an age. */
  times: boolean;
}

/** What a status may be searched for as. */
export const statuses = standings.map((s) => s.split(" ")[0]! as Look).filter((s) => s !== "canceling");

/** What the search may say besides words, for people. */
export const searchHelp = [
  ["since:2h", "began in the last 2 hours; also 30min, 7d, 2026-11-27 or 2026-11-27T14:30"],
  ["until:1h", "began before that"],
  ["status:failed", "has the status; also job:chat"],
  ["team:docs", "has the label"],
  ["-word", "without the word, the label or the status"],
] as const;

const units: Record<string, number> = { s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A time: so long ago, or a date of the reader's clock. */
function timeOf(text: string, now: number): number | undefined {
  const [, n, unit] = /^(\d+(?:\.\d+)?)(s|min|m|h|d|w)$/.exec(text) ?? [];
  const at = n ? now - Number(n) * units[unit!]! : Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? text + "T00:00" : text.toUpperCase());
  return Number.isNaN(at) ? undefined : at;
}

export function filterOf(query: URLSearchParams, now = Date.now()): Filter {
  const all = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const isTime = (w: string) => /^(since|until):/.test(w);
  const time = (name: string) => all.filter((w) => w.startsWith(name + ":")).map((w) => timeOf(w.slice(6), now)).findLast((t) => t !== undefined);
  return {
    words: all.filter((w) => !isTime(w)),
    since: time("since"),
    until: time("until"),
    statuses: (query.get("status") ?? "").split(",").filter(Boolean),
    job: query.get("job") ?? "",
    children: query.has("children"),
    labels: (query.get("labels") ?? "").split(",").filter(Boolean),
    times: query.has("times"),
  };
}

/** What the sub-runs below a run say of it: one asks a person, and when the last event was. */
export const below = computed(() => {
  const all = new Map<string, { asks: boolean; last: string }>();
  for (const r of runs.value) {
    for (let id = r.run_id, dot = id.lastIndexOf("."); dot > 0; dot = id.lastIndexOf(".")) {
      id = id.slice(0, dot);
      const had = all.get(id);
      all.set(id, { asks: had?.asks || !isEnded(r) && !!r.open_requests, last: had && had.last > r.updated_at ? had.last : r.updated_at });
    }
  }
  return all;
});

/** How far the run is: an accepted cancel goes before what it has not ended yet, and a question before other work. */
export function lookOf(r: Summary): Look {
  if (isEnded(r)) return r.status;
  if (r.canceling) return "canceling";
  return r.open_requests || below.value.get(r.run_id)?.asks ? "waiting" : r.cause === "held" ? "held" : r.status;
}

/** How long a run that works has had no event, nor a sub-run of it, in milliseconds; 0 if that is not long. */
export function silence(r: Summary, now: number): number {
  if (lookOf(r) !== "processing") return 0;
  const silent = now - Math.max(Date.parse(r.updated_at), Date.parse(below.value.get(r.run_id)?.last ?? r.updated_at));
  return silent >= silentAfter ? silent : 0;
}

export const isEnded = (r: Summary) => r.status === "completed" || r.status === "failed" || r.status === "canceled";

/** Reports whether the run is to be shown. A word with a minus must not be there. */
export function passes(f: Filter, r: Summary): boolean {
  if (!f.children && r.run_id.includes(".")) return false;
  if (f.job && r.job !== f.job) return false;
  if (f.statuses.length && !f.statuses.includes(r.status) && !f.statuses.includes(lookOf(r))) return false;
  const queued = Date.parse(r.queued_at);
  if (f.since !== undefined && queued < f.since) return false;
  if (f.until !== undefined && queued >= f.until) return false;
  if (!f.words.length) return true;
  const labels = Object.entries(r.labels ?? {}).map(([name, value]) => name + ":" + value);
  const look = lookOf(r);
  const hay = [r.run_id, r.job, r.input, wordOf(look), r.cause, "status:" + look, "job:" + r.job, ...labels].join(" ").toLowerCase();
  return f.words.every((w) => (w[0] === "-" && w.length > 1 ? !hay.includes(w.slice(1)) : hay.includes(w)));
}
