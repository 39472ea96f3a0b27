import { useMemo } from "preact/hooks";
import { check, type LlmsLink } from "./check";
import { Markdown } from "./markdown";
import { clean, cut, plural, safeLink } from "./text";

/** An llms.txt as readers see it, beside the sources that it links and what a check of it finds. */
export function LlmsText({ text }: { text: string }) {
  const { links, findings } = useMemo(() => check(text), [text]);
  const sections = [...new Set(links.map((l) => l.section))];
  return (
    <div class="llms">
      <div class="llms-text"><Markdown text={text} /></div>
      <aside aria-label="Sources and findings">
        <h3>{findings.length ? plural(findings.length, "finding") : "✓ No findings"}</h3>
        {findings.length > 0 && <ul class="findings">{findings.slice(0, 200).map((f) => <li key={f.line + f.rule}><span class="num muted">{f.line}</span> {clean(cut(f.message, 300))} <code>{f.rule}</code></li>)}</ul>}
        <h3>{plural(links.length, "source")}</h3>
        {sections.map((section) => (
          <div key={section}>
            <h4 class="muted">{clean(cut(section, 120))}</h4>
            <ul class="sources">{links.filter((l) => l.section === section).map((l) => <Source key={l.line} link={l} />)}</ul>
          </div>
        ))}
      </aside>
    </div>
  );
}

function Source({ link: { url, title, line } }: { link: LlmsLink }) {
  const safe = safeLink(url);
  const words = clean(cut(url.replace(/^https?:\/\//, ""), 300));
  return <li><span class="num muted">{line}</span> {safe ? <a class="mono" href={safe} title={clean(title)} target="_blank" rel="noopener noreferrer nofollow">{words}</a> : <span class="mono">{words}</span>}</li>;
}
