import type { State } from "../state/fold";

/** What starts the same run again. */
export function requestOf({ queued }: State) {
  const { job, input, labels, limits } = queued!;
  const { traceparent, tracestate, retry_of, retry_from, ...own } = labels ?? {};
  return { job, input, labels: own as Record<string, string>, limits };
}

/** What starts a run that did not complete again, so that it goes on with the steps that were kept. */
export function retryOf(s: State) {
  const again = requestOf(s);
  const first = s.queued!.labels?.retry_of;
  return first || s.kept?.length ? { ...again, labels: { ...again.labels, retry_of: first ?? s.run_id } } : again;
}
