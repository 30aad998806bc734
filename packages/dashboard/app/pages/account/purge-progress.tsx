import { useEffect } from "react";
import { useLoad } from "../../load.ts";
import type { DeletedProject } from "./deleted-project.ts";

const pauseMs = 2_000;

/** Asks again and again how much is left, by the bytes: very many files are not counted. */
export function PurgeProgress({ project }: { project: DeletedProject }) {
  const { data, isLoading, reload } = useLoad<{ projects: DeletedProject[] }>("/projects/deleted");
  useEffect(() => {
    if (isLoading) return;
    const timer = setTimeout(reload, pauseMs);
    return () => clearTimeout(timer);
  }, [isLoading, reload]);
  const found = data?.projects.find(({ id }) => id === project.id);
  const total = project.storedBytes;
  const left = data === null ? total : (found?.storedBytes ?? 0);
  return <progress aria-label="Progress" value={total - left} max={Math.max(total, 1)} />;
}
