import type { Summary } from "../api/types";
import { runHref } from "../router";
import { clean, duration } from "../run/text";
import { spentOf } from "../state/purse";
import { isEnded, lookOf, wordOf } from "./filter";

const signs: Record<string, string> = { pending: "○", processing: "◐", waiting: "◔", canceling: "◌", completed: "✓", failed: "✕", canceled: "⊘" };

interface Props {
  run: Summary;
  index: number;
  now: number;
  /** The row that the Tab key comes to. */
  current: boolean;
  /** The list has a column for what runs have spent. */
  spends: boolean;
  onOpen(): void;
}

/** A run in the list. The whole row is a link to it. */
export function Row({ run: r, index, now, current, spends, onOpen }: Props) {
  const look = lookOf(r);
  const queued = Date.parse(r.queued_at);
  const took = (isEnded(r) ? Date.parse(r.updated_at) : Math.max(now, queued)) - queued;
  return (
    <div class="row" role="row" aria-rowindex={index + 2} data-row={index}>
      <span role="cell" class="status"><span class={`pill ${look}`}><span aria-hidden="true">{signs[look]}</span><span>{wordOf(look)}</span></span></span>
      <span role="cell" class="job cut">{r.job}</span>
      <span role="cell" class="input cut"><a href={runHref(r.run_id)} tabIndex={current ? 0 : -1} onFocus={onOpen}>{r.input ? clean(r.input) : <span class="mono">{r.run_id}</span>}</a></span>
      <span role="cell" class={`cause cut ${r.status}`}>{r.cause?.replaceAll("_", " ")}</span>
      {spends && <span role="cell" class="spent num cut">{spentOf(r.purse, r.budget, true).join(", ")}</span>}
      <span role="cell" class="age num"><time dateTime={r.queued_at} title={new Date(queued).toLocaleString()}>{age(now - queued)}</time></span>
      <span role="cell" class="duration num">{duration(Math.max(0, took))}</span>
    </div>
  );
}

const units = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]] as const;

/** How long ago, in the largest unit. */
export function age(ms: number): string {
  const [size, unit] = units.find(([size]) => ms >= size) ?? [1, ""];
  return unit ? `${Math.floor(ms / size)} ${unit}` : "now";
}
