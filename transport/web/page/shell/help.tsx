import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
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
        <dl>{keys.value.map((k) => <div key={k.key}><dt><kbd>{k.key}</kbd></dt><dd>{k.says}</dd></div>)}</dl>
        <form method="dialog"><button>Close</button></form>
      </dialog>
    </>
  );
}
