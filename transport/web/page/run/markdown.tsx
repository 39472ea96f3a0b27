import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { clean, cut, safeLink } from "./text";

/** A part of a text that is parsed alone. */
export interface Block { from: number; text: string }

/** The longest part that is parsed, and the longest that is drawn. */
const parsed = 16_384;
const drawn = 100_000;

/** A text in blocks. While it grows only its last block is parsed again: what stands before cannot change any more. */
export class Blocks {
  private closed: Block[] = [];
  private end = 0; // of the closed blocks
  private last = ""; // the last of them, to notice a text that was taken back

  of(text: string): Block[] {
    if (text.length < this.end || !text.startsWith(this.last, this.end - this.last.length)) {
      this.closed = [];
      this.end = 0;
      this.last = "";
    }
    while (text.length - this.end > parsed) {
      const break_ = text.lastIndexOf("\n\n", this.end + parsed);
      this.close(text, break_ > this.end ? break_ + 2 : this.end + parsed);
    }
    const rest = text.slice(this.end);
    const tokens = lex(rest) ?? [];
    let open = tokens.length - 1;
    while (open > 0 && tokens[open]!.type === "space") open--;
    const whole = tokens.reduce((n, t) => n + t.raw.length, 0) === rest.length;
    for (const t of whole ? tokens.slice(0, Math.max(open, 0)) : []) this.close(text, this.end + t.raw.length);
    return this.end < text.length ? [...this.closed, { from: this.end, text: text.slice(this.end) }] : this.closed.slice();
  }

  private close(text: string, end: number) {
    this.last = text.slice(this.end, end);
    if (this.last.trim()) this.closed.push({ from: this.end, text: this.last });
    this.end = end;
  }
}

/** The tokens of a text, or nothing where a parser gives up. */
function lex(text: string): Token[] | undefined {
  if (/[>\[(*_`~!#-]{200}|(?:[>*+-] {0,3}){40}/.test(text)) return; // made to be slow
  try {
    return new Lexer({ gfm: true }).lex(text.replace(/\r\n?/g, (end) => (end.length > 1 ? " \n" : "\n")));
  } catch {
    return;
  }
}

/** Draws one block. Only elements named here come out of a text; markup in it stays text. */
export function MarkdownBlock({ text }: { text: string }) {
  return useMemo(() => {
    const tokens = text.length <= parsed ? lex(text) : undefined;
    return tokens ? <>{tokens.map(block)}</> : <p class="plain">{clean(cut(text, drawn))}</p>;
  }, [text]);
}

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{new Blocks().of(cut(text, drawn)).map((b) => <MarkdownBlock key={b.from} text={b.text} />)}</div>;
}

const inner = (t: Token): ComponentChildren => ("tokens" in t && t.tokens ? t.tokens.map(inline) : clean(entities(t.raw)));

function block(t: Token): ComponentChildren {
  switch (t.type) {
    case "space":
    case "def":
      return null;
    case "heading": // of one level, because nobody vouches that a text's levels are in order
      return <h3 class={`depth-${t.depth}`}>{inner(t)}</h3>;
    case "paragraph":
      return <p>{inner(t)}</p>;
    case "text":
      return <>{inner(t)}</>;
    case "code":
      return <pre tabIndex={0}><code>{clean(t.text)}</code></pre>;
    case "blockquote":
      return <blockquote>{(t as Tokens.Blockquote).tokens.map(block)}</blockquote>;
    case "list": {
      const { ordered, start, items } = t as Tokens.List;
      const list = items.map((item, i) => <li key={i}>{item.task && (item.checked ? "☑ " : "☐ ")}{item.tokens.map(block)}</li>);
      return ordered ? <ol start={Number(start) || 1}>{list}</ol> : <ul>{list}</ul>;
    }
    case "table":
      return table(t as Tokens.Table);
    case "hr":
      return <hr />;
    case "checkbox":
      return null;
  }
  return <p class="plain">{clean(t.raw)}</p>;
}

function table(t: Tokens.Table) {
  const cell = (c: Tokens.TableCell, i: number) => (c.header ? <th key={i}>{c.tokens.map(inline)}</th> : <td key={i}>{c.tokens.map(inline)}</td>);
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead><tr>{t.header.map(cell)}</tr></thead>
        <tbody>{t.rows.map((row, i) => <tr key={i}>{row.map(cell)}</tr>)}</tbody>
      </table>
    </div>
  );
}

function inline(t: Token): ComponentChildren {
  switch (t.type) {
    case "strong":
      return <strong>{inner(t)}</strong>;
    case "em":
      return <em>{inner(t)}</em>;
    case "del":
      return <del>{inner(t)}</del>;
    case "codespan":
      return <code>{clean(t.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={t.href}>{inner(t)}</Link>;
    case "image":
      return <Link href={t.href}>image: {clean(t.text || t.href)}</Link>;
    case "escape":
      return clean(t.text);
    case "text":
      return inner(t);
  }
  return clean(t.raw);
}

/** A link that opens elsewhere, or the address as text where nobody should be sent there. */
export function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const safe = safeLink(href);
  if (!safe) return <>{children} <span class="muted">({clean(cut(href, 200))})</span></>;
  return <a href={safe} title={safe} target="_blank" rel="noopener noreferrer nofollow">{children}</a>;
}

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", mdash: "—", ndash: "–", copy: "©" };

/** Reads the entities that models write. */
function entities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (all, n: string, hex: string, name: string) => {
    const code = n ? Number(n) : hex ? parseInt(hex, 16) : 0;
    return name ? (named[name] ?? all) : code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
