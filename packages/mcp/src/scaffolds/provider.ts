import type { SourceFile } from "./route-handler.ts";

/** Tells every component below it where the backend's upload endpoint is. */
export function renderProvider(): SourceFile {
  return {
    path: "app/upload-provider.tsx",
    code: `"use client";

import { UpstowProvider } from "@upstow/react";
import "@upstow/react/styles.css";
import type { ReactNode } from "react";

export function UploadProvider({ children }: { children: ReactNode }) {
  return <UpstowProvider endpoint="/api/upload">{children}</UpstowProvider>;
}
`,
  };
}
