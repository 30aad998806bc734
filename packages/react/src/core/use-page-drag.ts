"use client";

import { useEffect, useState } from "react";
import { hasFiles } from "./dropped-files.ts";

/** True while somebody drags files over the page, wherever. */
export function usePageDrag(): boolean {
  const [isDragging, setIsDragging] = useState(false);
  useEffect(() => {
    const enter = (event: DragEvent) => hasFiles(event.dataTransfer) && setIsDragging(true);
    const leave = (event: DragEvent) => event.relatedTarget === null && setIsDragging(false);
    const end = () => setIsDragging(false);
    document.addEventListener("dragenter", enter);
    document.addEventListener("dragleave", leave);
    // Seen on the way down: a component may keep the drop to itself.
    document.addEventListener("drop", end, true);
    return () => {
      document.removeEventListener("dragenter", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", end, true);
    };
  }, []);
  return isDragging;
}
