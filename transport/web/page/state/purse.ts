// What a run has spent, and what of its budget is bound: the fields are those of messages.Purse.
import type { Payloads } from "./events";

export type Budget = NonNullable<Payloads["llm.started"]["reserved"]>;
type Usage = Payloads["usage"]["usage"];

export interface Purse {
  spent?: Budget;
  estimated?: boolean;
  reserved?: Budget;
  granted?: Budget;
  added?: Budget;
  refilled?: Budget;
  warned?: string[];
}

/** The units that are counts. */
export const counts = ["tokens", "input", "output", "model_calls", "tool_calls"] as const;

/** The sum, or with -1 the difference, which is nothing below zero. The time is not added up here. */
export function plus(a: Budget = {}, b: Budget = {}, sign = 1): Budget {
  const sum: Budget = {};
  const add = (x = 0, y = 0) => (sign < 0 ? Math.max(x - y, 0) : x + y);
  for (const unit of counts) if (a[unit] || b[unit]) sum[unit] = add(a[unit], b[unit]);
  const amount = add(a.cost?.amount, b.cost?.amount);
  if (amount) sum.cost = { amount, currency: "USD" };
  return sum;
}

/** What a call has spent. */
export function amountOf(u?: Usage): Budget {
  const input = u?.prompt_tokens ?? 0, output = u?.completion_tokens ?? 0;
  return { input, output, tokens: input + output, cost: u?.cost };
}

/** What the answer to a question about the budget adds. */
export function answered(value: unknown): Budget {
  const v = value as (Record<string, number> & object) | null;
  const b: Budget = {};
  for (const unit of counts) if (v?.[unit]) b[unit] = v[unit];
  if (v?.cost) b.cost = { amount: v.cost, currency: "USD" };
  return b;
}

/** What was spent of what there is, in a few words, by unit. short has only units with a limit, tokens and money. */
export function spentOf(purse: Purse | undefined, limits: Budget | undefined, short = false): string[] {
  const all = plus(plus(limits, purse?.added), purse?.refilled);
  const said: string[] = counts.flatMap((unit) => (limits?.[unit] ? [`${(purse?.spent?.[unit] ?? 0).toLocaleString("en")} of ${all[unit]!.toLocaleString("en")} ${unit.replace("_", " ")}`] : []));
  if (short && !limits?.tokens && purse?.spent?.tokens) said.push(`${purse.spent.tokens.toLocaleString("en")} tokens`);
  const cost = purse?.spent?.cost?.amount ?? 0;
  if (limits?.cost) said.push(`${cost.toFixed(4)} of ${all.cost!.amount} USD`);
  else if (cost) said.push(`${cost.toFixed(4)} USD`);
  if (purse?.estimated && said.length) said.push("in part an estimate");
  return said;
}
