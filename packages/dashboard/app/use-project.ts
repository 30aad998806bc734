import { useEffect, useState } from "react";
import type { Loaded } from "./load.ts";
import type { ProjectItem } from "./workspace.ts";

/**
 * The project that an address names, or the first where it names none. One that is not in the list, such as one that
 * was made a moment ago, is looked for once more; one that is not there at all is no other in its place.
 */
export function useProject(
  id: string | undefined,
  { data, isLoading, reload }: Loaded<{ projects: ProjectItem[] }>,
): { project: ProjectItem | undefined; isLooking: boolean } {
  const [missing, setMissing] = useState<string>();
  const all = data?.projects;
  const project = id === undefined ? all?.[0] : all?.find((candidate) => candidate.id === id);
  const isMissing = all !== undefined && id !== undefined && project === undefined;
  useEffect(() => {
    if (!isMissing || missing === id) return;
    setMissing(id);
    reload();
  }, [isMissing, missing, id, reload]);
  return { project, isLooking: isMissing && (missing !== id || isLoading) };
}
