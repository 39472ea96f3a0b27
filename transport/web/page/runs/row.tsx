import type { Summary } from "../api/types";
import { runHref } from "../router";
import { signs, wordOf } from "../run/sign";
import { clean, cut, duration, stamp } from "../run/text";
import { spentOf } from "../state/purse";
import { isEnded, lookOf, silence, type Filter } from "./filter";

interface Props {
  run: Summary;
  index: number;
  now: number;
  filter: Filter;
  /** The row that the Tab key comes to. */
  current: boolean;
  /** The list has a column for what runs have spent. */
  spends: boolean;
  picked: boolean;
  onPick(): void;
  onOpen(): void;
}

/** A run in the list. The whole row is a link to it. */
export function Row({ run: r, index, now, filter, current, spends, picked, onPick, onOpen }: Props) {
  const look = lookOf(r);
  const queued = Date.parse(r.queued_at);
  const silent = silence(r, now);
  const took = (isEnded(r) ? Date.parse(r.updated_at) : Math.max(now, queued)) - queued;
  const words = r.input ? clean(r.input) : r.run_id;
  return (
    <div class="row" role="row" aria-rowindex={index + 2} data-row={index}>
      <span role="cell" class="pick"><input type="checkbox" aria-label={`Select ${words}`} checked={picked} tabIndex={current ? 0 : -1} onChange={onPick} /></span>
      <span role="cell" class="status"><span class={`pill ${look}`}><span aria-hidden="true">{signs[look]}</span><span>{wordOf(look)}</span></span></span>
      <span role="cell" class="job cut">{r.job}</span>
      <span role="cell" class="input cut" data-job={r.job}><a href={runHref(r.run_id)} tabIndex={current ? 0 : -1} onFocus={onOpen}>{r.input ? words : <span class="mono">{words}</span>}</a></span>
      {filter.labels.map((name) => <span key={name} role="cell" class="label cut">{clean(cut(r.labels?.[name] ?? "", 100))}</span>)}
      <span role="cell" class={`cause cut ${silent ? "silent" : r.status}`} title={silent ? `No event for ${duration(silent)}` : undefined}>{silent ? `silent ${age(silent)}` : isEnded(r) && r.cause?.replaceAll("_", " ")}</span>
      {spends && <span role="cell" class="spent num cut">{spentOf(r.purse, r.budget, true).join(", ")}</span>}
      <span role="cell" class="age num"><time dateTime={r.queued_at} title={new Date(queued).toLocaleString()}>{filter.times ? stamp(queued) : age(now - queued)}</time></span>
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
