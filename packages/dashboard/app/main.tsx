import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { Alone } from "./parts/alone.tsx";
import { Boundary, Broken } from "./parts/boundary.tsx";
import { applyTheme, readTheme } from "./theme.ts";

applyTheme(readTheme());
const root = document.getElementById("app");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Boundary
        fallback={
          <Alone>
            <Broken />
          </Alone>
        }
      >
        <App />
      </Boundary>
    </StrictMode>,
  );
}
