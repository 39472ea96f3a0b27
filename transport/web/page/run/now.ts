import { useEffect, useState } from "preact/hooks";

/** The time, which goes on each second while something does. */
export function useNow(going: boolean): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => set(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [going]);
  return Math.max(now, going ? Date.now() : 0);
}
