import { standings } from "../state/events";
import type { State } from "../state/fold";
import type { SegmentState } from "../state/trace";

/** How far a thing is: the first word of a standing, or what happens to parts of a run alone. */
export type Look = SegmentState;

export const signs: Record<Look, string> = { pending: "○", processing: "◐", waiting: "◔", held: "‖", canceling: "◌", completed: "✓", failed: "✕", canceled: "⊘", skipped: "–", lost: "ϟ" };

/** The words for a look that people read. */
export const wordOf = (look: string) => standings.find((s) => s.split(" ")[0] === look) ?? look;

/** A status as a sign, with its words for those who do not see it. */
export function Sign({ look, word }: { look: Look; word?: boolean }) {
  return (
    <span class={`sign ${look}`}>
      <span aria-hidden="true">{signs[look] ?? "•"}</span>
      {word ? " " + wordOf(look) : <span class="visually-hidden">{wordOf(look)}</span>}
    </span>
  );
}

/** How far a run is. An accepted cancel goes before what it has not ended yet, and a question before other work. */
export function lookOf(s: State): Look {
  if (s.end) return s.status;
  if (s.canceling) return "canceling";
  if (s.inputs.some((i) => !i.closed)) return "waiting";
  return s.held_at ? "held" : s.status;
}

export function Pill({ state }: { state: State }) {
  const look = lookOf(state);
  return <span class={`pill ${look}`}><Sign look={look} /> <span aria-hidden="true">{wordOf(look)}{state.end?.degraded && ", degraded"}</span></span>;
}
