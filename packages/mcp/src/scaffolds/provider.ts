import type { SourceFile } from "./route-handler.ts";

/**
 * Tells every component below it where the backend's upload endpoint is, and the compiler which routes it has.
 * `routerModule` exports the router's type.
 */
export function renderProvider(routerModule = "./api/upload/route"): SourceFile {
  return {
    path: "app/upload-provider.tsx",
    code: `"use client";

import { UpstowProvider } from "@upstow/react";
import "@upstow/react/styles.css";
import type { ReactNode } from "react";
import type { Router } from "${routerModule}";

// A wrong route name, input or result now fails to compile in every upload component.
declare module "@upstow/react" {
  interface Register {
    router: Router;
  }
}

export function UploadProvider({ children }: { children: ReactNode }) {
  return <UpstowProvider endpoint="/api/upload">{children}</UpstowProvider>;
}
`,
  };
}
