import type { Budget, Purse } from "../state/purse";

/** An event as it is on the wire. docs/wire.md describes the kinds and their payloads. */
export interface WireEvent {
  run_id: string;
  seq: number;
  /** The first event that this one stands for; seq if it is missing. */
  from?: number;
  ts: string;
  type: string;
  message?: string;
  payload?: unknown;
}

/** Reports whether an event of the same number follows: what a text.delta takes back belongs to the text.done. */
export const isPart = (e: WireEvent) => (e.payload as { part?: boolean } | undefined)?.part === true;

/** A run's State on the wire, as far as a stream reads it. */
export interface WireState {
  run_id: string;
  seq: number;
  status: Status;
}

export type Status = "pending" | "processing" | "completed" | "failed" | "canceled";

/** A run in a list. */
export interface Summary {
  run_id: string;
  job: string;
  input?: string;
  labels?: Record<string, string>;
  status: Status;
  canceling?: boolean;
  cause?: string;
  /** The requests that wait for an answer. */
  open_requests?: string[];
  seq: number;
  queued_at: string;
  updated_at: string;
  purse?: Purse;
  budget?: Budget;
}

export interface Job {
  name: string;
  description: string;
  schema: Schema;
  /** Every run of the job takes messages while it works. */
  messages?: boolean;
}

/** The parts of JSON Schema that forms are made from. */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  oneOf?: Schema[];
  anyOf?: Schema[];
}

/** A failure as the API tells it (RFC 9457). */
export interface Problem {
  title: string;
  status: number;
  detail?: string;
  code?: string;
  errors?: { location?: string; message: string }[];
}
