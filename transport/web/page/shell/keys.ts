// Keys that are pressed outside of fields. A view adds its own while it is shown.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  /** As KeyboardEvent.key has it. */
  key: string;
  /** What it does, for the list of keys, which leaves out a key that says nothing. */
  says: string;
  /** What the list shows for it, and for those that follow it. */
  shown?: string;
  do(): void;
}

export const keys = signal<Key[]>([]);

/** Adds keys while the component is shown. */
export function useKeys(list: () => Key[]) {
  useLayoutEffect(() => {
    const added = list();
    keys.value = [...keys.peek(), ...added];
    return () => (keys.value = keys.peek().filter((k) => !added.includes(k)));
  }, []);
}

export function listenToKeys() {
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    if ((e.target as Element).closest?.("input, textarea, select, [contenteditable]")) return;
    const found = keys.peek().findLast((k) => k.key === e.key);
    if (!found) return;
    e.preventDefault();
    found.do();
  });
}
