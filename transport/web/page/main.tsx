import "./style/page.css";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { signedOut } from "./api/client";
import { place } from "./router";
import { RunPage } from "./run/run";
import { RunsPage } from "./runs/runs";
import { SchedulesPage } from "./runs/schedules";
import { Header } from "./shell/header";
import { listenToKeys } from "./shell/keys";
import { SignIn } from "./shell/signin";

function Page() {
  const { run, query } = place.value;
  const shown = useRef(run);
  useEffect(() => { // who cannot see the page must hear that it is another
    if (shown.current !== run) document.getElementById("main")?.focus();
    shown.current = run;
  }, [run]);
  if (signedOut.value) return <SignIn />;
  return (
    <>
      <Header />
      <main id="main" tabIndex={-1}>
        {run ? <RunPage key={run} id={run} seq={Number(query.get("seq")) || undefined} /> : query.has("schedules") ? <SchedulesPage /> : <RunsPage />}
      </main>
    </>
  );
}

listenToKeys();
render(<Page />, document.getElementById("page")!);
