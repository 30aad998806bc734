"use client";

import { useEffect, useState } from "react";
import { hasFiles } from "./dropped-files.ts";

/** True while files are dragged anywhere over the page. */
export function usePageDrag(): boolean {
  const [isDragging, setIsDragging] = useState(false);
  useEffect(() => {
    const enter = (event: DragEvent) => hasFiles(event.dataTransfer) && setIsDragging(true);
    const leave = (event: DragEvent) => event.relatedTarget === null && setIsDragging(false);
    const end = () => setIsDragging(false);
    document.addEventListener("dragenter", enter);
    document.addEventListener("dragleave", leave);
    // In the capture phase, because a component may stop propagation of the drop.
    document.addEventListener("drop", end, true);
    return () => {
      document.removeEventListener("dragenter", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", end, true);
    };
  }, []);
  return isDragging;
}
