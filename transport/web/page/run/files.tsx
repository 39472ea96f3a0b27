import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { runPath } from "../api/client";
import type { Feed } from "../state/feed";
import type { Artifact } from "../state/fold";
import { LlmsText } from "./llms";
import { Markdown } from "./markdown";
import { clean, cut, pretty, size } from "./text";

/** The most of a file that is shown, in bytes. */
const most = 300_000;

interface File { run: string; artifact: Artifact }

const path = (f: File) => runPath(f.run, `/artifacts/${encodeURIComponent(f.artifact.name)}`);

/** The files of a run and its sub-runs. */
export function filesOf(feed: Feed): File[] {
  return [...feed.tree.runs.values()].flatMap((r) => r.fold.state.artifacts.map((artifact) => ({ run: r.id, artifact })));
}

export function Files({ feed }: { feed: Feed }) {
  feed.slow.value;
  const files = filesOf(feed);
  const picked = useSignal("");
  const key = (f: File) => f.run + "/" + f.artifact.name;
  const shown = files.find((f) => key(f) === picked.value) ?? files[0];
  if (!shown) return <p class="empty muted">{feed.tree.top.fold.state.end ? "The run wrote no file." : "The run has written no file yet."}</p>;
  return (
    <div class="files">
      <ul class="file-list">
        {files.slice(0, 500).map((f) => (
          <li key={key(f)}>
            <button class="quiet" aria-pressed={f === shown} onClick={() => (picked.value = key(f))}>
              <span class="cut">{clean(f.artifact.name)}</span>
              {f.run !== feed.id && <span class="muted mono">{f.run.slice(feed.id.length)}</span>}
              {f.artifact.partial && <span class="count warn">partial</span>}
              <span class="muted num">{size(f.artifact.bytes)}</span>
            </button>
            <a class="button quiet" href={path(f)} download={f.artifact.name.split("/").pop()} aria-label={`Download ${clean(f.artifact.name)}`}>↓</a>
          </li>
        ))}
      </ul>
      <FileView key={key(shown) + shown.artifact.sha256} file={shown} />
    </div>
  );
}

function FileView({ file }: { file: File }) {
  const { name, bytes, sha256 } = file.artifact;
  const text = useSignal<string | undefined>(undefined);
  const problem = useSignal("");
  const readable = /\.(txt|md|markdown|json|jsonl|ndjson|log|csv|ya?ml|xml|html|svg|mmd|dot)$/i.test(name) || !name.includes(".");
  useEffect(() => {
    if (!readable) return;
    const stop = new AbortController();
    fetch(path(file), { headers: bytes > most ? { Range: `bytes=0-${most - 1}` } : {}, signal: stop.signal }).then(async (answer) => {
      if (!answer.ok) throw new Error((await answer.json().catch(() => undefined))?.detail ?? `the server answered ${answer.status}`);
      text.value = await answer.text();
    }).catch((e: Error) => !stop.signal.aborted && (problem.value = e.message));
    return () => stop.abort();
  }, []);
  return (
    <section class="file" aria-label={clean(name)}>
      <p class="muted num file-facts"><span title={sha256}>sha256 {sha256.slice(0, 12)}…</span> {bytes > most && readable && <span>The first {size(most)} of {size(bytes)}. Download it for the rest.</span>}</p>
      {problem.value && <p class="bad" role="alert">The file cannot be shown: {problem.value}</p>}
      {!readable && <p class="muted">This is no text. Download it.</p>}
      {text.value !== undefined && <Content name={name} text={text.value} />}
    </section>
  );
}

function Content({ name, text }: { name: string; text: string }) {
  const base = name.split("/").pop()!.toLowerCase();
  const plain = useMemo(() => (base.endsWith(".json") ? pretty(text, most) : clean(text)), [text]);
  if (/llms\.txt$/.test(base)) return <LlmsText text={text} />;
  if (/\.(md|markdown)$/.test(base)) return <Markdown text={text} />;
  return <pre tabIndex={0} aria-label={clean(cut(name, 80))}>{plain}</pre>;
}
