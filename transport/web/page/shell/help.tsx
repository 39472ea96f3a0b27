import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { place } from "../router";
import { searchHelp } from "../runs/filter";
import { keys, useKeys } from "./keys";

/** The keys of what is shown, after the key ? or a click. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = useSignal(false);
  useKeys(() => [{ key: "?", says: "Show these keys", do: () => (open.value = true) }]);
  useEffect(() => {
    if (open.value) dialog.current!.showModal();
  }, [open.value]);
  return (
    <>
      <button class="quiet" aria-label="Keys" title="Keys" onClick={() => (open.value = true)}>?</button>
      <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={() => (open.value = false)}>
        <h2 id="help-title">Keys</h2>
        <dl>{keys.value.filter((k) => k.says).map((k) => <div key={k.key}><dt><kbd>{k.shown ?? k.key}</kbd></dt><dd>{k.says}</dd></div>)}
          <div><dt><kbd>Tab</kbd></dt><dd>Go to the next control; <kbd>Enter</kbd> uses it</dd></div>
          <div><dt><kbd>↑</kbd></dt><dd>And the other arrows: go through rows, open and close them, change the view</dd></div>
          <div><dt><kbd>Esc</kbd></dt><dd>Close what is open</dd></div></dl>
        {!place.value.run && <><h2>Search</h2><dl class="words">{searchHelp.map(([what, says]) => <div key={what}><dt><code>{what}</code></dt><dd>{says}</dd></div>)}</dl></>}
        <form method="dialog"><button>Close</button></form>
      </dialog>
    </>
  );
}
