import type { State } from "../state/fold";
import type { SegmentState } from "../state/trace";

/** How far a thing is, for people. */
export type Look = SegmentState | "skipped";

const signs: Record<Look, string> = { queued: "○", waiting: "◔", running: "◐", canceling: "◌", completed: "✓", failed: "✕", canceled: "⊘", skipped: "–", lost: "ϟ" };

/** A status as a sign, with its word for those who do not see it. */
export function Sign({ look, word }: { look: Look; word?: boolean }) {
  return (
    <span class={`sign ${look}`}>
      <span aria-hidden="true">{signs[look] ?? "•"}</span>
      {word ? " " + look : <span class="visually-hidden">{look}</span>}
    </span>
  );
}

/** What a run does, as its pill says it. */
export function lookOf(s: State): { look: Look; word: string } {
  if (s.end) return { look: s.status as Look, word: s.status + (s.end.degraded ? ", degraded" : "") };
  if (s.canceling) return { look: "canceling", word: "canceling" };
  if (s.status === "pending") return { look: "queued", word: "queued" };
  if (s.inputs.some((i) => !i.closed)) return { look: "waiting", word: "waits for an answer" };
  return { look: "running", word: "running" };
}

const pills: Partial<Record<Look, string>> = { running: "processing", queued: "pending" };

export function Pill({ state }: { state: State }) {
  const { look, word } = lookOf(state);
  return <span class={`pill ${pills[look] ?? look}`}><Sign look={look} /> <span aria-hidden="true">{word}</span></span>;
}
