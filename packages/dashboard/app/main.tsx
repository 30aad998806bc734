import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { Alone } from "./parts/alone.tsx";
import { Boundary, Broken } from "./parts/boundary.tsx";
import { keepFocus } from "./parts/keep-focus.ts";
import { applyTheme, readTheme } from "./theme.ts";

applyTheme(readTheme());
keepFocus();
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
