import "@upstow/react/styles.css";
import { StrictMode, useEffect } from "react";
import { hydrateRoot } from "react-dom/client";
import { App } from "./app.tsx";

function Page() {
  useEffect(() => {
    document.documentElement.dataset["ready"] = "";
  }, []);
  return <App slugs={new URLSearchParams(location.search).getAll("c")} />;
}

const root = document.getElementById("root");
// Only at the root does React mount a page from a server twice.
if (root !== null) {
  hydrateRoot(
    root,
    <StrictMode>
      <Page />
    </StrictMode>,
  );
}
