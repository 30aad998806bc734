import type { SourceFile } from "./route-handler.ts";

/**
 * Tells every component below it where the backend's upload endpoint is, and the compiler which routes it has.
 * `routerModule` exports the router's type; null leaves the routes unchecked.
 */
export function renderProvider(routerModule: string | null = "./api/upload/route"): SourceFile {
  return {
    path: "app/upload-provider.tsx",
    code: `"use client";

import { UpstowProvider } from "@upstow/react";
import "@upstow/react/styles.css";
import type { ReactNode } from "react";
${routerModule === null ? "" : register(routerModule)}
export function UploadProvider({ children }: { children: ReactNode }) {
  return <UpstowProvider endpoint="/api/upload">{children}</UpstowProvider>;
}
`,
  };
}

const register = (routerModule: string) => `import type { Router } from "${routerModule}";

// A wrong route name, input or result now fails to compile in every upload component.
declare module "@upstow/react" {
  interface Register {
    router: Router;
  }
}
`;
