import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { objectKey } from "../storage/storage-key.ts";

const findPlace = statement((q, p: { id: string }) =>
  q
    .selectFrom("file")
    .select(["key", "stored_apart", "access"])
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADED"),
);

interface Place {
  fileId: string;
  /** As the row said when it was read. */
  storeKey: string;
  /** The right to read it was that it is public. */
  isPublicRead: boolean;
}

/** More than a change back and forth during one read. */
const mostPlaces = 3;

/** Reads a file's object. A change of access moves it: if it is gone, it is looked for where its row says now. */
export async function readMoved<T>(
  { db }: Pick<Deps, "db">,
  { fileId, storeKey, isPublicRead }: Place,
  read: (storeKey: string) => Promise<T | null>,
): Promise<T | null> {
  let key = storeKey;
  for (let places = 1; ; places++) {
    const found = await read(key);
    if (found !== null || places === mostPlaces) return found;
    const place = await db.get(findPlace, { id: fileId });
    if (place === null || objectKey(place) === key) return null;
    if (isPublicRead && place.access === "private") return null;
    key = objectKey(place);
  }
}
