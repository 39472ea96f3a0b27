import type { Summary } from "../api/types";

/** What the list shows. The address keeps it. */
export interface Filter {
  words: string[];
  statuses: string[];
  job: string;
  /** Runs that other runs have started, too. */
  children: boolean;
}

export function filterOf(query: URLSearchParams): Filter {
  return {
    words: (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean),
    statuses: (query.get("status") ?? "").split(",").filter(Boolean),
    job: query.get("job") ?? "",
    children: query.has("children"),
  };
}

/** The word for a status that people read, where it is not the API's own. */
export const wordOf = (status: string) => ({ pending: "queued", processing: "running", waiting: "waits for an answer" })[status] ?? status;

/** How far the run is: an accepted cancel goes before what it has not ended yet, and a question before other work. */
export function lookOf(r: Summary): string {
  if (isEnded(r)) return r.status;
  return r.canceling ? "canceling" : r.open_requests ? "waiting" : r.status;
}

export const isEnded = (r: Summary) => r.status === "completed" || r.status === "failed" || r.status === "canceled";

/** Reports whether the run is to be shown. A word with a minus must not be there. */
export function passes(f: Filter, r: Summary): boolean {
  if (!f.children && r.run_id.includes(".")) return false;
  if (f.job && r.job !== f.job) return false;
  if (f.statuses.length && !f.statuses.includes(r.status) && !f.statuses.includes(lookOf(r))) return false;
  if (!f.words.length) return true;
  const labels = Object.entries(r.labels ?? {}).map(([name, value]) => name + ":" + value);
  const hay = [r.run_id, r.job, r.input, wordOf(lookOf(r)), r.cause, ...labels].join(" ").toLowerCase();
  return f.words.every((w) => (w[0] === "-" && w.length > 1 ? !hay.includes(w.slice(1)) : hay.includes(w)));
}
