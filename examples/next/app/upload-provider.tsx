"use client";

import { UpstowProvider } from "@upstow/react";
import "@upstow/react/styles.css";
import type { ReactNode } from "react";

export function UploadProvider({ children }: { children: ReactNode }) {
  return <UpstowProvider endpoint="/api/upload">{children}</UpstowProvider>;
}
