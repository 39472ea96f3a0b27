import { call, signedOut } from "../api/client";
import { connection } from "../api/stream";
import { Help } from "./help";
import { useKeys } from "./keys";
import { setTheme, theme, type Theme } from "./theme";

export function Header() {
  useKeys(() => [{ key: "t", says: "Change the theme", do: () => setTheme(theme.peek() === "dark" ? "light" : theme.peek() === "light" ? "auto" : "dark") }]);
  return (
    <header class="top">
      <a class="skip" href="#main">Skip to the content</a>
      <a class="brand" href="/">lastword</a>
      <a href="/?schedules=1">Schedules</a>
      <span class="space" />
      <Badge />
      <select class="quiet" aria-label="Theme" value={theme.value} onChange={(e) => setTheme(e.currentTarget.value as Theme)}>
        <option value="auto">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
      <Help />
      {document.documentElement.hasAttribute("data-sign-in") && <button class="quiet" onClick={signOut}>Sign out</button>}
    </header>
  );
}

const signOut = () => call("DELETE", "/v1/session").then(() => (signedOut.value = true));

/** Says whether what the page shows is live. */
export function Badge() {
  const { state, attempt, replayed, gap } = connection.value;
  if (state === "idle" && !gap) return null; // what is shown cannot change any more
  const words = { idle: "", connecting: "connecting", live: "live", reconnecting: `reconnecting (${attempt})`, paused: "paused" }[state];
  return (
    <span class={`badge ${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      {words}
      {replayed > 0 && <span class="note">replayed {replayed}</span>}
      {gap > 0 && <span class="note bad">gap of {gap}</span>}
    </span>
  );
}
