"use client";

import { UpstowProvider } from "@upstow/react";
import "@upstow/react/styles.css";
import type { ReactNode } from "react";
import type { Router } from "./api/upload/route";

// A wrong route name, input or result now fails to compile in every upload component.
declare module "@upstow/react" {
  interface Register {
    router: Router;
  }
}

export function UploadProvider({ children }: { children: ReactNode }) {
  return <UpstowProvider endpoint="/api/upload">{children}</UpstowProvider>;
}
