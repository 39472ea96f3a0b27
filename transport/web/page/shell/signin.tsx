import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, signedOut, type Refused } from "../api/client";

/** Asks for a token. The server keeps it in a cookie that no script can read. */
export function SignIn() {
  const problem = useSignal("");
  const busy = useSignal(false);
  const token = useRef<HTMLInputElement>(null);
  useEffect(() => token.current!.focus(), []);
  async function submit(e: SubmitEvent) {
    e.preventDefault();
    const field = token.current!;
    busy.value = true;
    try {
      await call("POST", "/v1/session", undefined, { Authorization: "Bearer " + field.value.trim() });
      signedOut.value = false;
    } catch (e) {
      problem.value = (e as Refused).message;
      field.select();
    }
    busy.value = false;
  }
  return (
    <main class="signin" id="main">
      <form onSubmit={submit}>
        <h1>Sign in</h1>
        <p>This server asks for a token. Its operator makes one with <code>lastword token add</code>.</p>
        <label for="token">Token</label>
        <input ref={token} id="token" name="token" type="password" autocomplete="off" required aria-describedby="token-problem" />
        <p id="token-problem" class="bad" role="alert">{problem}</p>
        <button class="primary" disabled={busy.value}>Sign in</button>
      </form>
    </main>
  );
}
