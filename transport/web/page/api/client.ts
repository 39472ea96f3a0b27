import { signal } from "@preact/signals";
import type { Problem } from "./types";

/** The server asks for a token, and this browser has none that is valid. */
export const signedOut = signal(false);

/** A request that the server refused, or that did not reach it: then its status is 0. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/** Calls the API. Errors: Refused. */
export async function call<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  if (body !== undefined) headers = { ...headers, "Content-Type": "application/json" };
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused({ title: "The server does not answer", status: 0, code: "unreachable" });
  }
  if (answer.ok) return (answer.status === 204 ? undefined : await answer.json()) as T;
  if (answer.status === 401) signedOut.value = true;
  const problem = await answer.json().catch(() => undefined);
  throw new Refused(problem ?? { title: `The server answered ${answer.status}`, status: answer.status });
}

export const get = <T>(path: string) => call<T>("GET", path);
export const post = <T>(path: string, body?: unknown) => call<T>("POST", path, body);

/** The path of a run in the API. */
export const runPath = (id: string, more = "") => `/v1/runs/${encodeURIComponent(id)}${more}`;
