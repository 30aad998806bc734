import { UpstowProvider } from "@upstow/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";

const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <UpstowProvider endpoint="/api/upload">
      <App />
    </UpstowProvider>
  </StrictMode>,
);
