import { isId } from "../kernel/ids.ts";

/** How statements find a file by its key. */
export interface NamedFile {
  id: string;
  /** Where a caller may name a file by its id too, this can be that id. */
  key: string;
}

/** A key holds its file's id, so rows are found by that; a second index over long keys would slow every upload. */
export function nameFile(key: string): NamedFile {
  return { id: isId(key) ? key : (key.split("/", 3)[2] ?? ""), key };
}
