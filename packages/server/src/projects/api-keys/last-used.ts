import type { Database } from "../../db/database.ts";
import { setLastUsed } from "./queries.ts";

export interface LastUsed {
  touch(keyId: string, at: number): void;
  flush(): Promise<void>;
}

/** Remembers when each key was used and writes that down now and then, not once per request. */
export function createLastUsed(db: Database): LastUsed {
  let seen = new Map<string, number>();
  return {
    touch(keyId, at) {
      seen.set(keyId, at);
    },
    async flush() {
      if (seen.size === 0) return;
      const batch = seen;
      seen = new Map();
      // In one order on every instance, so that two of them do not wait for each other in a circle.
      const entries = [...batch].sort(([a], [b]) => (a < b ? -1 : 1));
      try {
        await db.transact(async (tx) => {
          for (const [id, at] of entries) await tx.run(setLastUsed, { id, at });
        });
      } catch (error) {
        seen = new Map([...batch, ...seen]);
        throw error;
      }
    },
  };
}
