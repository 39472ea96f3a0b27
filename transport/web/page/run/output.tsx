import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Virtual } from "../shell/virtual";
import type { LogLine } from "../state/fold";
import { clean, cut, plural } from "./text";

const rowHeight = 20;

/** The longest line that is drawn, in characters. */
const widest = 4_000;

/** What a sequence of colours leaves behind: classes, and colours that have no class. */
interface Style { classes: string; color?: string; background?: string }

const plain: Style = { classes: "" };
const colours = /\x1b\[([\d;:]*)m/g;

/** The style after a sequence of SGR codes. */
function after(style: Style, codes: string): Style {
  const has = new Set(style.classes.split(" ").filter(Boolean));
  let { color, background } = style;
  const put = (kind: string, name?: string) => {
    for (const c of has) if (c.startsWith(kind)) has.delete(c);
    if (kind === "fg") color = undefined;
    if (kind === "bg") background = undefined;
    if (name) has.add(name);
  };
  const list = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < list.length; i++) {
    const n = list[i]!;
    if (n === 0) has.clear(), (color = background = undefined);
    else if (n === 1 || n === 2 || n === 3 || n === 4) put(`sgr${n}`, `sgr${n}`);
    else if (n === 22) put("sgr1"), put("sgr2");
    else if (n === 23 || n === 24) put(`sgr${n - 20}`);
    else if (n === 38 || n === 48) {
      const kind = n === 38 ? "fg" : "bg";
      const rgb = list[i + 1] === 2 ? `rgb(${list.slice(i + 2, i + 5).map((v) => v & 255).join(" ")})` : undefined;
      const index = list[i + 1] === 5 ? (list[i + 2] ?? 0) & 255 : undefined;
      put(kind, index !== undefined && index < 16 ? kind + index : undefined);
      const named = rgb ?? (index !== undefined && index > 15 ? cube(index) : undefined);
      if (kind === "fg") color = named;
      else background = named;
      i += rgb ? 4 : 2;
    } else {
      const kind = (n >= 30 && n <= 39) || (n >= 90 && n <= 97) ? "fg" : (n >= 40 && n <= 49) || (n >= 100 && n <= 107) ? "bg" : "";
      if (kind) put(kind, n % 10 === 9 && n < 90 ? undefined : kind + ((n % 10) + (n >= 90 ? 8 : 0)));
    }
  }
  return { classes: [...has].join(" "), color, background };
}

/** A colour of the cube or of the greys that terminals number from 16 on. */
function cube(n: number): string {
  if (n >= 232) return `rgb(${Array(3).fill(8 + (n - 232) * 10).join(" ")})`;
  const part = (v: number) => (v ? 55 + v * 40 : 0);
  return `rgb(${[Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6].map(part).join(" ")})`;
}

/** Where the lines of a growing text begin, and the style that each begins with. Each part of the text is read once. */
class Lines {
  readonly at = [0];
  private styles = [plain];
  private text = "";
  private found = new Map<string, number[]>();

  read(text: string): this {
    if (!text.startsWith(this.text.slice(-1000), Math.max(0, this.text.length - 1000))) {
      this.text = "";
      this.at.length = this.styles.length = 1; // the beginning was dropped, or taken back
    }
    for (let end = text.indexOf("\n", Math.max(this.text.length, this.at.at(-1)!)); end >= 0; end = text.indexOf("\n", end + 1)) {
      let style = this.styles.at(-1)!;
      const line = text.slice(this.at.at(-1)!, end);
      if (line.includes("\x1b")) for (const m of line.matchAll(colours)) style = after(style, m[1]!);
      this.at.push(end + 1);
      this.styles.push(style);
    }
    if (this.text.length !== text.length) this.found.clear();
    this.text = text;
    return this;
  }

  get count() { return this.at.length - (this.at.at(-1) === this.text.length ? 1 : 0); }

  /** The numbers of the lines that have the words. */
  having(words: string): number[] {
    const known = this.found.get(words);
    if (known) return known;
    const lines: number[] = [];
    const text = this.text.toLowerCase();
    for (let i = 0, from = text.indexOf(words); from >= 0 && i < this.at.length; i++) {
      const end = this.at[i + 1] ?? text.length;
      if (from < end) lines.push(i), (from = text.indexOf(words, end));
    }
    this.found.set(words, lines);
    return lines;
  }

  /** The pieces of a line by their style. What a carriage return overwrites is left out. */
  line(i: number): { style: Style; text: string }[] {
    let line = this.text.slice(this.at[i], (this.at[i + 1] ?? this.text.length + 1) - 1).replace(/\r+$/, "");
    line = cut(line.slice(line.lastIndexOf("\r") + 1), widest);
    const pieces = [];
    let from = 0;
    let style = this.styles[i]!;
    for (const m of line.matchAll(colours)) {
      if (m.index > from) pieces.push({ style, text: clean(line.slice(from, m.index)) });
      style = after(style, m[1]!);
      from = m.index + m[0].length;
    }
    if (from < line.length) pieces.push({ style, text: clean(line.slice(from)) });
    return pieces;
  }
}

/** The newest lines of a run's log, as they are numbered: what a program wrote to stderr, and what the job noted. */
export function LogLines({ lines }: { lines: LogLine[] }) {
  return (
    <details class="thought" open>
      <summary>Log <span class="muted num">{lines[0]!.number > 1 && "the newest "}{plural(lines.length, "line")}</span></summary>
      <pre tabIndex={0} class="output-log">{lines.map((l) => <div key={l.number} class={l.level === "warn" || l.level === "error" ? l.level : ""}><span class="number muted">{l.number}</span>{clean(cut(l.text, widest))}</div>)}</pre>
    </details>
  );
}

/** What a program wrote: lines as they are, in its colours. Only the lines in view are drawn. */
export function Output({ text, name, growing, reading }: { text: string; name: string; growing: boolean; reading: boolean }) {
  const lines = useRef<Lines | undefined>(undefined);
  const words = useSignal("");
  const follow = useSignal<boolean | undefined>(undefined);
  if (!reading && follow.peek() === undefined) follow.value = growing; // output that is whole is read from its beginning
  const all = (lines.current ??= new Lines()).read(text);
  const wanted = words.value.toLowerCase();
  const shown = wanted ? all.having(wanted) : undefined;
  const count = shown ? shown.length : all.count;
  return (
    <section class="output" aria-label={`Output: ${name}`}>
      <div class="bar">
        <span class="stream-name muted mono">{clean(cut(name, 80))}</span>
        <input type="search" placeholder="Search the lines" aria-label={`Search the lines of ${name}`} value={words.value} onInput={(e) => (words.value = e.currentTarget.value)} />
        <span class="muted num">{shown ? `${count.toLocaleString("en")} of ${plural(all.count, "line")}` : plural(count, "line")}</span>
      </div>
      <Virtual count={count} rowHeight={rowHeight} follow={!!follow.value && growing} onFollow={(end) => !reading && (follow.value = end)}
        style={{ height: `${Math.min(count, 30) * rowHeight + 18}px` }} class="output-lines mono" role="group" tabIndex={0} aria-label={`Lines of ${name}`}
        row={(i) => {
          const n = shown ? shown[i]! : i;
          return <div key={n} class="output-line"><span class="number muted" aria-hidden="true">{n + 1}</span>{all.line(n).map((p, k) => <span key={k} class={p.style.classes} style={{ color: p.style.color, background: p.style.background }}>{p.text}</span>)}</div>;
        }} />
    </section>
  );
}
