import { useEffect, useState } from "react";
import type { Loaded } from "./load.ts";
import type { ProjectItem } from "./workspace.ts";

/** The project in the URL. If it is not in the list, which may be older than the project, the list is loaded again. */
export function useProject(
  id: string | null,
  { data, isLoading, reload }: Loaded<{ projects: ProjectItem[] }>,
): { project: ProjectItem | undefined; isLooking: boolean } {
  const [missing, setMissing] = useState<string | null>(null);
  const project = data?.projects.find((candidate) => candidate.id === id);
  const isMissing = data != null && id !== null && project === undefined;
  useEffect(() => {
    if (!isMissing || missing === id) return;
    setMissing(id);
    reload();
  }, [isMissing, missing, id, reload]);
  return { project, isLooking: isMissing && (missing !== id || isLoading) };
}
