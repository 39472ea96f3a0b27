import "./style/page.css";
import { render } from "preact";
import { signedOut } from "./api/client";
import { place } from "./router";
import { RunPage } from "./run/run";
import { RunsPage } from "./runs/runs";
import { Header } from "./shell/header";
import { listenToKeys } from "./shell/keys";
import { SignIn } from "./shell/signin";

function Page() {
  const { run, query } = place.value;
  if (signedOut.value) return <SignIn />;
  return (
    <>
      <Header />
      <main id="main" tabIndex={-1}>
        {run ? <RunPage key={run} id={run} seq={Number(query.get("seq")) || undefined} /> : <RunsPage />}
      </main>
    </>
  );
}

listenToKeys();
render(<Page />, document.getElementById("page")!);
