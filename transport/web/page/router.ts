import { signal } from "@preact/signals";

/** What the address shows: a run, or the list of runs where there is none. */
export interface Place {
  run?: string;
  query: URLSearchParams;
}

function read(): Place {
  const [, id] = /^\/runs\/([^/]+)$/.exec(location.pathname) ?? [];
  return { run: id && decodeURIComponent(id), query: new URLSearchParams(location.search) };
}

export const place = signal(read());

/** Goes to an address of this page. With replace, the way back does not lead here. */
export function go(href: string, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", href);
  place.value = read();
}

/** Changes parameters of the address; an empty value removes one. */
export function setQuery(change: Record<string, string | undefined>) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) value ? query.set(name, value) : query.delete(name);
  const text = query.toString();
  go(location.pathname + (text && "?" + text), true);
}

export const runHref = (id: string) => "/runs/" + encodeURIComponent(id);

addEventListener("popstate", () => (place.value = read()));
addEventListener("click", (e) => {
  const link = (e.target as Element).closest?.("a");
  if (!link || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  if (link.pathname !== "/" && !link.pathname.startsWith("/runs")) return;
  e.preventDefault();
  go(link.pathname + link.search);
});
