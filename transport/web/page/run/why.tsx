import { useEffect, useState } from "preact/hooks";
import { get, runPath } from "../api/client";
import type { Feed } from "../state/feed";
import { clean } from "./text";

/** What happened and why, as the server tells it. */
export function Why({ feed }: { feed: Feed }) {
  feed.slow.value;
  const { milestone } = feed.tree.top.fold.state;
  const [sentences, set] = useState<string[]>([]);
  useEffect(() => {
    get<{ sentences: string[] }>(runPath(feed.id, "/explanation")).then((a) => set(a.sentences), () => {});
  }, [feed.id, milestone]);
  return <ul class="why">{sentences.map((s) => <li key={s}>{clean(s)}</li>)}</ul>;
}
