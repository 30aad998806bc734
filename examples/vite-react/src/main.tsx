import { UpstowProvider } from "@upstow/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import type { Router } from "../server.ts";
import { App } from "./app.tsx";

// A wrong route name, input or result now fails to compile in every hook and component.
declare module "@upstow/react" {
  interface Register {
    router: Router;
  }
}

const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <UpstowProvider endpoint="/api/upload">
      <App />
    </UpstowProvider>
  </StrictMode>,
);
