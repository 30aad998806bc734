import "@upstow/react/styles.css";
import { useEffect } from "react";
import { hydrateRoot } from "react-dom/client";
import { App } from "./app.tsx";

function Page() {
  useEffect(() => {
    document.documentElement.dataset["ready"] = "";
  }, []);
  return <App slug={new URLSearchParams(location.search).get("c") ?? ""} />;
}

const root = document.getElementById("root");
if (root !== null) hydrateRoot(root, <Page />);
