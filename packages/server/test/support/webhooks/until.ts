import { setTimeout as wait } from "node:timers/promises";

/** Looks again and again until there is something; the test's own time limit ends a wait in vain. */
export async function until<T>(look: () => Promise<T | null | false | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== null && found !== false && found !== undefined) return found;
    await wait(50);
  }
}
