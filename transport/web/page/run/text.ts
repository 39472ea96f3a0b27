// Everything from a run is text that nobody vouches for.

const escapes = /\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[@-Z\\^_])/g;
const unseen = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/** The text without a terminal's escapes, and with what readers cannot see, or what turns the order around, as its code. */
export function clean(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(escapes, "")
    .replace(unseen, (c) => `\u27e8U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

/** The text's beginning, where it is longer than a page should draw. */
export const cut = (text: string, most: number) => (text.length > most ? text.slice(0, most) + "…" : text);

/** A value as JSON for people, at most so long. */
export function pretty(value: unknown, most = 200_000): string {
  if (typeof value === "string") {
    try {
      const parsed: unknown = JSON.parse(cut(value, most));
      if (parsed && typeof parsed === "object") value = parsed;
    } catch {
      // a text that is no JSON is shown as it is
    }
  }
  return clean(cut(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""), most));
}

/** An address that a reader may be sent to: of the web or of mail, and whole. */
export function safeLink(href: string): string | undefined {
  try {
    const url = new URL(href);
    return /^(https?|mailto):$/.test(url.protocol) && !url.username && !url.password ? url.href : undefined;
  } catch {
    return undefined;
  }
}

export function duration(ms: number): string {
  if (!(ms >= 0)) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  const parts = [[Math.floor(s / 86400), "d"], [Math.floor(s / 3600) % 24, "h"], [Math.floor(s / 60) % 60, "min"], [s % 60, "s"]] as const;
  const first = parts.findIndex(([n]) => n > 0);
  return parts.slice(first, first + 2).filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`).join(" ");
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const unit = bytes < 999_950 ? "kB" : "MB";
  return `${(bytes / (unit === "kB" ? 1e3 : 1e6)).toFixed(1)} ${unit}`;
}

export const plural = (n: number, word: string) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

const two = (n: number) => String(n).padStart(2, "0");

/** The time of day, with milliseconds. */
export function clock(ts: string | number): string {
  const d = new Date(ts);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, "0")}`;
}

/** The date and the time of the reader's clock. */
export function stamp(ts: string | number): string {
  const d = new Date(ts);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock(ts).slice(0, 8)}`;
}

/** What a reader may do about a cause. */
export const advice: Record<string, string> = {
  error: "Read the error. Remove its cause, and run it again.",
  panic: "This is a defect of the program. The stack is under Actors: report it, and run it again.",
  canceled_by_user: "Somebody asked for it. Run it again if you still need the result.",
  deadline: "The time limit was reached. Run it again with a longer limit or a smaller input.",
  stalled: "Nothing happened for too long. See in the log what it waited for, and run it again.",
  shutdown: "The server stopped. Run it again.",
  node_lost: "The server's process died. Run it again.",
  provider_error: "The model's provider refused or failed. Check its key, its limits and the model's name, and run it again.",
  transport_closed: "The model's connection broke. Run it again; if it stays, look at the network and the model's server.",
  empty_completion: "The model said nothing. Run it again, or take another model.",
  invalid_output: "The model's answer was not of the form that was asked for. Run it again, or take another model.",
  context_exceeded: "The prompt is longer than the model's loaded context. Load the model with a longer one, or take a smaller input.",
  limit_exceeded: "A limit was reached. The error names it: raise it, or take a smaller input.",
  invalid_input: "The input cannot be used. Correct it, and start another run.",
  injected: "A test injected this failure.",
  journal_unavailable: "The server could not store events. Its operator finds the reason in the server's log.",
};
