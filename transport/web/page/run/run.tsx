import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { go, place } from "../router";
import { useKeys } from "../shell/keys";
import { useFeed, type Feed } from "../state/feed";
import { Actors } from "./actors";
import { Answer } from "./answer";
import { Compare } from "./compare";
import { Costs } from "./cost";
import { Files, filesOf } from "./files";
import { Head, Notices } from "./head";
import { Log } from "./log";
import { PlanGraph, stepsOf } from "./plan";
import { Questions } from "./questions";
import { Chat, Say } from "./say";
import { pretty } from "./text";
import { Waterfall } from "./waterfall";
import { Why } from "./why";

/** A run: what happens in it, why it stopped, and a button to stop it. */
export function RunPage({ id, seq }: { id: string; seq?: number }) {
  const feed = useFeed(id);
  if (!feed) return null;
  return <RunView feed={feed} seq={seq} />;
}

function RunView({ feed, seq }: { feed: Feed; seq?: number }) {
  useKeys(() => [
    { key: "u", says: "All runs", do: () => go("/") },
    { key: "a", says: "Answer the question", do: () => document.querySelector<HTMLElement>(".questions input, .questions textarea, .questions select, .questions button")?.focus() },
  ]);
  const problem = feed.problem.value;
  const wide = useWide();
  if (problem && !feed.tree.events.length) {
    return (
      <div class="run-problem">
        <h1>{problem.status === 404 ? "There is no such run" : problem.title}</h1>
        <p>{problem.status === 404 ? "It may belong to somebody else, or the server has forgotten it: logs of ended runs are kept for a time only." : problem.detail}</p>
        <p><a href="/">All runs</a></p>
      </div>
    );
  }
  const left = [
    { name: "Timeline", view: () => <Waterfall feed={feed} /> },
    { name: "Events", view: () => <Log feed={feed} seq={seq} /> },
  ];
  return (
    <div class="run">
      <Head feed={feed} />
      <Notices feed={feed} />
      <Questions feed={feed} />
      <Say feed={feed} />
      {wide ? (
        <div class="panes">
          <div class="pane stacked">{left.map((tab) => <div key={tab.name} class={`part ${tab.name === "Events" ? "log-part" : "timeline"}`}>{tab.view()}</div>)}</div>
          <Tabs feed={feed} />
        </div>
      ) : (
        <Tabs feed={feed} more={left} open={seq === undefined ? undefined : "Events"} />
      )}
      <Chat feed={feed} />
    </div>
  );
}

interface Tab { name: string; view(): ComponentChildren }

/** Views of a run of which one is seen at a time. */
function Tabs({ feed, more = [], open }: { feed: Feed; more?: Tab[]; open?: string }) {
  feed.slow.value;
  const files = filesOf(feed).length;
  const tabs: Tab[] = [{ name: "Answer", view: () => <Answer feed={feed} /> }, ...more];
  if (stepsOf(feed.tree.top).length) tabs.push({ name: "Plan", view: () => <PlanGraph feed={feed} /> });
  tabs.push({ name: files ? `Files ${files}` : "Files", view: () => <Files feed={feed} /> });
  tabs.push({ name: "Why", view: () => <Why feed={feed} /> });
  tabs.push({ name: "Cost", view: () => <Costs feed={feed} /> }, { name: "Compare", view: () => <Compare feed={feed} /> });
  tabs.push({ name: "Actors", view: () => <Actors feed={feed} /> }, { name: "Input", view: () => <pre class="input" tabIndex={0}>{pretty(feed.tree.top.fold.state.queued ?? {})}</pre> });
  const picked = useSignal(open ?? (place.peek().query.has("with") ? "Compare" : ""));
  useEffect(() => {
    if (open) picked.value = open;
  }, [open]);
  const word = (name: string) => name.split(" ")[0]!;
  const at = Math.max(0, tabs.findIndex((t) => word(t.name) === picked.value));
  const shown = picked.value ? at : Math.max(0, tabs.findIndex((t) => word(t.name) === opensAt(feed)));
  const pick = useRef((_: number) => {});
  pick.current = (i) => (picked.value = word((tabs[i] ?? tabs[shown]!).name));
  useKeys(() => Array.from({ length: 9 }, (_, i) => ({ key: String(i + 1), says: i ? "" : "Show a view, by its place", shown: "1–9", do: () => pick.current(i) })));
  function keyDown(e: KeyboardEvent) {
    const to = { ArrowRight: shown + 1, ArrowLeft: shown - 1, Home: 0, End: tabs.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    picked.value = word(tabs[(to + tabs.length) % tabs.length]!.name);
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".tabs [aria-selected='true']")?.focus());
  }
  return (
    <div class="pane">
      <div class="tabs" role="tablist" aria-label="Views of the run" onKeyDown={keyDown}>
        {tabs.map((t, i) => (
          <button key={word(t.name)} role="tab" id={"tab-" + word(t.name)} aria-selected={i === shown} aria-controls="tab-view" tabIndex={i === shown ? 0 : -1} onClick={() => (picked.value = word(t.name))}>
            {word(t.name)}{t.name.includes(" ") && <span class="count num">{t.name.split(" ")[1]}</span>}
          </button>
        ))}
      </div>
      <div class={`view view-${word(tabs[shown]!.name).toLowerCase()}`} role="tabpanel" id="tab-view" aria-labelledby={"tab-" + word(tabs[shown]!.name)} tabIndex={-1} key={word(tabs[shown]!.name)}>
        <h2 class="visually-hidden">{word(tabs[shown]!.name)}</h2>
        {tabs[shown]!.view()}
      </div>
    </div>
  );
}

/** The view that has the most to tell: of a plan its graph and then its result, of a run that only wrote files the files. */
function opensAt(feed: Feed): string {
  const { items, fold } = feed.tree.top;
  const { end, artifacts } = fold.state;
  if (stepsOf(feed.tree.top).length) return end?.result === undefined ? "Plan" : "Answer";
  const silent = !items.some((i) => i.kind === "text" && fold.stream(i.name)?.text) || artifacts.some((a) => /(^|\/)llms\.txt$/.test(a.name));
  return end && silent && artifacts.length ? "Files" : "Answer";
}

/** Reports whether two panes stand side by side. */
function useWide(): boolean {
  const [wide, set] = useState(() => matchMedia("(min-width: 1000px)").matches);
  useEffect(() => {
    const query = matchMedia("(min-width: 1000px)");
    const change = () => set(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return wide;
}
