import type { Config } from "../config.ts";
import type { Actor } from "../kernel/actor.ts";
import { encodeKey } from "../storage/storage-key.ts";

/** The base URL of files. */
export type Cdn = Pick<Config, "cdnUrl">;

/** The project's own domain, if set. The installation's URL serves its files as well. */
export function cdnFor(installation: Cdn, { cdnUrl }: Pick<Actor, "cdnUrl">): Cdn {
  return cdnUrl === null ? installation : { cdnUrl };
}

export function fileUrl({ cdnUrl }: Cdn, key: string): string {
  return `${cdnUrl}/f/${encodeKey(key)}`;
}
