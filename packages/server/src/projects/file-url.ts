import type { Config } from "../config.ts";
import type { Actor } from "../kernel/actor.ts";
import { encodeKey } from "../storage/storage-key.ts";

/** Where files are given out. */
export type Cdn = Pick<Config, "cdnUrl">;

/** The project's own domain, where it has set one. The installation's address serves its files all the same. */
export function cdnFor(installation: Cdn, { cdnUrl }: Pick<Actor, "cdnUrl">): Cdn {
  return cdnUrl === null ? installation : { cdnUrl };
}

export function fileUrl({ cdnUrl }: Cdn, key: string): string {
  return `${cdnUrl}/f/${encodeKey(key)}`;
}
