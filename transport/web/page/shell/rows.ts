import { signal } from "@preact/signals";

const heights = [["(max-width: 720px)", 60], ["(min-width: 3600px)", 52], ["(min-width: 2400px)", 40]] as const;
const height = () => heights.find(([query]) => matchMedia(query).matches)?.[1] ?? 32;

/** The height of a list's rows in pixels, which the styles give them too. */
export const rowHeight = signal(height());
for (const [query] of heights) matchMedia(query).onchange = () => (rowHeight.value = height());
