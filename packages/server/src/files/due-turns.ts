/**
 * Finds and claims what is due, project by project, so that one with thousands of files does not hold up another. The
 * result is null if nothing is due.
 */
export function createDueTurns<Due extends { project_id: string }, Claimed>(
  findAfter: (projectId: string) => Promise<Due | null>,
  /** Undefined if another worker was faster. */
  claim: (due: Due) => Promise<Claimed | undefined>,
): (isOver: () => boolean) => Promise<Claimed | null> {
  let lastProject = "";
  return async (isOver) => {
    while (!isOver()) {
      const due = (await findAfter(lastProject)) ?? (lastProject === "" ? null : await findAfter(""));
      if (due === null) return null;
      lastProject = due.project_id;
      const claimed = await claim(due);
      if (claimed !== undefined) return claimed;
    }
    return null;
  };
}
